/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 hvnet contributors
 *
 * Walking a channel's inbound ring: check, dispatch, hand out ranges, complete.
 *
 * Life of a transfer-page packet: taken (a slot of xfers[] with the ranges left to consume)
 * -> all ranges done (its id moves to acks[]) -> completion on the outbound ring. Slots in
 * use and ids in acks[] together never exceed HVN_XFERS, so acks[] cannot overflow.
 */
#include <errno.h>
#include <string.h>

#include <rte_branch_prediction.h>
#include <rte_prefetch.h>

#include <hvwire/cursor.h>

#include "hvn_inbound.h"
#include "hvn_session.h"
#include "hvn_tx.h"

/** What walking one packet yields. */
enum walk {
	WALK_RANGES, /**< a data packet: its ranges are in cur_* */
	WALK_OTHER,  /**< dispatched, go on */
	WALK_END,    /**< nothing left, or no room to remember more */
};

/** Ranges handled at once where no caller sets the number. */
#define BATCH 32u
/** Bytes of the ring fetched ahead of the walk: four packets with one range. */
#define RING_AHEAD 320u

/** Payload bytes of control completions and in-band packets that are kept (send table: 80). */
#define SMALL_PAYLOAD 128u

static_assert((HVN_XFERS & (HVN_XFERS - 1)) == 0, "ring positions are masked");
static_assert((HVN_PARK & (HVN_PARK - 1)) == 0, "ring positions are masked");

/** A receive completion as it stands on the ring. */
struct rx_completion {
	struct vmbus_pkt_desc desc;
	struct nvsp_rndis_complete msg;
	uint8_t pad[NVSP_MSG_SIZE - sizeof(struct nvsp_rndis_complete)];
	uint64_t trailer;
} HVW_PACKED;
HVW_SIZE(rx_completion, 64);

static inline uint32_t
acks_owed(const struct hvn_channel *ch)
{
	return ch->ack_head - ch->ack_tail;
}

static inline void
ack_queue(struct hvn_channel *ch, uint64_t xact)
{
	ch->acks[ch->ack_head & (HVN_XFERS - 1)] = xact;
	vmring_store_relaxed(&ch->ack_head, ch->ack_head + 1);
}

/** Send the completions owed: one publish; what does not fit now stays queued. */
static void
acks_send(struct hvn_channel *ch)
{
	struct rx_completion pkt = {
		.desc = {
			.type = VMBUS_PKT_COMPLETION,
			.offset8 = sizeof(pkt.desc) / 8,
			.len8 = offsetof(struct rx_completion, trailer) / 8,
		},
		.msg = { .type = NVSP_RNDIS_COMPLETE, .status = NVSP_STATUS_OK },
	};
	uint32_t n = acks_owed(ch), room;
	bool sig;

	if (n == 0)
		return;
	if (unlikely(!hvn_channel_out_lock(ch))) {
		ch->stats.ack_deferred++;
		return;
	}
	if (vmring_free(&ch->out) <= n * sizeof(pkt) &&
	    unlikely(vmring_refresh(&ch->out) != 0)) {
		hvn_channel_kill(ch);
		hvn_channel_out_unlock(ch);
		return;
	}
	room = (vmring_free(&ch->out) - 1) / sizeof(pkt);
	if (unlikely(room < n)) {
		ch->stats.ack_deferred++;
		n = room;
	}
	for (uint32_t i = 0; i < n; i++) {
		pkt.desc.xact = ch->acks[(ch->ack_tail + i) & (HVN_XFERS - 1)];
		vmring_put_framed(&ch->out, &pkt, sizeof(pkt));
	}
	vmring_store_relaxed(&ch->ack_tail, ch->ack_tail + n);
	sig = vmring_publish(&ch->out);
	hvn_channel_out_unlock(ch);
	if (sig)
		hvn_channel_signal(ch);
}

/** Room to take one more packet and to queue its completion later. */
static inline bool
xfer_room(struct hvn_channel *ch)
{
	if (likely(acks_owed(ch) < ch->xfer_free_count))
		return true;
	acks_send(ch);
	return acks_owed(ch) < ch->xfer_free_count;
}

/** The NVSP part of a transfer-page packet; false when it is not an RNDIS message. */
static inline bool
xfer_nvsp(const struct hvn_channel *ch, const struct vmbus_pkt_desc *desc, uint32_t *chan_type)
{
	struct nvsp_rndis msg;

	if ((uint32_t)(desc->len8 - desc->offset8) * 8 < sizeof(msg))
		return false;
	vmring_copy_out(&ch->in, desc->offset8 * 8u, &msg, sizeof(msg));
	*chan_type = msg.channel_type;
	return msg.type == NVSP_RNDIS;
}

/** Copy ranges and check them; bad ones get length 0. */
static inline void
xfer_ranges(struct hvn_channel *ch, uint32_t count)
{
	vmring_copy_out(&ch->in, sizeof(struct vmbus_xfer_hdr), ch->cur_ranges,
			count * sizeof(ch->cur_ranges[0]));
	for (uint32_t i = 0; i < count; i++) {
		struct vmbus_xfer_range *r = &ch->cur_ranges[i];

		if (unlikely(r->len < sizeof(struct rndis_hdr) ||
			     !hvw_inside(r->ofs, r->len, ch->recv_len)))
			r->len = 0;
	}
}

/** Hand the ranges of a control packet to the session; the packet is completed at once. */
static void
xfer_control(struct hvn_channel *ch, uint64_t xact, uint32_t count)
{
	for (uint32_t i = 0; i < count; i++) {
		const struct vmbus_xfer_range *r = &ch->cur_ranges[i];

		if (r->len == 0 || ch->session == NULL)
			ch->stats.in_bad++;
		else
			hvn_session_on_control(ch->session, ch->recv + r->ofs, r->len);
	}
	ack_queue(ch, xact);
}

/** Take a transfer-page packet. */
static inline enum walk
walk_xfer(struct hvn_channel *ch, const struct vmbus_pkt_desc *desc)
{
	struct vmbus_xfer_hdr hdr;
	uint32_t chan_type;

	if (unlikely(!xfer_room(ch)))
		return WALK_END;
	ch->stats.in_messages++;
	if (unlikely(desc->offset8 * 8u < sizeof(hdr)))
		goto bad;
	vmring_copy_out(&ch->in, 0, &hdr, sizeof(hdr));
	if (unlikely(hdr.set_id != NVSP_RXBUF_ID || hdr.nranges == 0 ||
		     hdr.nranges > RTE_DIM(ch->cur_ranges) ||
		     sizeof(hdr) + hdr.nranges * sizeof(ch->cur_ranges[0]) > desc->offset8 * 8u ||
		     (desc->flags & VMBUS_PKT_F_COMPLETION) == 0 ||
		     !xfer_nvsp(ch, desc, &chan_type)))
		goto bad;
	xfer_ranges(ch, hdr.nranges);
	if (unlikely(chan_type != NVSP_CHANNEL_DATA)) {
		xfer_control(ch, desc->xact, hdr.nranges);
		return WALK_OTHER;
	}
	ch->cur_xfer = ch->xfer_free[--ch->xfer_free_count];
	ch->xfers[ch->cur_xfer] = (struct hvn_xfer){ .xact = desc->xact, .left = hdr.nranges };
	vmring_store_relaxed(&ch->cur_next, 0);
	vmring_store_relaxed(&ch->cur_count, hdr.nranges);
	return WALK_RANGES;
bad:
	ch->stats.in_bad++;
	if ((desc->flags & VMBUS_PKT_F_COMPLETION) != 0)
		ack_queue(ch, desc->xact);
	return WALK_OTHER;
}

/** Dispatch a completion of something that we sent. */
static inline void
walk_completion(struct hvn_channel *ch, const struct vmbus_pkt_desc *desc)
{
	uint32_t len = (uint32_t)(desc->len8 - desc->offset8) * 8;
	uint8_t payload[SMALL_PAYLOAD];
	struct nvsp_rndis_complete msg = { .status = NVSP_STATUS_NONE };
	bool ok;

	if (unlikely((desc->xact & HVN_XACT_REQUEST) != 0)) {
		len = RTE_MIN(len, sizeof(payload));
		vmring_copy_out(&ch->in, desc->offset8 * 8u, payload, len);
		if (ch->session != NULL)
			hvn_session_on_completion(ch->session, desc->xact, payload, len);
		return;
	}
	if (likely(len >= sizeof(msg)))
		vmring_copy_out(&ch->in, desc->offset8 * 8u, &msg, sizeof(msg));
	ok = msg.type == NVSP_RNDIS_COMPLETE && msg.status == NVSP_STATUS_OK;
	if (unlikely(ch->txq == NULL || !hvn_txq_complete(ch->txq, desc->xact, ok)))
		ch->stats.comp_unknown++;
}

/** Dispatch an in-band message of the host. */
static void
walk_inband(struct hvn_channel *ch, const struct vmbus_pkt_desc *desc)
{
	uint32_t len = RTE_MIN((uint32_t)(desc->len8 - desc->offset8) * 8, SMALL_PAYLOAD);
	uint8_t payload[SMALL_PAYLOAD];

	vmring_copy_out(&ch->in, desc->offset8 * 8u, payload, len);
	if (ch->session != NULL)
		hvn_session_on_inband(ch->session, payload, len);
}

/** Walk one packet of the ring. */
static inline enum walk
walk_packet(struct hvn_channel *ch)
{
	struct vmbus_pkt_desc desc;
	enum walk ret = WALK_OTHER;
	int rc;

	rc = vmring_peek(&ch->in, ch->in_avail, &desc);
	if (rc != 0) {
		if (unlikely(rc != -EAGAIN))
			hvn_channel_kill(ch);
		return WALK_END;
	}
	switch (desc.type) {
	case VMBUS_PKT_XFER_PAGES:
		ret = walk_xfer(ch, &desc);
		if (unlikely(ret == WALK_END))
			return ret;
		break;
	case VMBUS_PKT_COMPLETION:
		walk_completion(ch, &desc);
		break;
	case VMBUS_PKT_INBAND:
		walk_inband(ch, &desc);
		break;
	default:
		ch->stats.in_bad++;
		break;
	}
	ch->in_avail -= vmring_skip(&ch->in, &desc);
	return ret;
}

/** A data packet with one range, as it lies on the ring. */
struct one_range_pkt {
	struct vmbus_xfer_hdr hdr;
	struct vmbus_xfer_range range;
	struct nvsp_rndis msg;
} HVW_PACKED;
HVW_SIZE(one_range_pkt, 48);

/**
 * The commonest packet, a well-formed one with a single range, in one copy.
 *
 * @return False, with nothing done, when the packet is of another kind.
 */
static inline bool
walk_one_range(struct hvn_channel *ch, struct hvn_range *r)
{
	struct one_range_pkt p;
	uint32_t cost;

	if (ch->in_avail < sizeof(p) + VMBUS_PKT_TRAILER || ch->in.pos + sizeof(p) > ch->in.size)
		return false;
	rte_prefetch0(ch->in.data + ch->in.pos + RING_AHEAD);
	memcpy(&p, ch->in.data + ch->in.pos, sizeof(p));
	cost = vmring_cost((uint32_t)p.hdr.desc.len8 * 8);
	if (p.hdr.desc.type != VMBUS_PKT_XFER_PAGES || p.hdr.nranges != 1 ||
	    p.hdr.desc.offset8 * 8u != offsetof(struct one_range_pkt, msg) ||
	    cost < sizeof(p) + VMBUS_PKT_TRAILER || cost > ch->in_avail ||
	    p.hdr.desc.flags != VMBUS_PKT_F_COMPLETION || p.hdr.set_id != NVSP_RXBUF_ID ||
	    p.msg.type != NVSP_RNDIS || p.msg.channel_type != NVSP_CHANNEL_DATA ||
	    p.range.len < sizeof(struct rndis_hdr) ||
	    !hvw_inside(p.range.ofs, p.range.len, ch->recv_len) || !xfer_room(ch))
		return false;
	ch->stats.in_messages++;
	r->ofs = p.range.ofs;
	r->len = p.range.len;
	r->xfer = ch->xfer_free[--ch->xfer_free_count];
	ch->xfers[r->xfer] = (struct hvn_xfer){ .xact = p.hdr.desc.xact, .left = 1 };
	ch->in_avail -= vmring_skip(&ch->in, &p.hdr.desc);
	return true;
}

/** Ranges of the packet being walked; bad ones are done with at once. */
static inline uint32_t
walk_current(struct hvn_channel *ch, struct hvn_range *ranges, uint32_t max)
{
	uint32_t next = ch->cur_next, n = 0;

	while (n < max && next != ch->cur_count) {
		const struct vmbus_xfer_range *src = &ch->cur_ranges[next++];

		ranges[n] = (struct hvn_range){
			.ofs = src->ofs, .len = src->len, .xfer = ch->cur_xfer,
		};
		if (likely(src->len != 0)) {
			n++;
		} else {
			ch->stats.in_bad++;
			hvn_inbound_done(ch, &ranges[n], 1);
		}
	}
	vmring_store_relaxed(&ch->cur_next, next);
	return n;
}

/** Ranges of the ring itself. */
static inline uint32_t
walk_ring(struct hvn_channel *ch, struct hvn_range *ranges, uint32_t max)
{
	uint32_t n = 0;

	while (n < max) {
		if (ch->cur_next != ch->cur_count)
			n += walk_current(ch, &ranges[n], max - n);
		else if (walk_one_range(ch, &ranges[n]))
			n++;
		else if (walk_packet(ch) == WALK_END)
			break;
	}
	return n;
}

bool
hvn_inbound_pending(const struct hvn_channel *ch)
{
	return vmring_pending(&ch->in) ||
	       vmring_load_relaxed(&ch->park_head) != vmring_load_relaxed(&ch->park_tail) ||
	       vmring_load_relaxed(&ch->ack_head) != vmring_load_relaxed(&ch->ack_tail) ||
	       vmring_load_relaxed(&ch->cur_next) != vmring_load_relaxed(&ch->cur_count);
}

bool
hvn_inbound_begin(struct hvn_channel *ch)
{
	if (!hvn_inbound_pending(ch) || unlikely(hvn_channel_is_dead(ch)))
		return false;
	if (unlikely(!vmring_trylock(&ch->in_lock)))
		return false;
	if (unlikely(vmring_poll(&ch->in, &ch->in_avail) != 0)) {
		hvn_channel_kill(ch);
		ch->in_avail = 0;
	}
	return true;
}

/**
 * Fetch the outbound lines that the completions of @p n packets will fill: the host has
 * read them last. The position is a hint only, other producers may move it.
 */
static inline void
prefetch_acks(const struct hvn_channel *ch, uint32_t n)
{
	uint32_t pos = vmring_load_relaxed(&ch->out.pos);

	for (uint32_t i = 0; i < n; i++) {
		rte_prefetch0_write(ch->out.data + pos);
		pos = vmring_step(&ch->out, pos, sizeof(struct rx_completion));
	}
}

uint32_t
hvn_inbound_take(struct hvn_channel *ch, struct hvn_range *ranges, uint32_t max)
{
	uint32_t n = 0, slots = ch->xfer_free_count;

	while (unlikely(ch->park_tail != ch->park_head) && n < max) {
		ranges[n++] = ch->park[ch->park_tail & (HVN_PARK - 1)];
		vmring_store_relaxed(&ch->park_tail, ch->park_tail + 1);
	}
	n += walk_ring(ch, &ranges[n], max - n);
	if (ch->xfer_free_count < slots)
		prefetch_acks(ch, slots - ch->xfer_free_count);
	return n;
}

void
hvn_inbound_done(struct hvn_channel *ch, const struct hvn_range *ranges, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++) {
		struct hvn_xfer *x = &ch->xfers[ranges[i].xfer];

		if (--x->left != 0)
			continue;
		ack_queue(ch, x->xact);
		ch->xfer_free[ch->xfer_free_count++] = ranges[i].xfer;
	}
}

void
hvn_inbound_end(struct hvn_channel *ch)
{
	bool sig = vmring_release(&ch->in);

	acks_send(ch);
	vmring_unlock(&ch->in_lock);
	if (unlikely(sig))
		hvn_channel_signal(ch);
}

/** Park ranges for the receive side, or let go of them when it has no room or is absent. */
static void
park(struct hvn_channel *ch, const struct hvn_range *ranges, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++) {
		if (ch->park_head - ch->park_tail < ch->park_limit) {
			ch->park[ch->park_head & (HVN_PARK - 1)] = ranges[i];
			vmring_store_relaxed(&ch->park_head, ch->park_head + 1);
		} else {
			ch->stats.park_drops++;
			hvn_inbound_done(ch, &ranges[i], 1);
		}
	}
}

/** True when the transmit queue has @p enough completions to collect. */
static inline bool
reclaimed(const struct hvn_channel *ch, uint32_t enough)
{
	return ch->txq != NULL && hvn_txq_waiting(ch->txq) >= enough;
}

/** Walk for others than the receive side; see hvn_inbound_reclaim(). */
static void
drain(struct hvn_channel *ch, uint32_t enough)
{
	struct hvn_range ranges[BATCH];
	uint32_t n, want, parked;

	if (!hvn_inbound_begin(ch))
		return;
	do {
		want = BATCH;
		parked = ch->park_head - ch->park_tail;
		if (parked < ch->park_limit)
			want = RTE_MIN(want, ch->park_limit - parked);
		else if (reclaimed(ch, enough))
			break;
		n = walk_ring(ch, ranges, want);
		park(ch, ranges, n);
	} while (n == want);
	hvn_inbound_end(ch);
}

void
hvn_inbound_drain(struct hvn_channel *ch)
{
	drain(ch, UINT32_MAX);
}

void
hvn_inbound_reclaim(struct hvn_channel *ch, uint32_t enough)
{
	drain(ch, enough);
}

void
hvn_inbound_flush(struct hvn_channel *ch)
{
	struct hvn_range ranges[BATCH];
	uint32_t n;

	if (!hvn_inbound_begin(ch))
		return;
	do {
		n = hvn_inbound_take(ch, ranges, BATCH);
		hvn_inbound_done(ch, ranges, n);
		ch->stats.stop_drops += n;
	} while (n == BATCH);
	hvn_inbound_end(ch);
}

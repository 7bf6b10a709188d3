/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 hvnet contributors
 *
 * Takes packets from a channel's transmit ring and puts answers into its receive ring.
 */
#include <string.h>

#include "nic_priv.h"

#define OUT_HDR sizeof(struct vmbus_pkt_desc)
#define ACK_AHEAD 512u /* bytes: completions are read this far ahead into the cache */

bool
nic_violation(struct nic *nic, struct nic_chan *c, enum judge_violation v, uint64_t value)
{
	if (c->ch.state == HVCHAN_DEAD)
		return true;
	if (judge_record(nic->judge, v, nic->conf.name, c->index, value))
		c->ch.state = HVCHAN_DEAD;
	return c->ch.state == HVCHAN_DEAD;
}

/* A ring whose indices or framing are lost cannot be used in any mode. */
static void
nic_corrupt(struct nic *nic, struct nic_chan *c, enum judge_violation v, uint64_t value)
{
	nic_violation(nic, c, v, value);
	c->ch.state = HVCHAN_DEAD;
}

/* Room in the receive ring, without asking the guest for a signal. */
bool
nic_has_room(struct nic *nic, struct nic_chan *c, uint32_t cost)
{
	int ret = hvchan_room(&c->ch, cost);

	if (ret < 0)
		nic_corrupt(nic, c, JUDGE_RING_READ_INDEX,
			    vmring_load_relaxed(&c->ch.rx.hdr->read_index));
	return ret > 0;
}

/* Room in the receive ring; when there is none, the guest is asked for a signal. */
bool
nic_room(struct nic *nic, struct nic_chan *c, uint32_t cost)
{
	int ret;

	if (nic_has_room(nic, c, cost))
		return true;
	if (c->ch.state == HVCHAN_DEAD)
		return false;
	/*
	 * What was put must be visible, or the guest could never make room; frames whose
	 * completions become visible must be with the wire before.
	 */
	tx_flush(nic, c);
	nic_publish(nic, c);
	ret = hvchan_arm(&c->ch, cost);
	if (ret < 0)
		nic_corrupt(nic, c, JUDGE_RING_READ_INDEX,
			    vmring_load_relaxed(&c->ch.rx.hdr->read_index));
	return ret > 0;
}

void
nic_publish(struct nic *nic, struct nic_chan *c)
{
	if (c->ch.rx.pos == c->ch.rx.pub)
		return;
	nic->epoch++;
	if (vmring_publish(&c->ch.rx)) {
		c->st.interrupts++;
		nic->env.interrupt(nic->env.ctx, c->index);
	}
}

static void
nic_put(struct nic *nic, struct nic_chan *c, const struct nic_out *o)
{
	uint64_t buf[(OUT_HDR + sizeof(o->msg)) / 8] = { 0 };
	uint32_t len = OUT_HDR + HVW_ALIGN_UP((uint32_t)o->len, 8u);
	struct vmbus_pkt_desc desc = {
		.type = o->type,
		.offset8 = OUT_HDR / 8,
		.len8 = (uint16_t)(len / 8),
		.xact = o->xact,
	};

	memcpy(buf, &desc, sizeof(desc));
	memcpy(buf + OUT_HDR / 8, o->msg, o->len);
	vmring_put(&c->ch.rx, buf, len);
	if (o->section != NVSP_SECTION_NONE)
		nic->section_stamp[o->section] = nic->epoch;
}

/*
 * Send a completion or an in-band message. When the receive ring is full it waits in line;
 * the drain loop stops before the line is full.
 */
void
nic_send(struct nic *nic, struct nic_chan *c, uint16_t type, uint64_t xact, const void *msg,
	 uint32_t len, uint32_t section)
{
	struct nic_out now, *o = &now;
	bool wait;

	if (c->ch.state == HVCHAN_DEAD)
		return;
	wait = c->out_count > 0 ||
	       !nic_room(nic, c, OUT_HDR + HVW_ALIGN_UP(len, 8u) + VMBUS_PKT_TRAILER);
	if (wait) {
		if (c->out_count == NIC_OUT_MAX || c->ch.state == HVCHAN_DEAD)
			return;
		o = &c->out[(c->out_head + c->out_count++) % NIC_OUT_MAX];
	}
	o->xact = xact;
	o->type = type;
	o->len = (uint16_t)len;
	o->section = section;
	memcpy(o->msg, msg, len);
	if (!wait)
		nic_put(nic, c, o);
	else if (section != NVSP_SECTION_NONE)
		nic->section_stamp[section] = NIC_SECTION_BUSY;
}

void
nic_flush_out(struct nic *nic, struct nic_chan *c)
{
	while (c->out_count > 0 && c->ch.state == HVCHAN_OPEN) {
		struct nic_out *o = &c->out[c->out_head];
		uint32_t len = OUT_HDR + HVW_ALIGN_UP((uint32_t)o->len, 8u);

		if (!nic_room(nic, c, len + VMBUS_PKT_TRAILER))
			break;
		nic_put(nic, c, o);
		c->out_head = (c->out_head + 1) % NIC_OUT_MAX;
		c->out_count--;
	}
	nic_publish(nic, c);
}

/* The words of an RNDIS completion. */
static inline void
complete_fill(uint64_t *dst, uint64_t xact, uint32_t status, uint32_t nvsp8)
{
	uint32_t i;

	dst[0] = hvchan_desc_word(VMBUS_PKT_COMPLETION, OUT_HDR / 8, OUT_HDR / 8 + nvsp8, 0);
	dst[1] = xact;
	dst[2] = NVSP_RNDIS_COMPLETE | (uint64_t)status << 32;
	for (i = 1; i < nvsp8; i++)
		dst[2 + i] = 0;
}

/* Complete an RNDIS message of the guest with an NVSP status. */
void
nic_complete(struct nic *nic, struct nic_chan *c, const struct nic_packet *p, uint32_t status,
	     uint32_t section)
{
	uint64_t msg[NVSP_MSG_SIZE / 8] = { NVSP_RNDIS_COMPLETE | (uint64_t)status << 32 };
	uint64_t slow[(OUT_HDR + NVSP_MSG_SIZE) / 8];
	uint32_t words = (OUT_HDR + nic->s.msg_size) / 8;

	if ((p->desc.flags & VMBUS_PKT_F_COMPLETION) == 0 || c->ch.state == HVCHAN_DEAD)
		return;
	if (c->out_count > 0 || c->ch.armed != 0 ||
	    vmring_free(&c->ch.rx) <= vmring_cost(words * 8)) {
		nic_send(nic, c, VMBUS_PKT_COMPLETION, p->desc.xact, msg, nic->s.msg_size,
			 section);
		return;
	}
	HVCHAN_APPEND(&c->ch, words, slow, complete_fill, p->desc.xact, status,
		      nic->s.msg_size / 8);
	if (section != NVSP_SECTION_NONE)
		nic->section_stamp[section] = nic->epoch;
}

/* Check the descriptor; on return 0 the packet is lost and so is all behind it. */
static uint32_t
packet_check(struct nic *nic, struct nic_chan *c, uint32_t avail, struct vmbus_pkt_desc *desc)
{
	uint64_t first = 0, trailer, want = (uint64_t)c->ch.tx.pos << 32;
	uint16_t known;
	uint32_t len;

	if (vmring_peek(&c->ch.tx, avail, desc) < 0) {
		if (avail >= sizeof(*desc)) {
			vmring_copy_out(&c->ch.tx, 0, desc, sizeof(*desc));
			memcpy(&first, desc, sizeof(first));
		}
		known = desc->flags & VMBUS_PKT_F_COMPLETION;
		if (avail < sizeof(*desc) || known == desc->flags ||
		    vmring_cost((uint32_t)desc->len8 * 8) > avail ||
		    desc->offset8 < sizeof(*desc) / 8 || desc->offset8 > desc->len8) {
			nic_violation(nic, c, JUDGE_RING_DESCRIPTOR, first);
			return 0;
		}
		if (nic_violation(nic, c, JUDGE_PACKET_FLAGS, desc->flags))
			return 0;
		desc->flags = known;
	}
	len = (uint32_t)desc->len8 * 8;
	vmring_copy_out(&c->ch.tx, len, &trailer, sizeof(trailer));
	if (trailer != want && nic_violation(nic, c, JUDGE_PACKET_TRAILER, trailer))
		return 0;
	return len;
}

static void
packet_handle(struct nic *nic, struct nic_chan *c, const struct nic_packet *p)
{
	uint32_t type = 0;

	switch (p->desc.type) {
	case VMBUS_PKT_COMPLETION:
		if ((p->desc.flags & VMBUS_PKT_F_COMPLETION) != 0 &&
		    nic_violation(nic, c, JUDGE_PACKET_FLAGS, p->desc.flags))
			return;
		slots_completion(nic, c, p);
		return;
	case VMBUS_PKT_GPA_DIRECT:
	case VMBUS_PKT_INBAND:
		break;
	default:
		nic_violation(nic, c, JUDGE_PACKET_TYPE, p->desc.type);
		return;
	}
	if (!hvw_read32(p->nvsp, 0, &type))
		nic_violation(nic, c, JUDGE_NVSP_SHORT, p->nvsp.len);
	else if (type == NVSP_RNDIS)
		tx_message(nic, c, p);
	else
		nvsp_message(nic, c, p);
}

/* Handle one packet; returns the bytes that it took from the ring. */
static uint32_t
packet_one(struct nic *nic, struct nic_chan *c, uint32_t avail)
{
	struct nic_packet p;
	uint32_t len = packet_check(nic, c, avail, &p.desc);

	if (len == 0) {
		c->ch.tx.pos = c->ch.tx.peer;
		return avail;
	}
	if (len > NIC_PKT_MAX) {
		nic_violation(nic, c, JUDGE_PACKET_LENGTH, len);
	} else {
		vmring_copy_out(&c->ch.tx, sizeof(p.desc), nic->pkt + sizeof(p.desc) / 8,
				len - sizeof(p.desc));
		memcpy(nic->pkt, &p.desc, sizeof(p.desc));
		p.base = (const uint8_t *)nic->pkt;
		p.nvsp = hvw_view(p.base + p.desc.offset8 * 8u, len - p.desc.offset8 * 8u);
		packet_handle(nic, c, &p);
	}
	return vmring_skip(&c->ch.tx, &p.desc);
}

/* Take usual completions while they come; returns the bytes that they took. */
static uint32_t
packet_acks(struct nic *nic, struct nic_chan *c, uint32_t avail, uint32_t *done)
{
	const uint64_t usual = hvchan_desc_word(VMBUS_PKT_COMPLETION, 2, NIC_ACK_WORDS - 1, 0);
	uint32_t bytes = NIC_ACK_WORDS * 8, taken = 0;
	struct vmring *r = &c->ch.tx;
	uint64_t word[NIC_ACK_WORDS];

	while (avail - taken >= bytes && r->pos + bytes <= r->size && *done < NIC_DRAIN_MAX) {
		memcpy(word, r->data + r->pos, sizeof(word));
		if (word[0] != usual || word[NIC_ACK_WORDS - 1] != (uint64_t)r->pos << 32 ||
		    !slots_completion_fast(nic, c, word))
			break;
		__builtin_prefetch(r->data + r->pos + ACK_AHEAD);
		r->pos = vmring_step(r, r->pos, bytes);
		taken += bytes;
		(*done)++;
	}
	return taken;
}

uint32_t
nic_drain(struct nic *nic, struct nic_chan *c)
{
	uint32_t avail, done = 0;

	if (vmring_poll(&c->ch.tx, &avail) < 0) {
		nic_corrupt(nic, c, JUDGE_RING_WRITE_INDEX,
			    vmring_load_relaxed(&c->ch.tx.hdr->write_index));
		return 0;
	}
	if (nic->signalled && vmring_refresh(&c->ch.rx) < 0) {
		nic_corrupt(nic, c, JUDGE_RING_READ_INDEX,
			    vmring_load_relaxed(&c->ch.rx.hdr->read_index));
		return 0;
	}
	while (avail > 0 && done < NIC_DRAIN_MAX && c->out_count < NIC_OUT_MAX &&
	       c->ch.state == HVCHAN_OPEN) {
		avail -= packet_acks(nic, c, avail, &done);
		if (avail == 0)
			break;
		avail -= packet_one(nic, c, avail);
		done++;
	}
	tx_flush(nic, c);
	if (c->ch.state == HVCHAN_OPEN && hvchan_release(&c->ch)) {
		c->st.interrupts++;
		nic->env.interrupt(nic->env.ctx, c->index);
	}
	nic_publish(nic, c);
	if (c->ch.state == HVCHAN_OPEN && avail == 0)
		hvchan_drained(&c->ch);
	return done;
}

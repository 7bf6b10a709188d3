/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 hvnet contributors
 *
 * Frames from the wire to the guest: filter, spreading, transfer-page packets.
 */
#include <string.h>

#include "nic_priv.h"

#define XFER_HDR_WORDS (sizeof(struct vmbus_xfer_hdr) / 8)
#define XFER_NVSP_WORDS (NVSP_MSG_SIZE_V61 / 8)

/* The words of a transfer-page packet, and the chain marked as with the guest. */
static inline void
xfer_fill(uint64_t *dst, struct nic *nic, struct nic_chan *c, uint32_t head, uint32_t count,
	  uint32_t type)
{
	uint32_t ofs8 = XFER_HDR_WORDS + count, nvsp8 = nic->s.msg_size / 8, slot, i;

	dst[0] = hvchan_desc_word(VMBUS_PKT_XFER_PAGES, ofs8, ofs8 + nvsp8,
				  VMBUS_PKT_F_COMPLETION);
	dst[1] = head;
	dst[2] = nic->s.rx_id | (uint64_t)count << 32;
	dst += XFER_HDR_WORDS;
	for (slot = head; slot != NIC_NO_SLOT; slot = nic->slots[slot].next) {
		struct nic_slot *sl = &nic->slots[slot];

		*dst++ = sl->range.len | (uint64_t)sl->range.ofs << 32;
		sl->holder = (uint8_t)(c->index + 1);
	}
	nic->slots[head].holder |= NIC_HELD_HEAD;
	c->held += count;
	dst[0] = NVSP_RNDIS | (uint64_t)type << 32;
	dst[1] = NVSP_SECTION_NONE;
	for (i = 2; i < nvsp8; i++)
		dst[i] = 0;
}

/*
 * Put a transfer of the @p count sub-allocations chained at @p head, unpublished.
 * Data leaves the ring's last bytes to completions; when there is no room the guest is
 * asked for a signal.
 */
bool
rx_xfer(struct nic *nic, struct nic_chan *c, uint32_t head, uint32_t count,
	enum nvsp_channel_type type)
{
	uint64_t slow[XFER_HDR_WORDS + VMBUS_XFER_RANGES + XFER_NVSP_WORDS];
	uint32_t spare = type == NVSP_CHANNEL_DATA ? NIC_RX_RING_SPARE : 0;
	uint32_t words = XFER_HDR_WORDS + count + nic->s.msg_size / 8;

	if (spare > c->ch.rx.size / 4)
		spare = c->ch.rx.size / 4;
	if (!nic_room(nic, c, vmring_cost(words * 8) + spare))
		return false;
	HVCHAN_APPEND(&c->ch, words, slow, xfer_fill, nic, c, head, count, type);
	return true;
}

static bool
rx_multicast_listed(const struct nic *nic, const uint8_t *dst)
{
	uint32_t i;

	for (i = 0; i < nic->s.mcast_count; i++)
		if (memcmp(nic->s.mcast[i], dst, 6) == 0)
			return true;
	return false;
}

/* Does the packet filter let this frame through? */
bool
rx_wanted(const struct nic *nic, const uint8_t *frame)
{
	static const uint8_t all[6] = { 0xff, 0xff, 0xff, 0xff, 0xff, 0xff };
	uint32_t f = nic->s.filter;

	if ((f & NDIS_FILTER_PROMISCUOUS) != 0)
		return true;
	if (memcmp(frame, all, 6) == 0)
		return (f & NDIS_FILTER_BROADCAST) != 0;
	if ((frame[0] & 1) == 0)
		return (f & NDIS_FILTER_DIRECTED) != 0 && memcmp(frame, nic->conf.mac, 6) == 0;
	if ((f & NDIS_FILTER_ALL_MULTICAST) != 0)
		return true;
	return (f & NDIS_FILTER_MULTICAST) != 0 && rx_multicast_listed(nic, frame);
}

/* Send the transfer that is being filled; its frames are lost when the ring is full. */
static void
rx_close(struct nic *nic, struct nic_chan *c)
{
	uint32_t slot, next, n = c->batch_count;

	if (n == 0)
		return;
	c->batch_count = 0;
	nic->slots[c->batch_tail].next = NIC_NO_SLOT;
	if (rx_xfer(nic, c, c->batch_head, n, NVSP_CHANNEL_DATA)) {
		c->st.rx_messages++;
		c->st.rx_packets += n;
		for (slot = c->batch_head; slot != NIC_NO_SLOT; slot = nic->slots[slot].next)
			c->st.rx_bytes += nic->slots[slot].range.len - NIC_RX_DATA_OFS;
		return;
	}
	c->st.rx_ring_full += n;
	for (slot = c->batch_head; slot != NIC_NO_SLOT; slot = next) {
		next = nic->slots[slot].next;
		slots_give(nic, slot);
	}
}

/* The channel that gets a frame; @p hash and @p type go into its records. */
static struct nic_chan *
rx_spread(struct nic *nic, const struct wire_rx *f, uint32_t *hash, uint32_t *type)
{
	uint8_t plain[128];
	uint32_t len = f->len - NIC_VLAN_TAG;

	if (f->data[12] != 0x81 || f->data[13] != 0x00 || f->len < NIC_ETH_HDR + NIC_VLAN_TAG) {
		*hash = rss_hash(&nic->s.rss, f->data, f->len, type);
	} else {
		if (len > sizeof(plain))
			len = sizeof(plain);
		memcpy(plain, f->data, 12);
		memcpy(plain + 12, f->data + 12 + NIC_VLAN_TAG, len - 12);
		*hash = rss_hash(&nic->s.rss, plain, len, type);
	}
	return &nic->chan[*type != 0 ? rss_channel(&nic->s.rss, *hash) : 0];
}

static struct nic_chan *
rx_frame(struct nic *nic, const struct wire_rx *f)
{
	uint32_t hash, type, slot, max = nic->s.frame_max;
	struct nic_chan *c = &nic->chan[0];

	if (f->len < NIC_ETH_HDR || !rx_wanted(nic, f->data)) {
		c->st.rx_filtered++;
		return NULL;
	}
	if (f->data[12] == 0x81 && f->data[13] == 0x00)
		max += NIC_VLAN_TAG;
	if (f->len > max) {
		c->st.rx_oversize++;
		return NULL;
	}
	c = rx_spread(nic, f, &hash, &type);
	if (c->ch.state != HVCHAN_OPEN || c->ch.armed != 0) {
		c->st.rx_ring_full++;
		return NULL;
	}
	slot = slots_take(nic, c);
	if (slot == NIC_NO_SLOT) {
		c->st.rx_no_buffer++;
		return NULL;
	}
	slot_fill(nic, slot, f->data, f->len, hash, type);
	if (c->batch_count++ == 0)
		c->batch_head = slot;
	else
		nic->slots[c->batch_tail].next = slot;
	c->batch_tail = slot;
	if (c->batch_count >= nic->conf.ranges)
		rx_close(nic, c);
	return c;
}

/* Could any channel take a frame now? If not, frames stay with the wire. */
static bool
rx_possible(const struct nic *nic)
{
	uint32_t i;

	if (nic->s.rndis != NIC_RNDIS_UP)
		return false;
	if (nic->s.filter == 0)
		return !nic->wire->waits;
	for (i = 0; i < nic->s.channels; i++) {
		const struct nic_chan *c = &nic->chan[i];

		if (c->ch.state == HVCHAN_OPEN && c->ch.armed == 0 && c->free_count > 0)
			return true;
	}
	return false;
}

/* Take frames from a general wire. */
uint32_t
rx_poll(struct nic *nic)
{
	struct wire_rx frames[NIC_RX_BURST];
	uint32_t turn, n, i, done = 0;
	uint64_t touched = 0;

	if (nic->wire->ops->rx == NULL || !rx_possible(nic))
		return 0;
	for (turn = 0; turn < nic->wire->nqueues && done < NIC_RX_BURST; turn++) {
		n = nic->wire->ops->rx(nic->wire, nic->wire_turn, frames, NIC_RX_BURST - done);
		nic->wire_turn = (nic->wire_turn + 1) % nic->wire->nqueues;
		for (i = 0; i < n; i++) {
			struct nic_chan *c = rx_frame(nic, &frames[i]);

			if (c != NULL)
				touched |= 1ull << c->index;
		}
		done += n;
	}
	for (i = 0; touched != 0; i++, touched >>= 1) {
		if ((touched & 1) == 0)
			continue;
		rx_close(nic, &nic->chan[i]);
		nic_publish(nic, &nic->chan[i]);
	}
	return done;
}

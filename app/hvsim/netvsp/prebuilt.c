/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 hvnet contributors
 *
 * Frames of generator wires: written once into sub-allocations, then only posted again.
 *
 * A sub-allocation remembers the generation of its content. Whatever changes content
 * (filter, RSS, buffer) starts a new generation; old content is rewritten on its next use.
 */
#include <stdlib.h>
#include <string.h>

#include "nic_priv.h"

/** Frames per batch when the wire does not say. */
#define PREBUILT_BURST 128u
/** A guest that keeps buffers and completes nothing gets the next batch after this, ns. */
#define PREBUILT_PATIENCE_NS 2000000u
#define PREBUILT_PATIENCE_MAX_NS 1000000000u
/** Pause after the last completion: time for the guest to see its ring empty, ns. */
#define PREBUILT_SETTLE_NS 1000u

/* The channel that gets template @p f, VMBUS_CHANNELS_MAX when the guest does not want it. */
static uint32_t
prebuilt_channel(const struct nic *nic, const struct wire_rx *f)
{
	uint32_t type, hash;

	if (f->len < NIC_ETH_HDR || f->len > nic->s.frame_max || !rx_wanted(nic, f->data))
		return VMBUS_CHANNELS_MAX;
	hash = rss_hash(&nic->s.rss, f->data, f->len, &type);
	return type != 0 ? rss_channel(&nic->s.rss, hash) : 0;
}

/* Share the wire's templates out to the channels and start a new generation. */
void
prebuilt_changed(struct nic *nic)
{
	const struct wire_rx *list;
	uint32_t n, i, ch;

	if (nic->wire->ops->templates == NULL || nic->s.nslots == 0)
		return;
	list = nic->wire->ops->templates(nic->wire, &n);
	if (++nic->gen == 0) {
		for (i = 0; i < nic->s.nslots; i++)
			nic->slots[i].gen = 0;
		nic->gen = 1;
	}
	for (i = 0; i < VMBUS_CHANNELS_MAX; i++) {
		nic->chan[i].tmpl_count = 0;
		nic->chan[i].tmpl_next = 0;
	}
	for (i = 0; list != NULL && i < n; i++) {
		struct nic_chan *c;

		ch = prebuilt_channel(nic, &list[i]);
		if (ch >= nic->s.channels)
			continue;
		c = &nic->chan[ch];
		if (c->tmpl == NULL)
			c->tmpl = malloc(n * sizeof(*c->tmpl));
		if (c->tmpl != NULL)
			c->tmpl[c->tmpl_count++] = i;
	}
}

/* Give @p slot the channel's next template. */
static void
prebuilt_fill(struct nic *nic, struct nic_chan *c, uint32_t slot)
{
	uint32_t n, type, hash;
	const struct wire_rx *f = nic->wire->ops->templates(nic->wire, &n);

	f += c->tmpl[c->tmpl_next];
	c->tmpl_next = c->tmpl_next + 1 < c->tmpl_count ? c->tmpl_next + 1 : 0;
	hash = rss_hash(&nic->s.rss, f->data, f->len, &type);
	slot_fill(nic, slot, f->data, f->len, hash, type);
	nic->slots[slot].gen = nic->gen;
	nic->slot_frame[slot] = f->data;
}

/* Write the frame of @p slot once more, as a device that receives would. */
static void
prebuilt_touch(struct nic *nic, uint32_t slot)
{
	memcpy(nic_slot_mem(nic, slot) + NIC_RX_DATA_OFS, nic->slot_frame[slot],
	       nic->slots[slot].range.len - NIC_RX_DATA_OFS);
}

/* Take @p n sub-allocations with current content as a chain; adds up their frame bytes. */
static uint32_t
prebuilt_chain(struct nic *nic, struct nic_chan *c, uint32_t n, uint64_t *bytes)
{
	bool touch = nic->wire->touch;
	uint32_t head = c->free_head, slot = head, last = head;

	while (n-- > 0) {
		last = slot;
		if (nic->slots[slot].gen != nic->gen)
			prebuilt_fill(nic, c, slot);
		else if (touch)
			prebuilt_touch(nic, slot);
		*bytes += nic->slots[slot].range.len - NIC_RX_DATA_OFS;
		c->free_count--;
		slot = nic->slots[slot].next;
	}
	c->free_head = slot;
	nic->slots[last].next = NIC_NO_SLOT;
	return head;
}

static void
prebuilt_unchain(struct nic *nic, uint32_t head)
{
	uint32_t next;

	for (; head != NIC_NO_SLOT; head = next) {
		next = nic->slots[head].next;
		slots_give(nic, head);
	}
}

/*
 * May the next batch go? Not before the last one was completed: upstream's driver leaves its
 * receive function only when the ring is empty, and a source that refills faster than that
 * would keep it there for ever. A guest that does complete, however slowly, is waited for;
 * one that completes nothing gets batches at growing intervals, for it may be asleep.
 */
static bool
prebuilt_due(struct nic_chan *c, uint64_t now_ns)
{
	if (c->tmpl_count == 0 || c->ch.state != HVCHAN_OPEN || c->ch.armed != 0)
		return false;
	if (c->held < c->held_seen || c->patience_ns == 0)
		c->patience_ns = PREBUILT_PATIENCE_NS;
	if (c->held != c->held_seen) {
		c->held_seen = c->held;
		c->moved_ns = now_ns;
	}
	if (c->held != 0) {
		if (now_ns - c->moved_ns < c->patience_ns)
			return false;
		if (c->patience_ns < PREBUILT_PATIENCE_MAX_NS)
			c->patience_ns *= 2;
		return true;
	}
	if (c->settled_ns == 0)
		c->settled_ns = now_ns + PREBUILT_SETTLE_NS;
	return now_ns >= c->settled_ns;
}

static uint32_t
prebuilt_send(struct nic *nic, struct nic_chan *c, uint64_t now_ns)
{
	struct wire *w = nic->wire;
	uint32_t max = w->burst != 0 ? w->burst : PREBUILT_BURST;
	uint32_t per = w->ranges != 0 ? w->ranges : nic->conf.ranges;
	uint32_t n, left, part, head;
	uint64_t bytes = 0, part_bytes;

	if (max > c->free_count)
		max = c->free_count;
	if (max == 0)
		return 0;
	if (per > VMBUS_XFER_RANGES)
		per = VMBUS_XFER_RANGES;
	n = w->ops->budget != NULL ? w->ops->budget(w, c->index, max, now_ns) : max;
	if (n > max)
		n = max;
	for (left = n; left > 0; left -= part) {
		part = left < per ? left : per;
		part_bytes = 0;
		head = prebuilt_chain(nic, c, part, &part_bytes);
		if (!rx_xfer(nic, c, head, part, NVSP_CHANNEL_DATA)) {
			c->st.rx_ring_full += left;
			prebuilt_unchain(nic, head);
			break;
		}
		c->st.rx_messages++;
		bytes += part_bytes;
	}
	nic_publish(nic, c);
	if (n > left)
		c->settled_ns = 0;
	c->st.rx_packets += n - left;
	c->st.rx_bytes += bytes;
	if (w->ops->sent != NULL && n > left)
		w->ops->sent(w, n - left, bytes);
	return n - left;
}

/* Let the generator send; each time another channel is the first to draw on its rate. */
uint32_t
prebuilt_poll(struct nic *nic, uint64_t now_ns)
{
	uint32_t i, turn, done = 0;

	if (nic->s.rndis != NIC_RNDIS_UP || nic->s.filter == 0)
		return 0;
	turn = nic->wire_turn++ % nic->s.channels;
	for (i = 0; i < nic->s.channels; i++) {
		struct nic_chan *c = &nic->chan[turn];

		if (++turn == nic->s.channels)
			turn = 0;
		if (prebuilt_due(c, now_ns))
			done += prebuilt_send(nic, c, now_ns);
	}
	return done;
}

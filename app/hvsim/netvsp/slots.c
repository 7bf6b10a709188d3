/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 hvnet contributors
 *
 * Receive sub-allocations: who owns them, which the guest holds, and their completions.
 *
 * Numbers 0..15 carry control messages. The others are shared out to the channels that
 * receive; a transfer's number is its first sub-allocation's, and the guest's completion
 * with that number returns the whole chain, each to the channel that owns it by then.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "nic_priv.h"

/* Size everything for the session's receive buffer. */
int
slots_setup(struct nic *nic)
{
	struct nic_session *s = &nic->s;
	const uint8_t **frames;
	uint64_t n;
	uint32_t i;

	s->suballoc = HVW_ALIGN_UP(NIC_RX_DATA_OFS + s->frame_max + NIC_RX_TAIL, 64u);
	n = s->recv_len / s->suballoc;
	if (nic->conf.recv_slots != 0 && n > nic->conf.recv_slots)
		n = nic->conf.recv_slots;
	if (n <= NIC_CTL_SLOTS || n > UINT32_MAX / 2)
		return -ENOSPC;
	if (n > nic->slots_alloc) {
		struct nic_slot *slots = realloc(nic->slots, n * sizeof(*slots));

		if (slots == NULL)
			return -ENOMEM;
		nic->slots = slots;
		frames = realloc(nic->slot_frame, n * sizeof(*frames));
		if (frames == NULL)
			return -ENOMEM;
		nic->slot_frame = frames;
		nic->slots_alloc = (uint32_t)n;
	}
	s->nslots = (uint32_t)n;
	memset(nic->slots, 0, n * sizeof(*nic->slots));
	for (i = 0; i < n; i++) {
		nic->slots[i].range.ofs = i * s->suballoc;
		nic->slots[i].owner = NIC_OWNER_NONE;
	}
	nic->ctl_count = NIC_CTL_SLOTS;
	for (i = 0; i < NIC_CTL_SLOTS; i++)
		nic->ctl_free[i] = NIC_CTL_SLOTS - 1 - i;
	slots_share(nic);
	return 0;
}

static void
slots_append(struct nic *nic, struct nic_chan *c, uint32_t slot)
{
	nic->slots[slot].next = NIC_NO_SLOT;
	if (c->free_count++ == 0)
		c->free_head = slot;
	else
		nic->slots[c->free_tail].next = slot;
	c->free_tail = slot;
}

void
slots_give(struct nic *nic, uint32_t slot)
{
	uint8_t owner = nic->slots[slot].owner;

	nic->slots[slot].holder = 0;
	if (owner != NIC_OWNER_NONE)
		slots_append(nic, &nic->chan[owner], slot);
	else if (slot < NIC_CTL_SLOTS)
		nic->ctl_free[nic->ctl_count++] = slot;
}

/* Take the sub-allocation that has been free for longest; NIC_NO_SLOT when none is. */
uint32_t
slots_take(struct nic *nic, struct nic_chan *c)
{
	uint32_t slot = c->free_head;

	if (c->free_count == 0)
		return NIC_NO_SLOT;
	c->free_head = nic->slots[slot].next;
	c->free_count--;
	return slot;
}

/* Mark the channels that take part in receiving; returns how many. */
static uint32_t
slots_receivers(const struct nic *nic, bool *takes)
{
	const struct nic_session *s = &nic->s;
	uint32_t i, n = 0;

	memset(takes, 0, VMBUS_CHANNELS_MAX * sizeof(*takes));
	if (!s->rss.on) {
		for (i = 0; i < s->channels; i++)
			takes[i] = true;
		return s->channels;
	}
	for (i = 0; i < s->rss.entries; i++) {
		n += !takes[s->rss.table[i]];
		takes[s->rss.table[i]] = true;
	}
	return n;
}

/* Share the sub-allocations out anew; those with the guest move when they return. */
void
slots_share(struct nic *nic)
{
	struct nic_session *s = &nic->s;
	bool takes[VMBUS_CHANNELS_MAX];
	uint32_t i, per, at = NIC_CTL_SLOTS, left;

	if (!s->have_rx && s->nslots == 0)
		return;
	left = slots_receivers(nic, takes);
	per = (s->nslots - NIC_CTL_SLOTS) / left;
	for (i = 0; i < VMBUS_CHANNELS_MAX; i++) {
		struct nic_chan *c = &nic->chan[i];
		uint32_t end;

		c->free_count = 0;
		if (!takes[i])
			continue;
		end = --left == 0 ? s->nslots : at + per;
		for (; at < end; at++) {
			nic->slots[at].owner = (uint8_t)i;
			if (nic->slots[at].holder == 0)
				slots_append(nic, c, at);
		}
	}
}

/* Is @p id the number of a transfer that this channel has with the guest? */
static enum judge_violation
slots_check(const struct nic *nic, const struct nic_chan *c, uint64_t id)
{
	const struct nic_slot *slot;

	if (id >= nic->s.nslots)
		return JUDGE_COMPLETION_UNKNOWN;
	slot = &nic->slots[id];
	if (slot->holder == 0)
		return slot->range.len != 0 ? JUDGE_COMPLETION_DOUBLE : JUDGE_COMPLETION_UNKNOWN;
	if ((slot->holder & NIC_HELD_HEAD) == 0)
		return JUDGE_COMPLETION_UNKNOWN;
	if ((slot->holder & NIC_HELD_BY) != c->index + 1)
		return JUDGE_COMPLETION_CHANNEL;
	return JUDGE_COUNT;
}

/* The chain at @p slot comes home from channel @p c. */
static inline void
slots_return(struct nic *nic, struct nic_chan *c, uint32_t slot)
{
	uint32_t next;

	c->st.rx_completions++;
	for (; slot != NIC_NO_SLOT; slot = next) {
		next = nic->slots[slot].next;
		slots_give(nic, slot);
		c->held--;
	}
}

/* The guest completed a transfer. */
void
slots_completion(struct nic *nic, struct nic_chan *c, const struct nic_packet *p)
{
	struct nvsp_rndis_complete msg = { .type = 0 };
	enum judge_violation v = slots_check(nic, c, p->desc.xact);

	if (v != JUDGE_COUNT) {
		nic_violation(nic, c, v, p->desc.xact);
		return;
	}
	if (!hvw_read(p->nvsp, 0, &msg, sizeof(msg)) || msg.type != NVSP_RNDIS_COMPLETE ||
	    (msg.status != NVSP_STATUS_OK && msg.status != NVSP_STATUS_FAIL &&
	     msg.status != NVSP_STATUS_BAD_RNDIS)) {
		if (nic_violation(nic, c, JUDGE_COMPLETION_PAYLOAD,
				  (uint64_t)msg.status << 32 | msg.type))
			return;
	}
	slots_return(nic, c, (uint32_t)p->desc.xact);
}

/*
 * The usual completion, word by word: a good one of a transfer that is out. Everything
 * else is left to slots_completion().
 *
 * @param word
 *   NIC_ACK_WORDS words of a packet whose descriptor is that of a completion, private.
 */
bool
slots_completion_fast(struct nic *nic, struct nic_chan *c, const uint64_t *word)
{
	if (word[2] != (NVSP_RNDIS_COMPLETE | (uint64_t)NVSP_STATUS_OK << 32) ||
	    word[1] >= nic->s.nslots ||
	    nic->slots[word[1]].holder != (NIC_HELD_HEAD | (c->index + 1)))
		return false;
	slots_return(nic, c, (uint32_t)word[1]);
	return true;
}

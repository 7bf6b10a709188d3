/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 hvnet contributors
 *
 * The simulated NIC's life cycle, its poll loop and what can be read from it.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "nic_priv.h"

#define SECTION_SIZE 6144u   /* bytes. Source: Windows, OpenVMM */
#define ALIGN_SHIFT_MAX 12u  /* a page; more cannot be met in a section */
#define MAX_PACKETS_CAP 64u /* the staging area holds as many frames of one packet */

static void
conf_clamp(struct nic_conf *conf)
{
	if (conf->channels == 0 || conf->channels > VMBUS_CHANNELS_MAX)
		conf->channels = conf->channels == 0 ? 1 : VMBUS_CHANNELS_MAX;
	if (conf->max_packets == 0 || conf->max_packets > MAX_PACKETS_CAP)
		conf->max_packets = conf->max_packets == 0 ? 1 : MAX_PACKETS_CAP;
	if (conf->ranges == 0 || conf->ranges > VMBUS_XFER_RANGES)
		conf->ranges = conf->ranges == 0 ? 1 : VMBUS_XFER_RANGES;
	if (conf->rss_entries == 0 || conf->rss_entries > NDIS_RSS_ENTRIES_MAX)
		conf->rss_entries = NDIS_RSS_ENTRIES_DEFAULT;
	if (conf->section_size == 0)
		conf->section_size = SECTION_SIZE;
	if (conf->align_shift > ALIGN_SHIFT_MAX)
		conf->align_shift = ALIGN_SHIFT_MAX;
}

struct nic *
nic_create(const struct nic_conf *conf, const struct nic_env *env, struct wire *wire,
	   struct judge *judge)
{
	struct nic *nic = calloc(1, sizeof(*nic));
	uint32_t i;

	if (nic == NULL)
		return NULL;
	nic->conf = *conf;
	conf_clamp(&nic->conf);
	nic->env = *env;
	nic->wire = wire;
	nic->judge = judge;
	nic->signalled = judge->mode != JUDGE_POLLING;
	nic->link_up = true;
	nic->reply = calloc(NIC_REPLIES, sizeof(*nic->reply));
	for (i = 0; i < nic->conf.channels; i++) {
		nic->chan[i].index = i;
		nic->chan[i].out = calloc(NIC_OUT_MAX, sizeof(*nic->chan[i].out));
		if (nic->chan[i].out == NULL)
			break;
	}
	if (nic->reply == NULL || i < nic->conf.channels) {
		nic_destroy(nic);
		return NULL;
	}
	return nic;
}

void
nic_destroy(struct nic *nic)
{
	uint32_t i;

	if (nic == NULL)
		return;
	nic_close(nic);
	for (i = 0; i < VMBUS_CHANNELS_MAX; i++) {
		free(nic->chan[i].out);
		free(nic->chan[i].tmpl);
	}
	free(nic->section_stamp);
	free(nic->slots);
	free(nic->slot_frame);
	free(nic->reply);
	free(nic);
}

const struct nic_conf *
nic_conf(const struct nic *nic)
{
	return &nic->conf;
}

int
nic_open(struct nic *nic, void *rings, void *recv, uint32_t recv_gpadl, uint64_t recv_len,
	 void *send, uint32_t send_gpadl, uint64_t send_len)
{
	int ret;

	if (nic->s.open)
		return -EBUSY;
	ret = hvchan_open(&nic->chan[0].ch, rings, nic->conf.ring_bytes, !nic->signalled);
	if (ret < 0)
		return ret;
	nic->chan[0].rings = rings;
	nic->s = (struct nic_session){
		.open = true,
		.recv = recv,
		.send = send,
		.recv_gpadl = recv_gpadl,
		.send_gpadl = send_gpadl,
		.recv_len = recv_len,
		.send_len = send_len,
		.msg_size = HVW_ALIGN_UP(NVSP_MSG_SIZE_V1, 8u),
		.frame_max = NIC_MTU_FRAME_MIN,
		.channels = 1,
		.channels_open = 1,
	};
	nic->epoch = 1;
	nic->next_audit_ns = 0;
	return 0;
}

void
nic_close(struct nic *nic)
{
	uint32_t i;

	if (!nic->s.open)
		return;
	for (i = 0; i < VMBUS_CHANNELS_MAX; i++) {
		struct nic_chan *c = &nic->chan[i];

		if (i > 0 && c->rings != NULL)
			nic->env.channel_rescind(nic->env.ctx, i);
		hvchan_close(&c->ch);
		c->rings = NULL;
		c->free_count = 0;
		c->held = 0;
		c->batch_count = 0;
		c->out_count = 0;
		c->tmpl_count = 0;
	}
	nic->reply_count = 0;
	nic->nframes = 0;
	nic->nsegs = 0;
	memset(&nic->s, 0, sizeof(nic->s));
}

bool
nic_is_open(const struct nic *nic)
{
	return nic->s.open;
}

uint32_t
nic_channels(const struct nic *nic)
{
	uint32_t i, n = 0;

	for (i = 0; i < VMBUS_CHANNELS_MAX; i++)
		n += nic->chan[i].rings != NULL;
	return n;
}

void
nic_channel_opened(struct nic *nic, uint32_t index)
{
	struct nic_chan *c;

	if (index == 0 || index >= nic->s.channels)
		return;
	c = &nic->chan[index];
	if (c->rings == NULL || c->ch.state != HVCHAN_OFFERED)
		return;
	c->ch.state = HVCHAN_OPEN;
	if (++nic->s.channels_open == nic->s.channels)
		nic->s.table_due = true;
}

void
nic_signal(struct nic *nic, uint32_t index)
{
	struct nic_chan *c;
	bool idle;

	if (index >= VMBUS_CHANNELS_MAX || nic->chan[index].ch.state != HVCHAN_OPEN)
		return;
	c = &nic->chan[index];
	c->st.signals++;
	idle = !vmring_pending(&c->ch.tx) && c->ch.armed == 0;
	if (idle && !c->ch.active)
		c->st.signals_redundant++;
	if (!hvchan_signal(&c->ch))
		nic_violation(nic, c, JUDGE_SIGNAL_REDUNDANT, c->st.signals);
}

void
nic_look(struct nic *nic, uint32_t index)
{
	if (index < VMBUS_CHANNELS_MAX)
		hvchan_look(&nic->chan[index].ch);
}

/* Offer granted sub-channels, once the guest can see the answer to its request. */
static void
poll_offers(struct nic *nic)
{
	uint32_t i;

	for (i = 1; i <= nic->s.offers_due; i++) {
		struct nic_chan *c = &nic->chan[i];
		void *mem = nic->env.channel_offer(nic->env.ctx, i);

		if (mem == NULL)
			continue;
		if (hvchan_open(&c->ch, mem, nic->conf.ring_bytes, !nic->signalled) < 0) {
			nic->env.channel_rescind(nic->env.ctx, i);
			continue;
		}
		c->ch.state = HVCHAN_OFFERED;
		c->rings = mem;
	}
	nic->s.offers_due = 0;
}

/* The slow look at signals that should have come. */
static void
poll_audit(struct nic *nic, uint64_t now_ns)
{
	uint32_t i;

	nic->next_audit_ns = now_ns + NIC_AUDIT_NS;
	for (i = 0; i < nic->s.channels; i++) {
		struct nic_chan *c = &nic->chan[i];

		switch (hvchan_audit(&c->ch, now_ns)) {
		case HVCHAN_NO_SIGNAL:
			if (!nic_violation(nic, c, JUDGE_SIGNAL_MISSING, c->ch.tx.pos))
				hvchan_look(&c->ch);
			break;
		case HVCHAN_NO_WAKE:
			nic_violation(nic, c, JUDGE_WAKE_MISSING, vmring_free(&c->ch.rx));
			break;
		case HVCHAN_FINE:
			break;
		}
	}
}

uint32_t
nic_poll(struct nic *nic, uint64_t now_ns)
{
	uint32_t i, work = 0;

	if (!nic->s.open)
		return 0;
	for (i = 0; i < nic->s.channels; i++) {
		struct nic_chan *c = &nic->chan[i];

		if (c->out_count > 0)
			nic_flush_out(nic, c);
		if (hvchan_ready(&c->ch))
			work += nic_drain(nic, c);
	}
	if (nic->s.have_rx && (nic->reply_count > 0 || nic->s.link_due))
		control_flush(nic);
	if (nic->s.offers_due > 0)
		poll_offers(nic);
	if (nic->s.table_due)
		nvsp_send_table(nic);
	if (nic->wire->ops->templates != NULL)
		work += prebuilt_poll(nic, now_ns);
	else
		work += rx_poll(nic);
	if (nic->signalled && now_ns >= nic->next_audit_ns)
		poll_audit(nic, now_ns);
	return work;
}

void
nic_set_link(struct nic *nic, bool up)
{
	if (nic->link_up == up)
		return;
	nic->link_up = up;
	if (nic->wire->ops->set_link != NULL)
		nic->wire->ops->set_link(nic->wire, up);
	if (nic->s.open)
		control_link(nic);
}

void
nic_channel_stats(const struct nic *nic, uint32_t index, struct nic_channel_stats *st)
{
	if (index < VMBUS_CHANNELS_MAX)
		*st = nic->chan[index].st;
	else
		memset(st, 0, sizeof(*st));
}

void
nic_session_info(const struct nic *nic, struct nic_session_info *info)
{
	const struct nic_session *s = &nic->s;
	bool used[VMBUS_CHANNELS_MAX] = { false };
	uint32_t i;

	*info = (struct nic_session_info){
		.nvsp_version = s->version,
		.mtu = s->open ? s->frame_max - NIC_ETH_HDR : 0,
		.filter = s->filter,
		.channels = nic_channels(nic),
		.recv_slots = s->nslots,
		.link_up = nic->link_up,
	};
	for (i = 0; s->rss.on && i < s->rss.entries; i++) {
		info->rss_channels += !used[s->rss.table[i]];
		used[s->rss.table[i]] = true;
	}
	for (i = 0; i < VMBUS_CHANNELS_MAX; i++) {
		info->recv_outstanding += nic->chan[i].held;
		info->dead |= nic->chan[i].ch.state == HVCHAN_DEAD;
	}
}

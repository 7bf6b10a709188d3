/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 hvnet contributors
 *
 * NVSP from the guest: version, configuration, buffers, sub-channels, data path.
 */
#include <stdlib.h>
#include <string.h>

#include "nic_priv.h"

#define MDL_CHAIN NIC_GPA_RANGES

/* Answer @p p, padded to the message size agreed so far. */
static void
nvsp_reply(struct nic *nic, const struct nic_packet *p, const void *msg, uint32_t len)
{
	uint8_t buf[NVSP_MSG_SIZE] = { 0 };

	if ((p->desc.flags & VMBUS_PKT_F_COMPLETION) == 0)
		return;
	memcpy(buf, msg, len);
	nic_send(nic, &nic->chan[0], VMBUS_PKT_COMPLETION, p->desc.xact, buf,
		 nic->s.msg_size, NVSP_SECTION_NONE);
}

/* Messages without an answer get an empty completion when the guest asked for one. */
static void
nvsp_empty(struct nic *nic, const struct nic_packet *p)
{
	if ((p->desc.flags & VMBUS_PKT_F_COMPLETION) != 0)
		nic_send(nic, &nic->chan[0], VMBUS_PKT_COMPLETION, p->desc.xact, "", 0,
			 NVSP_SECTION_NONE);
}

/* True once RNDIS messages may come; the send buffer is optional. */
bool
nvsp_ready(const struct nic *nic)
{
	const struct nic_session *s = &nic->s;

	return s->have_ndis && s->have_rx && (s->version < NVSP_VERSION_2 || s->have_config);
}

/* Highest version in [min, max] that the host accepts, 0 when there is none. */
static uint32_t
nvsp_pick(const struct nic *nic, uint32_t min, uint32_t max)
{
	static const uint32_t known[] = {
		NVSP_VERSION_61, NVSP_VERSION_6, NVSP_VERSION_5,
		NVSP_VERSION_4, NVSP_VERSION_2, NVSP_VERSION_1,
	};
	size_t i;

	for (i = 0; i < sizeof(known) / sizeof(known[0]); i++)
		if (known[i] >= min && known[i] <= max && known[i] <= nic->conf.nvsp_version)
			return known[i];
	return 0;
}

static void
nvsp_init(struct nic *nic, struct nic_chan *c, const struct nic_packet *p)
{
	struct nvsp_init req = { .type = 0 };
	struct nvsp_init_complete rep = { .type = NVSP_INIT_COMPLETE, .mdl_max = MDL_CHAIN };

	if (nic->s.version != 0) {
		nic_violation(nic, c, JUDGE_NVSP_DUPLICATE, NVSP_INIT);
		return;
	}
	hvw_read(p->nvsp, 0, &req, sizeof(req));
	nic->s.version = nvsp_pick(nic, req.min_version, req.max_version);
	rep.version = nic->s.version == NVSP_VERSION_1 ? NVSP_VERSION_1 : UINT32_MAX;
	rep.status = nic->s.version != 0 ? NVSP_STATUS_OK : NVSP_STATUS_NONE;
	nvsp_reply(nic, p, &rep, sizeof(rep));
	if (nic->s.version >= NVSP_VERSION_61)
		nic->s.msg_size = NVSP_MSG_SIZE_V61;
}

static void
nvsp_config(struct nic *nic, struct nic_chan *c, const struct nic_packet *p)
{
	struct nvsp_ndis_config req = { .type = 0 };
	uint32_t max = nic->conf.mtu + NIC_ETH_HDR;

	if (nic->s.have_config || nic->s.have_rx) {
		nic_violation(nic, c,
			      nic->s.have_config ? JUDGE_NVSP_DUPLICATE : JUDGE_NVSP_ORDER,
			      NVSP_NDIS_CONFIG);
		return;
	}
	hvw_read(p->nvsp, 0, &req, sizeof(req));
	if (req.mtu < NIC_MTU_FRAME_MIN || req.mtu > NIC_MTU_FRAME_MAX) {
		if (nic_violation(nic, c, JUDGE_CONFIG_MTU, req.mtu))
			return;
		req.mtu = NIC_MTU_FRAME_MIN;
	}
	nic->s.frame_max = req.mtu < max ? req.mtu : max;
	nic->s.caps = req.caps;
	nic->s.have_config = true;
	nvsp_empty(nic, p);
}

static void
nvsp_ndis(struct nic *nic, struct nic_chan *c, const struct nic_packet *p)
{
	if (nic->s.have_ndis) {
		nic_violation(nic, c, JUDGE_NVSP_DUPLICATE, NVSP_NDIS_VERSION);
		return;
	}
	nic->s.have_ndis = true;
	nvsp_empty(nic, p);
}

static void
nvsp_rxbuf(struct nic *nic, struct nic_chan *c, const struct nic_packet *p)
{
	struct nic_session *s = &nic->s;
	struct nvsp_buffer req = { .type = 0 };
	struct nvsp_rxbuf_complete rep = {
		.type = NVSP_RXBUF_COMPLETE,
		.status = NVSP_STATUS_FAIL,
	};

	hvw_read(p->nvsp, 0, &req, sizeof(req));
	if (s->have_rx) {
		nic_violation(nic, c, JUDGE_NVSP_DUPLICATE, NVSP_RXBUF);
		return;
	}
	if (s->version >= NVSP_VERSION_2 && !s->have_config) {
		nic_violation(nic, c, JUDGE_NVSP_ORDER, NVSP_RXBUF);
		return;
	}
	if (req.gpadl != s->recv_gpadl) {
		if (nic_violation(nic, c, JUDGE_BUFFER_GPADL, req.gpadl))
			return;
	} else if (slots_setup(nic) == 0) {
		s->have_rx = true;
		s->rx_id = req.id;
		rep.status = NVSP_STATUS_OK;
		rep.nsections = 1;
		rep.sec_suballoc = s->suballoc;
		rep.sec_count = s->nslots;
		rep.sec_end = s->nslots * s->suballoc;
		prebuilt_changed(nic);
	}
	nvsp_reply(nic, p, &rep, sizeof(rep));
}

/* Take the send buffer into use: a stamp for each section. */
static bool
nvsp_sections(struct nic *nic)
{
	uint64_t n = nic->s.send_len / nic->conf.section_size;
	uint64_t *stamps;

	if (n > UINT32_MAX / 2)
		n = UINT32_MAX / 2;
	stamps = realloc(nic->section_stamp, (n + 1) * sizeof(*stamps));
	if (stamps == NULL)
		return false;
	memset(stamps, 0, (n + 1) * sizeof(*stamps));
	nic->section_stamp = stamps;
	nic->s.nsections = (uint32_t)n;
	return true;
}

static void
nvsp_txbuf(struct nic *nic, struct nic_chan *c, const struct nic_packet *p)
{
	struct nvsp_buffer req = { .type = 0 };
	struct nvsp_txbuf_complete rep = {
		.type = NVSP_TXBUF_COMPLETE,
		.status = NVSP_STATUS_FAIL,
	};

	hvw_read(p->nvsp, 0, &req, sizeof(req));
	if (nic->s.have_tx) {
		nic_violation(nic, c, JUDGE_NVSP_DUPLICATE, NVSP_TXBUF);
		return;
	}
	if (req.gpadl != nic->s.send_gpadl) {
		if (nic_violation(nic, c, JUDGE_BUFFER_GPADL, req.gpadl))
			return;
	} else if (nvsp_sections(nic)) {
		nic->s.have_tx = true;
		nic->s.tx_id = req.id;
		rep.status = NVSP_STATUS_OK;
		rep.section_size = nic->conf.section_size;
	}
	nvsp_reply(nic, p, &rep, sizeof(rep));
}

static void
nvsp_revoke(struct nic *nic, struct nic_chan *c, const struct nic_packet *p)
{
	struct nic_session *s = &nic->s;
	struct nvsp_revoke req = { .type = 0 };
	bool rx, have;

	hvw_read(p->nvsp, 0, &req, sizeof(req));
	rx = req.type == NVSP_RXBUF_REVOKE;
	have = rx ? s->have_rx && !s->rx_revoked : s->have_tx;
	if (!have || req.id != (rx ? s->rx_id : s->tx_id)) {
		nic_violation(nic, c, JUDGE_REVOKE_ID, req.id);
		return;
	}
	if (s->rndis == NIC_RNDIS_UP && nic_violation(nic, c, JUDGE_REVOKE_ORDER, req.type))
		return;
	if (rx) {
		s->rx_revoked = true;
		s->filter = 0; /* bookkeeping stays: late completions, a HALT that follows */
	} else {
		s->have_tx = false;
	}
	nvsp_empty(nic, p);
}

static void
nvsp_switch_path(struct nic *nic, struct nic_chan *c, const struct nic_packet *p)
{
	struct nvsp_switch_path req = { .type = 0 };

	hvw_read(p->nvsp, 0, &req, sizeof(req));
	if (req.active_path > 1 && nic_violation(nic, c, JUDGE_SWITCH_PATH, req.active_path))
		return;
	/* There is no VF: the path stays synthetic, as on a host whose VF went away. */
	nvsp_empty(nic, p);
}

/* What is wrong with a sub-channel request, JUDGE_COUNT when nothing is. */
static enum judge_violation
subchannel_check(const struct nic *nic, const struct nvsp_subchannel *req)
{
	if (!nvsp_ready(nic))
		return JUDGE_NVSP_ORDER;
	if (nic->s.subchannels_asked)
		return JUDGE_SUBCHANNEL_REPEAT;
	if (req->op != NVSP_SUBCHANNEL_ALLOCATE)
		return JUDGE_SUBCHANNEL_OP;
	if (req->count == 0 || req->count >= nic->conf.channels)
		return JUDGE_SUBCHANNEL_COUNT;
	return JUDGE_COUNT;
}

static void
nvsp_subchannel(struct nic *nic, struct nic_chan *c, const struct nic_packet *p)
{
	struct nvsp_subchannel req = { .type = 0 };
	struct nvsp_subchannel_complete rep = {
		.type = NVSP_SUBCHANNEL,
		.status = NVSP_STATUS_FAIL,
	};
	enum judge_violation v;

	hvw_read(p->nvsp, 0, &req, sizeof(req));
	v = subchannel_check(nic, &req);
	if (v != JUDGE_COUNT && nic_violation(nic, c, v, (uint64_t)req.op << 32 | req.count))
		return;
	if (v == JUDGE_COUNT && (nic->s.nslots - NIC_CTL_SLOTS) / (req.count + 1) > 0) {
		nic->s.subchannels_asked = true;
		nic->s.channels = req.count + 1;
		nic->s.offers_due = req.count;
		slots_share(nic);
		rep.status = NVSP_STATUS_OK;
		rep.count = req.count;
	}
	nvsp_reply(nic, p, &rep, sizeof(rep));
}

/* Tell the guest which channel to send a flow on; all sub-channels are open. */
void
nvsp_send_table(struct nic *nic)
{
	struct {
		struct nvsp_send_table hdr;
		uint32_t entry[NVSP_SEND_TABLE_ENTRIES];
	} msg = {
		.hdr = {
			.type = NVSP_SEND_TABLE,
			.count = NVSP_SEND_TABLE_ENTRIES,
			.offset = sizeof(msg.hdr),
		},
	};
	uint32_t i;

	for (i = 0; i < NVSP_SEND_TABLE_ENTRIES; i++)
		msg.entry[i] = i % nic->s.channels;
	nic_send(nic, &nic->chan[0], VMBUS_PKT_INBAND, 0, &msg, sizeof(msg), NVSP_SECTION_NONE);
	nic_publish(nic, &nic->chan[0]);
	nic->s.table_due = false;
}

/* What each message needs before its handler looks at it. */
static const struct nvsp_rule {
	uint32_t type;
	uint32_t size;     /* bytes of its struct */
	uint32_t version;  /* first that has it */
	bool reply;        /* the guest must ask for a completion */
	void (*handle)(struct nic *nic, struct nic_chan *c, const struct nic_packet *p);
} nvsp_rules[] = {
	{ NVSP_INIT, sizeof(struct nvsp_init), 0, true, nvsp_init },
	{ NVSP_NDIS_VERSION, sizeof(struct nvsp_ndis_version), NVSP_VERSION_1, false, nvsp_ndis },
	{ NVSP_RXBUF, sizeof(struct nvsp_buffer), NVSP_VERSION_1, true, nvsp_rxbuf },
	{ NVSP_RXBUF_REVOKE, sizeof(struct nvsp_revoke), NVSP_VERSION_1, false, nvsp_revoke },
	{ NVSP_TXBUF, sizeof(struct nvsp_buffer), NVSP_VERSION_1, true, nvsp_txbuf },
	{ NVSP_TXBUF_REVOKE, sizeof(struct nvsp_revoke), NVSP_VERSION_1, false, nvsp_revoke },
	{ NVSP_NDIS_CONFIG, sizeof(struct nvsp_ndis_config), NVSP_VERSION_2, false, nvsp_config },
	{ NVSP_SWITCH_PATH, sizeof(struct nvsp_switch_path), NVSP_VERSION_4, false,
	  nvsp_switch_path },
	{ NVSP_SUBCHANNEL, sizeof(struct nvsp_subchannel), NVSP_VERSION_5, true,
	  nvsp_subchannel },
};

static const struct nvsp_rule *
nvsp_find(uint32_t type)
{
	size_t i;

	for (i = 0; i < sizeof(nvsp_rules) / sizeof(nvsp_rules[0]); i++)
		if (nvsp_rules[i].type == type)
			return &nvsp_rules[i];
	return NULL;
}

/* An NVSP message other than RNDIS. */
void
nvsp_message(struct nic *nic, struct nic_chan *c, const struct nic_packet *p)
{
	const struct nvsp_rule *r;
	uint32_t type = 0;

	hvw_read32(p->nvsp, 0, &type);
	r = nvsp_find(type);
	if (r == NULL) {
		nic_violation(nic, c, JUDGE_NVSP_TYPE, type);
	} else if (c->index != 0) {
		nic_violation(nic, c, JUDGE_NVSP_CHANNEL, type);
	} else if (p->desc.type != VMBUS_PKT_INBAND) {
		nic_violation(nic, c, JUDGE_NVSP_TRANSPORT, type);
	} else if (nic->s.version == 0 && type != NVSP_INIT) {
		nic_violation(nic, c, JUDGE_NVSP_ORDER, type);
	} else if (nic->s.version < r->version) {
		nic_violation(nic, c, JUDGE_NVSP_TYPE, type);
	} else if (p->nvsp.len < r->size) {
		nic_violation(nic, c, JUDGE_NVSP_SHORT, p->nvsp.len);
	} else {
		if (r->reply && (p->desc.flags & VMBUS_PKT_F_COMPLETION) == 0 &&
		    nic_violation(nic, c, JUDGE_NVSP_NO_REPLY, type))
			return;
		r->handle(nic, c, p);
	}
}

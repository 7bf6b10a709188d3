/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 hvnet contributors
 *
 * The RNDIS control channel: requests of the guest, replies and indications to it.
 *
 * Replies wait in line for a control sub-allocation and for the completion of their
 * request to be in the ring: guests expect the completion first.
 */
#include <string.h>

#include "nic_priv.h"

#define MAX_TRANSFER 0xEFFFFFFFu /* bytes. Source: OpenVMM */
#define CONNECTIONLESS 1u

/* Queue a message to the guest; false when the line is full. */
bool
control_reply(struct nic *nic, const void *msg, uint32_t len)
{
	struct nic_reply *r;

	if (nic->reply_count == NIC_REPLIES || len > sizeof(r->data))
		return false;
	r = &nic->reply[(nic->reply_head + nic->reply_count++) % NIC_REPLIES];
	r->len = len;
	memcpy(r->data, msg, len);
	return true;
}

/* Send what waits, as far as control sub-allocations and the ring allow. */
void
control_flush(struct nic *nic)
{
	struct nic_chan *c = &nic->chan[0];

	if (nic->s.link_due)
		control_link(nic);
	while (nic->reply_count > 0 && c->out_count == 0 && nic->ctl_count > 0 &&
	       c->ch.state == HVCHAN_OPEN) {
		struct nic_reply *r = &nic->reply[nic->reply_head];
		uint32_t slot = nic->ctl_free[nic->ctl_count - 1];

		memcpy(nic_slot_mem(nic, slot), r->data, r->len);
		nic->slots[slot].range.len = r->len;
		nic->slots[slot].next = NIC_NO_SLOT;
		if (!rx_xfer(nic, c, slot, 1, NVSP_CHANNEL_CONTROL))
			break;
		nic->ctl_count--;
		nic->reply_head = (nic->reply_head + 1) % NIC_REPLIES;
		nic->reply_count--;
	}
	nic_publish(nic, c);
}

/* Indicate the link as it is now. */
void
control_link(struct nic *nic)
{
	struct rndis_indicate ind = {
		.type = RNDIS_INDICATE,
		.len = sizeof(ind),
		.status = nic->link_up ? RNDIS_IND_MEDIA_CONNECT : RNDIS_IND_MEDIA_DISCONNECT,
	};

	nic->s.link_due = nic->s.rndis == NIC_RNDIS_UP && !control_reply(nic, &ind, sizeof(ind));
}

static bool
control_status(struct nic *nic, uint32_t type, uint32_t rid, uint32_t status)
{
	struct rndis_status_complete rep = {
		.type = type | RNDIS_COMPLETION,
		.len = sizeof(rep),
		.rid = rid,
		.status = status,
	};

	return control_reply(nic, &rep, sizeof(rep));
}

static bool
control_initialize(struct nic *nic, const struct rndis_initialize *req)
{
	struct rndis_initialize_complete rep = {
		.type = RNDIS_INITIALIZE | RNDIS_COMPLETION,
		.len = sizeof(rep),
		.rid = req->rid,
		.status = RNDIS_STATUS_SUCCESS,
		.major = RNDIS_MAJOR,
		.minor = RNDIS_MINOR,
		.dev_flags = CONNECTIONLESS,
		.max_packets = nic->conf.max_packets,
		.max_transfer = MAX_TRANSFER,
		.align_shift = nic->conf.align_shift,
	};

	if (req->major != RNDIS_MAJOR)
		rep.status = RNDIS_STATUS_BAD_VERSION;
	else
		nic->s.rndis = NIC_RNDIS_UP;
	return control_reply(nic, &rep, sizeof(rep));
}

/* Check a QUERY or SET and find its value. */
static bool
control_value(struct hvw_view v, struct rndis_oid_request *req, struct hvw_view *val)
{
	if (!hvw_read(v, 0, req, sizeof(*req)))
		return false;
	*val = hvw_view(NULL, 0);
	if (req->buf_len == 0)
		return true;
	if (req->buf_offset < RNDIS_OID_DATA_OFFSET)
		return false;
	return hvw_sub(v, (uint64_t)req->buf_offset + RNDIS_OFFSET_BASE, req->buf_len, val);
}

static bool
control_query(struct nic *nic, const struct rndis_oid_request *req)
{
	uint8_t buf[NIC_REPLY_MAX] = { 0 };
	struct rndis_query_complete rep = {
		.type = RNDIS_QUERY | RNDIS_COMPLETION,
		.rid = req->rid,
	};
	uint32_t len = 0;

	rep.status = oid_query(nic, req->oid, buf + sizeof(rep), sizeof(buf) - sizeof(rep),
			       &len);
	rep.len = (uint32_t)sizeof(rep) + len;
	rep.buf_len = len;
	rep.buf_offset = len != 0 ? RNDIS_QUERY_DATA_OFFSET : 0;
	memcpy(buf, &rep, sizeof(rep));
	return control_reply(nic, buf, rep.len);
}

/* A SET of the offload parameters is followed by an indication of what is in force. */
static bool
control_set(struct nic *nic, const struct rndis_oid_request *req, struct hvw_view val)
{
	struct {
		struct rndis_indicate ind;
		struct ndis_offload off;
	} msg = {
		.ind = {
			.type = RNDIS_INDICATE,
			.len = sizeof(msg),
			.status = RNDIS_IND_OFFLOAD_CONFIG,
			.buf_len = sizeof(msg.off),
			.buf_offset = sizeof(msg.ind) - RNDIS_OFFSET_BASE,
		},
	};
	uint32_t status = oid_set(nic, req->oid, val);

	if (!control_status(nic, RNDIS_SET, req->rid, status))
		return false;
	if (req->oid != OID_TCP_OFFLOAD_PARAMETERS || status != RNDIS_STATUS_SUCCESS)
		return true;
	offload_caps(nic, &msg.off);
	control_reply(nic, &msg, sizeof(msg));
	return true;
}

static void
control_halt(struct nic *nic)
{
	nic->s.rndis = NIC_RNDIS_HALTED;
	nic->s.filter = 0;
	nic->s.link_due = false;
	nic->reply_count = 0;
}

/* What is wrong with the request before its type is looked at; JUDGE_COUNT when nothing. */
static enum judge_violation
control_check(const struct nic *nic, const struct rndis_ctl_hdr *h, uint32_t len)
{
	bool up = nic->s.rndis == NIC_RNDIS_UP;

	if (len < sizeof(*h) || h->len < sizeof(*h) || h->len > len)
		return JUDGE_CONTROL_LENGTH;
	switch (h->type) {
	case RNDIS_INITIALIZE:
		if (up)
			return JUDGE_CONTROL_STATE;
		break;
	case RNDIS_HALT:
	case RNDIS_QUERY:
	case RNDIS_SET:
	case RNDIS_KEEPALIVE:
	case RNDIS_KEEPALIVE | RNDIS_COMPLETION:
		if (!up)
			return JUDGE_CONTROL_STATE;
		break;
	default:
		return JUDGE_CONTROL_TYPE;
	}
	return h->rid == 0 ? JUDGE_CONTROL_RID : JUDGE_COUNT;
}

/* Act on a checked request; JUDGE_COUNT when all is well. */
static enum judge_violation
control_act(struct nic *nic, struct hvw_view v, const struct rndis_ctl_hdr *h)
{
	struct rndis_initialize init;
	struct rndis_oid_request req;
	struct hvw_view val;
	bool sent = true;

	switch (h->type) {
	case RNDIS_INITIALIZE:
		if (!hvw_read(v, 0, &init, sizeof(init)))
			return JUDGE_CONTROL_LENGTH;
		sent = control_initialize(nic, &init);
		break;
	case RNDIS_HALT:
		control_halt(nic);
		break;
	case RNDIS_QUERY:
	case RNDIS_SET:
		if (!control_value(v, &req, &val))
			return JUDGE_CONTROL_LENGTH;
		sent = h->type == RNDIS_QUERY ? control_query(nic, &req) :
		       control_set(nic, &req, val);
		break;
	case RNDIS_KEEPALIVE:
		sent = control_status(nic, RNDIS_KEEPALIVE, h->rid, RNDIS_STATUS_SUCCESS);
		break;
	}
	return sent ? JUDGE_COUNT : JUDGE_CONTROL_OVERRUN;
}

/*
 * A control message from the guest, already private.
 *
 * @return NVSP status to complete it with.
 */
uint32_t
control_message(struct nic *nic, const uint8_t *msg, uint32_t len)
{
	struct rndis_ctl_hdr h = { .len = 0 };
	enum judge_violation v;
	uint64_t value;

	memcpy(&h, msg, len < sizeof(h) ? len : sizeof(h));
	v = control_check(nic, &h, len);
	if (v == JUDGE_CONTROL_RID &&
	    !nic_violation(nic, &nic->chan[0], v, h.type))
		v = JUDGE_COUNT; /* recorded, answered all the same */
	if (v == JUDGE_COUNT)
		v = control_act(nic, hvw_view(msg, h.len), &h);
	if (v == JUDGE_COUNT)
		return NVSP_STATUS_OK;
	value = v == JUDGE_CONTROL_LENGTH ? (uint64_t)h.len << 32 | len : h.type;
	nic_violation(nic, &nic->chan[0], v, value);
	return NVSP_STATUS_FAIL;
}

/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 hvnet contributors
 *
 * The receiving half of the control session: sorts what arrives on the primary channel
 * into answers and notes. Runs in whoever drains, so it copies and never waits.
 */
#include <string.h>
#include <unistd.h>

#include <hvwire/cursor.h>

#include "hvn_exchange.h"
#include "hvn_nvsp.h"
#include "hvn_session.h"

/* Longest in-band message that is looked at: a send table with its historic gap. */
#define INBAND_MAX 256u

/* Wake the control thread; rare, so the system call does not matter. */
static void
notify(struct hvn_session *s)
{
	const uint64_t one = 1;
	ssize_t n;

	if (s->notify_fd < 0)
		return;
	n = write(s->notify_fd, &one, sizeof(one));
	(void)n; /* a full counter wakes as well */
}

static void
note(uint32_t *word, uint32_t val)
{
	__atomic_store_n(word, val, __ATOMIC_RELAXED);
}

/* The host has taken an RNDIS request, or refused it. */
static bool
slot_completed(struct hvn_session *s, uint64_t xact, const void *payload, uint32_t len)
{
	int err;

	for (uint32_t i = 0; i < s->nslots; i++) {
		struct hvn_request_slot *slot = &s->slots[i];

		if (__atomic_load_n(&slot->xact, __ATOMIC_ACQUIRE) != xact)
			continue;
		err = hvn_nvsp_parse_rndis_complete(payload, len);
		if (err != 0)
			hvn_exchange_finish(&s->rndis, (uint32_t)xact, NULL, 0, err);
		/* Release: the requester writes the memory only after the host is done. */
		__atomic_store_n(&slot->xact, 0, __ATOMIC_RELEASE);
		return true;
	}
	return false;
}

void
hvn_session_on_completion(struct hvn_session *s, uint64_t xact, const void *payload,
			  uint32_t len)
{
	if ((xact & ~(uint64_t)UINT32_MAX) != HVN_XACT_REQUEST) {
		s->stats.late++;
		return;
	}
	if (slot_completed(s, xact, payload, len))
		return;
	if (!hvn_exchange_finish(&s->nvsp, (uint32_t)xact, payload, len, 0))
		s->stats.late++;
}

static void
on_send_table(struct hvn_session *s, const void *msg, uint32_t len)
{
	uint32_t table[NVSP_SEND_TABLE_ENTRIES];

	if (hvn_nvsp_parse_send_table(msg, len, s->version, table) != 0) {
		s->stats.malformed++;
		return;
	}
	for (uint32_t i = 0; i < NVSP_SEND_TABLE_ENTRIES; i++)
		note(&s->notes.table[i], table[i]);
	__atomic_store_n(&s->notes.table_valid, 1, __ATOMIC_RELEASE);
}

static void
on_vf(struct hvn_session *s, const void *msg, uint32_t len)
{
	uint32_t allocated, serial;

	if (hvn_nvsp_parse_vf(msg, len, &allocated, &serial) != 0) {
		s->stats.malformed++;
		return;
	}
	note(&s->notes.vf_serial, serial);
	note(&s->notes.vf_allocated, allocated);
	notify(s);
}

void
hvn_session_on_inband(struct hvn_session *s, const void *payload, uint32_t len)
{
	uint8_t msg[INBAND_MAX];
	uint32_t type;

	if (len > sizeof(msg))
		len = sizeof(msg);
	memcpy(msg, payload, len);
	if (!hvw_read32(hvw_view(msg, len), 0, &type)) {
		s->stats.malformed++;
		return;
	}
	switch (type) {
	case NVSP_SEND_TABLE:
		on_send_table(s, msg, len);
		break;
	case NVSP_VF_ASSOCIATION:
		on_vf(s, msg, len);
		break;
	default:
		/* Switch path: the data path is synthetic in any case. */
		s->stats.unknown++;
		break;
	}
}

static void
on_indicate(struct hvn_session *s, const void *msg, uint32_t len)
{
	uint32_t status, value;

	if (hvn_rndis_parse_indicate(msg, len, &status, &value) != 0) {
		s->stats.malformed++;
		return;
	}
	s->stats.indications++;
	switch (status) {
	case RNDIS_IND_MEDIA_CONNECT:
	case RNDIS_IND_MEDIA_DISCONNECT:
		note(&s->notes.link_down, status == RNDIS_IND_MEDIA_DISCONNECT);
		__atomic_fetch_add(&s->notes.link_changes, 1, __ATOMIC_RELEASE);
		notify(s);
		break;
	case RNDIS_IND_LINK_SPEED:
		note(&s->notes.speed, value);
		notify(s);
		break;
	default:
		break;
	}
}

/* A completion: hand it to the requester if the ids match. */
static void
on_reply(struct hvn_session *s, const void *msg, uint32_t len, uint32_t type)
{
	struct rndis_ctl_hdr h;

	if (!hvw_read(hvw_view(msg, len), 0, &h, sizeof(h))) {
		s->stats.malformed++;
		return;
	}
	if (!hvn_exchange_wants(&s->rndis, h.rid) || s->rndis.expect != type)
		s->stats.late++;
	else if (!hvn_exchange_finish(&s->rndis, h.rid, msg, len, 0))
		s->stats.late++;
}

void
hvn_session_on_control(struct hvn_session *s, const void *msg, uint32_t len)
{
	uint8_t copy[HVN_REPLY_MAX];
	struct hvw_view v;
	struct rndis_ctl_hdr h;
	uint32_t n = len < sizeof(copy) ? len : sizeof(copy);

	memcpy(copy, msg, n);
	v = hvw_view(copy, n);
	if (!hvw_read(v, 0, &h, sizeof(struct rndis_hdr)) || h.len < sizeof(struct rndis_hdr) ||
	    h.len > len) {
		s->stats.malformed++;
		return;
	}
	if (h.len < n)
		n = h.len;
	switch (h.type) {
	case RNDIS_INITIALIZE | RNDIS_COMPLETION:
	case RNDIS_QUERY | RNDIS_COMPLETION:
	case RNDIS_SET | RNDIS_COMPLETION:
		on_reply(s, copy, n, h.type);
		break;
	case RNDIS_INDICATE:
		on_indicate(s, copy, n);
		break;
	case RNDIS_KEEPALIVE:
		if (!hvw_read(hvw_view(copy, n), 0, &h, sizeof(h)) || h.rid == 0) {
			s->stats.malformed++;
			break;
		}
		note(&s->notes.keepalive_rid, h.rid);
		notify(s);
		break;
	default:
		s->stats.unknown++;
		break;
	}
}

/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 hvnet contributors
 *
 * Requests on the control session: send, wait with a deadline, match and check the answer.
 */
#include <errno.h>
#include <poll.h>
#include <string.h>
#include <time.h>

#include "hvn_exchange.h"
#include "hvn_clock.h"
#include "hvn_inbound.h"
#include "hvn_nvsp.h"
#include "hvn_session.h"

/* Sleep between looks: short first, because a live host answers within tens of us. */
#define NAP_FIRST_NS 20000L
#define NAP_LAST_NS 1000000L

/* A bounded wait. */
struct wait {
	uint64_t end_ms;
	long nap_ns;
	uint32_t seen; /* inbound read index at the last look */
};

static uint32_t
inbound_index(const struct hvn_session *s)
{
	return vmring_load_relaxed(&s->ch->in.hdr->read_index);
}

static struct wait
wait_begin(const struct hvn_session *s, uint32_t ms)
{
	return (struct wait){
		.end_ms = hvn_now_ms() + ms,
		.nap_ns = NAP_FIRST_NS,
		.seen = inbound_index(s),
	};
}

bool
hvn_session_gone(struct hvn_session *s)
{
	struct pollfd p = { .fd = s->uio_fd };

	if (s->uio_fd < 0 || poll(&p, 1, 0) <= 0 ||
	    (p.revents & (POLLERR | POLLHUP | POLLNVAL)) == 0)
		return false;
	hvn_channel_kill(s->ch);
	return true;
}

/* Let the channel make progress, then sleep a little; -ETIMEDOUT after the deadline. */
static int
wait_step(struct hvn_session *s, struct wait *w)
{
	struct timespec ts = { .tv_nsec = w->nap_ns };

	if (w->nap_ns >= NAP_LAST_NS)
		hvn_session_gone(s);
	if (hvn_channel_is_dead(s->ch))
		return -EIO;
	if (hvn_now_ms() >= w->end_ms)
		return -ETIMEDOUT;
	nanosleep(&ts, NULL);
	if (w->nap_ns < NAP_LAST_NS)
		w->nap_ns *= 2;
	/* Only when no lcore does: received frames that we meet are parked or dropped. */
	if (inbound_index(s) == w->seen)
		hvn_inbound_drain(s->ch);
	w->seen = inbound_index(s);
	return 0;
}

void
hvn_session_init(struct hvn_session *s, struct hvn_channel *ch)
{
	memset(s, 0, sizeof(*s));
	pthread_mutex_init(&s->lock, NULL);
	s->ch = ch;
	s->nvsp_ms = HVN_NVSP_DEADLINE_MS;
	s->rndis_ms = HVN_RNDIS_DEADLINE_MS;
	s->notify_fd = -1;
	s->uio_fd = -1;
}

void
hvn_session_fini(struct hvn_session *s)
{
	pthread_mutex_destroy(&s->lock);
	s->ch = NULL;
	s->nslots = 0;
}

void
hvn_session_use_pages(struct hvn_session *s, uint8_t *mem, const uint64_t *gpa, uint32_t pages)
{
	s->by_section = false;
	s->slot_bytes = HVN_RNDIS_REQUEST_MAX;
	s->nslots = pages < HVN_REQUEST_SLOTS ? pages : HVN_REQUEST_SLOTS;
	for (uint32_t i = 0; i < s->nslots; i++) {
		s->slots[i].xact = 0;
		s->slots[i].mem = mem + (size_t)i * VMBUS_PAGE_SIZE;
		s->slots[i].gpa = gpa[i];
	}
}

void
hvn_session_use_section(struct hvn_session *s, uint8_t *mem, uint32_t bytes)
{
	s->by_section = true;
	s->slot_bytes = bytes < HVN_RNDIS_REQUEST_MAX ? bytes : HVN_RNDIS_REQUEST_MAX;
	s->nslots = 1;
	s->slots[0].xact = 0;
	s->slots[0].mem = mem;
	s->slots[0].gpa = 0;
}

/* Next id for a request; ids of tombstones are not met again within 2^32 requests. */
static uint32_t
next_seq(struct hvn_session *s)
{
	if (++s->seq == 0)
		s->seq = 1;
	return s->seq;
}

/* Send an in-band message, waiting for ring space. */
static int
send_inband(struct hvn_session *s, const void *msg, uint32_t len, uint64_t xact)
{
	struct wait w = wait_begin(s, s->nvsp_ms);
	int ret;

	do {
		ret = hvn_channel_send_nvsp(s->ch, msg, len, xact);
		if (ret != -EAGAIN)
			return ret;
		ret = wait_step(s, &w);
	} while (ret == 0);
	return ret;
}

/* Wait for the end of an exchange and take its result. */
static int
await(struct hvn_session *s, struct hvn_exchange *x, uint32_t id, uint32_t ms)
{
	struct wait w = wait_begin(s, ms);
	int ret;

	while (!hvn_exchange_done(x, id)) {
		ret = wait_step(s, &w);
		if (ret == 0)
			continue;
		/* Too late, unless the answer is being copied at this very moment. */
		if (hvn_exchange_cancel(x, id))
			return ret;
		if (hvn_now_ms() >= w.end_ms + ms)
			return ret;
	}
	return x->err;
}

int
hvn_session_send(struct hvn_session *s, const void *msg, uint32_t len)
{
	int ret;

	pthread_mutex_lock(&s->lock);
	ret = send_inband(s, msg, len, 0);
	pthread_mutex_unlock(&s->lock);
	return ret;
}

int
hvn_session_nvsp(struct hvn_session *s, const void *msg, uint32_t len, void *reply,
		 uint32_t *reply_len)
{
	struct hvn_exchange *x = &s->nvsp;
	uint32_t room = *reply_len;
	uint32_t id;
	int ret;

	*reply_len = 0;
	pthread_mutex_lock(&s->lock);
	id = next_seq(s);
	hvn_exchange_arm(x, id, 0);
	ret = send_inband(s, msg, len, HVN_XACT_REQUEST | id);
	if (ret != 0)
		hvn_exchange_cancel(x, id);
	else
		ret = await(s, x, id, s->nvsp_ms);
	if (ret == 0) {
		*reply_len = x->len < room ? x->len : room;
		memcpy(reply, x->reply, *reply_len);
	}
	hvn_exchange_rest(x);
	pthread_mutex_unlock(&s->lock);
	hvn_session_attend(s);
	return ret;
}

static struct hvn_request_slot *
free_slot(struct hvn_session *s)
{
	for (uint32_t i = 0; i < s->nslots; i++) {
		if (__atomic_load_n(&s->slots[i].xact, __ATOMIC_ACQUIRE) == 0)
			return &s->slots[i];
	}
	return NULL;
}

/* A slot that the host does not hold; waits, because completions may follow replies. */
static int
claim_slot(struct hvn_session *s, struct hvn_request_slot **slot)
{
	struct wait w = wait_begin(s, s->rndis_ms);
	int ret = 0;

	if (s->nslots == 0)
		return -ENOTSUP;
	while (ret == 0) {
		*slot = free_slot(s);
		if (*slot != NULL)
			return 0;
		ret = wait_step(s, &w);
	}
	return ret;
}

/* Send the request of @p len bytes that lies in @p slot by guest-physical address. */
static int
send_page(struct hvn_session *s, const struct hvn_request_slot *slot, uint32_t len,
	  uint64_t xact)
{
	struct {
		struct vmbus_gpa_hdr hdr;
		struct vmbus_gpa_range range;
		union hvn_nvsp_msg msg;
	} HVW_PACKED pkt = {
		.hdr = {
			.desc = {
				.type = VMBUS_PKT_GPA_DIRECT,
				.offset8 = (sizeof(pkt.hdr) + sizeof(pkt.range)) / 8,
				.len8 = sizeof(pkt) / 8,
				.flags = VMBUS_PKT_F_COMPLETION,
				.xact = xact,
			},
			.nranges = 1,
		},
		.range = {
			.len = len,
			.ofs = (uint32_t)(slot->gpa % VMBUS_PAGE_SIZE),
			.pfn = slot->gpa >> VMBUS_PAGE_SHIFT,
		},
	};
	struct wait w = wait_begin(s, s->nvsp_ms);
	int ret;

	hvn_nvsp_build_control(&pkt.msg, NVSP_SECTION_NONE, len);
	do {
		ret = hvn_channel_send(s->ch, &pkt, sizeof(pkt));
		if (ret != -EAGAIN)
			return ret;
		ret = wait_step(s, &w);
	} while (ret == 0);
	return ret;
}

/* Hand the request of @p len bytes in @p slot to the host. */
static int
send_slot(struct hvn_session *s, struct hvn_request_slot *slot, uint32_t len, uint32_t id)
{
	uint64_t xact = HVN_XACT_REQUEST | id;
	union hvn_nvsp_msg msg;
	int ret;

	/* Before sending: the completion may come before the send returns. */
	__atomic_store_n(&slot->xact, xact, __ATOMIC_RELEASE);
	if (s->by_section) {
		hvn_nvsp_build_control(&msg, 0, len);
		ret = send_inband(s, &msg, sizeof(msg), xact);
	} else {
		ret = send_page(s, slot, len, xact);
	}
	if (ret != 0) /* the host never saw it */
		__atomic_store_n(&slot->xact, 0, __ATOMIC_RELEASE);
	return ret;
}

/* A request being made: lock held, slot and id chosen. */
struct request {
	struct hvn_request_slot *slot;
	uint32_t id;
};

static int
request_begin(struct hvn_session *s, struct request *rq)
{
	int ret;

	pthread_mutex_lock(&s->lock);
	rq->id = next_seq(s);
	ret = claim_slot(s, &rq->slot);
	if (ret != 0)
		pthread_mutex_unlock(&s->lock);
	return ret;
}

static void
request_end(struct hvn_session *s)
{
	hvn_exchange_rest(&s->rndis);
	pthread_mutex_unlock(&s->lock);
	hvn_session_attend(s);
}

/* Send the @p len bytes in the slot and wait for the completion of type @p expect. */
static int
request_run(struct hvn_session *s, const struct request *rq, uint32_t len, uint32_t expect)
{
	struct hvn_exchange *x = &s->rndis;
	int ret;

	if (len == 0 || len > s->slot_bytes)
		return -EMSGSIZE;
	hvn_exchange_arm(x, rq->id, expect);
	ret = send_slot(s, rq->slot, len, rq->id);
	if (ret != 0) {
		hvn_exchange_cancel(x, rq->id);
		return ret;
	}
	return await(s, x, rq->id, s->rndis_ms);
}

int
hvn_session_initialize(struct hvn_session *s, struct hvn_rndis_limits *out)
{
	struct request rq;
	int ret;

	ret = request_begin(s, &rq);
	if (ret != 0)
		return ret;
	ret = request_run(s, &rq, hvn_rndis_build_initialize(rq.slot->mem, rq.id),
			  RNDIS_INITIALIZE | RNDIS_COMPLETION);
	if (ret == 0)
		ret = hvn_rndis_parse_initialize(s->rndis.reply, s->rndis.len, out,
						 &s->last_status);
	request_end(s);
	return ret;
}

/* Build an OID request in the slot and run it; a section may be shorter than a page. */
static int
run_oid(struct hvn_session *s, const struct request *rq, uint32_t type, uint32_t oid,
	const void *in, uint32_t in_len)
{
	if (in_len + sizeof(struct rndis_oid_request) > s->slot_bytes)
		return -EMSGSIZE;
	return request_run(s, rq,
			   hvn_rndis_build_oid(rq->slot->mem, type, rq->id, oid, in, in_len),
			   type | RNDIS_COMPLETION);
}

int
hvn_session_query(struct hvn_session *s, uint32_t oid, const void *in, uint32_t in_len,
		  void *out, uint32_t *out_len)
{
	struct request rq;
	int ret;

	ret = request_begin(s, &rq);
	if (ret != 0)
		return ret;
	ret = run_oid(s, &rq, RNDIS_QUERY, oid, in, in_len);
	if (ret == 0)
		ret = hvn_rndis_parse_query(s->rndis.reply, s->rndis.len, out, out_len,
					    &s->last_status);
	request_end(s);
	return ret;
}

int
hvn_session_query_u32(struct hvn_session *s, uint32_t oid, uint32_t *val)
{
	uint32_t len = sizeof(*val);
	int ret;

	ret = hvn_session_query(s, oid, NULL, 0, val, &len);
	if (ret == 0 && len < sizeof(*val))
		ret = -EPROTO;
	return ret;
}

int
hvn_session_set(struct hvn_session *s, uint32_t oid, const void *buf, uint32_t len)
{
	struct request rq;
	int ret;

	ret = request_begin(s, &rq);
	if (ret != 0)
		return ret;
	ret = run_oid(s, &rq, RNDIS_SET, oid, buf, len);
	if (ret == 0)
		ret = hvn_rndis_parse_set(s->rndis.reply, s->rndis.len, &s->last_status);
	request_end(s);
	return ret;
}

/* Wait until the host has taken the request in @p slot. */
static int
await_taken(struct hvn_session *s, struct hvn_request_slot *slot, uint64_t xact)
{
	struct wait w = wait_begin(s, s->nvsp_ms);
	int ret = 0;

	while (ret == 0 && __atomic_load_n(&slot->xact, __ATOMIC_ACQUIRE) == xact)
		ret = wait_step(s, &w);
	return ret;
}

int
hvn_session_halt(struct hvn_session *s)
{
	struct request rq;
	int ret;

	ret = request_begin(s, &rq);
	if (ret != 0)
		return ret;
	ret = send_slot(s, rq.slot, hvn_rndis_build_halt(rq.slot->mem, rq.id), rq.id);
	if (ret == 0)
		ret = await_taken(s, rq.slot, HVN_XACT_REQUEST | rq.id);
	request_end(s);
	return ret;
}

void
hvn_session_attend(struct hvn_session *s)
{
	struct hvn_request_slot *slot;
	uint32_t rid;

	if (__atomic_load_n(&s->notes.keepalive_rid, __ATOMIC_RELAXED) == 0)
		return;
	if (pthread_mutex_trylock(&s->lock) != 0)
		return; /* the holder attends when it is done */
	slot = free_slot(s);
	if (slot != NULL) {
		rid = __atomic_exchange_n(&s->notes.keepalive_rid, 0, __ATOMIC_RELAXED);
		if (rid != 0)
			send_slot(s, slot, hvn_rndis_build_keepalive_complete(slot->mem, rid),
				  next_seq(s));
	}
	pthread_mutex_unlock(&s->lock);
}

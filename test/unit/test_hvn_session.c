/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 hvnet contributors
 *
 * The control session against a scripted host: order, strangers, lateness, refusals.
 *
 * The channel below the session is played here: what is sent is kept, and draining lets the
 * host's script speak.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "hvn_inbound.h"
#include "hvn_nvsp.h"
#include "hvn_session.h"

#define DEADLINE_MS 60u
#define SENT_MAX 64u

static struct host {
	void (*speak)(struct host *h);  /* the script, at each drain */
	uint32_t drains;
	uint32_t full;                  /* answer this many sends with -EAGAIN */
	uint32_t nsent;
	uint64_t xact[SENT_MAX];
	uint32_t rid[SENT_MAX];         /* RNDIS: of the request in memory */
	uint32_t type[SENT_MAX];        /* NVSP type, or RNDIS type */
} host;

static struct vmbus_ring_hdr ring_hdr;
static struct hvn_channel ch;
static struct hvn_session s;
static uint8_t pages[HVN_REQUEST_SLOTS][VMBUS_PAGE_SIZE];

static int
sent(uint64_t xact, uint32_t type, uint32_t rid)
{
	if (host.full != 0) {
		host.full--;
		return -EAGAIN;
	}
	assert_true(host.nsent < SENT_MAX);
	host.xact[host.nsent] = xact;
	host.type[host.nsent] = type;
	host.rid[host.nsent++] = rid;
	return 0;
}

static uint32_t
word(const void *p, uint32_t i)
{
	uint32_t v;

	memcpy(&v, (const uint8_t *)p + 4 * i, sizeof(v));
	return v;
}

int
hvn_channel_send(struct hvn_channel *c, const void *pkt, uint32_t len)
{
	struct vmbus_gpa_hdr hdr;
	struct vmbus_gpa_range r;
	const uint8_t *msg;

	assert_ptr_equal(c, &ch);
	assert_int_equal(len, 80);
	memcpy(&hdr, pkt, sizeof(hdr));
	memcpy(&r, (const uint8_t *)pkt + sizeof(hdr), sizeof(r));
	assert_int_equal(hdr.desc.type, VMBUS_PKT_GPA_DIRECT);
	assert_int_equal(hdr.desc.offset8, 5);
	assert_int_equal(hdr.desc.len8, 10);
	assert_int_equal(hdr.desc.flags, VMBUS_PKT_F_COMPLETION);
	assert_int_equal(hdr.nranges, 1);
	msg = (const uint8_t *)(uintptr_t)((r.pfn << VMBUS_PAGE_SHIFT) + r.ofs);
	assert_int_equal(word(msg, 1), r.len);
	return sent(hdr.desc.xact, word(msg, 0), word(msg, 2));
}

int
hvn_channel_send_nvsp(struct hvn_channel *c, const void *msg, uint32_t len, uint64_t xact)
{
	assert_ptr_equal(c, &ch);
	assert_true(len <= NVSP_MSG_SIZE);
	if (word(msg, 0) == NVSP_RNDIS) {
		assert_int_equal(word(msg, 2), 0);
		return sent(xact, word(pages[0], 0), word(pages[0], 2));
	}
	return sent(xact, word(msg, 0), 0);
}

void
hvn_inbound_drain(struct hvn_channel *c)
{
	assert_ptr_equal(c, &ch);
	host.drains++;
	if (host.speak != NULL)
		host.speak(&host);
}

static void
complete(uint64_t xact, uint32_t status)
{
	const uint32_t m[2] = { NVSP_RNDIS_COMPLETE, status };

	hvn_session_on_completion(&s, xact, m, sizeof(m));
}

static void
reply_u32(uint32_t rid, uint32_t val)
{
	const uint32_t m[7] = { 0x80000004, 28, rid, 0, 4, 16, val };

	hvn_session_on_control(&s, m, sizeof(m));
}

static int
setup(void **state)
{
	uint64_t gpa[HVN_REQUEST_SLOTS];

	(void)state;
	memset(&host, 0, sizeof(host));
	memset(&ch, 0, sizeof(ch));
	memset(&ring_hdr, 0, sizeof(ring_hdr));
	ch.in.hdr = &ring_hdr;
	hvn_session_init(&s, &ch);
	for (uint32_t i = 0; i < HVN_REQUEST_SLOTS; i++)
		gpa[i] = (uintptr_t)pages[i];
	hvn_session_use_pages(&s, pages[0], gpa, HVN_REQUEST_SLOTS);
	s.nvsp_ms = DEADLINE_MS;
	s.rndis_ms = DEADLINE_MS;
	s.version = NVSP_VERSION_61;
	return 0;
}

static int
teardown(void **state)
{
	(void)state;
	hvn_session_fini(&s);
	return 0;
}

static void
speak_init(struct host *h)
{
	const uint32_t m[4] = { 2, 0xffffffff, 34, 1 };

	if (h->nsent == 1)
		hvn_session_on_completion(&s, h->xact[0], m, sizeof(m));
}

static void
test_nvsp(void **state)
{
	uint8_t reply[40];
	union hvn_nvsp_msg m;
	uint32_t len = sizeof(reply);

	(void)state;
	host.speak = speak_init;
	host.full = 3;
	hvn_nvsp_build_init(&m, NVSP_VERSION_61);
	assert_int_equal(hvn_session_nvsp(&s, &m, sizeof(m), reply, &len), 0);
	assert_int_equal(len, 16);
	assert_int_equal(hvn_nvsp_parse_init(reply, len), 0);
	assert_int_equal(host.xact[0] >> 32, 1);
	/* The same completion again belongs to nobody. */
	speak_init(&host);
	assert_int_equal(s.stats.late, 1);
}

static void
test_nvsp_silence(void **state)
{
	uint8_t reply[40];
	union hvn_nvsp_msg m;
	uint32_t len = sizeof(reply);

	(void)state;
	hvn_nvsp_build_init(&m, NVSP_VERSION_61);
	assert_int_equal(hvn_session_nvsp(&s, &m, sizeof(m), reply, &len), -ETIMEDOUT);
	assert_int_equal(len, 0);
	assert_true(host.drains > 3);
	/* Full for good. */
	host.full = UINT32_MAX;
	assert_int_equal(hvn_session_send(&s, &m, sizeof(m)), -ETIMEDOUT);
	/* Dead. */
	hvn_channel_kill(&ch);
	host.full = 0;
	len = sizeof(reply);
	assert_int_equal(hvn_session_nvsp(&s, &m, sizeof(m), reply, &len), -EIO);
}

/* The host talks of everything else first, then answers the query with 42. */
static void
speak_noise(struct host *h)
{
	static const uint32_t connect[5] = { 7, 20, RNDIS_IND_MEDIA_CONNECT, 0, 0 };
	static const uint32_t speed[6] = { 7, 24, RNDIS_IND_LINK_SPEED, 4, 12, 400000 };
	static const uint32_t vf[3] = { 128, 1, 9 };
	static const uint32_t path[2] = { 129, 0 };
	static const uint32_t wrong_kind[4] = { 0x80000005, 16, 0, 0 };
	uint32_t set_reply[4];
	uint32_t table[19] = { 134, 16, 12 };
	uint64_t xact;
	uint32_t rid;

	if (h->nsent == 0)
		return;
	xact = h->xact[h->nsent - 1];
	rid = h->rid[h->nsent - 1];
	hvn_session_on_inband(&s, table, sizeof(table));
	hvn_session_on_inband(&s, vf, sizeof(vf));
	hvn_session_on_inband(&s, path, sizeof(path));
	hvn_session_on_inband(&s, path, 3);
	hvn_session_on_control(&s, connect, sizeof(connect));
	hvn_session_on_control(&s, speed, sizeof(speed));
	hvn_session_on_control(&s, wrong_kind, sizeof(wrong_kind));
	memcpy(set_reply, wrong_kind, sizeof(set_reply));
	set_reply[2] = rid;
	hvn_session_on_control(&s, set_reply, sizeof(set_reply));
	complete(xact + 77, 1);
	complete(5, 1);
	reply_u32(rid + 1, 41);
	reply_u32(rid, 42);
	reply_u32(rid, 43);
	complete(xact, 1);
	h->speak = NULL;
}

static void
test_noise(void **state)
{
	uint32_t val = 0;

	(void)state;
	host.speak = speak_noise;
	assert_int_equal(hvn_session_query_u32(&s, OID_GEN_LINK_SPEED, &val), 0);
	assert_int_equal(val, 42);
	assert_int_equal(s.notes.table_valid, 1);
	assert_int_equal(s.notes.vf_allocated, 1);
	assert_int_equal(s.notes.vf_serial, 9);
	assert_int_equal(s.notes.link_changes, 1);
	assert_int_equal(s.notes.link_down, 0);
	assert_int_equal(s.notes.speed, 400000);
	assert_int_equal(s.stats.unknown, 1);
	assert_int_equal(s.stats.malformed, 1);
	assert_int_equal(s.stats.late, 6);
	assert_int_equal(s.slots[0].xact, 0);
}

static void
speak_ack_only(struct host *h)
{
	complete(h->xact[h->nsent - 1], 1);
	h->speak = NULL;
}

/* The answer to the first query comes while the second one waits. */
static void
speak_late(struct host *h)
{
	if (h->nsent < 2)
		return;
	reply_u32(h->rid[0], 1111);
	complete(h->xact[1], 1);
	reply_u32(h->rid[1], 2222);
	h->speak = NULL;
}

static void
test_late_reply(void **state)
{
	uint32_t val = 7;

	(void)state;
	host.speak = speak_ack_only;
	assert_int_equal(hvn_session_query_u32(&s, OID_GEN_LINK_SPEED, &val), -ETIMEDOUT);
	host.speak = speak_late;
	assert_int_equal(hvn_session_query_u32(&s, OID_GEN_LINK_SPEED, &val), 0);
	assert_int_equal(val, 2222);
	assert_int_equal(s.stats.late, 1);
}

static void
test_slots_kept(void **state)
{
	uint32_t val;

	(void)state;
	/* Memory that the host never gave back is not used again. */
	for (uint32_t i = 0; i < HVN_REQUEST_SLOTS; i++) {
		assert_int_equal(hvn_session_query_u32(&s, OID_GEN_LINK_SPEED, &val),
				 -ETIMEDOUT);
		assert_int_equal(host.nsent, i + 1);
	}
	assert_int_equal(hvn_session_query_u32(&s, OID_GEN_LINK_SPEED, &val), -ETIMEDOUT);
	assert_int_equal(host.nsent, HVN_REQUEST_SLOTS);
	complete(host.xact[2], 1);
	host.speak = speak_noise;
	assert_int_equal(hvn_session_query_u32(&s, OID_GEN_LINK_SPEED, &val), 0);
	assert_int_equal(val, 42);
}

static void
speak_refuse(struct host *h)
{
	complete(h->xact[h->nsent - 1], NVSP_STATUS_BAD_RNDIS);
	h->speak = NULL;
}

static void
speak_refuse_set(struct host *h)
{
	const uint32_t m[4] = { 0x80000005, 16, h->rid[h->nsent - 1], 0xc0010015 };

	complete(h->xact[h->nsent - 1], 1);
	hvn_session_on_control(&s, m, sizeof(m));
	h->speak = NULL;
}

static void
test_refused(void **state)
{
	uint32_t val = 1;

	(void)state;
	host.speak = speak_refuse;
	assert_int_equal(hvn_session_query_u32(&s, OID_GEN_LINK_SPEED, &val), -EREMOTEIO);
	host.speak = speak_refuse_set;
	assert_int_equal(hvn_session_set(&s, OID_GEN_CURRENT_PACKET_FILTER, &val, 4),
			 -EREMOTEIO);
	assert_int_equal(s.last_status, 0xc0010015);
}

static void
test_hostile_control(void **state)
{
	uint8_t big[2000];
	uint32_t m[7] = { 0x80000004, 28, 1, 0, 4, 16, 0 };

	(void)state;
	hvn_session_on_control(&s, m, 0);
	hvn_session_on_control(&s, m, 7);
	hvn_session_on_control(&s, m, 27);       /* message longer than its range */
	m[1] = 7;
	hvn_session_on_control(&s, m, 28);       /* shorter than its own header */
	m[1] = 11;
	hvn_session_on_control(&s, m, 28);       /* no request id */
	assert_int_equal(s.stats.malformed, 5);
	memset(big, 0xff, sizeof(big));
	hvn_session_on_control(&s, big, sizeof(big));
	assert_int_equal(s.stats.malformed, 6);
	m[0] = 0xff000001;
	m[1] = 28;
	hvn_session_on_control(&s, m, 28);
	assert_int_equal(s.stats.unknown, 1);
	hvn_session_on_inband(&s, big, sizeof(big));
	assert_int_equal(s.stats.unknown, 2);
}

static void
test_keepalive(void **state)
{
	static const uint32_t m[3] = { 8, 12, 55 };

	(void)state;
	hvn_session_on_control(&s, m, sizeof(m));
	assert_int_equal(host.nsent, 0);
	hvn_session_attend(&s);
	assert_int_equal(host.nsent, 1);
	assert_int_equal(host.type[0], 0x80000008);
	assert_int_equal(host.rid[0], 55);
	hvn_session_attend(&s);
	assert_int_equal(host.nsent, 1);
}

static void
test_section(void **state)
{
	uint8_t in[200] = { 0 };
	uint32_t val;

	(void)state;
	hvn_session_use_section(&s, pages[0], 128);
	host.speak = speak_noise;
	assert_int_equal(hvn_session_query_u32(&s, OID_GEN_LINK_SPEED, &val), 0);
	assert_int_equal(val, 42);
	assert_int_equal(hvn_session_set(&s, 1, in, 101), -EMSGSIZE);
	s.nslots = 0;
	assert_int_equal(hvn_session_set(&s, 1, in, 1), -ENOTSUP);
}

static void
test_halt(void **state)
{
	(void)state;
	host.speak = speak_ack_only;
	assert_int_equal(hvn_session_halt(&s), 0);
	assert_int_equal(host.type[0], RNDIS_HALT);
	host.speak = NULL;
	assert_int_equal(hvn_session_halt(&s), -ETIMEDOUT);
}

int
main(void)
{
#define T(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
	const struct CMUnitTest tests[] = {
		T(test_nvsp), T(test_nvsp_silence), T(test_noise), T(test_late_reply),
		T(test_slots_kept), T(test_refused), T(test_hostile_control),
		T(test_keepalive), T(test_section), T(test_halt),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

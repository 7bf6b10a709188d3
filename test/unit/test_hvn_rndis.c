/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 hvnet contributors
 *
 * RNDIS requests have the bytes of the wire; completions and NDIS objects that are short,
 * wrong or absurd are refused or clamped.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "guard.h"
#include "hvn_rndis.h"
#include <hvwire/nvsp.h>

static void
test_requests(void **state)
{
	static const uint32_t init[6] = { 2, 24, 5, 1, 0, 0x4000 };
	static const uint32_t halt[3] = { 3, 12, 6 };
	static const uint32_t alive[4] = { 0x80000008, 16, 7, 0 };
	static const uint32_t set[8] = { 5, 32, 8, 0x0001010e, 4, 20, 0, 13 };
	static const uint32_t query[7] = { 4, 28, 9, 0x00010107, 0, 20, 0 };
	uint8_t *buf = guard_alloc(HVN_RNDIS_REQUEST_MAX, GUARD_AFTER);
	uint8_t in[HVN_RNDIS_REQUEST_MAX] = { 0 };
	uint32_t filter = 13;

	(void)state;
	assert_int_equal(hvn_rndis_build_initialize(buf, 5), sizeof(init));
	assert_memory_equal(buf, init, sizeof(init));
	assert_int_equal(hvn_rndis_build_halt(buf, 6), sizeof(halt));
	assert_memory_equal(buf, halt, sizeof(halt));
	assert_int_equal(hvn_rndis_build_keepalive_complete(buf, 7), sizeof(alive));
	assert_memory_equal(buf, alive, sizeof(alive));
	assert_int_equal(hvn_rndis_build_oid(buf, RNDIS_SET, 8, 0x1010e, &filter, 4),
			 sizeof(set));
	assert_memory_equal(buf, set, sizeof(set));
	assert_int_equal(hvn_rndis_build_oid(buf, RNDIS_QUERY, 9, 0x10107, NULL, 0),
			 sizeof(query));
	assert_memory_equal(buf, query, sizeof(query));
	assert_int_equal(hvn_rndis_build_oid(buf, RNDIS_SET, 1, 1, in, sizeof(in) - 28),
			 sizeof(in));
	assert_int_equal(hvn_rndis_build_oid(buf, RNDIS_SET, 1, 1, in, sizeof(in) - 27), 0);
	assert_int_equal(hvn_rndis_build_oid(buf, RNDIS_SET, 1, 1, in, UINT32_MAX), 0);
	guard_free(buf, HVN_RNDIS_REQUEST_MAX);
}

static void
test_initialize(void **state)
{
	uint32_t w[13] = { 0x80000002, 52, 1, 0, 1, 0, 1, 0, 8, 0xefffffff, 3, 0, 0 }, status;
	struct hvn_rndis_limits l;

	(void)state;
	assert_int_equal(hvn_rndis_parse_initialize(w, 52, &l, &status), 0);
	assert_int_equal(l.max_packets, 8);
	assert_int_equal(l.max_transfer, 0xefffffff);
	assert_int_equal(l.align, 8);
	for (uint32_t n = 0; n < 52; n++)
		assert_int_equal(hvn_rndis_parse_initialize(w, n, &l, &status), -EPROTO);
	w[8] = 0;
	w[9] = 43;
	w[10] = 0;
	assert_int_equal(hvn_rndis_parse_initialize(w, 52, &l, &status), 0);
	assert_int_equal(l.max_packets, 1);
	assert_int_equal(l.max_transfer, 0);
	assert_int_equal(l.align, 8);
	w[8] = 1000;
	w[10] = 12;
	assert_int_equal(hvn_rndis_parse_initialize(w, 52, &l, &status), 0);
	assert_int_equal(l.max_packets, HVN_RNDIS_PACKETS_MAX);
	assert_int_equal(l.align, 4096);
	for (uint32_t shift = 13; shift < 70; shift += 9) {
		w[10] = shift;
		assert_int_equal(hvn_rndis_parse_initialize(w, 52, &l, &status), -EPROTO);
	}
	w[10] = 3;
	w[3] = RNDIS_STATUS_FAILURE;
	assert_int_equal(hvn_rndis_parse_initialize(w, 52, &l, &status), -EREMOTEIO);
	assert_int_equal(status, RNDIS_STATUS_FAILURE);
}

static int
query(uint32_t buf_len, uint32_t buf_ofs, uint32_t msg_len, uint32_t bytes, uint32_t *got,
      uint32_t *first)
{
	const uint32_t head[6] = { 0x80000004, msg_len, 1, 0, buf_len, buf_ofs };
	uint8_t *mem = guard_alloc(bytes, GUARD_AFTER);
	uint32_t out[4], status;
	int ret;

	memset(mem, 0x5a, bytes);
	memcpy(mem, head, bytes < sizeof(head) ? bytes : sizeof(head));
	memset(out, 0xff, sizeof(out));
	*got = sizeof(out);
	ret = hvn_rndis_parse_query(mem, bytes, out, got, &status);
	*first = out[0];
	guard_free(mem, bytes);
	return ret;
}

static void
test_query(void **state)
{
	uint32_t got, first;

	(void)state;
	assert_int_equal(query(4, 16, 28, 28, &got, &first), 0);
	assert_int_equal(got, 4);
	assert_int_equal(first, 0x5a5a5a5a);
	/* More than there is room for is cut, less leaves zeros and not stale bytes. */
	assert_int_equal(query(100, 16, 124, 124, &got, &first), 0);
	assert_int_equal(got, 16);
	assert_int_equal(query(2, 16, 26, 26, &got, &first), 0);
	assert_int_equal(first, 0x5a5a);
	assert_int_equal(query(0, 0, 24, 24, &got, &first), 0);
	assert_int_equal(got, 0);
	assert_int_equal(first, 0);
	/* Lies about place and length. */
	assert_int_equal(query(4, 15, 28, 28, &got, &first), -EPROTO);
	assert_int_equal(query(4, 0xfffffff8, 28, 28, &got, &first), -EPROTO);
	assert_int_equal(query(5, 16, 28, 28, &got, &first), -EPROTO);
	assert_int_equal(query(0xffffffff, 16, 28, 28, &got, &first), -EPROTO);
	assert_int_equal(query(4, 16, 4000, 24, &got, &first), -EPROTO);
	for (uint32_t n = 0; n < 28; n++)
		assert_int_equal(query(4, 16, n, n, &got, &first), -EPROTO);
}

static void
test_set_indicate(void **state)
{
	uint32_t set[4] = { 0x80000005, 16, 1, 0xc00000bb }, status, value;
	uint32_t ind[6] = { 7, 24, RNDIS_IND_LINK_SPEED, 4, 12, 100000 };

	(void)state;
	assert_int_equal(hvn_rndis_parse_set(set, 16, &status), -EREMOTEIO);
	assert_int_equal(status, 0xc00000bb);
	set[3] = 0;
	assert_int_equal(hvn_rndis_parse_set(set, 16, &status), 0);
	assert_int_equal(hvn_rndis_parse_set(set, 15, &status), -EPROTO);
	assert_int_equal(hvn_rndis_parse_indicate(ind, 24, &status, &value), 0);
	assert_int_equal(value, 100000);
	assert_int_equal(hvn_rndis_parse_indicate(ind, 20, &status, &value), -EPROTO);
	assert_int_equal(hvn_rndis_parse_indicate(ind, 19, &status, &value), -EPROTO);
	ind[4] = 0xfffffffc;
	assert_int_equal(hvn_rndis_parse_indicate(ind, 24, &status, &value), -EPROTO);
	ind[3] = 0;
	assert_int_equal(hvn_rndis_parse_indicate(ind, 20, &status, &value), 0);
}

static void
test_rss_caps(void **state)
{
	struct ndis_rss_caps c = {
		.hdr = { .type = 0x88, .rev = 2, .size = 18 },
		.caps = 0x301, .nmsi = 1, .nqueues = 16, .ind_entries = 64,
	};
	struct hvn_rss_caps out;

	(void)state;
	assert_int_equal(hvn_rndis_parse_rss_caps(&c, 18, &out), 0);
	assert_int_equal(out.queues, 16);
	assert_int_equal(out.entries, 64);
	assert_int_equal(out.types, NDIS_HASH_IPV4 | NDIS_HASH_TCP_IPV4 | NDIS_HASH_IPV6 |
			 NDIS_HASH_TCP_IPV6);
	assert_int_equal(hvn_rndis_parse_rss_caps(&c, 17, &out), -EPROTO);
	c.hdr.size = 16;
	assert_int_equal(hvn_rndis_parse_rss_caps(&c, 16, &out), 0);
	assert_int_equal(out.entries, 128);
	c.hdr.size = 15;
	assert_int_equal(hvn_rndis_parse_rss_caps(&c, 18, &out), -EPROTO);
	c.hdr.size = 18;
	c.ind_entries = 257;
	c.nqueues = 1000;
	assert_int_equal(hvn_rndis_parse_rss_caps(&c, 18, &out), 0);
	assert_int_equal(out.entries, 128);
	assert_int_equal(out.queues, 64);
	c.caps = 0x300;
	assert_int_equal(hvn_rndis_parse_rss_caps(&c, 18, &out), 0);
	assert_int_equal(out.queues, 1);
	c.nqueues = 0;
	assert_int_equal(hvn_rndis_parse_rss_caps(&c, 18, &out), -EPROTO);
	c.hdr.type = 0x89;
	assert_int_equal(hvn_rndis_parse_rss_caps(&c, 18, &out), -EPROTO);
}

static void
test_rss_params(void **state)
{
	struct hvn_rss_conf conf = { .types = 0x1700, .entries = 128 };
	uint8_t *buf = guard_alloc(HVN_RSS_PARAMS_MAX, GUARD_AFTER);
	const uint8_t head[40] = {
		0x89, 2, 40, 0, 0x10, 0, 0, 0, 0x01, 0x17, 0, 0, 0, 2, 0, 0,
		40, 0, 0, 0, 40, 0, 0, 0, 0x28, 2, 0, 0,
	};
	uint32_t entry;

	(void)state;
	for (uint32_t i = 0; i < 128; i++)
		conf.table[i] = (uint16_t)(i % 3);
	memset(conf.key, 0x77, sizeof(conf.key));
	assert_int_equal(hvn_rndis_build_rss(buf, &conf, NDIS_RSS_FLAG_DISABLE), 592);
	assert_memory_equal(buf, head, sizeof(head));
	memcpy(&entry, buf + 40 + 4 * 127, 4);
	assert_int_equal(entry, 127 % 3);
	assert_memory_equal(buf + 552, conf.key, 40);
	conf.entries = 256;
	assert_int_equal(hvn_rndis_build_rss(buf, &conf, 0), HVN_RSS_PARAMS_MAX);
	guard_free(buf, HVN_RSS_PARAMS_MAX);
}

static void
test_offload(void **state)
{
	static const uint32_t versions[] = { NVSP_VERSION_1, NVSP_VERSION_4, NVSP_VERSION_61 };
	static const uint16_t sizes[] = { 112, 144, 156 };
	struct ndis_offload o, out;

	(void)state;
	for (uint32_t i = 0; i < 3; i++) {
		assert_int_equal(hvn_rndis_build_offload_query(&o, versions[i]), sizes[i]);
		assert_int_equal(o.hdr.rev, i + 1);
		o.lso2_ip4_max = 1234;
		assert_int_equal(hvn_rndis_parse_offload(&o, sizes[i], &out), 0);
		assert_int_equal(out.lso2_ip4_max, 1234);
		assert_int_equal(hvn_rndis_parse_offload(&o, sizes[i] - 1u, &out), -EPROTO);
	}
	o.hdr.size = 111;
	assert_int_equal(hvn_rndis_parse_offload(&o, 156, &out), -EPROTO);
	o.hdr.size = 156;
	o.hdr.rev = 0;
	assert_int_equal(hvn_rndis_parse_offload(&o, 156, &out), -EPROTO);
	assert_int_equal(hvn_rndis_parse_offload(&o, 0, &out), -EPROTO);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_requests),
		cmocka_unit_test(test_initialize),
		cmocka_unit_test(test_query),
		cmocka_unit_test(test_set_indicate),
		cmocka_unit_test(test_rss_caps),
		cmocka_unit_test(test_rss_params),
		cmocka_unit_test(test_offload),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

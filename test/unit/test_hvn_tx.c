/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 hvnet contributors
 *
 * What the transmit burst puts on the wire: frames byte by byte, through every transport.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <rte_errno.h>

#include "txhost.h"

static struct txhost t;

static void
send_all(struct rte_mbuf **pkts, uint32_t n)
{
	uint32_t done = hvn_tx_burst(&t.q, pkts, (uint16_t)n);

	assert_int_equal(done, n);
}

/* The packet of one frame in a section, word by word. */
static void
test_section_bytes(void **state)
{
	static const uint32_t header[15] = {
		1, 60 + 64, 52, 64, 0, 0, 0, 36, 16, 0, 0, 16, 8, 12, 3,
	};
	static const uint16_t desc[4] = { 6, 2, 7, 1 };
	const struct th_conf conf = { .nb_desc = 8 };
	struct rte_mbuf *m;
	uint32_t nvsp[10] = { 107, 0, 0, 124 };

	(void)state;
	th_open(&t, &conf);
	m = th_mbuf(&t, 64, 5);
	send_all(&m, 1);
	assert_true(rh_take(&t.rh, &t.pkt));
	assert_int_equal(t.pkt.len, 56);
	assert_memory_equal(t.pkt.bytes, desc, sizeof(desc));
	memcpy(&nvsp[2], t.pkt.bytes + 24, 4);
	assert_in_range(nvsp[2], 1, 63);
	assert_memory_equal(t.pkt.bytes + 16, nvsp, sizeof(nvsp));
	assert_memory_equal(t.rh.send + nvsp[2] * 6144, header, sizeof(header));
	assert_true(rh_pattern_ok(t.rh.send + nvsp[2] * 6144 + 60, 64, 5));
	assert_false(rh_take(&t.rh, &t.pkt));
	th_close(&t);
}

/* The packet of one frame by address. */
static void
test_gpa_bytes(void **state)
{
	static const uint32_t header[15] = {
		1, 60 + 1000, 52, 1000, 0, 0, 0, 36, 16, 0, 0, 16, 8, 12, 3,
	};
	static const uint32_t nvsp[10] = { 107, 0, 0xffffffff, 0 };
	const struct th_conf conf = { .nb_desc = 8 };
	uint32_t words[2];
	struct rte_mbuf *m;
	uint64_t pfn;

	(void)state;
	th_open(&t, &conf);
	m = th_mbuf(&t, 1000, 6);
	send_all(&m, 1);
	assert_true(rh_take(&t.rh, &t.pkt));
	assert_int_equal(t.pkt.type, 9);
	memcpy(words, t.pkt.bytes + 16, sizeof(words));
	assert_int_equal(words[0], 0);
	assert_in_range(words[1], 2, 3); /* the frame may cross one page */
	assert_int_equal(t.pkt.offset, 24 + 16 * words[1]);
	assert_int_equal(t.pkt.len, t.pkt.offset + 40);
	assert_memory_equal(t.pkt.bytes + t.pkt.offset, nvsp, sizeof(nvsp));
	memcpy(words, t.pkt.bytes + 24, sizeof(words));
	memcpy(&pfn, t.pkt.bytes + 32, sizeof(pfn));
	assert_int_equal(words[0], 60);
	assert_memory_equal((void *)(uintptr_t)(pfn * 4096 + words[1]), header, 60);
	rh_tx_parse(&t.rh, &t.pkt, &t.tx);
	assert_true(rh_pattern_ok(t.tx.frame[0], 1000, 6));
	th_close(&t);
}

/* Every length, in bursts of @p burst, cut into @p segs segments. */
static void
every_length(const struct th_conf *conf, uint32_t burst, uint32_t segs)
{
	uint32_t len = 60, n, i, k, first;

	th_open(&t, conf);
	while (len <= 1514) {
		struct rte_mbuf *pkts[64];

		first = len;
		for (n = 0; n < burst && len <= 1514; n++, len++) {
			uint16_t lens[8];

			for (k = 0; k < segs; k++)
				lens[k] = (uint16_t)(len / segs);
			lens[segs - 1] = (uint16_t)(lens[segs - 1] + len % segs);
			pkts[n] = th_chain(&t, lens, segs, len);
		}
		t.nseeds = 0;
		send_all(pkts, n);
		th_settle(&t);
		assert_int_equal(t.nseeds, n);
		for (i = 0; i < n; i++) {
			assert_int_equal(t.seeds[i], first + i);
			assert_int_equal(t.lens[i], first + i);
		}
		th_balance(&t, 0);
	}
	assert_int_equal(t.q.stats.packets, 1455);
	assert_int_equal(t.q.stats.bytes, (60 + 1514) * 1455 / 2);
	assert_int_equal(t.q.stats.section + t.q.stats.gpa + t.q.stats.mixed, 1455);
	assert_int_equal(t.q.stats.errors + t.q.stats.oversize, 0);
	assert_int_equal(t.ch.stats.comp_unknown, 0);
	th_close(&t);
}

static void
test_every_length(void **state)
{
	static const struct th_conf conf[] = {
		{ .copy_only = true }, { .copy_only = true, .align = 64 },
		{ .copy_only = true, .agg_bytes = 1600 },
		{ .copybreak = 512 }, { .copybreak = 1 }, { .copybreak = 1514 },
		{ .copybreak = 1, .hdr_in_section = true },
		{ .copybreak = 300, .hdr_in_section = true, .align = 32 },
		{ .copybreak = 512, .agg_packets = 1 }, { .copybreak = 512, .agg_packets = 3 },
	};
	static const uint32_t bursts[] = { 1, 5, 32, 64 };

	(void)state;
	for (uint32_t c = 0; c < sizeof(conf) / sizeof(conf[0]); c++) {
		for (uint32_t b = 0; b < 4; b++) {
			struct th_conf at = conf[c];

			at.sections = 128;
			at.start = 65528 - 8 * b * 7; /* packets wrap at every boundary */
			every_length(&at, bursts[b], 1);
			every_length(&at, bursts[b], 3);
		}
	}
}

static void
test_aggregation(void **state)
{
	static const uint32_t aligns[] = { 1, 4, 8, 16, 128, 1024 };

	(void)state;
	for (uint32_t a = 0; a < 6; a++) {
		for (uint32_t most = 1; most <= 12; most++) {
			for (uint32_t bytes = 600; bytes <= 6144; bytes += 693) {
				const struct th_conf conf = {
					.copy_only = true, .align = aligns[a],
					.agg_packets = most, .agg_bytes = bytes,
				};
				struct rte_mbuf *pkts[32];

				th_open(&t, &conf);
				/* What was in a section before must not show in the padding. */
				memset(t.rh.send, 0x77, t.rh.send_len);
				for (uint32_t i = 0; i < 32; i++)
					pkts[i] = th_mbuf(&t, 60 + (i * 37) % 400, i);
				send_all(pkts, 32);
				th_take(&t, 100);
				assert_int_equal(t.nseeds, 32);
				for (uint32_t i = 0; i < 32; i++)
					assert_int_equal(t.seeds[i], i);
				assert_true(t.most_frames <= most && t.most_bytes <= bytes);
				if (most == 12 && bytes > 5000 && aligns[a] < 128)
					assert_true(t.most_frames >= 10);
				th_close(&t);
			}
		}
	}
}

static void
test_segments(void **state)
{
	const struct th_conf conf = { .copybreak = 100, .max_frame = 16000 };
	uint16_t lens[64];
	struct rte_mbuf *m;

	(void)state;
	for (uint32_t hdr = 0; hdr < 2; hdr++) {
		struct th_conf c = conf;

		c.hdr_in_section = hdr != 0;
		th_open(&t, &c);
		for (uint32_t segs = 1; segs <= 64; segs++) {
			for (uint32_t i = 0; i < segs; i++)
				lens[i] = (uint16_t)(7 + i * 2);
			m = th_chain(&t, lens, segs, segs);
			send_all(&m, 1);
			th_settle(&t);
			assert_int_equal(t.nseeds, segs);
			assert_int_equal(t.seeds[segs - 1], segs);
			th_balance(&t, 0);
		}
		/* What has more pieces than ranges was copied. */
		assert_true(t.by_section > 30 && t.by_gpa + t.mixed > 20);
		/* Empty segments anywhere. */
		for (uint32_t at = 0; at < 4; at++) {
			for (uint32_t i = 0; i < 4; i++)
				lens[i] = i == at ? 0 : 200;
			m = th_chain(&t, lens, 4, 999);
			send_all(&m, 1);
			th_settle(&t);
			assert_int_equal(t.lens[t.nseeds - 1], 600);
		}
		/* Long frames over several pages. */
		for (uint32_t i = 0; i < 7; i++)
			lens[i] = 2048;
		m = th_chain(&t, lens, 7, 1234);
		send_all(&m, 1);
		th_settle(&t);
		assert_int_equal(t.lens[t.nseeds - 1], 7 * 2048);
		th_balance(&t, 0);
		th_close(&t);
	}
}

static void
free_nothing(void *addr, void *opaque)
{
	(void)addr;
	++*(uint32_t *)opaque;
}

/* Memory that is not the pool's has no address that the host may use. */
static void
test_foreign_memory(void **state)
{
	const struct th_conf conf = { .copybreak = 100, .section = 2048, .max_frame = 9000 };
	static uint8_t mem[8192] __attribute__((aligned(64)));
	struct rte_mbuf_ext_shared_info *info;
	uint32_t freed = 0, sent = 0;
	struct rte_mbuf *m;

	(void)state;
	th_open(&t, &conf);
	for (uint32_t len = 60; len < 3000; len += 97) {
		uint16_t size = sizeof(mem);

		m = rte_pktmbuf_alloc(t.mp);
		info = rte_pktmbuf_ext_shinfo_init_helper(mem, &size, free_nothing, &freed);
		assert_non_null(m);
		assert_non_null(info);
		rte_pktmbuf_attach_extbuf(m, mem, len % 2 != 0 ? RTE_BAD_IOVA :
					  (rte_iova_t)(uintptr_t)mem, size, info);
		rh_pattern((uint8_t *)rte_pktmbuf_append(m, (uint16_t)len), len, len);
		assert_int_equal(hvn_tx_prepare(&t.q, &m, 1), len <= 2048 - 60);
		send_all(&m, 1);
		th_settle(&t);
		sent += len <= 2048 - 60;
		assert_int_equal(t.nseeds, sent);
	}
	assert_int_equal(freed, sent + t.q.stats.oversize);
	assert_true(t.q.stats.oversize > 0);
	assert_int_equal(t.q.stats.gpa, 0);
	assert_int_equal(t.q.stats.packets, sent);
	th_balance(&t, 0);
	th_close(&t);
}

/* Clones share their data: it is sent as it is and freed once. */
static void
test_clones(void **state)
{
	const struct th_conf conf = { .copybreak = 100 };
	struct rte_mbuf *m, *c;

	(void)state;
	th_open(&t, &conf);
	for (uint32_t len = 60; len < 1500; len += 100) {
		m = th_mbuf(&t, len, len);
		c = rte_pktmbuf_clone(m, t.mp);
		assert_non_null(c);
		send_all(&c, 1);
		send_all(&m, 1);
		th_settle(&t);
		assert_int_equal(t.seeds[t.nseeds - 1], len);
		assert_int_equal(t.seeds[t.nseeds - 2], len);
		th_balance(&t, 0);
	}
	th_close(&t);
}

static void
test_prepare(void **state)
{
	const struct th_conf conf = { .copybreak = 512, .section = 2048, .max_frame = 9000 };
	uint16_t lens[40];
	struct rte_mbuf *m;

	(void)state;
	th_open(&t, &conf);
	m = th_mbuf(&t, 64, 0);
	assert_int_equal(hvn_tx_prepare(&t.q, &m, 1), 1);
	m->ol_flags = RTE_MBUF_F_TX_TCP_CKSUM | RTE_MBUF_F_TX_IPV4;
	assert_int_equal(hvn_tx_prepare(&t.q, &m, 1), 0);
	assert_int_equal(rte_errno, ENOTSUP);
	th_free(&m, 1);
	m = th_mbuf(&t, 0, 0);
	assert_int_equal(hvn_tx_prepare(&t.q, &m, 1), 0);
	assert_int_equal(rte_errno, EINVAL);
	th_free(&m, 1);
	/* Forty pieces do not fit in the ranges, and their sum not in a section. */
	for (uint32_t i = 0; i < 40; i++)
		lens[i] = 50;
	m = th_chain(&t, lens, 40, 0);
	assert_int_equal(hvn_tx_prepare(&t.q, &m, 1), 0);
	assert_int_equal(rte_errno, EINVAL);
	th_free(&m, 1);
	m = th_chain(&t, lens, 39, 0);
	assert_int_equal(hvn_tx_prepare(&t.q, &m, 1), 1);
	send_all(&m, 1);
	th_settle(&t);
	assert_int_equal(t.q.stats.oversize, 0);
	th_close(&t);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_section_bytes),
		cmocka_unit_test(test_gpa_bytes),
		cmocka_unit_test(test_every_length),
		cmocka_unit_test(test_aggregation),
		cmocka_unit_test(test_segments),
		cmocka_unit_test(test_foreign_memory),
		cmocka_unit_test(test_clones),
		cmocka_unit_test(test_prepare),
	};

	rh_eal_init();
	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 hvnet contributors
 *
 * Transmit when something runs out: exact counts, nothing lost, and it goes on by itself.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "hvn_inbound.h"
#include "txhost.h"

static struct txhost t;
static struct rte_mbuf *pkts[1024];

static void
make(uint32_t n, uint32_t len, uint32_t first)
{
	for (uint32_t i = 0; i < n; i++)
		pkts[i] = th_mbuf(&t, len, first + i);
}

/* Frames seen by the host are @p n in the order of their seeds, from @p first. */
static void
in_order(uint32_t first, uint32_t n)
{
	assert_int_equal(t.nseeds, n);
	for (uint32_t i = 0; i < n; i++)
		assert_int_equal(t.seeds[i], first + i);
	t.nseeds = 0;
}

/* {ok, bad, ok}: the bad one counts as taken, is freed once and is never sent. */
static void
test_bad_between(void **state)
{
	static const uint32_t where[] = { 0, 1, 2, 63, 64, 65, 99 };
	const struct th_conf conf = { .nb_desc = 512, .pages = 64, .max_frame = 1514 };
	uint64_t bytes = 0;

	(void)state;
	th_open(&t, &conf);
	for (uint32_t kind = 0; kind < 2; kind++) {
		for (uint32_t w = 0; w < 7; w++) {
			make(100, 64 + 600 * (w % 2), 0);
			rte_pktmbuf_free(pkts[where[w]]);
			pkts[where[w]] = th_mbuf(&t, kind != 0 ? 1515 : 0, 5000);
			for (uint32_t i = 0; i < 100; i++)
				rte_pktmbuf_refcnt_update(pkts[i], 1);
			assert_int_equal(hvn_tx_burst(&t.q, pkts, 100), 100);
			th_settle(&t);
			bytes += 99 * (64 + 600 * (w % 2));
			assert_int_equal(t.nseeds, 99);
			for (uint32_t i = 0; i < 99; i++)
				assert_int_equal(t.seeds[i], i + (i >= where[w]));
			t.nseeds = 0;
			for (uint32_t i = 0; i < 100; i++)
				assert_int_equal(rte_mbuf_refcnt_read(pkts[i]), 1);
			th_balance(&t, 100);
			th_free(pkts, 100);
		}
	}
	assert_int_equal(t.q.stats.oversize, 14);
	assert_int_equal(t.q.stats.packets, 14 * 99);
	assert_int_equal(t.q.stats.bytes, bytes);
	/* All bad: taken, nothing sent, no signal for nothing. */
	t.ch.stats.signals = 0;
	for (uint32_t i = 0; i < 64; i++)
		pkts[i] = th_mbuf(&t, 0, 0);
	assert_int_equal(hvn_tx_burst(&t.q, pkts, 64), 64);
	assert_int_equal(th_take(&t, 10), 0);
	assert_int_equal(t.ch.stats.signals, 0);
	th_balance(&t, 0);
	th_close(&t);
}

/* A frame that fits in no transport is dropped by name and not counted as sent. */
static void
test_no_transport(void **state)
{
	const struct th_conf conf = { .copy_only = true, .section = 1024, .max_frame = 2000 };

	(void)state;
	th_open(&t, &conf);
	pkts[0] = th_mbuf(&t, 100, 0);
	pkts[1] = th_mbuf(&t, 965, 5000);
	pkts[2] = th_mbuf(&t, 964, 1);
	assert_int_equal(hvn_tx_burst(&t.q, pkts, 3), 3);
	th_settle(&t);
	in_order(0, 2);
	assert_int_equal(t.q.stats.oversize, 1);
	assert_int_equal(t.q.stats.packets, 2);
	assert_int_equal(t.q.stats.bytes, 1064);
	th_balance(&t, 0);
	th_close(&t);
}

/* Sections gone: small frames go by address, in order, and back when there are some. */
static void
test_section_fallback(void **state)
{
	const struct th_conf conf = { .sections = 9, .nb_desc = 256, .agg_packets = 2 };

	(void)state;
	th_open(&t, &conf);
	for (uint32_t round = 0; round < 10; round++) {
		make(100, 80, 0);
		assert_int_equal(hvn_tx_burst(&t.q, pkts, 100), 100);
		th_take(&t, 1000);
		in_order(0, 100);
		assert_int_equal(t.by_section, 8);
		assert_int_equal(t.by_gpa, 84);
		t.by_section = t.by_gpa = 0;
		th_balance(&t, 0);
		th_settle(&t);
	}
	assert_int_equal(t.q.stats.section, 160);
	assert_int_equal(t.q.stats.gpa, 840);
	assert_true(t.q.stats.no_section >= 84);
	th_balance(&t, 0);
	th_close(&t);
}

/* Without addresses the burst ends exactly there; the queue finds the completions alone. */
static void
no_section_stall(bool hdr_in_section, uint32_t thresh, uint32_t burst)
{
	const struct th_conf conf = {
		.sections = 40, .nb_desc = 1024, .agg_packets = 1, .pages = 64,
		.copy_only = !hdr_in_section, .hdr_in_section = hdr_in_section, .copybreak = 512,
	};
	uint32_t next = 0, done;

	th_open(&t, &conf);
	t.q.free_thresh = thresh;
	for (uint32_t round = 0; round < 20; round++) {
		uint32_t sent = 0;

		do {
			make(burst, hdr_in_section ? 1000 : 100, next);
			done = hvn_tx_burst(&t.q, pkts, (uint16_t)burst);
			th_free(pkts + done, burst - done);
			next += done;
			sent += done;
		} while (done == burst);
		assert_int_equal(sent, 39); /* all of them, every time */
		th_balance(&t, 0);
		th_take(&t, 1000);
		in_order(next - sent, sent);
		th_complete(&t, t.nout, 1); /* nobody else looks at the inbound ring */
	}
	assert_int_equal(t.q.stats.ring_full, 0);
	assert_int_equal(t.q.stats.no_desc, 0);
	assert_true(t.q.stats.no_section >= 20);
	th_close(&t);
}

static void
test_no_section(void **state)
{
	static const uint32_t bursts[] = { 1, 7, 32, 39, 40, 64, 100, 256 };

	(void)state;
	for (uint32_t b = 0; b < 8; b++) {
		no_section_stall(false, 1, bursts[b]);
		no_section_stall(false, 256, bursts[b]);
		no_section_stall(false, 1024, bursts[b]);
		no_section_stall(true, 32, bursts[b]);
	}
}

/* The host reads nothing for long, then everything: all books balance (A01). */
static void
ring_full(const struct th_conf *conf, uint32_t len, uint32_t burst)
{
	uint32_t next = 0, seen = 0, done, acks;

	th_open(&t, conf);
	for (uint32_t lap = 0; lap < 4; lap++) {
		for (uint32_t i = 0; i < 2000; i++) {
			make(burst, len, next);
			done = hvn_tx_burst(&t.q, pkts, (uint16_t)burst);
			th_free(pkts + done, burst - done);
			next += done;
			if (done == 0 && i > 60)
				break;
		}
		th_balance(&t, 0);
		/* Receive completions still fit beside them. */
		for (acks = 0; vmring_free(&t.ch.out) > 64 * (acks + 1); acks++)
			;
		assert_true(acks >= HVN_OUT_RESERVE / 64 - 1);
		th_take(&t, TH_OUT_MAX);
		assert_int_equal(t.nseeds, next - seen);
		in_order(seen, next - seen);
		seen = next;
		th_settle(&t);
		th_balance(&t, 0);
	}
	assert_true(seen > 100);
	assert_int_equal(t.q.stats.packets, seen);
	assert_true(t.q.stats.ring_full > 0);
	assert_int_equal(t.q.stats.no_desc, 0);
	th_close(&t);
}

static void
test_ring_full(void **state)
{
	static const struct th_conf conf[] = {
		{ .nb_desc = 1000, .pages = 5, .sections = 1000, .agg_packets = 1 },
		{ .nb_desc = 1000, .pages = 5, .sections = 1000, .copy_only = true,
		  .agg_packets = 2 },
		{ .nb_desc = 1000, .pages = 5, .sections = 1000, .hdr_in_section = true,
		  .start = 20472 },
	};

	(void)state;
	for (uint32_t c = 0; c < 3; c++) {
		for (uint32_t burst = 1; burst <= 80; burst += 13) {
			ring_full(&conf[c], 64, burst);
			ring_full(&conf[c], 1000, burst);
		}
	}
}

/* A mixed burst that ends in the middle of an open section. */
static void
test_mixed_ring_full(void **state)
{
	const struct th_conf conf = { .nb_desc = 1000, .pages = 5, .sections = 1000 };
	uint32_t next = 0, done, n, seen = 0;

	(void)state;
	th_open(&t, &conf);
	srand(3);
	for (uint32_t round = 0; round < 300; round++) {
		n = 1 + (uint32_t)rand() % 90;
		for (uint32_t i = 0; i < n; i++)
			pkts[i] = th_mbuf(&t, 60 + (uint32_t)rand() % 1455, next + i);
		done = hvn_tx_burst(&t.q, pkts, (uint16_t)n);
		th_free(pkts + done, n - done);
		next += done;
		th_balance(&t, 0);
		if (rand() % 3 == 0)
			th_take(&t, 1 + (uint32_t)rand() % 60);
		if (rand() % 3 == 0 && t.nout != 0)
			th_complete(&t, (uint32_t)rand() % RTE_MIN(t.nout, 1 + rh_room(&t.rh) / 80),
				    1);
		if (t.nseeds > TH_OUT_MAX / 2) {
			for (uint32_t i = 0; i < t.nseeds; i++)
				assert_int_equal(t.seeds[i], seen++);
			t.nseeds = 0;
		}
	}
	th_settle(&t);
	for (uint32_t i = 0; i < t.nseeds; i++)
		assert_int_equal(t.seeds[i], seen++);
	assert_int_equal(seen, next);
	assert_int_equal(t.q.stats.packets, seen);
	assert_true(t.q.stats.ring_full > 0);
	th_balance(&t, 0);
	th_close(&t);
}

static void
test_no_descriptor(void **state)
{
	(void)state;
	for (uint32_t agg = 1; agg <= 4; agg++) {
		const struct th_conf conf = { .nb_desc = 16, .agg_packets = agg };

		th_open(&t, &conf);
		make(100, 64, 0);
		assert_int_equal(hvn_tx_burst(&t.q, pkts, 100), RTE_MIN(16 * agg, 100u));
		assert_int_equal(t.q.stats.no_desc, 16 * agg < 100);
		assert_int_equal(t.q.stats.ring_full, 0);
		th_balance(&t, 100 - RTE_MIN(16 * agg, 100u));
		th_free(pkts + 16 * agg, 100 - 16 * agg);
		th_settle(&t);
		in_order(0, 16 * agg);
		th_close(&t);
	}
}

/* Every threshold with every burst: the queue never needs help to go on (A12). */
static void
test_thresholds(void **state)
{
	const struct th_conf conf = { .nb_desc = 64, .sections = 128 };
	uint32_t sent, tries;

	(void)state;
	for (uint32_t thresh = 1; thresh <= 64; thresh += 9) {
		for (uint32_t burst = 1; burst <= 256; burst *= 4) {
			th_open(&t, &conf);
			t.q.free_thresh = thresh;
			for (sent = 0, tries = 0; sent < 1024 && tries < 5000; tries++) {
				uint32_t n = RTE_MIN(burst, 1024 - sent), done;

				make(n, 700, sent);
				done = hvn_tx_burst(&t.q, pkts, (uint16_t)n);
				th_free(pkts + done, n - done);
				sent += done;
				th_take(&t, 1000);
				th_complete(&t, t.nout, 1);
			}
			assert_int_equal(sent, 1024);
			in_order(0, 1024);
			th_close(&t);
		}
	}
}

/* Received frames that nobody takes do not hold up transmit (A13). */
static void
test_behind_receive(void **state)
{
	const struct th_conf conf = { .nb_desc = 64, .sections = 128, .pages = 5 };
	const struct rh_range r = { .len = 64, .ofs = 0 };
	uint32_t parked = 0;

	(void)state;
	th_open(&t, &conf);
	t.ch.park_limit = 100;
	for (uint32_t round = 0; round < 50; round++) {
		make(32, 700, 0);
		assert_int_equal(hvn_tx_burst(&t.q, pkts, 32), 32);
		for (uint32_t i = 0; i < 32; i++) {
			while (!rh_take(&t.rh, &t.pkt) || t.pkt.type == 0xb)
				;
			t.out[t.nout++] = t.pkt.xact;
		}
		for (uint32_t i = 0; i < 40; i++, parked++)
			rh_xfer(&t.rh, i, &r, 1, 0);
		th_complete(&t, 32, 1);
		rh_release(&t.rh);
	}
	for (uint32_t i = 0; hvn_txq_reclaim(&t.q) != 0; i++)
		assert_true(i < 50); /* each call makes progress */
	/* Parking was filled, and no more was dropped than stood before the completions. */
	assert_int_equal(t.ch.park_head - t.ch.park_tail, 100);
	assert_true(t.ch.stats.park_drops <= parked - 100);
	th_balance(&t, 0);
	hvn_inbound_flush(&t.ch);
	assert_int_equal(t.ch.stats.park_drops + t.ch.stats.stop_drops, parked);
	th_close(&t);
}

static void
test_lock_and_dead(void **state)
{
	const struct th_conf conf = { .nb_desc = 64 };

	(void)state;
	th_open(&t, &conf);
	make(4, 100, 0);
	assert_true(hvn_channel_out_lock(&t.ch));
	assert_int_equal(hvn_tx_burst(&t.q, pkts, 4), 0);
	hvn_channel_out_unlock(&t.ch);
	assert_int_equal(hvn_tx_burst(&t.q, pkts, 0), 0);
	th_balance(&t, 4);
	assert_int_equal(hvn_tx_burst(&t.q, pkts, 4), 4);
	assert_int_equal(t.ch.stats.signals, 1);
	make(4, 1000, 4);
	assert_int_equal(hvn_tx_burst(&t.q, pkts, 4), 4);
	assert_int_equal(t.ch.stats.signals, 1); /* it had not read the first ones */
	th_settle(&t);
	in_order(0, 8);
	make(4, 100, 8);
	*rh_word(&t.rh, 0, 2) = 1;
	assert_int_equal(hvn_tx_burst(&t.q, pkts, 4), 4);
	assert_int_equal(t.ch.stats.signals, 1); /* masked */
	th_settle(&t);
	hvn_channel_kill(&t.ch);
	make(4, 100, 12);
	assert_int_equal(hvn_tx_burst(&t.q, pkts, 4), 0);
	assert_int_equal(th_take(&t, 4), 0);
	th_balance(&t, 4);
	th_free(pkts, 4);
	th_close(&t);
}

/* An impossible read index kills the channel; the mbufs stay the caller's. */
static void
test_corrupt_ring(void **state)
{
	static const uint32_t bad[] = { 5 * 4096, 4, 0xffffffff, 0x80000000 };
	const struct th_conf conf = { .nb_desc = 64, .pages = 5 };

	(void)state;
	for (uint32_t i = 0; i < 4; i++) {
		th_open(&t, &conf);
		make(64, 1000, 0);
		assert_int_equal(hvn_tx_burst(&t.q, pkts, 16), 16);
		*rh_word(&t.rh, 0, 1) = bad[i];
		assert_int_equal(hvn_tx_burst(&t.q, pkts + 16, 48), 0);
		assert_true(hvn_channel_is_dead(&t.ch));
		assert_int_equal(t.ch.out_lock, 0);
		th_balance(&t, 48);
		th_free(pkts + 16, 48);
		th_close(&t);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_bad_between),
		cmocka_unit_test(test_no_transport),
		cmocka_unit_test(test_section_fallback),
		cmocka_unit_test(test_no_section),
		cmocka_unit_test(test_ring_full),
		cmocka_unit_test(test_mixed_ring_full),
		cmocka_unit_test(test_no_descriptor),
		cmocka_unit_test(test_thresholds),
		cmocka_unit_test(test_behind_receive),
		cmocka_unit_test(test_lock_and_dead),
		cmocka_unit_test(test_corrupt_ring),
	};

	rh_eal_init();
	return cmocka_run_group_tests(tests, NULL, NULL);
}

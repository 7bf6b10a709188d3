/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 hvnet contributors
 *
 * Transmit descriptors and send sections on their way back: honest, late and hostile hosts.
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

/* Send @p n frames of @p len bytes that must all be taken. */
static void
send_frames(uint32_t n, uint32_t len)
{
	for (uint32_t i = 0; i < n; i++) {
		struct rte_mbuf *m = th_mbuf(&t, len, i);

		assert_int_equal(hvn_tx_burst(&t.q, &m, 1), 1);
	}
}

static void
test_order_free(void **state)
{
	const struct th_conf conf = { .nb_desc = 64 };

	(void)state;
	th_open(&t, &conf);
	for (uint32_t round = 0; round < 50; round++) {
		send_frames(20, round % 2 != 0 ? 100 : 1000);
		assert_int_equal(th_take(&t, 100), 20);
		th_balance(&t, 0);
		/* Last one first, in pieces. */
		for (uint32_t i = 0; i < 10; i++) {
			uint64_t tmp = t.out[i];

			t.out[i] = t.out[19 - i];
			t.out[19 - i] = tmp;
		}
		th_complete(&t, 7, 1);
		assert_int_equal(hvn_txq_reclaim(&t.q), 13);
		th_balance(&t, 0);
		th_complete(&t, 13, 1);
		assert_int_equal(hvn_txq_reclaim(&t.q), 0);
		th_balance(&t, 0);
		t.nseeds = 0;
	}
	assert_int_equal(t.ch.stats.comp_unknown, 0);
	th_close(&t);
}

static void
test_hostile_completions(void **state)
{
	static const uint64_t ids[] = {
		0, 65, 66, 1000, 0x7fffffff, 0x80000000, 0x80000001, 0xffffffff,
		1ull << 33, (1ull << 33) + 1, 1ull << 63, 0xfffffffe00000001ull,
	};
	const uint32_t n = sizeof(ids) / sizeof(ids[0]);
	const struct th_conf conf = { .nb_desc = 64 };

	(void)state;
	th_open(&t, &conf);
	send_frames(2, 1000);
	assert_int_equal(th_take(&t, 10), 2);
	for (uint32_t i = 0; i < n; i++)
		rh_complete(&t.rh, ids[i], 108, 1);
	for (uint64_t id = 1; id <= 64; id++) { /* valid numbers, nothing outstanding */
		if (id != t.out[0] && id != t.out[1])
			rh_complete(&t.rh, id, 108, 1);
	}
	rh_publish(&t.rh);
	assert_int_equal(hvn_txq_reclaim(&t.q), 2);
	assert_int_equal(t.ch.stats.comp_unknown, n + 62);
	th_balance(&t, 0);
	/* The same one again and again counts once, also when not collected in between. */
	for (uint32_t i = 0; i < 5; i++)
		rh_complete(&t.rh, t.out[0], 108, 1);
	rh_publish(&t.rh);
	assert_int_equal(hvn_txq_reclaim(&t.q), 1);
	rh_complete(&t.rh, t.out[0], 108, 1); /* late: it was free long ago */
	rh_complete(&t.rh, t.out[1], 108, 1);
	rh_publish(&t.rh);
	assert_int_equal(hvn_txq_reclaim(&t.q), 0);
	assert_int_equal(t.ch.stats.comp_unknown, n + 62 + 5);
	assert_int_equal(t.q.stats.errors, 0);
	t.nout = 0;
	th_balance(&t, 0);
	/* The first number behind the table, whatever lies there. */
	t.q.nb_desc--;
	t.q.state[63] = HVN_TXD_SENT;
	assert_false(hvn_txq_complete(&t.q, 64, true));
	t.q.state[63] = HVN_TXD_FREE;
	t.q.nb_desc++;
	th_close(&t);
}

static void
test_status(void **state)
{
	static const struct {
		uint32_t type, status, errors;
	} cases[] = {
		{ 108, 1, 0 }, { 108, 0, 1 }, { 108, 2, 1 }, { 108, 5, 1 }, { 108, 6, 1 },
		{ 108, 0xffffffff, 1 }, { 107, 1, 1 }, { 0, 1, 1 },
	};
	const struct th_conf conf = { .nb_desc = 64 };
	struct rte_mbuf *pkts[5];
	uint64_t want = 0;

	(void)state;
	th_open(&t, &conf);
	for (uint32_t c = 0; c < sizeof(cases) / sizeof(cases[0]); c++) {
		for (uint32_t i = 0; i < 5; i++)
			pkts[i] = th_mbuf(&t, i < 4 ? 80 : 1200, i);
		assert_int_equal(hvn_tx_burst(&t.q, pkts, 5), 5);
		assert_int_equal(th_take(&t, 9), 2); /* four frames in a section, one by address */
		for (uint32_t i = 0; i < 2; i++)
			rh_complete(&t.rh, t.out[i], cases[c].type, cases[c].status);
		rh_publish(&t.rh);
		t.nout = 0;
		assert_int_equal(hvn_txq_reclaim(&t.q), 0);
		want += 5 * cases[c].errors;
		assert_int_equal(t.q.stats.errors, want);
		th_balance(&t, 0);
	}
	/* A completion without payload gives the descriptor back, as an error. */
	send_frames(1, 80);
	th_take(&t, 1);
	rh_packet(&t.rh, 0xb, 0, t.out[0], NULL, 0, NULL, 0);
	/* Its trailer looks like a good payload. */
	memcpy(t.rh.rings + t.rh.half + 4096 + t.rh.wpos - 8, (uint32_t[]){ 108, 1 }, 8);
	rh_publish(&t.rh);
	t.nout = 0;
	assert_int_equal(hvn_txq_reclaim(&t.q), 0);
	assert_int_equal(t.q.stats.errors, want + 1);
	assert_int_equal(t.ch.stats.comp_unknown, 0);
	th_close(&t);
}

static void
test_abandon(void **state)
{
	const struct th_conf conf = { .nb_desc = 64 };
	uint32_t n;

	(void)state;
	th_open(&t, &conf);
	send_frames(10, 100);
	send_frames(10, 1000);
	th_take(&t, 20);
	th_complete(&t, 5, 1);
	hvn_inbound_drain(&t.ch); /* completed, not collected */
	hvn_txq_abandon(&t.q);
	assert_int_equal(t.q.nfree, 64);
	th_balance(&t, 0);
	assert_int_equal(t.pool.nfree, t.pool.count - 1);
	/* Completions that come after all are unknown. */
	n = t.nout;
	th_complete(&t, n, 1);
	assert_int_equal(hvn_txq_reclaim(&t.q), 0);
	assert_int_equal(t.ch.stats.comp_unknown, n);
	/* And the queue works again. */
	send_frames(64, 1000);
	th_settle(&t);
	th_balance(&t, 0);
	hvn_txq_abandon(&t.q);
	th_close(&t);
}

static void
test_release_returns_sections(void **state)
{
	const struct th_conf conf = { .nb_desc = 64 };

	(void)state;
	th_open(&t, &conf);
	send_frames(10, 100);
	th_settle(&t);
	assert_true(t.q.cache.n > 0);
	hvn_txq_free(&t.q); /* an idle queue is released: its cache must go back */
	assert_int_equal(t.pool.nfree, t.pool.count - 1);
	assert_int_equal(hvn_txq_alloc(&t.q, 32, SOCKET_ID_ANY), 0);
	send_frames(20, 100);
	th_settle(&t);
	th_balance(&t, 0);
	th_close(&t);
}

static void
test_descriptor_counts(void **state)
{
	static const uint32_t counts[] = { 1, 2, 3, 31, 33, 64, 100, 257, 1000 };

	(void)state;
	for (uint32_t i = 0; i < sizeof(counts) / sizeof(counts[0]); i++) {
		const struct th_conf conf = { .nb_desc = counts[i], .sections = 2048,
					      .pages = 64 };
		struct rte_mbuf *m;

		th_open(&t, &conf);
		for (uint32_t lap = 0; lap < 5; lap++) {
			send_frames(counts[i], 1000);
			m = th_mbuf(&t, 60, 0);
			assert_int_equal(hvn_tx_burst(&t.q, &m, 1), 0);
			assert_int_equal(t.q.stats.no_desc, lap + 1);
			th_free(&m, 1);
			th_balance(&t, 0);
			th_settle(&t);
			t.nseeds = 0;
		}
		th_close(&t);
	}
}

/* Every queue's cache and the pool together hold each section once. */
static void
test_sections_unique(void **state)
{
	enum { QUEUES = 5, SECTIONS = 300 };
	static uint8_t mem[SECTIONS * 64], seen[SECTIONS];
	struct hvn_section_cache cache[QUEUES] = { { .n = 0 } };
	static uint32_t got[QUEUES * 2 * SECTIONS], who[QUEUES * 2 * SECTIONS];
	struct hvn_section_pool pool;
	uint32_t n, k, all;

	(void)state;
	assert_int_equal(hvn_section_pool_init(&pool, mem, sizeof(mem), 64, SOCKET_ID_ANY), 0);
	assert_int_equal(pool.count, SECTIONS);
	for (k = 0; k < QUEUES; k++)
		cache[k].limit = UINT32_MAX;
	srand(1);
	for (uint32_t round = 0; round < 300; round++) {
		memset(seen, 0, sizeof(seen));
		for (n = 0; n < SECTIONS; n++) {
			who[n] = (uint32_t)rand() % QUEUES;
			got[n] = hvn_section_get(&pool, &cache[who[n]]);
			if (got[n] == UINT32_MAX)
				break;
			assert_true(got[n] > 0 && got[n] < SECTIONS);
			assert_int_equal(seen[got[n]]++, 0);
		}
		while (n-- > 0)
			hvn_section_put(&pool, &cache[who[n]], got[n]);
		all = pool.nfree;
		for (k = 0; k < QUEUES; k++)
			all += cache[k].n;
		assert_int_equal(all, SECTIONS - 1);
	}
	for (k = 0; k < QUEUES; k++)
		hvn_section_drain(&pool, &cache[k], 0);
	assert_int_equal(pool.nfree, SECTIONS - 1);
	/* Sections of a buffer that is gone are forgotten, not written anywhere. */
	assert_int_not_equal(hvn_section_get(&pool, &cache[0]), UINT32_MAX);
	hvn_section_pool_fini(&pool);
	hvn_section_drain(&pool, &cache[0], 0);
	assert_int_equal(hvn_section_get(&pool, &cache[0]), UINT32_MAX);
}

/* No queue takes more than its share, whatever the others leave; the share adds up. */
static void
test_section_share(void **state)
{
	enum { QUEUES = 4, SECTIONS = 301 };
	static uint8_t mem[SECTIONS * 64];
	struct hvn_section_cache cache[QUEUES] = { { .n = 0 } };
	struct hvn_section_pool pool;
	uint32_t k, n;

	(void)state;
	assert_int_equal(hvn_section_pool_init(&pool, mem, sizeof(mem), 64, SOCKET_ID_ANY), 0);
	for (k = 0; k < QUEUES; k++)
		hvn_section_share(&pool, &cache[k], QUEUES);
	for (k = 0; k < QUEUES; k++) {
		for (n = 0; hvn_section_get(&pool, &cache[k]) != UINT32_MAX; n++)
			assert_true(n < SECTIONS);
		assert_int_equal(n, (SECTIONS - 1) / QUEUES);
		assert_int_equal(cache[k].held, n);
	}
	hvn_section_put(&pool, &cache[0], 1);
	assert_int_equal(hvn_section_get(&pool, &cache[1]), UINT32_MAX);
	assert_int_equal(hvn_section_get(&pool, &cache[0]), 1);
	/* More queues than sections: each still gets one. */
	cache[0] = (struct hvn_section_cache){ .n = 0 };
	hvn_section_share(&pool, &cache[0], 2 * SECTIONS);
	assert_int_equal(cache[0].limit, 1);
	hvn_section_pool_fini(&pool);
}

static void
test_section_sizes(void **state)
{
	struct hvn_section_pool pool;
	uint8_t mem[256];

	(void)state;
	assert_int_not_equal(hvn_section_pool_init(&pool, mem, 256, 0, SOCKET_ID_ANY), 0);
	assert_int_not_equal(hvn_section_pool_init(&pool, mem, 256, 256, SOCKET_ID_ANY), 0);
	assert_int_not_equal(hvn_section_pool_init(&pool, mem, 0, 64, SOCKET_ID_ANY), 0);
	assert_int_not_equal(hvn_section_pool_init(&pool, mem, UINT64_MAX, 1, SOCKET_ID_ANY), 0);
	assert_int_equal(hvn_section_pool_init(&pool, mem, 255, 64, SOCKET_ID_ANY), 0);
	assert_int_equal(pool.count, 3);
	hvn_section_pool_fini(&pool);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_order_free),
		cmocka_unit_test(test_hostile_completions),
		cmocka_unit_test(test_status),
		cmocka_unit_test(test_abandon),
		cmocka_unit_test(test_release_returns_sections),
		cmocka_unit_test(test_descriptor_counts),
		cmocka_unit_test(test_sections_unique),
		cmocka_unit_test(test_section_share),
		cmocka_unit_test(test_section_sizes),
	};

	rh_eal_init();
	return cmocka_run_group_tests(tests, NULL, NULL);
}

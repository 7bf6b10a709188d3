/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 hvnet contributors
 *
 * One channel, two polling threads and a host in a third: order, books and no data race.
 */
#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>

#include "hvn_inbound.h"
#include "hvn_rx.h"
#include "txhost.h"

#define FRAMES 20000u
#define SLOTS 192u
#define SLOT 512u
#define IDS 64u
#define DEADLINE_S 60

/* What a run does. */
struct run {
	uint32_t park_limit;
	bool copy_only;
	bool receiver;  /* false: nobody receives, everything is dropped by name */
	bool sender;
};

static struct txhost t;
static struct hvn_rxq rxq;
static const struct run *run;
static uint32_t sent, received, transmitted, stop;

/* Host's books. */
static struct {
	uint32_t slot_id[SLOTS];       /* packet that holds it + 1, 0 = free */
	bool id_used[IDS];
	uint32_t next_slot, next_seed; /* receive */
	uint32_t seen;                 /* transmit */
	uint32_t acks;
} host;

static bool
late(const struct timespec *start)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec - start->tv_sec > DEADLINE_S;
}

static void
host_ack(uint64_t id)
{
	assert_true(id < IDS && host.id_used[id]); /* once only, and only what is ours */
	host.id_used[id] = false;
	host.acks++;
	for (uint32_t i = 0; i < SLOTS; i++) {
		if (host.slot_id[i] == id + 1)
			host.slot_id[i] = 0;
	}
}

static void
host_take(void)
{
	while (t.nout < 128 && rh_take(&t.rh, &t.pkt)) {
		if (t.pkt.type == 0xb) {
			host_ack(rh_ack_id(&t.pkt));
			continue;
		}
		rh_tx_parse(&t.rh, &t.pkt, &t.tx);
		for (uint32_t i = 0; i < t.tx.nframes; i++)
			assert_true(rh_pattern_ok(t.tx.frame[i], t.tx.frame_len[i], host.seen++));
		t.out[t.nout++] = t.pkt.xact;
	}
	rh_release(&t.rh);
}

/* Send up to @p most frames in one packet, if slots and an id are free. */
static void
host_send(uint32_t most)
{
	static const struct rh_ppi ppi = { 16, 8, 12, 5 };
	struct rh_range r[8];
	uint8_t frame[200];
	uint32_t n, id;

	for (id = 0; id < IDS && host.id_used[id]; id++)
		;
	if (id == IDS || rh_room(&t.rh) < 256)
		return;
	for (n = 0; n < most && host.next_seed < FRAMES; n++) {
		uint32_t slot = host.next_slot % SLOTS, len = 60 + host.next_seed % 100;

		if (host.slot_id[slot] != 0)
			break;
		rh_pattern(frame, len, host.next_seed++);
		r[n].ofs = slot * SLOT;
		r[n].len = rh_rndis(t.rh.recv + r[n].ofs, &ppi, 1, 0, frame, len);
		host.slot_id[slot] = id + 1;
		host.next_slot++;
	}
	if (n == 0)
		return;
	host.id_used[id] = true;
	rh_xfer(&t.rh, id, r, n, 0);
	__atomic_store_n(&sent, host.next_seed, __ATOMIC_RELAXED);
}

static void *
host_main(void *arg)
{
	uint32_t round = 0, n;

	(void)arg;
	while (!__atomic_load_n(&stop, __ATOMIC_ACQUIRE)) {
		host_take();
		for (uint32_t i = 0; i < 4; i++)
			host_send(1 + round % 8);
		n = RTE_MIN(t.nout, rh_room(&t.rh) / 80);
		th_complete(&t, n - n * (round % 3) / 4, 1);
		if (++round % 4 == 0)
			sched_yield();
	}
	return NULL;
}

static void *
rx_main(void *arg)
{
	struct rte_mbuf *pkts[32];
	uint32_t next = 0, seed, burst = 1;

	(void)arg;
	while (!__atomic_load_n(&stop, __ATOMIC_ACQUIRE)) {
		uint16_t n = hvn_rx_burst(&rxq, pkts, (uint16_t)burst);

		for (uint32_t i = 0; i < n; i++) {
			memcpy(&seed, rte_pktmbuf_mtod(pkts[i], void *), sizeof(seed));
			assert_true(seed >= next && seed < FRAMES);
			assert_true(run->park_limit < SLOTS || seed == next);
			assert_int_equal(pkts[i]->pkt_len, 60 + seed % 100);
			assert_true(rh_pattern_ok(rte_pktmbuf_mtod(pkts[i], uint8_t *),
						  pkts[i]->pkt_len, seed));
			next = seed + 1;
			rte_pktmbuf_free(pkts[i]);
		}
		__atomic_fetch_add(&received, n, __ATOMIC_RELAXED);
		burst = burst % 32 + 1;
		if (n == 0)
			sched_yield();
	}
	return NULL;
}

static void *
tx_main(void *arg)
{
	struct rte_mbuf *pkts[40];
	uint32_t next = 0, n, done;

	(void)arg;
	while (!__atomic_load_n(&stop, __ATOMIC_ACQUIRE)) {
		if (!run->sender || next == FRAMES) {
			hvn_txq_reclaim(&t.q);
			sched_yield();
			continue;
		}
		for (n = 0; n < 1 + next % 40 && next + n < FRAMES; n++)
			pkts[n] = th_mbuf(&t, 60 + (next + n) * 7 % 1000, next + n);
		done = hvn_tx_burst(&t.q, pkts, (uint16_t)n);
		th_free(pkts + done, n - done);
		next += done;
		__atomic_store_n(&transmitted, next, __ATOMIC_RELAXED);
		if (done != n)
			sched_yield();
	}
	return NULL;
}

static bool
finished(void)
{
	if (run->sender && __atomic_load_n(&transmitted, __ATOMIC_RELAXED) != FRAMES)
		return false;
	if (__atomic_load_n(&sent, __ATOMIC_RELAXED) != FRAMES)
		return false;
	return !run->receiver || run->park_limit < SLOTS ||
	       __atomic_load_n(&received, __ATOMIC_RELAXED) == FRAMES;
}

/* All threads are gone: what is still on its way is walked here. */
static void
settle(void)
{
	struct rte_mbuf *pkts[32];
	uint32_t n;

	for (uint32_t i = 0; i < 1000; i++) {
		host_take();
		th_complete(&t, t.nout, 1);
		while (run->receiver && (n = hvn_rx_burst(&rxq, pkts, 32)) != 0) {
			received += n;
			th_free(pkts, n);
		}
		hvn_txq_reclaim(&t.q);
	}
	assert_false(hvn_inbound_pending(&t.ch));
	assert_int_equal(t.q.nfree, t.q.nb_desc);
	assert_int_equal(t.ch.xfer_free_count, HVN_XFERS);
	for (uint32_t i = 0; i < IDS; i++)
		assert_false(host.id_used[i]);
}

static void
threads(const struct run *r)
{
	const struct th_conf conf = {
		.pages = 8, .nb_desc = 64, .sections = 32, .copy_only = r->copy_only,
		.copybreak = 300, .start = 32000, .recv_len = SLOTS * SLOT,
	};
	pthread_t tid[3];
	struct timespec start;
	bool in_time;

	run = r;
	th_open(&t, &conf);
	memset(&host, 0, sizeof(host));
	sent = received = transmitted = stop = 0;
	t.q.free_thresh = 48;
	t.ch.park_limit = r->park_limit;
	memset(&rxq, 0, sizeof(rxq));
	rxq.ch = &t.ch;
	rxq.pool = rte_pktmbuf_pool_create("rx", 511, 0, 0, 512, SOCKET_ID_ANY);
	assert_non_null(rxq.pool);
	hvn_rxq_prepare(&rxq);
	clock_gettime(CLOCK_MONOTONIC, &start);
	assert_int_equal(pthread_create(&tid[0], NULL, host_main, NULL), 0);
	assert_int_equal(pthread_create(&tid[1], NULL, tx_main, NULL), 0);
	if (r->receiver)
		assert_int_equal(pthread_create(&tid[2], NULL, rx_main, NULL), 0);
	while (!finished() && !late(&start))
		nanosleep(&(struct timespec){ .tv_nsec = 1000000 }, NULL);
	in_time = finished();
	__atomic_store_n(&stop, 1, __ATOMIC_RELEASE);
	for (uint32_t i = 0; i < (r->receiver ? 3u : 2u); i++)
		pthread_join(tid[i], NULL);
	assert_true(in_time);
	settle();
	assert_int_equal(host.seen, r->sender ? FRAMES : 0);
	assert_int_equal(received + t.ch.stats.park_drops + rxq.stats.no_mbuf, FRAMES);
	assert_int_equal(t.ch.stats.in_messages, host.acks);
	assert_int_equal(t.ch.stats.in_bad + t.ch.stats.comp_unknown + rxq.stats.bad, 0);
	printf("# parked drops %u, deferred completions %u\n", (unsigned int)t.ch.stats.park_drops,
	       (unsigned int)t.ch.stats.ack_deferred);
	hvn_rxq_purge(&rxq);
	assert_int_equal(rte_mempool_avail_count(rxq.pool), 511);
	rte_mempool_free(rxq.pool);
	th_balance(&t, 0);
	th_close(&t);
}

static void
test_both(void **state)
{
	(void)state;
	threads(&(struct run){ .park_limit = 1024, .receiver = true, .sender = true });
}

static void
test_both_copy(void **state)
{
	(void)state;
	threads(&(struct run){ .park_limit = 1024, .receiver = true, .sender = true,
			       .copy_only = true });
}

static void
test_small_parking(void **state)
{
	(void)state;
	threads(&(struct run){ .park_limit = 4, .receiver = true, .sender = true });
}

static void
test_receive_only(void **state)
{
	(void)state;
	threads(&(struct run){ .park_limit = 1024, .receiver = true });
}

static void
test_nobody_receives(void **state)
{
	(void)state;
	threads(&(struct run){ .park_limit = 0, .sender = true });
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_both),
		cmocka_unit_test(test_both_copy),
		cmocka_unit_test(test_small_parking),
		cmocka_unit_test(test_receive_only),
		cmocka_unit_test(test_nobody_receives),
	};

	rh_eal_init();
	return cmocka_run_group_tests(tests, NULL, NULL);
}

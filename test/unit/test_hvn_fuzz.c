/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 hvnet contributors
 *
 * Random hosts, from slightly wrong to pure noise: the driver survives and its books balance.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "hvn_inbound.h"
#include "hvn_rx.h"
#include "txhost.h"

#define RECV_LEN 16384u
#define SLOTS (RECV_LEN / 512)
#define MBUFS 255u
#define ROUNDS 20000u

static struct txhost t;
static struct hvn_rxq rxq;
static uint64_t state64;

/* xorshift: the same on every machine, so that a failure can be repeated. */
static uint32_t
rnd(void)
{
	state64 ^= state64 << 13;
	state64 ^= state64 >> 7;
	state64 ^= state64 << 17;
	return (uint32_t)(state64 >> 16);
}

static uint32_t
nasty(void)
{
	static const uint32_t words[] = {
		0, 1, 4, 7, 8, 12, 14, 36, 44, 60, RECV_LEN - 8, RECV_LEN, 0x7fffffff,
		0x80000000, 0xfffffff8, 0xffffffff,
	};

	return rnd() % 3 == 0 ? rnd() : words[rnd() % 16];
}

static void
open_all(uint64_t seed)
{
	const struct th_conf conf = {
		.pages = 4, .start = 16000, .recv_len = RECV_LEN, .nb_desc = 32, .sections = 16,
	};

	state64 = seed;
	th_open(&t, &conf);
	t.ch.park_limit = 40;
	t.ch.session = (struct hvn_session *)(void *)&rh_session;
	memset(&rxq, 0, sizeof(rxq));
	rxq.ch = &t.ch;
	rxq.hash_types = 0x201;
	rxq.pool = rte_pktmbuf_pool_create("fuzz", MBUFS, 0, 0, 1600 + RTE_PKTMBUF_HEADROOM,
					   SOCKET_ID_ANY);
	assert_non_null(rxq.pool);
	hvn_rxq_prepare(&rxq);
}

static void
close_all(void)
{
	hvn_rxq_purge(&rxq);
	assert_int_equal(rte_mempool_avail_count(rxq.pool), MBUFS);
	rte_mempool_free(rxq.pool);
	th_close(&t);
}

static uint32_t
receive(void)
{
	struct rte_mbuf *pkts[40];
	uint32_t n = hvn_rx_burst(&rxq, pkts, (uint16_t)(1 + rnd() % 40));

	for (uint32_t i = 0; i < n; i++) {
		assert_true(pkts[i]->pkt_len >= 14 && pkts[i]->pkt_len <= 1600);
		assert_int_equal(pkts[i]->pkt_len, pkts[i]->data_len);
		assert_int_equal(rte_mbuf_refcnt_read(pkts[i]), 1);
	}
	th_free(pkts, n);
	return n;
}

/* A transfer-page packet with a whole descriptor and anything behind it. */
static bool
put_wild(uint64_t id)
{
	uint32_t words[64], n = 1 + rnd() % 8, nwords = 6 + 2 * n + 10;
	uint16_t desc[4] = { 7, (uint16_t)(3 + n), (uint16_t)(3 + n + 5), 1 };

	memset(words, 0, sizeof(words));
	words[4] = 0xcafe;
	words[5] = n;
	for (uint32_t i = 0; i < n; i++) {
		words[6 + 2 * i] = 512 - rnd() % 8 * 40;
		words[7 + 2 * i] = rnd() % 8 == 0 ? rnd() % RECV_LEN : rnd() % SLOTS * 512;
	}
	words[6 + 2 * n] = 107;
	words[7 + 2 * n] = rnd() % 16 == 0;
	if (rnd() % 4 == 0)
		words[4 + rnd() % (nwords - 4)] = nasty();
	if (rnd() % 16 == 0)
		desc[1] = (uint16_t)(2 + rnd() % (desc[2] - 1));
	if (rnd() % 16 == 0)
		desc[3] = 0;
	memcpy(words, desc, sizeof(desc));
	memcpy(words + 2, &id, sizeof(id));
	rh_put(&t.rh, words, desc[2] * 8u);
	return desc[3] != 0;
}

/* Put a message at @p ofs whose header and records are mostly right. */
static void
wild_message(uint32_t ofs)
{
	struct rh_ppi ppi[4];
	uint8_t frame[128], msg[512];
	uint32_t n = rnd() % 5, len = 14 + rnd() % 100, total;

	for (uint32_t i = 0; i < n; i++)
		ppi[i] = (struct rh_ppi){ 16, rnd() % 10, 12, rnd() };
	rh_pattern(frame, len, ofs);
	total = rh_rndis(msg, ppi, n, rnd() % 3 * 4, frame, len);
	if (rnd() % 2 == 0) {
		uint32_t w = nasty();

		memcpy(msg + rnd() % (total / 4) * 4, &w, 4);
	}
	memcpy(t.rh.recv + ofs, msg, total);
}

static uint32_t
take_all(void)
{
	uint32_t acks = 0;

	while (rh_take(&t.rh, &t.pkt)) {
		if (t.pkt.type == 0xb) {
			rh_ack_id(&t.pkt);
			acks++;
		} else {
			rh_tx_parse(&t.rh, &t.pkt, &t.tx);
			t.out[t.nout++] = t.pkt.xact;
		}
	}
	rh_release(&t.rh);
	return acks;
}

static void
transmit(void)
{
	struct rte_mbuf *m = th_mbuf(&t, 60 + rnd() % 1455, 1);

	if (hvn_tx_burst(&t.q, &m, 1) == 0)
		th_free(&m, 1);
}

static void
complete_some(void)
{
	uint32_t n = t.nout != 0 ? rnd() % (t.nout + 1) : 0;

	if (rh_room(&t.rh) < 4096)
		return;
	if (rnd() % 4 == 0)
		rh_complete(&t.rh, rnd() % 2 != 0 ? 0 : 33 + nasty() % 1000, 108, 1);
	th_complete(&t, RTE_MIN(n, 16u), rnd() % 8 != 0);
}

/* Framing is right, contents are not: nothing dies, every packet is completed once. */
static void
test_wild_contents(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed <= 4; seed++) {
		uint32_t owed = 0, acks = 0;

		open_all(seed * 0x9e3779b97f4a7c15ull);
		for (uint32_t i = 0; i < RECV_LEN; i += 4)
			memcpy(t.rh.recv + i, &(uint32_t){ rnd() }, 4);
		for (uint32_t i = 0; i < ROUNDS; i++) {
			wild_message(rnd() % SLOTS * 512);
			if (rh_room(&t.rh) > 512)
				owed += put_wild(i);
			rh_publish(&t.rh);
			if (rnd() % 4 == 0)
				receive();
			if (rnd() % 4 == 0)
				hvn_inbound_drain(&t.ch);
			if (rnd() % 4 == 0)
				transmit();
			if (rnd() % 8 == 0)
				acks += take_all();
			if (rnd() % 4 == 0)
				complete_some();
		}
		assert_false(hvn_channel_is_dead(&t.ch));
		for (uint32_t i = 0; i < 2000; i++) {
			receive();
			acks += take_all();
		}
		assert_int_equal(acks, owed);
		assert_int_equal(t.ch.xfer_free_count, HVN_XFERS);
		assert_true(rxq.stats.packets > 1000 && rxq.stats.bad > 1000);
		th_balance(&t, 0);
		close_all();
	}
}

/* Ring and buffers are noise, indices too: no crash, no loop, the books still balance. */
static void
test_noise(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed <= 400; seed++) {
		open_all(seed * 0x9e3779b97f4a7c15ull);
		for (uint32_t i = 0; i < t.rh.size / 4; i++)
			rh_word(&t.rh, 1, 1024)[i] = rnd() % 2 == 0 ? rnd() : nasty();
		/* Descriptors that are half right at places where they may be met. */
		for (uint32_t pos = 0; pos + 64 < t.rh.size && seed % 4 != 0; pos += 64) {
			const uint16_t desc[4] = {
				(uint16_t)(6 + rnd() % 6), (uint16_t)(2 + rnd() % 5), 7,
				(uint16_t)(rnd() % 2),
			};

			memcpy(rh_word(&t.rh, 1, 1024) + (16000 + pos) % t.rh.size / 4, desc,
			       sizeof(desc));
		}
		for (uint32_t i = 0; i < 40; i++) {
			transmit();
			if (rnd() % 2 == 0)
				*rh_word(&t.rh, 1, 0) = rnd() % (t.rh.size / 8) * 8;
			if (rnd() % 8 == 0)
				*rh_word(&t.rh, 1, 3) = rnd() % t.rh.size;
			if (rnd() % 64 == 0)
				*rh_word(&t.rh, 1, 0) = nasty();
			if (rnd() % 64 == 0)
				*rh_word(&t.rh, 0, 1) = nasty();
			receive();
			hvn_inbound_drain(&t.ch);
			hvn_txq_reclaim(&t.q);
		}
		assert_int_equal(t.ch.in_lock + t.ch.out_lock, 0);
		th_balance(&t, 0);
		close_all();
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_wild_contents),
		cmocka_unit_test(test_noise),
	};

	rh_eal_init();
	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 hvnet contributors
 *
 * Receive burst: every frame that the host sent arrives whole or in a named counter.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <rte_ether.h>
#include <rte_mbuf_ptype.h>

#include "hvn_inbound.h"
#include "hvn_rx.h"
#include "rawhost.h"

#define RECV_LEN (256u * 2048u)
#define SLOT 2048u
#define MBUFS 511u
#define ROOM 1600u

static struct rawhost rh;
static struct hvn_channel ch;
static struct hvn_rxq q;
static struct rh_pkt pkt;
static struct rte_mbuf *got[512];

static int
setup(void **state)
{
	static uint32_t pools;
	char name[16];

	(void)state;
	rh_open(&rh, 16, 65528, RECV_LEN, 6144, 4);
	rh_attach(&rh, &ch);
	snprintf(name, sizeof(name), "rx%u", pools++);
	memset(&q, 0, sizeof(q));
	q.ch = &ch;
	q.pool = rte_pktmbuf_pool_create(name, MBUFS, 0, 0, ROOM + RTE_PKTMBUF_HEADROOM,
					 SOCKET_ID_ANY);
	assert_non_null(q.pool);
	q.port_id = 9;
	q.hash_types = 0x201;
	hvn_rxq_prepare(&q);
	assert_int_equal(q.buf_len, ROOM);
	ch.park_limit = 256;
	return 0;
}

static int
teardown(void **state)
{
	(void)state;
	hvn_rxq_purge(&q);
	assert_int_equal(rte_mempool_avail_count(q.pool), MBUFS);
	rte_mempool_free(q.pool);
	rh_close(&rh);
	return 0;
}

/* Write frame @p seed into slot @p slot; yields its range. */
static struct rh_range
frame_at(uint32_t slot, const struct rh_ppi *ppi, uint32_t n, uint32_t gap, uint32_t len,
	 uint32_t seed)
{
	static uint8_t frame[SLOT], msg[2 * SLOT];
	struct rh_range r = { .ofs = slot * SLOT };

	rh_pattern(frame, len, seed);
	r.len = rh_rndis(msg, ppi, n, gap, frame, len);
	assert_true(r.len <= SLOT);
	memcpy(rh.recv + r.ofs, msg, r.len);
	return r;
}

static uint32_t
acks(void)
{
	uint32_t n = 0;

	while (rh_take(&rh, &pkt)) {
		rh_ack_id(&pkt);
		n++;
	}
	rh_release(&rh);
	return n;
}

static void
check_mbuf(const struct rte_mbuf *m, uint32_t len, uint32_t seed)
{
	assert_int_equal(m->pkt_len, len);
	assert_int_equal(m->data_len, len);
	assert_int_equal(m->nb_segs, 1);
	assert_null(m->next);
	assert_int_equal(m->port, 9);
	assert_int_equal(m->data_off, RTE_PKTMBUF_HEADROOM);
	assert_int_equal(rte_mbuf_refcnt_read(m), 1);
	assert_true(rh_pattern_ok(rte_pktmbuf_mtod(m, const uint8_t *), len, seed));
}

static const struct rh_ppi csum_hash[] = {
	{ 16, 0, 12, 0x28 }, { 16, 8, 12, 0xabcd0000 }, { 16, 9, 12, 0x201 },
};

/* All lengths, packed and spread layouts, many ranges per packet, burst sizes that split. */
static void
test_every_length(void **state)
{
	static const uint32_t gaps[] = { 0, 4, 120 };

	(void)state;
	for (uint32_t burst = 1; burst <= 100; burst += 11) {
		uint32_t len = 60, n, out;

		while (len <= 1514) {
			struct rh_range r[40];
			uint32_t first = len;

			for (n = 0; n < 40 && len <= 1514; n++, len++)
				r[n] = frame_at(n, csum_hash, len % 4, gaps[len % 3], len, len);
			rh_xfer(&rh, 1, r, n / 2, 0);
			rh_xfer(&rh, 2, r + n / 2, n - n / 2, 0);
			rh_publish(&rh);
			out = 0;
			for (uint32_t i = 0; i < 200 && out < n; i++) {
				uint16_t k = hvn_rx_burst(&q, got + out, (uint16_t)burst);

				assert_true(k <= burst);
				out += k;
			}
			assert_int_equal(out, n);
			assert_int_equal(hvn_rx_burst(&q, got + out, 32), 0);
			for (uint32_t i = 0; i < n; i++) {
				check_mbuf(got[i], first + i, first + i);
				rte_pktmbuf_free(got[i]);
			}
			assert_int_equal(acks(), 2);
		}
	}
	assert_int_equal(q.stats.bad + q.stats.no_mbuf + q.stats.too_long, 0);
	assert_int_equal(q.stats.packets, 1455 * 10);
	assert_int_equal(q.stats.bytes, 10 * (60 + 1514) * 1455 / 2);
}

/* Send one frame and receive it. */
static struct rte_mbuf *
one(const struct rh_ppi *ppi, uint32_t n, uint32_t len)
{
	struct rh_range r = frame_at(3, ppi, n, 4, len, 77);

	rh_xfer(&rh, 1, &r, 1, 0);
	rh_publish(&rh);
	if (hvn_rx_burst(&q, got, 1) == 0)
		got[0] = NULL;
	assert_int_equal(acks(), 1);
	return got[0];
}

static void
test_hash_and_types(void **state)
{
	static const struct {
		uint32_t info, l3, l4;
	} cases[] = {
		{ 0x101, RTE_PTYPE_L3_IPV4_EXT_UNKNOWN, 0 },
		{ 0x201, RTE_PTYPE_L3_IPV4_EXT_UNKNOWN, RTE_PTYPE_L4_TCP },
		{ 0x401, RTE_PTYPE_L3_IPV6_EXT_UNKNOWN, 0 },
		{ 0x801, RTE_PTYPE_L3_IPV6_EXT_UNKNOWN, 0 },
		{ 0x1001, RTE_PTYPE_L3_IPV6_EXT_UNKNOWN, RTE_PTYPE_L4_TCP },
		{ 0x2001, RTE_PTYPE_L3_IPV6_EXT_UNKNOWN, RTE_PTYPE_L4_TCP },
		{ 0x4001, RTE_PTYPE_L3_IPV4_EXT_UNKNOWN, RTE_PTYPE_L4_UDP },
		{ 0x8001, RTE_PTYPE_L3_IPV6_EXT_UNKNOWN, RTE_PTYPE_L4_UDP },
		{ 0x10001, RTE_PTYPE_L3_IPV6_EXT_UNKNOWN, RTE_PTYPE_L4_UDP },
		{ 1, 0, 0 }, { 0, 0, 0 },
	};
	struct rh_ppi ppi[2] = { { 16, 8, 12, 0x12345678 }, { 16, 9, 12, 0 } };
	struct rte_mbuf *m;

	(void)state;
	q.hash_types = 0x200;
	for (uint32_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		ppi[1].value = cases[i].info;
		m = one(ppi, 2, 100);
		assert_non_null(m);
		assert_int_equal(m->packet_type, RTE_PTYPE_L2_ETHER | cases[i].l3 | cases[i].l4);
		assert_int_equal(m->ol_flags, cases[i].info == 0x201 ? RTE_MBUF_F_RX_RSS_HASH : 0);
		if (m->ol_flags != 0)
			assert_int_equal(m->hash.rss, 0x12345678);
		rte_pktmbuf_free(m);
	}
	/* Information without value is no hash; value without information is one, if wanted. */
	ppi[1].value = 0x201;
	m = one(&ppi[1], 1, 100);
	assert_int_equal(m->ol_flags, 0);
	rte_pktmbuf_free(m);
	m = one(ppi, 1, 100);
	assert_int_equal(m->ol_flags, RTE_MBUF_F_RX_RSS_HASH);
	rte_pktmbuf_free(m);
	q.hash_types = 0;
	m = one(ppi, 2, 100);
	assert_int_equal(m->ol_flags, 0);
	rte_pktmbuf_free(m);
	m = one(ppi, 1, 100);
	assert_int_equal(m->ol_flags, 0);
	rte_pktmbuf_free(m);
}

/* Types that only the frame tells: looked up when the application wants them. */
static void
test_types_of_frame(void **state)
{
	uint8_t ip[64] = { [12] = 0x08, [13] = 0x00, [14] = 0x45, [17] = 46, [22] = 64, [23] = 17 };
	const struct rh_ppi ppi = { 16, 9, 12, 0x201 };
	struct rh_range r = { .ofs = 0 };

	(void)state;
	r.len = rh_rndis(rh.recv, &ppi, 1, 4, ip, sizeof(ip));
	for (uint32_t i = 0; i < 3; i++) {
		q.ptype_mask = i == 0 ? 0 : i == 1 ? RTE_PTYPE_ALL_MASK : RTE_PTYPE_L2_MASK;
		rh_xfer(&rh, 1, &r, 1, 0);
		rh_publish(&rh);
		assert_int_equal(hvn_rx_burst(&q, got, 1), 1);
		if (i == 0) /* what the host says, right or wrong */
			assert_int_equal(got[0]->packet_type, RTE_PTYPE_L2_ETHER |
					 RTE_PTYPE_L3_IPV4_EXT_UNKNOWN | RTE_PTYPE_L4_TCP);
		else if (i == 1)
			assert_int_equal(got[0]->packet_type, RTE_PTYPE_L2_ETHER |
					 RTE_PTYPE_L3_IPV4 | RTE_PTYPE_L4_UDP);
		else
			assert_int_equal(got[0]->packet_type, RTE_PTYPE_L2_ETHER);
		rte_pktmbuf_free(got[0]);
		assert_int_equal(acks(), 1);
	}
}

/* All 65536 tags go back into the frame as they were. */
static void
test_vlan(void **state)
{
	struct rh_ppi ppi = { 16, 6, 12, 0 };
	uint8_t want[200], tag[4] = { 0x81, 0x00 };
	struct rte_mbuf *m;

	(void)state;
	rh_pattern(want, 100, 77);
	for (uint32_t tci = 0; tci < 65536; tci += tci < 64 ? 1 : 61) {
		ppi.value = (tci >> 13) | ((tci >> 12) & 1) << 3 | (tci & 0xfff) << 4;
		tag[2] = (uint8_t)(tci >> 8);
		tag[3] = (uint8_t)tci;
		m = one(&ppi, 1, 100);
		assert_non_null(m);
		assert_int_equal(m->pkt_len, 104);
		assert_int_equal(m->data_len, 104);
		assert_int_equal(m->ol_flags, 0);
		assert_memory_equal(rte_pktmbuf_mtod(m, uint8_t *), want, 12);
		assert_memory_equal(rte_pktmbuf_mtod_offset(m, uint8_t *, 12), tag, 4);
		assert_memory_equal(rte_pktmbuf_mtod_offset(m, uint8_t *, 16), want + 12, 88);
		rte_pktmbuf_free(m);
	}
}

static void
test_too_long(void **state)
{
	const struct rh_ppi vlan = { 16, 6, 12, 0x10 };

	(void)state;
	for (uint32_t len = ROOM - 10; len < ROOM + 10; len++) {
		struct rte_mbuf *m = one(&vlan, 0, len);

		assert_int_equal(m != NULL, len <= ROOM);
		if (m != NULL)
			check_mbuf(m, len, 77);
		rte_pktmbuf_free(m);
		m = one(&vlan, 1, len);
		assert_int_equal(m != NULL, len + 4 <= ROOM);
		if (m != NULL)
			assert_int_equal(m->pkt_len, len + 4);
		rte_pktmbuf_free(m);
	}
	assert_int_equal(q.stats.too_long, 9 + 13);
	/* The smallest frame with a tag: nothing is read behind it. */
	assert_int_equal(one(&vlan, 1, 14)->pkt_len, 18);
	rte_pktmbuf_free(got[0]);
	assert_null(one(&vlan, 1, 13));
	assert_int_equal(q.stats.bad, 1);
}

/* Bad frames between good ones: skipped and counted, the burst goes on behind them. */
static void
test_bad_between(void **state)
{
	(void)state;
	for (uint32_t every = 1; every < 6; every++) {
		struct rh_range r[60];
		uint32_t good = 0, n;
		uint64_t bad = q.stats.bad;

		for (uint32_t i = 0; i < 60; i++) {
			r[i] = frame_at(i, csum_hash, 3, 0, 100, i);
			if (i % every == 0)
				rh.recv[r[i].ofs + 12] = 13; /* frame length */
			else
				good++;
		}
		rh_xfer(&rh, 1, r, 30, 0);
		rh_xfer(&rh, 2, r + 30, 30, 0);
		rh_publish(&rh);
		n = hvn_rx_burst(&q, got, 64);
		assert_int_equal(n, good);
		assert_int_equal(q.stats.bad - bad, 60 - good);
		for (uint32_t i = 0, k = 0; i < 60; i++) {
			if (i % every != 0)
				check_mbuf(got[k++], 100, i);
		}
		for (uint32_t i = 0; i < n; i++)
			rte_pktmbuf_free(got[i]);
		assert_int_equal(acks(), 2);
	}
}

/* The frame lies at the very end of the receive buffer; one byte more is refused. */
static void
test_buffer_end(void **state)
{
	struct rh_range r = frame_at(0, csum_hash, 3, 0, 200, 5);
	uint32_t len;

	(void)state;
	for (uint32_t cut = 0; cut < 4; cut++) {
		r.ofs = RECV_LEN - r.len;
		memcpy(rh.recv + r.ofs, rh.recv, r.len);
		len = 200 + cut;
		memcpy(rh.recv + r.ofs + 12, &len, 4);
		rh_xfer(&rh, 1, &r, 1, 0);
		rh_publish(&rh);
		assert_int_equal(hvn_rx_burst(&q, got, 4), cut == 0);
		if (cut == 0) {
			check_mbuf(got[0], 200, 5);
			rte_pktmbuf_free(got[0]);
		}
		assert_int_equal(acks(), 1);
	}
	assert_int_equal(q.stats.bad, 3);
	/* The smallest ranges at the end: nothing is read behind the guard. */
	for (r.len = 8; r.len < 200; r.len++) {
		r.ofs = RECV_LEN - r.len;
		memcpy(rh.recv + r.ofs, rh.recv, r.len);
		rh_xfer(&rh, 1, &r, 1, 0);
		rh_publish(&rh);
		assert_int_equal(hvn_rx_burst(&q, got, 4), 0);
		assert_int_equal(acks(), 1);
	}
}

/* Mbufs run out: named drops, completions, and full recovery (A15). */
static void
test_no_mbufs(void **state)
{
	uint32_t held = 0, n, sent = 0;
	struct rh_range r[50];

	(void)state;
	for (uint32_t i = 0; i < 50; i++)
		r[i] = frame_at(i, csum_hash, 3, 0, 100, i);
	for (uint32_t round = 0; round < 15; round++, sent += 50) {
		rh_xfer(&rh, round, r, 50, 0);
		rh_publish(&rh);
		while (hvn_inbound_pending(&ch)) {
			n = hvn_rx_burst(&q, got + held, 32);
			held += n;
			assert_true(held <= MBUFS);
		}
		assert_int_equal(acks(), 1);
	}
	assert_int_equal(held, MBUFS);
	assert_int_equal(q.stats.packets, held);
	assert_int_equal(q.stats.no_mbuf, sent - held);
	assert_int_equal(rte_mempool_avail_count(q.pool) + q.nmbufs, 0);
	for (uint32_t i = 0; i < held; i++)
		rte_pktmbuf_free(got[i]);
	for (uint32_t round = 0; round < 3; round++) {
		rh_xfer(&rh, round, r, 50, 0);
		rh_publish(&rh);
		assert_int_equal(hvn_rx_burst(&q, got, 64), 50);
		for (uint32_t i = 0; i < 50; i++) {
			check_mbuf(got[i], 100, i);
			rte_pktmbuf_free(got[i]);
		}
		assert_int_equal(acks(), 1);
	}
	assert_int_equal(q.stats.no_mbuf, sent - MBUFS);
}

/* Parked by the transmit side, received in order with what came later. */
static void
test_parked(void **state)
{
	struct rh_range r[60];
	uint32_t n;

	(void)state;
	for (uint32_t i = 0; i < 60; i++)
		r[i] = frame_at(i, csum_hash, 3, 0, 60 + i, i);
	rh_xfer(&rh, 1, r, 20, 0);
	rh_publish(&rh);
	n = hvn_rx_burst(&q, got, 7);
	assert_int_equal(n, 7);
	hvn_inbound_drain(&ch);
	rh_xfer(&rh, 2, r + 20, 20, 0);
	rh_publish(&rh);
	hvn_inbound_drain(&ch);
	rh_xfer(&rh, 3, r + 40, 20, 0);
	rh_publish(&rh);
	while (n < 60) {
		uint16_t k = hvn_rx_burst(&q, got + n, 9);

		assert_true(k > 0);
		n += k;
	}
	for (uint32_t i = 0; i < 60; i++) {
		check_mbuf(got[i], 60 + i, i);
		rte_pktmbuf_free(got[i]);
	}
	assert_int_equal(acks(), 3);
}

static void
test_nothing(void **state)
{
	struct rh_range r = frame_at(0, csum_hash, 3, 0, 100, 1);

	(void)state;
	assert_int_equal(hvn_rx_burst(&q, got, 32), 0);
	rh_xfer(&rh, 1, &r, 1, 0);
	rh_publish(&rh);
	assert_int_equal(hvn_rx_burst(&q, got, 0), 0);
	assert_int_equal(hvn_rx_burst(&q, got, 1), 1);
	rte_pktmbuf_free(got[0]);
	assert_int_equal(acks(), 1);
	hvn_channel_kill(&ch);
	rh_xfer(&rh, 2, &r, 1, 0);
	rh_publish(&rh);
	assert_int_equal(hvn_rx_burst(&q, got, 32), 0);
	assert_int_equal(acks(), 0);
}

/* Recycled mbufs carry nothing over: flags, tags, chains of their last owner. */
static void
test_recycled(void **state)
{
	(void)state;
	for (uint32_t i = 0; i < MBUFS; i++) {
		got[i] = rte_pktmbuf_alloc(q.pool);
		got[i]->ol_flags = RTE_MBUF_F_RX_VLAN | RTE_MBUF_F_TX_TCP_CKSUM;
		got[i]->vlan_tci = 0xffff;
		got[i]->packet_type = UINT32_MAX;
		got[i]->data_off = 3;
		got[i]->port = 1;
	}
	for (uint32_t i = 0; i < MBUFS; i++)
		rte_pktmbuf_free(got[i]);
	for (uint32_t i = 0; i < 600; i++) {
		struct rte_mbuf *m = one(csum_hash, i % 4, 64);

		check_mbuf(m, 64, 77);
		assert_int_equal(m->ol_flags, i % 4 >= 2 ? RTE_MBUF_F_RX_RSS_HASH : 0);
		assert_int_equal(m->vlan_tci, 0);
		rte_pktmbuf_free(m);
	}
}

int
main(void)
{
#define CASE(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
	const struct CMUnitTest tests[] = {
		CASE(test_every_length), CASE(test_hash_and_types), CASE(test_types_of_frame),
		CASE(test_vlan), CASE(test_too_long), CASE(test_bad_between), CASE(test_buffer_end),
		CASE(test_no_mbufs), CASE(test_parked), CASE(test_nothing), CASE(test_recycled),
	};

	rh_eal_init();
	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 hvnet contributors
 *
 * A transmit queue on a raw host.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "txhost.h"

static uint32_t
or_default(uint32_t v, uint32_t def)
{
	return v != 0 ? v : def;
}

void
th_open(struct txhost *t, const struct th_conf *conf)
{
	static uint32_t pools;
	char name[16];
	uint32_t section = or_default(conf->section, 6144);
	uint32_t sections = or_default(conf->sections, 64);

	memset(t, 0, sizeof(*t));
	rh_open(&t->rh, or_default(conf->pages, 16), conf->start,
		or_default(conf->recv_len, 4096), section, sections);
	rh_attach(&t->rh, &t->ch);
	t->rh.align = or_default(conf->align, 8);
	assert_int_equal(hvn_section_pool_init(&t->pool, t->rh.send, t->rh.send_len, section,
					       SOCKET_ID_ANY), 0);
	snprintf(name, sizeof(name), "unit%u", pools++);
	/* Longer than a page, so that frames lie across pages. */
	t->mp = rte_pktmbuf_pool_create(name, TH_MBUFS, 0, 0, 4500 + RTE_PKTMBUF_HEADROOM,
					SOCKET_ID_ANY);
	assert_non_null(t->mp);
	t->q = (struct hvn_txq){
		.ch = &t->ch,
		.pool = &t->pool,
		.copybreak = or_default(conf->copybreak, 512),
		.agg_bytes = or_default(conf->agg_bytes, section),
		.agg_packets = or_default(conf->agg_packets, 8),
		.align = t->rh.align,
		.max_frame = or_default(conf->max_frame, 1514),
		.gpa_ok = !conf->copy_only,
		.hdr_in_section = conf->hdr_in_section,
		.queue_id = 3,
	};
	assert_int_equal(hvn_txq_alloc(&t->q, or_default(conf->nb_desc, 128), SOCKET_ID_ANY), 0);
	t->q.free_thresh = t->q.nb_desc / 4;
	assert_int_equal(t->q.gpa_ok, !conf->copy_only);
	t->ch.txq = &t->q;
}

void
th_close(struct txhost *t)
{
	hvn_txq_abandon(&t->q);
	assert_int_equal(t->q.nfree, t->q.nb_desc);
	assert_int_equal(t->pool.nfree, t->pool.count - 1);
	assert_int_equal(rte_mempool_avail_count(t->mp), TH_MBUFS);
	hvn_txq_free(&t->q);
	hvn_section_pool_fini(&t->pool);
	rte_mempool_free(t->mp);
	rh_close(&t->rh);
}

struct rte_mbuf *
th_chain(struct txhost *t, const uint16_t *lens, uint32_t n, uint32_t seed)
{
	struct rte_mbuf *head = NULL, *m;
	uint8_t *frame, *src;
	uint32_t total = 0;

	for (uint32_t i = 0; i < n; i++)
		total += lens[i];
	frame = src = malloc(total + 1);
	assert_non_null(frame);
	rh_pattern(frame, total, seed);
	for (uint32_t i = 0; i < n; i++) {
		m = rte_pktmbuf_alloc(t->mp);
		assert_non_null(m);
		memcpy(rte_pktmbuf_append(m, lens[i]), src, lens[i]);
		src += lens[i];
		if (head == NULL)
			head = m;
		else
			assert_int_equal(rte_pktmbuf_chain(head, m), 0);
	}
	free(frame);
	return head;
}

struct rte_mbuf *
th_mbuf(struct txhost *t, uint32_t len, uint32_t seed)
{
	const uint16_t lens[1] = { (uint16_t)len };

	return th_chain(t, lens, 1, seed);
}

void
th_free(struct rte_mbuf **pkts, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++)
		rte_pktmbuf_free(pkts[i]);
}

static void
note_frames(struct txhost *t)
{
	for (uint32_t i = 0; i < t->tx.nframes; i++) {
		uint32_t seed = 0, len = t->tx.frame_len[i];

		memcpy(&seed, t->tx.frame[i], len < 4 ? len : 4);
		assert_true(rh_pattern_ok(t->tx.frame[i], len, seed));
		assert_true(t->nseeds < TH_OUT_MAX);
		t->lens[t->nseeds] = len;
		t->seeds[t->nseeds++] = seed;
	}
	t->most_frames = RTE_MAX(t->most_frames, t->tx.nframes);
	t->most_bytes = RTE_MAX(t->most_bytes, t->tx.section_len);
	if (t->tx.nranges == 0)
		t->by_section++;
	else if (t->tx.by_section)
		t->mixed++;
	else
		t->by_gpa++;
}

uint32_t
th_take(struct txhost *t, uint32_t max)
{
	uint32_t n = 0;

	while (n < max && rh_take(&t->rh, &t->pkt)) {
		rh_tx_parse(&t->rh, &t->pkt, &t->tx);
		if (t->tx.by_section)
			assert_true(t->tx.section != 0); /* the control section */
		for (uint32_t i = 0; i < t->nout; i++)
			assert_true(t->out[i] != t->pkt.xact);
		note_frames(t);
		assert_true(t->nout < TH_OUT_MAX);
		t->out[t->nout++] = t->pkt.xact;
		n++;
	}
	rh_release(&t->rh);
	return n;
}

void
th_complete(struct txhost *t, uint32_t n, uint32_t status)
{
	assert_true(n <= t->nout);
	for (uint32_t i = 0; i < n; i++)
		rh_complete(&t->rh, t->out[i], 108, status);
	rh_publish(&t->rh);
	t->nout -= n;
	memmove(t->out, t->out + n, t->nout * sizeof(t->out[0]));
}

void
th_settle(struct txhost *t)
{
	do {
		th_take(t, TH_OUT_MAX);
		while (t->nout != 0) {
			th_complete(t, RTE_MIN(t->nout, 200u), 1);
			hvn_txq_reclaim(&t->q);
		}
	} while (hvn_txq_reclaim(&t->q) != 0);
}

void
th_balance(struct txhost *t, uint32_t held)
{
	uint32_t busy = 0, sections = 0, mbufs = 0;

	hvn_txq_collect(&t->q);
	for (uint32_t i = 0; i < t->q.nb_desc; i++) {
		const struct rte_mbuf *m = t->q.txd[i].mbuf;

		if (t->q.state[i] == HVN_TXD_FREE) {
			assert_null(m);
			assert_int_equal(t->q.txd[i].section, 0xffffffff);
			continue;
		}
		busy++;
		sections += t->q.txd[i].section != 0xffffffff;
		if (m != NULL)
			mbufs += m->nb_segs;
	}
	assert_int_equal(t->q.nfree + busy, t->q.nb_desc);
	assert_int_equal(t->pool.nfree + t->q.cache.n + sections, t->pool.count - 1);
	assert_int_equal(rte_mempool_avail_count(t->mp) + mbufs + held, TH_MBUFS);
}

/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 hvnet contributors
 *
 * Generator wires: content, spreading, batches, waiting for the guest.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "rawguest.h"

#define FLOWS 8u
#define LEN 90u

static struct rawguest guest;
static uint8_t flow[FLOWS][LEN];
static struct wire_rx flows[FLOWS];
static uint64_t sent_frames, sent_bytes;

static const struct wire_rx *
gen_templates(struct wire *w, uint32_t *count)
{
	(void)w;
	*count = FLOWS;
	return flows;
}

static uint32_t
gen_budget(struct wire *w, uint32_t q, uint32_t max, uint64_t now_ns)
{
	struct rg_wire *rw = (struct rg_wire *)w;
	uint32_t n = rw->budget < max ? (uint32_t)rw->budget : max;

	(void)q;
	(void)now_ns;
	rw->budget -= n;
	return n;
}

static void
gen_sent(struct wire *w, uint32_t n, uint64_t bytes)
{
	(void)w;
	sent_frames += n;
	sent_bytes += bytes;
}

static const struct wire_ops gen_ops = {
	.name = "gen",
	.templates = gen_templates,
	.budget = gen_budget,
	.sent = gen_sent,
};

static void
gen_start(struct rawguest *g, uint32_t channels)
{
	uint32_t i;

	rg_start(g, JUDGE_STRICT, NULL);
	for (i = 0; i < FLOWS; i++) {
		rg_frame(g, flow[i], LEN, (uint8_t)i);
		memcpy(flow[i] + 12, "\x08\x00\x45\x00\x00\x4c", 6);
		flow[i][20] = 0;
		flow[i][21] = 0;
		flow[i][23] = 17;
		flows[i] = (struct wire_rx){ .data = flow[i], .len = LEN };
	}
	sent_frames = 0;
	sent_bytes = 0;
	g->wire.w.ops = &gen_ops;
	rg_traffic(g, channels);
}

/* Take one frame from channel @p ch; the number of its flow. */
static uint32_t
gen_take(struct rawguest *g, uint32_t ch, bool complete)
{
	struct vmbus_xfer_range r;
	struct rndis_packet h;
	uint32_t i;

	if (!rg_get(g, ch))
		return FLOWS;
	memcpy(&r, g->pkt.bytes + 24, sizeof(r));
	memcpy(&h, g->recv + r.ofs, sizeof(h));
	assert_int_equal(h.data_len, LEN);
	for (i = 0; i < FLOWS; i++)
		if (memcmp(g->recv + r.ofs + 8 + h.data_offset, flow[i], LEN) == 0)
			break;
	assert_true(i < FLOWS);
	if (complete)
		rg_complete(g, ch, g->pkt.desc.xact);
	return i;
}

/* Every template comes equally often, batch after batch, as the guest completes. */
static void
test_batches(void **state)
{
	struct rawguest *g = &guest;
	uint32_t seen[FLOWS] = { 0 }, n = 0, f;

	(void)state;
	gen_start(g, 1);
	g->wire.w.burst = 20;
	g->wire.budget = 1000;
	while (n < 1000) {
		g->now_ns += 10000;
		rg_run(g);
		for (f = 0; f != FLOWS; n += f != FLOWS) {
			f = gen_take(g, 0, true);
			if (f != FLOWS)
				seen[f]++;
		}
		assert_int_equal(n % 20, 0);
	}
	for (f = 0; f < FLOWS; f++)
		assert_in_range(seen[f], 1000 / FLOWS - 2, 1000 / FLOWS + 2);
	assert_int_equal(sent_frames, 1000);
	assert_int_equal(sent_bytes, 1000 * LEN);
	assert_int_equal(rg_violations(g), 0);
	rg_stop(g);
}

/* With RSS each flow keeps to one channel; a new table moves flows and content follows. */
static void
test_spreading(void **state)
{
	struct rawguest *g = &guest;
	uint32_t home[FLOWS], tables, round, ch, f, n;

	(void)state;
	gen_start(g, 4);
	for (tables = 1; tables <= 4; tables++) {
		assert_int_equal(rg_rss(g, 128, tables, NDIS_HASH_IPV4), 0);
		memset(home, 0xff, sizeof(home));
		for (round = 0, n = 0; round < 20; round++) {
			g->wire.budget = 40;
			g->now_ns += 10000;
			rg_run(g);
			for (ch = 0; ch < 4; ch++) {
				while ((f = gen_take(g, ch, true)) != FLOWS) {
					assert_true(home[f] == ch || home[f] == UINT32_MAX);
					home[f] = ch;
					assert_true(ch < tables);
					n++;
				}
			}
		}
		assert_true(n > 100);
		g->wire.budget = 0;
		rg_run(g);
	}
	assert_int_equal(rg_violations(g), 0);
	rg_stop(g);
}

/* A guest that completes nothing gets more only at growing intervals. */
static void
test_sleeping_guest(void **state)
{
	struct rawguest *g = &guest;
	struct nic_channel_stats st;

	(void)state;
	gen_start(g, 1);
	g->wire.w.burst = 10;
	g->wire.budget = 100000;
	g->now_ns += 10000;
	rg_run(g);
	rg_run(g);
	nic_channel_stats(g->nic, 0, &st);
	assert_int_equal(st.rx_packets, 10);
	rg_wait(g, 100000000);
	nic_channel_stats(g->nic, 0, &st);
	assert_in_range(st.rx_packets, 20, 70);
	assert_int_equal(rg_violations(g), 0);
	rg_stop(g);
}

/* Touched payload is written again on every use. */
static void
test_touch(void **state)
{
	struct rawguest *g = &guest;
	uint32_t n = 0, i, slot;

	(void)state;
	gen_start(g, 1);
	g->wire.w.touch = true;
	g->wire.w.burst = 50;
	g->wire.budget = 2000;
	for (i = 0; i < 40; i++) {
		g->now_ns += 10000;
		rg_run(g);
		while (gen_take(g, 0, true) != FLOWS)
			n++;
		for (slot = 16; slot < RG_RECV_BYTES / 1728; slot++)
			memset(g->recv + slot * 1728 + 128, 0x99, LEN);
	}
	assert_int_equal(n, 2000);
	rg_stop(g);
}

/* A closed filter and a foreign destination keep the generator still. */
static void
test_filter(void **state)
{
	struct rawguest *g = &guest;

	(void)state;
	gen_start(g, 1);
	flow[0][5] ^= 1;
	rg_filter(g, 0);
	g->wire.budget = 100;
	g->now_ns += 10000;
	rg_run(g);
	assert_false(rg_get(g, 0));
	rg_filter(g, NDIS_FILTER_DIRECTED);
	g->now_ns += 10000;
	rg_run(g);
	g->now_ns += 10000;
	rg_run(g);
	while (rg_get(g, 0)) {
		struct vmbus_xfer_range r;

		memcpy(&r, g->pkt.bytes + 24, sizeof(r));
		assert_memory_equal(g->recv + r.ofs + 128, g->conf.mac, 6);
	}
	assert_true(sent_frames > 0);
	rg_stop(g);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_batches),
		cmocka_unit_test(test_spreading),
		cmocka_unit_test(test_sleeping_guest),
		cmocka_unit_test(test_touch),
		cmocka_unit_test(test_filter),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

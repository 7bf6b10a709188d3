/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 hvnet contributors
 *
 * The walk of the inbound ring: checks, order, parking and dispatch.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "hvn_session.h"
#include "inbound_kit.h"

static void
test_idle(void **state)
{
	(void)state;
	assert_false(hvn_inbound_begin(&ch));
	assert_int_equal(receive(32), 0);
	hvn_inbound_drain(&ch);
	hvn_inbound_flush(&ch);
	no_more_acks();
	assert_int_equal(*rh_word(&rh, 1, 2), 1); /* masked: we poll */
	assert_int_equal(ch.in_lock, 0);
}

static void
test_range_counts(void **state)
{
	static const uint32_t counts[] = { 1, 2, 7, 8, 63, 64, 375, 561, 562 };
	static const uint32_t bad[] = { 0, 563, 600 };

	(void)state;
	for (uint32_t i = 0; i < sizeof(counts) / sizeof(counts[0]); i++) {
		rh_xfer(&rh, i + 10, ranges, counts[i], 0);
		rh_publish(&rh);
		assert_int_equal(receive(1000), counts[i]);
		assert_int_equal(take_ack(), i + 10);
		no_more_acks();
	}
	for (uint32_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		rh_xfer(&rh, i + 50, ranges, bad[i], 0);
		rh_publish(&rh);
		assert_int_equal(receive(1000), 0);
		assert_int_equal(take_ack(), i + 50);
		no_more_acks();
	}
	assert_int_equal(ch.stats.in_bad, 3);
}

static void
test_bad_ranges(void **state)
{
	static const struct rh_range bad[] = {
		{ 0, 0 }, { 1, 0 }, { 7, 0 }, { 8, RECV_LEN }, { 8, RECV_LEN - 7 },
		{ RECV_LEN + 1, 0 }, { RECV_LEN, 1 }, { 0xffffffff, 0 }, { 8, 0xffffffff },
		{ 0xffffffff, 1 }, { 0x80000000, 0x80000000 }, { 0xfffffff8, 16 },
		{ 64, 0xffffffc0 },
	};
	static const struct rh_range good[] = {
		{ 8, 0 }, { 8, RECV_LEN - 8 }, { RECV_LEN, 0 }, { 9, 3 }, { RECV_LEN - 1, 1 },
	};
	const uint32_t nbad = sizeof(bad) / sizeof(bad[0]), ngood = sizeof(good) / sizeof(good[0]);
	struct rh_range mixed[64];
	uint32_t n = 0;

	(void)state;
	for (uint32_t i = 0; i < nbad; i++) {
		rh_xfer(&rh, i, &bad[i], 1, 0);
		rh_publish(&rh);
		assert_int_equal(receive(8), 0);
		assert_int_equal(take_ack(), i);
		no_more_acks();
	}
	assert_int_equal(ch.stats.in_bad, nbad);
	/* Good and bad ones in one packet: the good ones arrive, one completion. */
	for (uint32_t i = 0; i < nbad; i++, n += 2) {
		mixed[n] = bad[i];
		mixed[n + 1] = good[i % ngood];
	}
	rh_xfer(&rh, 77, mixed, n, 0);
	rh_publish(&rh);
	assert_int_equal(receive(100), nbad);
	assert_int_equal(take_ack(), 77);
	no_more_acks();
	assert_int_equal(ch.stats.in_bad, 2 * nbad);
	assert_int_equal(ch.xfer_free_count, HVN_XFERS);
}

/* A transfer-page packet whose fields @p patch changes; @p acked when it asked for one. */
static void
bad_packet(uint32_t at, uint16_t value, bool acked)
{
	static const uint32_t nvsp[10] = { 107, 0, 0xffffffff };
	uint64_t bad = ch.stats.in_bad;
	uint8_t bytes[80] = { 0 };
	const uint16_t desc[4] = { 7, 5, 10, 1 };
	const uint32_t body[6] = { 0xcafe, 2, 64, 0, 64, 64 };

	memcpy(bytes, desc, sizeof(desc));
	bytes[8] = 99;
	memcpy(bytes + 16, body, sizeof(body));
	memcpy(bytes + 40, nvsp, sizeof(nvsp));
	memcpy(bytes + at, &value, sizeof(value));
	rh_put(&rh, bytes, sizeof(bytes));
	rh_publish(&rh);
	assert_int_equal(receive(8), 0);
	assert_false(hvn_channel_is_dead(&ch));
	assert_int_equal(ch.stats.in_bad, bad + 1);
	if (acked)
		assert_int_equal(take_ack(), 99);
	no_more_acks();
	assert_int_equal(ch.xfer_free_count, HVN_XFERS);
}

static void
test_bad_xfer(void **state)
{
	(void)state;
	bad_packet(2, 2, true);       /* payload starts before the type header ends */
	bad_packet(2, 4, true);       /* two ranges, room for one */
	bad_packet(2, 9, true);       /* payload of 8 bytes */
	bad_packet(2, 10, true);      /* no payload */
	bad_packet(6, 0, false);      /* no completion asked for: none sent */
	bad_packet(16, 0xcaff, true); /* another buffer */
	bad_packet(16, 0, true);
	bad_packet(20, 0, true);      /* no ranges */
	bad_packet(20, 3, true);      /* more than fit */
	bad_packet(20, 0xffff, true);
	bad_packet(22, 0x2000, true); /* 2^29 ranges: their bytes wrap in 32 bits */
	bad_packet(22, 0xffff, true);
	bad_packet(40, 106, true);    /* not an RNDIS message */
	bad_packet(42, 1, true);
	/* Unknown types are skipped and never completed. */
	for (uint16_t type = 0; type < 20; type++) {
		if (type != 6 && type != 7 && type != 0xb)
			bad_packet(0, type, false);
	}
	bad_packet(0, 0xffff, false);
}

/* A descriptor that makes no sense leaves no way to find the next one: the ring is dead. */
static void
dead_after(uint16_t offset8, uint16_t len8, uint16_t flags)
{
	uint8_t bytes[64] = { 0 };
	const uint16_t desc[4] = { 6, offset8, len8, flags };

	inbound_setup(NULL);
	memcpy(bytes, desc, sizeof(desc));
	rh_put(&rh, bytes, sizeof(bytes));
	rh_publish(&rh);
	assert_int_equal(receive(8), 0);
	assert_true(hvn_channel_is_dead(&ch));
	assert_int_equal(receive(8), 0);
	hvn_inbound_drain(&ch);
	assert_int_equal(ch.in_lock, 0);
	no_more_acks();
	inbound_teardown(NULL);
}

static void
test_dead_descriptor(void **state)
{
	(void)state;
	dead_after(2, 9, 0);          /* longer than what is there */
	dead_after(2, 0xffff, 0);
	dead_after(0, 8, 0);
	dead_after(1, 8, 0);
	dead_after(9, 8, 0);
	dead_after(0xffff, 8, 0);
	dead_after(2, 0, 0);
	dead_after(2, 1, 0);
	dead_after(2, 8, 2);
	dead_after(2, 8, 0x8000);
}

static void
test_dead_index(void **state)
{
	static const uint32_t bad[] = { RING_PAGES * 4096, 4, 65001, 0xffffffff, 0x80000000 };

	(void)state;
	for (uint32_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		inbound_setup(NULL);
		*rh_word(&rh, 1, 0) = bad[i];
		assert_int_equal(receive(8), 0);
		assert_true(hvn_channel_is_dead(&ch));
		assert_false(hvn_inbound_begin(&ch));
		inbound_teardown(NULL);
		/* The other ring's read index, met when completions are sent. */
		inbound_setup(NULL);
		rh_xfer(&rh, 1, ranges, 1, 0);
		rh_publish(&rh);
		*rh_word(&rh, 0, 1) = bad[i];
		ch.out.peer = 0;
		ch.out.pos = ch.out.pub = ch.out.size - 16;
		assert_int_equal(receive(8), 1);
		assert_true(hvn_channel_is_dead(&ch));
		assert_int_equal(ch.out_lock, 0);
		inbound_teardown(NULL);
	}
}

/* Too short for a descriptor and its trailer. */
static void
test_dead_crumb(void **state)
{
	(void)state;
	for (uint32_t len = 8; len < 24; len += 8) {
		inbound_setup(NULL);
		*rh_word(&rh, 1, 0) = (rh.wpos + len) % rh.size;
		assert_int_equal(receive(8), 0);
		assert_true(hvn_channel_is_dead(&ch));
		inbound_teardown(NULL);
	}
}

static void
test_half_consumed(void **state)
{
	(void)state;
	for (uint32_t burst = 1; burst <= 33; burst++) {
		uint32_t sent = 0, got = 0, n;

		for (uint32_t count = 1; count <= 40; count++) {
			rh_xfer(&rh, count, ranges, count, 0);
			sent += count;
		}
		rh_publish(&rh);
		while ((n = receive(burst)) != 0) {
			assert_true(n <= burst);
			got += n;
			assert_true(n == burst || got == sent);
		}
		assert_int_equal(got, sent);
		for (uint32_t count = 1; count <= 40; count++)
			assert_int_equal(take_ack(), count);
		no_more_acks();
	}
}

/* Offsets must come in the order in which the host sent them. */
static void
expect_order(uint32_t first, uint32_t count)
{
	struct hvn_range r;

	assert_true(hvn_inbound_begin(&ch));
	for (uint32_t i = 0; i < count; i++) {
		assert_true(hvn_inbound_take(&ch, &r, 1));
		assert_int_equal(r.ofs, ranges[first + i].ofs);
		hvn_inbound_done(&ch, &r, 1);
	}
	hvn_inbound_end(&ch);
}

static void
test_parking_order(void **state)
{
	(void)state;
	ch.park_limit = 256;
	rh_xfer(&rh, 1, &ranges[0], 10, 0);
	rh_xfer(&rh, 2, &ranges[10], 10, 0);
	rh_publish(&rh);
	expect_order(0, 3);          /* half a packet */
	hvn_inbound_drain(&ch);      /* transmit side parks the rest */
	assert_false(rh_take(&rh, &pkt));
	rh_xfer(&rh, 3, &ranges[20], 5, 0);
	rh_publish(&rh);
	expect_order(3, 4);          /* from the parking only */
	rh_xfer(&rh, 4, &ranges[25], 5, 0);
	rh_publish(&rh);
	hvn_inbound_drain(&ch);      /* parks behind what is parked */
	expect_order(7, 20);
	assert_true(hvn_inbound_pending(&ch));
	rh_xfer(&rh, 5, &ranges[30], 5, 0);
	rh_publish(&rh);
	expect_order(27, 8);         /* parking runs empty, the ring follows */
	for (uint32_t i = 1; i <= 5; i++)
		assert_int_equal(take_ack(), i);
	no_more_acks();
	assert_false(hvn_inbound_pending(&ch));
	assert_int_equal(ch.stats.park_drops, 0);
	assert_int_equal(ch.xfer_free_count, HVN_XFERS);
}

static void
test_parking_full(void **state)
{
	static const uint32_t limits[] = { 0, 1, 5, 64, HVN_PARK };

	(void)state;
	for (uint32_t l = 0; l < 5; l++) {
		uint64_t before = ch.stats.park_drops;
		uint32_t sent = 0, rounds = limits[l] / 500 + 2, acked = 0;

		ch.park_limit = limits[l];
		for (uint32_t i = 0; i < rounds; i++, sent += 500) {
			rh_xfer(&rh, i, ranges, 500, 0);
			rh_publish(&rh);
			hvn_inbound_drain(&ch);
		}
		assert_int_equal(ch.stats.park_drops - before, sent - limits[l]);
		while (receive(32) != 0)
			;
		while (rh_take(&rh, &pkt)) {
			rh_ack_id(&pkt);
			acked++;
		}
		rh_release(&rh);
		assert_int_equal(acked, rounds);
		assert_int_equal(ch.xfer_free_count, HVN_XFERS);
	}
}

static void
test_flush(void **state)
{
	(void)state;
	ch.park_limit = 4;
	rh_xfer(&rh, 1, ranges, 10, 0);
	rh_publish(&rh);
	assert_int_equal(receive(2), 2);
	hvn_inbound_drain(&ch);
	rh_xfer(&rh, 2, ranges, 10, 0);
	rh_publish(&rh);
	assert_int_equal(receive(1), 1);
	hvn_inbound_flush(&ch);
	assert_int_equal(take_ack(), 1);
	assert_int_equal(take_ack(), 2);
	no_more_acks();
	assert_false(hvn_inbound_pending(&ch));
	assert_int_equal(ch.xfer_free_count, HVN_XFERS);
}

static void
test_control(void **state)
{
	const struct rh_range sc = { .len = 40, .ofs = 512 };

	(void)state;
	memset(rh.recv + 512, 0x42, 40);
	rh_xfer(&rh, 9, &sc, 1, 1);
	rh_complete(&rh, HVN_XACT_REQUEST | 5, 2, 1);
	rh_packet(&rh, 0xb, 0, HVN_XACT_REQUEST | 6, NULL, 0, NULL, 0);
	rh_packet(&rh, 6, 0, 0, NULL, 0, rh.recv + 512, 80);
	rh_publish(&rh);
	assert_int_equal(receive(8), 0);
	assert_int_equal(rh_session.controls, 1);
	assert_int_equal(rh_session.completions, 2);
	assert_true(rh_session.xact == (HVN_XACT_REQUEST | 6));
	assert_int_equal(rh_session.inbands, 1);
	assert_int_equal(rh_session.len, 80);
	assert_int_equal(rh_session.bytes[0], 0x42);
	assert_int_equal(take_ack(), 9);
	no_more_acks();
	/* Payloads of any length are cut, not overrun; empty ones are empty. */
	rh_packet(&rh, 6, 0, 0, NULL, 0, rh.recv, 4096);
	rh_packet(&rh, 0xb, 0, HVN_XACT_REQUEST, NULL, 0, rh.recv, 4096);
	rh_publish(&rh);
	assert_int_equal(receive(8), 0);
	assert_true(rh_session.len >= 80 && rh_session.len <= 512);
	rh_packet(&rh, 6, 0, 0, NULL, 0, NULL, 0);
	rh_publish(&rh);
	assert_int_equal(receive(8), 0);
	assert_int_equal(rh_session.len, 0);
	/* Without a session nothing happens, and control messages are still completed. */
	ch.session = NULL;
	rh_xfer(&rh, 10, &sc, 1, 1);
	rh_complete(&rh, HVN_XACT_REQUEST | 7, 2, 1);
	rh_publish(&rh);
	assert_int_equal(receive(8), 0);
	assert_int_equal(rh_session.completions, 3);
	assert_int_equal(rh_session.controls, 1);
	assert_int_equal(take_ack(), 10);
	no_more_acks();
}

static void
test_completion_without_queue(void **state)
{
	(void)state;
	rh_complete(&rh, 1, 108, 1);
	rh_complete(&rh, 0, 108, 1);
	rh_packet(&rh, 0xb, 0, 2, NULL, 0, NULL, 0);
	rh_publish(&rh);
	hvn_inbound_drain(&ch);
	assert_int_equal(ch.stats.comp_unknown, 3);
	no_more_acks();
}

static void
test_one_walker(void **state)
{
	struct hvn_range r;

	(void)state;
	rh_xfer(&rh, 1, ranges, 2, 0);
	rh_publish(&rh);
	assert_true(hvn_inbound_begin(&ch));
	assert_false(hvn_inbound_begin(&ch));
	hvn_inbound_drain(&ch); /* does nothing: somebody walks */
	hvn_inbound_flush(&ch);
	assert_true(hvn_inbound_take(&ch, &r, 1));
	hvn_inbound_done(&ch, &r, 1);
	hvn_inbound_end(&ch);
	assert_int_equal(receive(8), 1);
	assert_int_equal(take_ack(), 1);
}

int
main(void)
{
#define CASE(f) cmocka_unit_test_setup_teardown(f, inbound_setup, inbound_teardown)
	const struct CMUnitTest tests[] = {
		CASE(test_idle), CASE(test_range_counts), CASE(test_bad_ranges),
		CASE(test_bad_xfer),
		cmocka_unit_test(test_dead_descriptor), cmocka_unit_test(test_dead_index),
		cmocka_unit_test(test_dead_crumb),
		CASE(test_half_consumed), CASE(test_parking_order), CASE(test_parking_full),
		CASE(test_flush), CASE(test_control), CASE(test_completion_without_queue),
		CASE(test_one_walker),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

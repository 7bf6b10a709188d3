/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 hvnet contributors
 *
 * Completions owed to the host: exactly one per packet, never lost, whatever is in the way.
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
test_ack_ids(void **state)
{
	/* Ids mean nothing to the guest: they are echoed, also twice the same. */
	static const uint64_t ids[] = { 0, 1, 1, 1u << 31, 1ull << 32, 1ull << 63, UINT64_MAX };
	const uint32_t n = sizeof(ids) / sizeof(ids[0]);

	(void)state;
	for (uint32_t i = 0; i < n; i++)
		rh_xfer(&rh, ids[i], ranges, i + 1, 0);
	rh_publish(&rh);
	assert_int_equal(receive(1000), n * (n + 1) / 2);
	for (uint32_t i = 0; i < n; i++)
		assert_true(take_ack() == ids[i]);
	no_more_acks();
	assert_int_equal(ch.stats.in_messages, n);
	assert_int_equal(ch.stats.in_bad, 0);
	assert_int_equal(ch.xfer_free_count, HVN_XFERS);
	/* One publish of completions to an empty ring: one signal. */
	assert_int_equal(ch.stats.signals, 1);
	assert_int_equal(rh.sig_word, 1u << 7);
}

/* The completion comes with the last range, not before. */
static void
test_ack_after_last(void **state)
{
	struct hvn_range r[3];

	(void)state;
	rh_xfer(&rh, 5, ranges, 3, 0);
	rh_publish(&rh);
	assert_true(hvn_inbound_begin(&ch));
	for (uint32_t i = 0; i < 3; i++)
		assert_true(hvn_inbound_take(&ch, &r[i], 1));
	assert_false(hvn_inbound_take(&ch, &r[0], 1));
	hvn_inbound_done(&ch, &r[2], 1);
	hvn_inbound_done(&ch, &r[0], 1);
	hvn_inbound_end(&ch);
	no_more_acks();
	assert_false(hvn_inbound_begin(&ch)); /* nothing new, nothing owed */
	ch.in_lock = 1;
	hvn_inbound_done(&ch, &r[1], 1);
	hvn_inbound_end(&ch);
	assert_int_equal(take_ack(), 5);
	no_more_acks();
}

/* Fill the outbound ring so that @p room completions fit. */
static uint32_t
fill_outbound(uint32_t room)
{
	uint8_t bytes[56] = { 0 };
	uint32_t n = 0;
	const uint16_t desc[4] = { 6, 2, 7, 0 };

	memcpy(bytes, desc, sizeof(desc));
	assert_int_equal(vmring_refresh(&ch.out), 0);
	while (vmring_free(&ch.out) > (room + 1) * 64) {
		vmring_put(&ch.out, bytes, sizeof(bytes));
		n++;
	}
	vmring_publish(&ch.out);
	return n;
}

static void
drop_packets(uint32_t n)
{
	for (uint32_t i = 0; i < n; i++) {
		assert_true(rh_take(&rh, &pkt));
		assert_int_equal(pkt.type, 6);
	}
	rh_release(&rh);
}

static void
test_ack_ring_full(void **state)
{
	uint32_t filled, next = 1;

	(void)state;
	for (uint32_t room = 0; room < 6; room++) {
		filled = fill_outbound(room);
		for (uint32_t i = 0; i < 10; i++)
			rh_xfer(&rh, next + i, ranges, 2, 0);
		rh_publish(&rh);
		assert_int_equal(receive(100), 20);
		assert_true(hvn_inbound_pending(&ch)); /* some are owed: polled again */
		assert_int_equal(receive(100), 0);
		drop_packets(filled);
		for (uint32_t i = 0; i < room; i++)
			assert_int_equal(take_ack(), next + i);
		rh_release(&rh);
		assert_int_equal(receive(100), 0);     /* now they go, with nothing received */
		for (uint32_t i = room; i < 10; i++)
			assert_int_equal(take_ack(), next + i);
		no_more_acks();
		assert_false(hvn_inbound_pending(&ch));
		next += 10;
	}
	assert_true(ch.stats.ack_deferred > 0);
}

static void
test_ack_lock_taken(void **state)
{
	(void)state;
	assert_true(hvn_channel_out_lock(&ch));
	rh_xfer(&rh, 1, ranges, 2, 0);
	rh_publish(&rh);
	assert_int_equal(receive(100), 2);
	assert_int_equal(ch.stats.ack_deferred, 1);
	no_more_acks();
	hvn_channel_out_unlock(&ch);
	assert_true(hvn_inbound_begin(&ch));
	hvn_inbound_end(&ch);
	assert_int_equal(take_ack(), 1);
	no_more_acks();
}

/* More packets than there are slots, while no completion can leave: nothing is lost. */
static void
test_slots_exhausted(void **state)
{
	uint32_t filled = fill_outbound(0), sent = 0, got = 0, seen = 0, n;

	(void)state;
	for (uint32_t round = 0; round < 40; round++) {
		while (rh_room(&rh) > 100 && sent < HVN_XFERS + 500)
			rh_xfer(&rh, sent++, ranges, 1, 0);
		rh_publish(&rh);
		got += receive(100000);
	}
	assert_int_equal(got, HVN_XFERS);
	assert_true(sent > HVN_XFERS);
	assert_false(hvn_channel_is_dead(&ch));
	drop_packets(filled);
	do {
		n = receive(100000);
		got += n;
		while (rh_take(&rh, &pkt))
			assert_int_equal(rh_ack_id(&pkt), seen++);
		rh_release(&rh);
	} while (n != 0 || hvn_inbound_pending(&ch));
	assert_int_equal(got, sent);
	assert_int_equal(seen, sent);
	assert_int_equal(ch.xfer_free_count, HVN_XFERS);
}

/* Slots held by consumers, completions owed and new packets together stay in bounds. */
static void
test_slots_held(void **state)
{
	static struct hvn_range held[HVN_XFERS + 1];
	uint32_t filled = fill_outbound(0), n = 0, sent = 0;

	(void)state;
	for (uint32_t round = 0; round < 20; round++) {
		while (rh_room(&rh) > 100 && sent < HVN_XFERS + 500)
			rh_xfer(&rh, sent++, ranges, 1, 0);
		rh_publish(&rh);
		if (!hvn_inbound_begin(&ch))
			continue;
		while (n <= HVN_XFERS && hvn_inbound_take(&ch, &held[n], 1)) {
			if (++n % 2 == 0)
				hvn_inbound_done(&ch, &held[n - 1], 1);
		}
		hvn_inbound_end(&ch);
	}
	assert_int_equal(n, HVN_XFERS);
	assert_int_equal(ch.ack_head - ch.ack_tail, HVN_XFERS / 2);
	assert_int_equal(ch.xfer_free_count, HVN_XFERS / 2);
	ch.in_lock = 1;
	for (uint32_t i = 0; i < n; i += 2)
		hvn_inbound_done(&ch, &held[i], 1);
	ch.in_lock = 0;
	drop_packets(filled);
	receive(0);
	for (n = 0; rh_take(&rh, &pkt); n++)
		rh_ack_id(&pkt);
	assert_true(n > 0);
}

static void
test_pending_send(void **state)
{
	uint32_t free_bytes;

	(void)state;
	for (uint32_t feature = 0; feature < 2; feature++) {
		*rh_word(&rh, 1, 16) = feature;
		while (rh_room(&rh) > 200)
			rh_xfer(&rh, 3, ranges, 1, 0);
		free_bytes = rh_room(&rh);
		*rh_word(&rh, 1, 3) = 1000; /* the host waits for more than it has */
		rh_publish(&rh);
		*rh_word(&rh, 0, 2) = 1;    /* no signals for completions */
		rh.sig_word = 0;
		assert_int_equal(receive(5), 5);
		assert_true(rh_room(&rh) > free_bytes && rh_room(&rh) <= 1000);
		assert_int_equal(rh.sig_word, 0);
		assert_int_equal(receive(8), 8);
		assert_true(rh_room(&rh) > 1000);
		assert_int_equal(rh.sig_word != 0, feature);
		rh.sig_word = 0;
		assert_int_equal(receive(8), 8); /* crossed before: no second signal */
		assert_int_equal(rh.sig_word, 0);
		while (receive(1000) != 0)
			;
		while (rh_take(&rh, &pkt))
			;
		rh_release(&rh);
		*rh_word(&rh, 1, 3) = 0;
		*rh_word(&rh, 0, 2) = 0;
	}
}

int
main(void)
{
#define CASE(f) cmocka_unit_test_setup_teardown(f, inbound_setup, inbound_teardown)
	const struct CMUnitTest tests[] = {
		CASE(test_ack_ids), CASE(test_ack_after_last), CASE(test_ack_ring_full),
		CASE(test_ack_lock_taken), CASE(test_slots_exhausted), CASE(test_slots_held),
		CASE(test_pending_send),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

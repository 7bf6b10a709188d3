/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 hvnet contributors
 *
 * Tests the loop wire and its frame store: order, queues, bounds, swapped addresses.
 */
#include "wire_test.h"

static void
test_order(void **state)
{
	struct wire *w = open_wire("loop:depth=8");
	uint8_t frame[WIRE_FRAME_MAX];
	struct wire_rx rx[8];
	uint32_t i, round, n;

	(void)state;
	for (round = 0; round < 10; round++) {
		for (i = 0; i < 5; i++) {
			fill_frame(frame, 60 + i * 400, round * 5 + i);
			send_frame(w, 0, frame, 60 + i * 400, 1 + i * 100);
		}
		n = w->ops->rx(w, 0, rx, 3);
		assert_int_equal(n, 3);
		for (i = 0; i < n; i++) {
			fill_frame(frame, 60 + i * 400, round * 5 + i);
			assert_int_equal(rx[i].len, 60 + i * 400);
			assert_memory_equal(rx[i].data, frame, rx[i].len);
		}
		n = w->ops->rx(w, 0, rx, 8);
		assert_int_equal(n, 2);
		assert_int_equal(rx[1].len, 1660);
		assert_int_equal(w->ops->rx(w, 0, rx, 8), 0);
	}
	assert_int_equal(w->stats.rx_frames, 50);
	assert_int_equal(w->stats.rx_bytes, w->stats.tx_bytes);
	assert_int_equal(w->stats.rx_dropped, 0);
	wire_close(w);
}

/* Frames lent to the caller stay as they are, however much is sent before the next rx(). */
static void
test_full_and_lent(void **state)
{
	struct wire *w = open_wire("loop:depth=4");
	uint8_t frame[100];
	struct wire_rx rx[8];
	uint32_t i;

	(void)state;
	for (i = 0; i < 6; i++) {
		fill_frame(frame, sizeof(frame), i);
		send_frame(w, 0, frame, sizeof(frame), 100);
	}
	assert_int_equal(w->stats.rx_dropped, 2);
	assert_int_equal(w->ops->rx(w, 0, rx, 8), 4);
	fill_frame(frame, sizeof(frame), 99);
	send_frame(w, 0, frame, sizeof(frame), 100);
	assert_int_equal(w->stats.rx_dropped, 3);
	for (i = 0; i < 4; i++) {
		fill_frame(frame, sizeof(frame), i);
		assert_memory_equal(rx[i].data, frame, sizeof(frame));
	}
	assert_int_equal(w->ops->rx(w, 0, rx, 8), 0);
	send_frame(w, 0, frame, sizeof(frame), 100);
	assert_int_equal(w->ops->rx(w, 0, rx, 8), 1);
	wire_close(w);
}

static void
test_queues(void **state)
{
	struct wire *w = open_wire("loop:queues=64:depth=2");
	uint8_t frame[60];
	struct wire_rx rx[2];
	uint32_t q;

	(void)state;
	assert_int_equal(w->nqueues, 64);
	for (q = 0; q < 64; q++) {
		fill_frame(frame, sizeof(frame), q);
		send_frame(w, q, frame, sizeof(frame), 60);
	}
	for (q = 0; q < 64; q++) {
		fill_frame(frame, sizeof(frame), q);
		assert_int_equal(w->ops->rx(w, q, rx, 2), 1);
		assert_memory_equal(rx[0].data, frame, sizeof(frame));
	}
	wire_close(w);
}

static void
test_swap(void **state)
{
	struct wire *w = open_wire("loop:swap=1");
	uint8_t frame[60], tiny[8] = { 1, 2, 3, 4, 5, 6, 7, 8 };
	struct wire_rx rx[2];

	(void)state;
	fill_frame(frame, sizeof(frame), 1);
	send_frame(w, 0, frame, sizeof(frame), 7);
	send_frame(w, 0, tiny, sizeof(tiny), 8);
	assert_int_equal(w->ops->rx(w, 0, rx, 2), 2);
	assert_memory_equal(rx[0].data, frame + 6, 6);
	assert_memory_equal(rx[0].data + 6, frame, 6);
	assert_memory_equal(rx[0].data + 12, frame + 12, 48);
	assert_memory_equal(rx[1].data, tiny, sizeof(tiny));
	wire_close(w);
}

static void
test_lengths(void **state)
{
	struct wire *w = open_wire("loop");
	static uint8_t frame[WIRE_FRAME_MAX + 1];
	struct wire_rx rx[2];
	uint32_t len;

	(void)state;
	for (len = 60; len <= WIRE_FRAME_MAX; len += 97) {
		fill_frame(frame, len, len);
		send_frame(w, 0, frame, len, 1000);
		assert_int_equal(w->ops->rx(w, 0, rx, 2), 1);
		assert_int_equal(rx[0].len, len);
		assert_memory_equal(rx[0].data, frame, len);
	}
	send_frame(w, 0, frame, WIRE_FRAME_MAX, 4096);
	send_frame(w, 0, frame, WIRE_FRAME_MAX + 1, 4096);
	assert_int_equal(w->ops->rx(w, 0, rx, 2), 1);
	assert_int_equal(w->stats.rx_dropped, 1);
	wire_close(w);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_order),
		cmocka_unit_test(test_full_and_lent),
		cmocka_unit_test(test_queues),
		cmocka_unit_test(test_swap),
		cmocka_unit_test(test_lengths),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

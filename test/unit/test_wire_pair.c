/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 hvnet contributors
 *
 * Tests the pair wire: both directions, drops by name, ends that come and go.
 */
#include "wire_test.h"

static uint8_t frame[60];

static void
test_both_ways(void **state)
{
	struct wire *a = open_wire("pair:id=x:depth=64"), *b = open_wire("pair:id=x:depth=64");
	struct wire_rx rx[64];
	uint32_t i;

	(void)state;
	for (i = 0; i < 50; i++) {
		fill_frame(frame, sizeof(frame), i);
		send_frame(a, 0, frame, sizeof(frame), 11);
	}
	fill_frame(frame, sizeof(frame), 77);
	send_frame(b, 0, frame, sizeof(frame), 60);
	assert_int_equal(a->ops->rx(a, 0, rx, 64), 1);
	assert_memory_equal(rx[0].data, frame, sizeof(frame));
	assert_int_equal(b->ops->rx(b, 0, rx, 64), 50);
	for (i = 0; i < 50; i++) {
		fill_frame(frame, sizeof(frame), i);
		assert_memory_equal(rx[i].data, frame, sizeof(frame));
	}
	assert_int_equal(a->stats.tx_frames, 50);
	assert_int_equal(b->stats.rx_frames, 50);
	assert_int_equal(b->stats.rx_bytes, 3000);
	wire_close(a);
	wire_close(b);
}

static void
test_drops(void **state)
{
	struct wire *a = open_wire("pair:id=x"), *b;
	struct wire_rx rx[8];
	uint32_t i;

	(void)state;
	send_frame(a, 0, frame, sizeof(frame), 60);
	assert_int_equal(a->stats.tx_dropped, 1);

	b = open_wire("pair:id=x:depth=4");
	for (i = 0; i < 6; i++)
		send_frame(a, 0, frame, sizeof(frame), 60);
	assert_int_equal(a->stats.tx_dropped, 3);
	assert_int_equal(b->ops->rx(b, 0, rx, 8), 4);

	b->ops->set_link(b, false);
	send_frame(a, 0, frame, sizeof(frame), 60);
	assert_int_equal(a->stats.tx_dropped, 4);
	b->ops->set_link(b, true);

	wire_close(b);
	send_frame(a, 0, frame, sizeof(frame), 60);
	assert_int_equal(a->stats.tx_dropped, 5);
	assert_int_equal(a->stats.tx_frames, 4);
	wire_close(a);
}

static void
test_ids(void **state)
{
	struct wire *a = open_wire("pair:id=x"), *b = open_wire("pair:id=x");
	struct wire *c = open_wire("pair:id=y"), *d;
	struct wire_rx rx[4];

	(void)state;
	refuse_wire("pair:id=x", "id=x joins two NICs", "another id");
	send_frame(a, 0, frame, sizeof(frame), 60);
	assert_int_equal(c->ops->rx(c, 0, rx, 4), 0);
	/* The place of an end that went can be taken again. */
	wire_close(a);
	d = open_wire("pair:id=x");
	send_frame(d, 0, frame, sizeof(frame), 60);
	assert_int_equal(b->ops->rx(b, 0, rx, 4), 2);
	wire_close(c);
	wire_close(b);
	wire_close(d);
}

static void
test_unequal_queues(void **state)
{
	struct wire *a = open_wire("pair:id=x:queues=8"), *b = open_wire("pair:id=x:queues=3");
	struct wire_rx rx[8];
	uint32_t q, n = 0;

	(void)state;
	for (q = 0; q < 8; q++)
		send_frame(a, q, frame, sizeof(frame), 60);
	for (q = 0; q < 3; q++)
		n += b->ops->rx(b, q, rx, 8);
	assert_int_equal(n, 8);
	wire_close(a);
	wire_close(b);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_both_ways),
		cmocka_unit_test(test_drops),
		cmocka_unit_test(test_ids),
		cmocka_unit_test(test_unequal_queues),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

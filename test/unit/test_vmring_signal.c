/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 hvnet contributors
 *
 * Ring engine: who must be signalled, and when.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include <vmring/vmring.h>

#include "guard.h"

#define SIZE VMBUS_PAGE_SIZE
#define BYTES (2 * VMBUS_PAGE_SIZE)
#define LEN 56u
#define COST 64u

static uint8_t *mem;
static struct vmbus_ring_hdr *hdr;
static struct vmring prod, cons;

static int
ring_open(void **state)
{
	(void)state;
	mem = guard_alloc(BYTES, GUARD_AFTER);
	hdr = (struct vmbus_ring_hdr *)mem;
	vmring_reset_shared(mem);
	return vmring_attach(&prod, mem, BYTES, true) | vmring_attach(&cons, mem, BYTES, false);
}

static int
ring_close(void **state)
{
	(void)state;
	guard_free(mem, BYTES);
	return 0;
}

static void
put(unsigned int packets)
{
	const struct vmbus_pkt_desc desc = {
		.type = VMBUS_PKT_INBAND,
		.offset8 = 2,
		.len8 = LEN / 8,
	};
	uint8_t pkt[LEN] = { 0 };

	memcpy(pkt, &desc, sizeof(desc));
	for (unsigned int i = 0; i < packets; i++) {
		assert_int_equal(vmring_refresh(&prod), 0);
		assert_true(vmring_fits(&prod, LEN));
		vmring_put(&prod, pkt, LEN);
	}
}

/* Read without releasing. */
static void
read_packets(unsigned int packets)
{
	struct vmbus_pkt_desc desc = { .len8 = 0 };
	uint32_t avail = 0;

	for (unsigned int i = 0; i < packets; i++) {
		assert_int_equal(vmring_poll(&cons, &avail), 0);
		assert_int_equal(vmring_peek(&cons, avail, &desc), 0);
		vmring_skip(&cons, &desc);
	}
}

static void
test_empty_to_non_empty(void **state)
{
	(void)state;
	put(1);
	assert_true(vmring_publish(&prod));
	put(1);
	assert_false(vmring_publish(&prod)); /* the consumer has not read the first */
	read_packets(1);
	vmring_release(&cons);
	put(1);
	assert_false(vmring_publish(&prod)); /* it has not read the second */
	read_packets(2);
	put(1);
	assert_false(vmring_publish(&prod)); /* read, but not released */
	read_packets(1);
	vmring_release(&cons);
	put(5);
	assert_true(vmring_publish(&prod)); /* one decision for the batch */
	assert_false(vmring_publish(&prod)); /* nothing to publish */
}

static void
test_masked(void **state)
{
	(void)state;
	hdr->imask = 1;
	put(1);
	assert_false(vmring_publish(&prod));
	read_packets(1);
	vmring_release(&cons);
	hdr->imask = 0x80000000; /* any value masks */
	put(1);
	assert_false(vmring_publish(&prod));
	read_packets(1);
	vmring_release(&cons);
	hdr->imask = 0;
	put(1);
	assert_true(vmring_publish(&prod));
}

/* The consumer's index is foreign: nonsense there may confuse signals, nothing else. */
static void
test_publish_hostile_index(void **state)
{
	(void)state;
	hdr->read_index = 0xffffffff;
	put(0);
	hdr->read_index = 0;
	put(1);
	hdr->read_index = 0xffffffff;
	assert_false(vmring_publish(&prod));
	assert_int_equal(hdr->write_index, COST);
}

/*
 * Fill the ring, arm @p wanted, then release @p batch packets at a time; returns after how
 * many packets the one signal came, 0 when none came.
 */
static unsigned int
signal_after(uint32_t wanted, unsigned int batch)
{
	const unsigned int all = SIZE / COST - 1;
	unsigned int done, at = 0;

	vmring_reset_shared(mem);
	assert_int_equal(vmring_attach(&prod, mem, BYTES, true), 0);
	assert_int_equal(vmring_attach(&cons, mem, BYTES, false), 0);
	put(all);
	vmring_publish(&prod);
	assert_int_equal(vmring_free(&prod), COST);
	hdr->pending_send = wanted;
	for (done = 0; done < all; ) {
		unsigned int n = all - done < batch ? all - done : batch;

		read_packets(n);
		done += n;
		if (vmring_release(&cons)) {
			assert_int_equal(at, 0); /* an edge: once only */
			at = done;
		}
	}
	return at;
}

/* Free bytes are 64, then 128, 192, ...: the signal comes when they exceed the wish. */
static void
test_pending_thresholds(void **state)
{
	const uint32_t free_after_2 = 3 * COST;

	(void)state;
	assert_int_equal(signal_after(free_after_2 + 8, 1), 3);
	assert_int_equal(signal_after(free_after_2, 1), 3); /* as much is not more */
	assert_int_equal(signal_after(free_after_2 - 8, 1), 2);
	assert_int_equal(signal_after(1, 1), 0);        /* was free all the time */
	assert_int_equal(signal_after(COST - 8, 1), 0);
	assert_int_equal(signal_after(COST, 1), 1);
	assert_int_equal(signal_after(0, 1), 0);        /* not armed */
	assert_int_equal(signal_after(SIZE - COST, 1), 63);
	assert_int_equal(signal_after(SIZE - 8, 1), 63);
	assert_int_equal(signal_after(SIZE - 1, 1), 63); /* "tell me when it is empty" */
	assert_int_equal(signal_after(SIZE, 1), 0);     /* never possible */
	assert_int_equal(signal_after(UINT32_MAX, 1), 0);
}

/* The crossing is that of a whole batch. */
static void
test_pending_batches(void **state)
{
	(void)state;
	for (unsigned int batch = 1; batch <= 63; batch++) {
		for (uint32_t wanted = COST; wanted < SIZE; wanted += 8) {
			unsigned int first = wanted / COST; /* packets until free > wanted */
			unsigned int at = (first + batch - 1) / batch * batch;

			assert_int_equal(signal_after(wanted, batch), at < 63 ? at : 63);
		}
	}
}

static void
test_pending_without_feature(void **state)
{
	(void)state;
	put(63);
	vmring_publish(&prod);
	hdr->features = 0;
	hdr->pending_send = 2 * COST;
	read_packets(4);
	assert_false(vmring_release(&cons));
	/* Control: the same release with the bit set does signal. */
	assert_int_equal(signal_after(2 * COST, 4), 4);
}

static void
test_pending_nothing_released(void **state)
{
	(void)state;
	put(63);
	vmring_publish(&prod);
	hdr->pending_send = COST;
	assert_false(vmring_release(&cons));
	read_packets(1);
	assert_true(vmring_release(&cons));
	assert_false(vmring_release(&cons));
}

/* A nonsense write index while the space is counted: no signal now, dead at the next look. */
static void
test_pending_hostile_index(void **state)
{
	uint32_t avail = 0;

	(void)state;
	put(63);
	vmring_publish(&prod);
	read_packets(1);
	hdr->write_index = COST + 4; /* 4092 bytes free, were it true */
	hdr->pending_send = SIZE - COST;
	assert_false(vmring_release(&cons));
	assert_int_equal(vmring_poll(&cons, &avail), -EIO);
}

static void
test_atomics(void **state)
{
	uint32_t word = 0;

	(void)state;
	vmring_or(&word, 0x10);
	vmring_or(&word, 0x80000010);
	assert_int_equal(word, 0x80000010);
	assert_int_equal(vmring_take(&word), 0x80000010);
	assert_int_equal(word, 0);
	assert_true(vmring_trylock(&word));
	assert_false(vmring_trylock(&word));
	vmring_unlock(&word);
	assert_true(vmring_trylock(&word));
}

#define RING_TEST(f) cmocka_unit_test_setup_teardown(f, ring_open, ring_close)

int
main(void)
{
	const struct CMUnitTest tests[] = {
		RING_TEST(test_empty_to_non_empty),
		RING_TEST(test_masked),
		RING_TEST(test_publish_hostile_index),
		RING_TEST(test_pending_thresholds),
		RING_TEST(test_pending_batches),
		RING_TEST(test_pending_without_feature),
		RING_TEST(test_pending_nothing_released),
		RING_TEST(test_pending_hostile_index),
		cmocka_unit_test(test_atomics),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

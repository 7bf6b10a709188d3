/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 hvnet contributors
 *
 * The host's end of a VMBus channel: whose turn it is to signal, and when.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <vmbus/channel.h>

#define RING (3 * 4096u)
#define DATA (RING - 4096u)

struct fixture {
	uint8_t *mem;
	struct hvchan ch;
	struct vmbus_ring_hdr *tx, *rx;
};

static void
start(struct fixture *f, bool polling)
{
	f->mem = calloc(2, RING);
	assert_non_null(f->mem);
	memset(f->mem, 0xff, 64);
	memset(f->mem + RING, 0xff, 64);
	assert_int_equal(hvchan_open(&f->ch, f->mem, RING, polling), 0);
	f->tx = (struct vmbus_ring_hdr *)f->mem;
	f->rx = (struct vmbus_ring_hdr *)(f->mem + RING);
	assert_int_equal(f->tx->write_index, 0);
	assert_int_equal(f->rx->read_index, 0);
	assert_int_equal(f->rx->features, VMBUS_RING_FEAT_PENDING_SEND);
	assert_int_equal(f->tx->imask, polling);
}

static void
stop(struct fixture *f)
{
	hvchan_close(&f->ch);
	assert_int_equal(f->ch.state, HVCHAN_OFFERED);
	free(f->mem);
}

/* Read everything, give it back, look again. */
static void
drain(struct fixture *f)
{
	uint32_t avail;

	assert_int_equal(vmring_poll(&f->ch.tx, &avail), 0);
	f->ch.tx.pos = f->ch.tx.peer;
	hvchan_release(&f->ch);
	hvchan_drained(&f->ch);
}

static void
test_sizes(void **state)
{
	struct hvchan ch;
	uint8_t *mem = calloc(2, RING);

	(void)state;
	assert_int_equal(hvchan_open(&ch, mem, 4096, false), -EINVAL);
	assert_int_equal(hvchan_open(&ch, mem, 4096 + 8, false), -EINVAL);
	free(mem);
}

/* Signals are masked while the host drains; data that comes then is found without one. */
static void
test_masking(void **state)
{
	struct fixture f;

	(void)state;
	start(&f, false);
	f.tx->write_index = 64;
	assert_false(hvchan_ready(&f.ch));
	assert_true(hvchan_signal(&f.ch));
	assert_true(hvchan_ready(&f.ch));
	assert_int_equal(f.tx->imask, 1);
	f.ch.tx.pos = 64;
	f.tx->write_index = 128;
	hvchan_release(&f.ch);
	assert_int_equal(f.tx->read_index, 64);
	hvchan_drained(&f.ch);
	assert_true(hvchan_ready(&f.ch));
	assert_int_equal(f.tx->imask, 1);
	drain(&f);
	assert_false(hvchan_ready(&f.ch));
	assert_int_equal(f.tx->imask, 0);
	stop(&f);
}

/* Each release of the ring justifies one signal, and so does each wait for space. */
static void
test_reasons(void **state)
{
	struct fixture f;

	(void)state;
	start(&f, false);
	f.tx->write_index = 64;
	assert_true(hvchan_signal(&f.ch));
	assert_false(hvchan_signal(&f.ch));
	drain(&f);
	assert_true(hvchan_signal(&f.ch));
	assert_false(hvchan_signal(&f.ch));
	drain(&f);
	assert_false(hvchan_signal(&f.ch));
	stop(&f);
	start(&f, true);
	f.tx->write_index = 64;
	assert_true(hvchan_ready(&f.ch));
	assert_false(hvchan_signal(&f.ch));
	stop(&f);
}

/* Fill the receive ring, arm, and free it up to just below and above the wanted space. */
static void
test_wake(void **state)
{
	uint64_t pkt[128] = { 0 };
	struct fixture f;
	uint32_t want, i;

	(void)state;
	start(&f, false);
	for (i = 0; hvchan_room(&f.ch, sizeof(pkt) + 8) == 1; i++)
		vmring_put(&f.ch.rx, pkt, sizeof(pkt));
	assert_int_equal(i, (DATA - 8) / (sizeof(pkt) + 8));
	vmring_publish(&f.ch.rx);
	assert_int_equal(hvchan_arm(&f.ch, sizeof(pkt) + 8), 0);
	want = f.rx->pending_send;
	assert_int_equal(want, DATA / 4); /* more than needed: fewer wake-ups */
	assert_int_equal(hvchan_room(&f.ch, 8), 0);
	/* Free space exactly as wanted is not enough: a packet fits in more than its size. */
	f.rx->read_index = want - vmring_free(&f.ch.rx);
	assert_true(hvchan_signal(&f.ch));
	assert_int_equal(f.rx->pending_send, want);
	f.rx->read_index += 8;
	hvchan_signal(&f.ch);
	assert_int_equal(f.rx->pending_send, 0);
	assert_int_equal(hvchan_room(&f.ch, 8), 1);
	stop(&f);
}

static void
test_arm_polling(void **state)
{
	struct fixture f;

	(void)state;
	start(&f, true);
	assert_int_equal(hvchan_arm(&f.ch, 64), 0);
	assert_int_equal(f.rx->pending_send, 0);
	assert_int_equal(f.ch.armed, 0);
	assert_int_equal(hvchan_audit(&f.ch, 1), HVCHAN_FINE);
	stop(&f);
}

/* The audit is patient, forgets when the guest catches up, and reports once. */
static void
test_audit(void **state)
{
	const uint64_t patience = HVCHAN_SIGNAL_PATIENCE_NS;
	struct fixture f;

	(void)state;
	start(&f, false);
	assert_int_equal(hvchan_audit(&f.ch, 1000), HVCHAN_FINE);
	f.tx->write_index = 64;
	assert_int_equal(hvchan_audit(&f.ch, 2000), HVCHAN_FINE);
	assert_int_equal(hvchan_audit(&f.ch, 2000 + patience), HVCHAN_FINE);
	assert_true(hvchan_signal(&f.ch));
	drain(&f);
	assert_int_equal(hvchan_audit(&f.ch, 3000 + 2 * patience), HVCHAN_FINE);
	f.tx->write_index = 128;
	assert_int_equal(hvchan_audit(&f.ch, 4000 + 2 * patience), HVCHAN_FINE);
	assert_int_equal(hvchan_audit(&f.ch, 4001 + 3 * patience), HVCHAN_NO_SIGNAL);
	assert_int_equal(hvchan_audit(&f.ch, 4002 + 3 * patience), HVCHAN_FINE);
	stop(&f);
}

/* A read index outside the ring, unaligned, or past what was published. */
static void
test_read_index(void **state)
{
	static const uint32_t bad[] = { DATA, 0xfffffff8, 4, 72, DATA - 8 };
	uint64_t pkt[7] = { 0 };
	struct fixture f;
	uint32_t i;

	(void)state;
	for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		start(&f, false);
		vmring_put(&f.ch.rx, pkt, sizeof(pkt));
		vmring_publish(&f.ch.rx);
		f.rx->read_index = bad[i];
		assert_int_equal(hvchan_room(&f.ch, DATA - 8), -EIO);
		stop(&f);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_sizes),
		cmocka_unit_test(test_masking),
		cmocka_unit_test(test_reasons),
		cmocka_unit_test(test_wake),
		cmocka_unit_test(test_arm_polling),
		cmocka_unit_test(test_audit),
		cmocka_unit_test(test_read_index),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

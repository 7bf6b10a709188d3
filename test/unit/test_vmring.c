/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 hvnet contributors
 *
 * Ring engine: positions, wrapping, fullness, and what a hostile peer can write.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <vmring/vmring.h>

#include "guard.h"

/* Data pages of the rings: the smallest, and one that is no power of two. */
#define PAGES_SMALL 1u
#define PAGES_ODD 3u
#define PKT_MAX 2048u

/* One direction with both its sides; memory between guard pages. */
struct pair {
	uint8_t *mem;
	uint32_t bytes;
	struct vmring prod;
	struct vmring cons;
};

static void
pair_open(struct pair *p, uint32_t data_pages, uint32_t start)
{
	struct vmbus_ring_hdr *hdr;

	p->bytes = (1 + data_pages) * VMBUS_PAGE_SIZE;
	p->mem = guard_alloc(p->bytes, GUARD_AFTER);
	hdr = (struct vmbus_ring_hdr *)p->mem;
	vmring_reset_shared(p->mem);
	hdr->write_index = start;
	hdr->read_index = start;
	assert_int_equal(vmring_attach(&p->prod, p->mem, p->bytes, true), 0);
	assert_int_equal(vmring_attach(&p->cons, p->mem, p->bytes, false), 0);
}

static void
pair_close(struct pair *p)
{
	guard_free(p->mem, p->bytes);
}

/* A good packet of @p len bytes: descriptor, then bytes that depend on @p seed. */
static void
make_packet(uint8_t *pkt, uint32_t len, uint32_t seed)
{
	const struct vmbus_pkt_desc desc = {
		.type = VMBUS_PKT_INBAND,
		.offset8 = sizeof(desc) / 8,
		.len8 = (uint16_t)(len / 8),
		.flags = seed & VMBUS_PKT_F_COMPLETION,
		.xact = seed,
	};

	for (uint32_t i = 0; i < len; i++)
		pkt[i] = (uint8_t)(seed * 31 + i * 7 + 1);
	memcpy(pkt, &desc, sizeof(desc));
}

/* Take one packet and compare it with what make_packet() gave. */
static void
take_packet(struct pair *p, uint32_t avail, uint32_t len, uint32_t seed)
{
	uint8_t *got = guard_alloc(len, GUARD_AFTER);
	uint8_t want[PKT_MAX];
	struct vmbus_pkt_desc desc = { .len8 = 0 };

	make_packet(want, len, seed);
	assert_int_equal(vmring_peek(&p->cons, avail, &desc), 0);
	assert_int_equal(desc.len8 * 8, len);
	assert_int_equal(desc.xact, seed);
	vmring_copy_out(&p->cons, 0, got, len);
	assert_memory_equal(got, want, len);
	assert_int_equal(vmring_skip(&p->cons, &desc), len + VMBUS_PKT_TRAILER);
	guard_free(got, len);
}

/* Each start offset puts the wrap at another byte of descriptor, payload or trailer. */
static void
wrap_everywhere(uint32_t data_pages, uint32_t len)
{
	const uint32_t size = data_pages * VMBUS_PAGE_SIZE;
	uint8_t pkt[PKT_MAX], frame[PKT_MAX + VMBUS_PKT_TRAILER];
	uint32_t avail = 0;
	struct pair p;

	for (uint32_t start = 0; start < size; start += 8) {
		/* Away from the end only every 64th start is worth its time. */
		if (start + len + VMBUS_PKT_TRAILER + 8 < size && start % 512 != 0)
			continue;
		pair_open(&p, data_pages, start);
		make_packet(pkt, len, start);
		vmring_put(&p.prod, pkt, len);
		assert_false(vmring_pending(&p.cons));
		assert_true(vmring_publish(&p.prod));
		assert_true(vmring_pending(&p.cons));
		assert_int_equal(p.prod.hdr->write_index,
				 (start + len + VMBUS_PKT_TRAILER) % size);
		memcpy(frame, pkt, len);
		memset(frame + len, 0, 4);
		memcpy(frame + len + 4, &start, 4);
		for (uint32_t i = 0; i < len + VMBUS_PKT_TRAILER; i++)
			assert_int_equal(p.prod.data[(start + i) % size], frame[i]);
		assert_int_equal(vmring_poll(&p.cons, &avail), 0);
		assert_int_equal(avail, len + VMBUS_PKT_TRAILER);
		take_packet(&p, avail, len, start);
		assert_false(vmring_release(&p.cons));
		assert_int_equal(p.cons.hdr->read_index, p.prod.hdr->write_index);
		pair_close(&p);
	}
}

static void
test_wrap(void **state)
{
	static const uint32_t lens[] = { 16, 24, 56, 72, 128 };

	(void)state;
	for (size_t i = 0; i < sizeof(lens) / sizeof(lens[0]); i++) {
		wrap_everywhere(PAGES_SMALL, lens[i]);
		wrap_everywhere(PAGES_ODD, lens[i]);
	}
}

/* Parts of a packet come out right wherever they and the wrap lie. */
static void
test_copy_out_parts(void **state)
{
	uint8_t pkt[64], part[64];
	uint32_t avail = 0;
	struct pair p;

	(void)state;
	make_packet(pkt, sizeof(pkt), 5);
	for (uint32_t start = VMBUS_PAGE_SIZE - 72; start < VMBUS_PAGE_SIZE; start += 8) {
		pair_open(&p, PAGES_SMALL, start);
		vmring_put(&p.prod, pkt, sizeof(pkt));
		vmring_publish(&p.prod);
		assert_int_equal(vmring_poll(&p.cons, &avail), 0);
		for (uint32_t ofs = 0; ofs < sizeof(pkt); ofs++) {
			for (uint32_t len = 1; len <= sizeof(pkt) - ofs; len++) {
				vmring_copy_out(&p.cons, ofs, part, len);
				assert_memory_equal(part, pkt + ofs, len);
			}
		}
		pair_close(&p);
	}
}

static void
test_full(void **state)
{
	const uint32_t len = 56, cost = 64;
	uint32_t avail = 0, n = 0;
	uint8_t pkt[64];
	struct pair p;

	(void)state;
	pair_open(&p, PAGES_SMALL, 8);
	assert_int_equal(vmring_free(&p.prod), VMBUS_PAGE_SIZE);
	for (; vmring_fits(&p.prod, len); n++) {
		make_packet(pkt, len, n);
		vmring_put(&p.prod, pkt, len);
	}
	/* 64 would fill the ring to the brim; 63 leave exactly one packet's bytes. */
	assert_int_equal(n, VMBUS_PAGE_SIZE / cost - 1);
	assert_int_equal(vmring_free(&p.prod), cost);
	assert_false(vmring_fits(&p.prod, len));
	assert_true(vmring_fits(&p.prod, len - 8));
	vmring_publish(&p.prod);
	assert_int_equal(vmring_refresh(&p.prod), 0);
	assert_false(vmring_fits(&p.prod, len));

	assert_int_equal(vmring_poll(&p.cons, &avail), 0);
	assert_int_equal(avail, n * cost);
	for (uint32_t i = 0; i < n; i++) {
		uint32_t trailer[2];

		vmring_copy_out(&p.cons, i * cost + len, trailer, sizeof(trailer));
		assert_int_equal(trailer[0], 0);
		assert_int_equal(trailer[1], 8 + i * cost);
	}
	take_packet(&p, avail, len, 0);
	/* Read is not released: the producer sees no more space. */
	assert_int_equal(vmring_refresh(&p.prod), 0);
	assert_false(vmring_fits(&p.prod, len));
	vmring_release(&p.cons);
	assert_false(vmring_fits(&p.prod, len)); /* not looked yet */
	assert_int_equal(vmring_refresh(&p.prod), 0);
	assert_true(vmring_fits(&p.prod, len));
	for (uint32_t i = 1; i < n; i++)
		take_packet(&p, avail - i * cost, len, i);
	vmring_release(&p.cons);
	assert_int_equal(vmring_refresh(&p.prod), 0);
	assert_int_equal(vmring_free(&p.prod), VMBUS_PAGE_SIZE);
	pair_close(&p);
}

static void
test_cancel(void **state)
{
	uint8_t pkt[64];
	struct pair p;

	(void)state;
	pair_open(&p, PAGES_SMALL, 4088);
	make_packet(pkt, 56, 1);
	vmring_put(&p.prod, pkt, 56);
	vmring_put(&p.prod, pkt, 56);
	vmring_cancel(&p.prod);
	assert_int_equal(vmring_free(&p.prod), VMBUS_PAGE_SIZE);
	assert_false(vmring_publish(&p.prod));
	assert_int_equal(p.prod.hdr->write_index, 4088);
	assert_false(vmring_pending(&p.cons));
	pair_close(&p);
}

static void
test_attach(void **state)
{
	static const uint64_t bad_bytes[] = {
		0, 1, 4096, 4097, 8191, 8200, 12287, 1ull << 31, (1ull << 32) + 8192,
	};
	struct vmring r;
	struct pair p;

	(void)state;
	pair_open(&p, PAGES_SMALL, 0);
	for (size_t i = 0; i < sizeof(bad_bytes) / sizeof(bad_bytes[0]); i++)
		assert_int_equal(vmring_attach(&r, p.mem, bad_bytes[i], true), -EINVAL);
	p.prod.hdr->write_index = 48;
	p.prod.hdr->read_index = 4088;
	assert_int_equal(vmring_attach(&r, p.mem, p.bytes, true), 0);
	assert_int_equal(r.pos, 48);
	assert_int_equal(vmring_free(&r), 4096 - 56);
	assert_int_equal(vmring_attach(&r, p.mem, p.bytes, false), 0);
	assert_int_equal(r.pos, 4088);
	vmring_reset_shared(p.mem);
	assert_int_equal(p.prod.hdr->write_index | p.prod.hdr->read_index, 0);
	assert_int_equal(p.prod.hdr->features, VMBUS_RING_FEAT_PENDING_SEND);
	pair_close(&p);
}

/* Indices that no honest peer writes into a ring of one data page. */
static const uint32_t bad_index[] = {
	1, 4, 7, 12, 4084, 4095, 4096, 4104, 8192, 0x7ffffff8, 0x80000000, 0xfffffff8, UINT32_MAX,
};

static void
test_bad_indices(void **state)
{
	struct vmring r, before;
	uint32_t avail = 77;
	struct pair p;

	(void)state;
	for (size_t i = 0; i < sizeof(bad_index) / sizeof(bad_index[0]); i++) {
		pair_open(&p, PAGES_SMALL, 0);
		before = p.cons;
		p.prod.hdr->write_index = bad_index[i];
		assert_int_equal(vmring_poll(&p.cons, &avail), -EIO);
		assert_int_equal(avail, 77);
		assert_memory_equal(&before, &p.cons, sizeof(before));
		assert_int_equal(vmring_attach(&r, p.mem, p.bytes, true), -EIO);
		assert_int_equal(vmring_attach(&r, p.mem, p.bytes, false), -EIO);
		p.prod.hdr->write_index = 0;
		before = p.prod;
		p.prod.hdr->read_index = bad_index[i];
		assert_int_equal(vmring_refresh(&p.prod), -EIO);
		assert_memory_equal(&before, &p.prod, sizeof(before));
		assert_int_equal(vmring_attach(&r, p.mem, p.bytes, true), -EIO);
		assert_int_equal(vmring_attach(&r, p.mem, p.bytes, false), -EIO);
		pair_close(&p);
	}
}

/* The consumer's index may only walk from where it was to what was published. */
static void
test_read_index_walk(void **state)
{
	uint8_t pkt[64];
	struct pair p;

	(void)state;
	make_packet(pkt, 56, 1);
	pair_open(&p, PAGES_SMALL, 4032);
	for (int i = 0; i < 3; i++)
		vmring_put(&p.prod, pkt, 56);
	vmring_publish(&p.prod);
	vmring_put(&p.prod, pkt, 56); /* 128..192, not published */
	assert_int_equal(p.prod.pub, 128);

	p.prod.hdr->read_index = 4024;
	assert_int_equal(vmring_refresh(&p.prod), -EIO); /* backwards */
	p.prod.hdr->read_index = 136;
	assert_int_equal(vmring_refresh(&p.prod), -EIO); /* not published yet */
	p.prod.hdr->read_index = 192;
	assert_int_equal(vmring_refresh(&p.prod), -EIO);
	p.prod.hdr->read_index = 64;
	assert_int_equal(vmring_refresh(&p.prod), 0);
	assert_int_equal(vmring_free(&p.prod), 4096 - 128);
	p.prod.hdr->read_index = 0;
	assert_int_equal(vmring_refresh(&p.prod), -EIO); /* backwards again */
	p.prod.hdr->read_index = 128;
	assert_int_equal(vmring_refresh(&p.prod), 0);
	pair_close(&p);
}

/* The producer's index may not fall among what the consumer read and still owns. */
static void
test_write_index_walk(void **state)
{
	struct vmbus_pkt_desc desc = { .len8 = 0 };
	uint32_t avail = 0;
	uint8_t pkt[64];
	struct pair p;

	(void)state;
	make_packet(pkt, 56, 1);
	pair_open(&p, PAGES_SMALL, 4032);
	for (int i = 0; i < 3; i++)
		vmring_put(&p.prod, pkt, 56);
	vmring_publish(&p.prod);
	assert_int_equal(vmring_poll(&p.cons, &avail), 0);
	for (int i = 0; i < 2; i++) {
		assert_int_equal(vmring_peek(&p.cons, avail, &desc), 0);
		avail -= vmring_skip(&p.cons, &desc);
	}
	/* Owned: 4032..4096 and 0..64. */
	p.prod.hdr->write_index = 4032;
	assert_int_equal(vmring_poll(&p.cons, &avail), -EIO);
	p.prod.hdr->write_index = 4088;
	assert_int_equal(vmring_poll(&p.cons, &avail), -EIO);
	p.prod.hdr->write_index = 56;
	assert_int_equal(vmring_poll(&p.cons, &avail), -EIO);
	p.prod.hdr->write_index = 64;
	assert_int_equal(vmring_poll(&p.cons, &avail), 0);
	assert_int_equal(avail, 0);
	p.prod.hdr->write_index = 4024; /* all the rest */
	assert_int_equal(vmring_poll(&p.cons, &avail), 0);
	assert_int_equal(avail, 4024 - 64);
	pair_close(&p);
}

/* Every rule for descriptors has a packet that breaks only it, next to one that does not. */
static void
test_bad_descriptors(void **state)
{
	static const struct {
		uint16_t offset8, len8, flags;
		uint32_t avail;
		int ret;
	} cases[] = {
		{ 2, 2, 0, 24, 0 },       /* the smallest packet */
		{ 2, 2, 0, 16, -EIO },    /* no room for its trailer */
		{ 2, 2, 0, 8, -EIO },     /* no room for a descriptor */
		{ 2, 2, 0, 0, -EAGAIN },
		{ 2, 7, 1, 64, 0 },
		{ 2, 8, 1, 64, -EIO },    /* longer than what was published */
		{ 2, 0xffff, 1, 64, -EIO },
		{ 2, 0xffff, 1, 4088, -EIO },
		{ 7, 7, 1, 64, 0 },       /* no payload */
		{ 8, 7, 1, 64, -EIO },    /* payload behind the end */
		{ 0xffff, 7, 1, 64, -EIO },
		{ 1, 7, 1, 64, -EIO },    /* payload inside the descriptor */
		{ 0, 7, 1, 64, -EIO },
		{ 0, 0, 0, 64, -EIO },
		{ 1, 1, 0, 64, -EIO },
		{ 2, 7, 2, 64, -EIO },    /* unknown flags */
		{ 2, 7, 3, 64, -EIO },
		{ 2, 7, 0x8001, 64, -EIO },
		{ 2, 510, 0, 4088, 0 },   /* the largest packet of this ring */
		{ 2, 511, 0, 4088, -EIO },
	};
	struct vmbus_pkt_desc desc, got = { .len8 = 0 };
	struct pair p;

	(void)state;
	for (uint32_t start = 4072; start < 4096; start += 8) {
		pair_open(&p, PAGES_SMALL, start);
		for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
			desc = (struct vmbus_pkt_desc){
				.type = VMBUS_PKT_INBAND,
				.offset8 = cases[i].offset8,
				.len8 = cases[i].len8,
				.flags = cases[i].flags,
				.xact = i,
			};
			vmring_copy_in(&p.prod, start, &desc, sizeof(desc));
			assert_int_equal(vmring_peek(&p.cons, cases[i].avail, &got), cases[i].ret);
			if (cases[i].ret == 0)
				assert_memory_equal(&got, &desc, sizeof(desc));
			assert_int_equal(p.cons.pos, start);
		}
		pair_close(&p);
	}
}

/* Random traffic against a plain queue of what was sent. */
static void
test_random(void **state)
{
	enum { ROUNDS = 20000, QUEUE = 1024 };
	struct { uint32_t len, seed; } queue[QUEUE];
	uint32_t head = 0, tail = 0, seed = 0, avail = 0, rnd = 12345;
	uint8_t pkt[PKT_MAX];
	struct pair p;

	(void)state;
	pair_open(&p, PAGES_ODD, 12280);
	for (int round = 0; round < ROUNDS; round++) {
		rnd = rnd * 1664525 + 1013904223;
		assert_int_equal(vmring_refresh(&p.prod), 0);
		for (uint32_t n = rnd >> 28; n > 0; n--) {
			uint32_t len = 16 + ((rnd >> 8) * n % 250) * 8;

			if (!vmring_fits(&p.prod, len) || len > PKT_MAX)
				break;
			make_packet(pkt, len, ++seed);
			vmring_put(&p.prod, pkt, len);
			queue[head % QUEUE].len = len;
			queue[head++ % QUEUE].seed = seed;
		}
		vmring_publish(&p.prod);
		assert_int_equal(vmring_poll(&p.cons, &avail), 0);
		for (uint32_t n = rnd >> 4 & 15; n > 0 && avail > 0; n--, tail++) {
			take_packet(&p, avail, queue[tail % QUEUE].len, queue[tail % QUEUE].seed);
			avail -= vmring_cost(queue[tail % QUEUE].len);
		}
		vmring_release(&p.cons);
		assert_int_equal(head == tail, avail == 0);
	}
	assert_true(seed > ROUNDS);
	pair_close(&p);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_wrap),
		cmocka_unit_test(test_copy_out_parts),
		cmocka_unit_test(test_full),
		cmocka_unit_test(test_cancel),
		cmocka_unit_test(test_attach),
		cmocka_unit_test(test_bad_indices),
		cmocka_unit_test(test_read_index_walk),
		cmocka_unit_test(test_write_index_walk),
		cmocka_unit_test(test_bad_descriptors),
		cmocka_unit_test(test_random),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

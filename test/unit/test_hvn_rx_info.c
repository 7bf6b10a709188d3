/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 hvnet contributors
 *
 * Received packet messages: fast path, slow path and a plain restatement of the rules agree.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "guard.h"
#include "hvn_rx_info.h"
#include "rawhost.h"

#define FRAME 100u
#define MSG_MAX 2048u

/* Record sets that hosts are known or imagined to send. */
static const struct rh_ppi none[] = { { 16, 0, 12, 0 } };
static const struct rh_ppi csum[] = { { 16, 0, 12, 0x28 } };
static const struct rh_ppi vlan_csum[] = { { 16, 6, 12, 0x1234 }, { 16, 0, 12, 0x19 } };
static const struct rh_ppi hash[] = { { 16, 8, 12, 0xdeadbeef }, { 16, 9, 12, 0x201 } };
static const struct rh_ppi all4[] = {
	{ 16, 0, 12, 1 }, { 16, 6, 12, 2 }, { 16, 8, 12, 3 }, { 16, 9, 12, 4 },
};
static const struct rh_ppi five[] = {
	{ 16, 0, 12, 1 }, { 16, 6, 12, 2 }, { 16, 8, 12, 3 }, { 16, 9, 12, 4 },
	{ 16, 0x80000001, 12, 0x00060001 },
};
static const struct rh_ppi odd_sizes[] = {
	{ 20, 7, 12, 77 }, { 16, 8, 12, 5 }, { 24, 9, 20, 0x101 },
};
static const struct rh_ppi no_room[] = { { 12, 8, 12, 0 }, { 16, 0, 16, 0 } };
static const struct rh_ppi internal[] = { { 16, 0x80000000, 12, 9 }, { 16, 0x80000008, 12, 8 } };
static const struct rh_ppi twice[] = { { 16, 8, 12, 1 }, { 16, 8, 12, 2 } };

static const struct layout {
	const struct rh_ppi *ppi;
	uint32_t n;
	uint32_t gap;
} layouts[] = {
	{ none, 0, 0 }, { none, 0, 212 }, { csum, 1, 0 }, { csum, 1, 4 }, { csum, 1, 196 },
	{ vlan_csum, 2, 180 }, { hash, 2, 0 }, { hash, 2, 3 }, { all4, 4, 0 }, { all4, 4, 148 },
	{ five, 5, 0 }, { five, 5, 132 }, { odd_sizes, 3, 0 }, { no_room, 2, 0 },
	{ internal, 2, 0 }, { twice, 2, 0 },
};
#define LAYOUTS (sizeof(layouts) / sizeof(layouts[0]))

static uint32_t
build(uint8_t *msg, const struct layout *l)
{
	uint8_t frame[FRAME];

	rh_pattern(frame, sizeof(frame), 1);
	return rh_rndis(msg, l->ppi, l->n, l->gap, frame, sizeof(frame));
}

static uint64_t
word(const uint8_t *msg, uint64_t ofs)
{
	uint32_t v;

	memcpy(&v, msg + ofs, sizeof(v));
	return v;
}

/* The rules for records, one by one; all arithmetic in 64 bits. */
static int
oracle_records(const uint8_t *msg, uint64_t at, uint64_t end, struct hvn_rx_info *info)
{
	for (uint32_t i = 0; at < end; i++) {
		uint64_t size, ofs;

		if (i == 32 || end - at < 12)
			return -EINVAL;
		size = word(msg, at);
		ofs = word(msg, at + 8);
		if (size < 12 || size % 4 != 0 || size > end - at || ofs < 12 || ofs > size)
			return -EINVAL;
		if (size - ofs >= 4) {
			uint32_t v = (uint32_t)word(msg, at + ofs);

			switch (word(msg, at + 4)) {
			case 0:
				info->csum = v;
				info->flags |= HVN_RXI_CSUM;
				break;
			case 6:
				info->vlan = v;
				info->flags |= HVN_RXI_VLAN;
				break;
			case 8:
				info->hash = v;
				info->flags |= HVN_RXI_HASH;
				break;
			case 9:
				info->hash_info = v;
				info->flags |= HVN_RXI_HASH_INFO;
				break;
			default:
				break;
			}
		}
		at += size;
	}
	return 0;
}

static int
oracle(const uint8_t *msg, uint64_t len, struct hvn_rx_info *info)
{
	uint64_t at, end;

	memset(info, 0, sizeof(*info));
	if (len < 44 || word(msg, 0) != 1 || word(msg, 4) < 44 || word(msg, 4) > len ||
	    word(msg, 8) < 36 || word(msg, 12) < 14 || 8 + word(msg, 8) + word(msg, 12) > len)
		return -EINVAL;
	info->data_ofs = (uint32_t)word(msg, 8) + 8;
	info->data_len = (uint32_t)word(msg, 12);
	if (word(msg, 32) == 0)
		return 0;
	at = 8 + word(msg, 28);
	end = at + word(msg, 32);
	if (at < 44 || at % 4 != 0 || end > word(msg, 4) || end > HVN_RX_COPY_SLOW)
		return -EINVAL;
	return oracle_records(msg, at, end, info);
}

static void
same(int rc1, const struct hvn_rx_info *a, int rc2, const struct hvn_rx_info *b)
{
	assert_int_equal(rc1, rc2);
	if (rc1 == 0)
		assert_memory_equal(a, b, sizeof(*a));
}

/* Read with what @p learnt says and with nothing learnt; both must match the oracle. */
static void
check(const uint8_t *msg, uint32_t len, const struct hvn_rx_layout *learnt)
{
	struct hvn_rx_layout fast = *learnt, slow = { .nrec = UINT32_MAX };
	struct hvn_rx_info a, b, want;
	int rc = oracle(msg, len, &want);

	same(hvn_rx_info_read(msg, len, &fast, &a), &a, rc, &want);
	same(hvn_rx_info_read(msg, len, &slow, &b), &b, rc, &want);
	/* What was learnt must not change the next verdict. */
	same(hvn_rx_info_read(msg, len, &fast, &a), &a, rc, &want);
	same(hvn_rx_info_read(msg, len, &slow, &b), &b, rc, &want);
}

static void
learn(const uint8_t *msg, uint32_t len, struct hvn_rx_layout *learnt)
{
	struct hvn_rx_info info;

	memset(learnt, 0, sizeof(*learnt));
	learnt->nrec = UINT32_MAX;
	assert_int_equal(hvn_rx_info_read(msg, len, learnt, &info), 0);
}

static void
test_layouts(void **state)
{
	uint8_t msg[MSG_MAX];

	(void)state;
	for (uint32_t i = 0; i < LAYOUTS; i++) {
		struct hvn_rx_layout learnt;
		struct hvn_rx_info info;
		uint32_t len = build(msg, &layouts[i]);

		learn(msg, len, &learnt);
		/* One-word records, four at most, are what the fast path is for. */
		if (layouts[i].ppi != five && layouts[i].ppi != odd_sizes &&
		    layouts[i].ppi != no_room)
			assert_int_equal(learnt.nrec, layouts[i].n);
		else
			assert_int_equal(learnt.nrec, UINT32_MAX);
		assert_int_equal(hvn_rx_info_read(msg, len, &learnt, &info), 0);
		assert_true(rh_pattern_ok(msg + info.data_ofs, info.data_len, 1));
		check(msg, len, &learnt);
	}
}

static void
test_values(void **state)
{
	struct hvn_rx_layout learnt = { .nrec = UINT32_MAX };
	const struct layout l = { all4, 4, 148 };
	struct hvn_rx_info info;
	uint8_t msg[MSG_MAX];
	uint32_t len = build(msg, &l);

	(void)state;
	for (uint32_t round = 0; round < 3; round++) {
		assert_int_equal(hvn_rx_info_read(msg, len, &learnt, &info), 0);
		assert_int_equal(info.flags, HVN_RXI_HASH | HVN_RXI_HASH_INFO | HVN_RXI_CSUM |
				 HVN_RXI_VLAN);
		assert_int_equal(info.csum, 1);
		assert_int_equal(info.vlan, 2);
		assert_int_equal(info.hash, 3);
		assert_int_equal(info.hash_info, 4);
		assert_int_equal(info.data_ofs, 256);
		assert_int_equal(info.data_len, FRAME);
	}
}

/* Every word of header and records gets every nasty value, under every learnt layout. */
static void
test_hostile_words(void **state)
{
	static const uint32_t nasty[] = {
		0, 1, 3, 4, 8, 11, 12, 13, 14, 15, 16, 17, 18, 20, 24, 28, 31, 32, 35, 36, 37, 40,
		43, 44, 48, 52, 64, 96, 100, 504, 505, 508, 512, 1000, 0x7fffffff, 0x80000000,
		0xfffffff0, 0xfffffff4, 0xfffffff7, 0xfffffff8, 0xfffffffc, 0xffffffff,
	};

	(void)state;
	for (uint32_t i = 0; i < LAYOUTS; i++) {
		uint8_t good[MSG_MAX];
		struct hvn_rx_layout learnt;
		uint32_t len = build(good, &layouts[i]);
		uint8_t *msg = guard_alloc(len, GUARD_AFTER);

		learn(good, len, &learnt);
		for (uint32_t at = 0; at < 44 + 16 * 6 && at + 4 <= len; at += 4) {
			for (uint32_t v = 0; v < sizeof(nasty) / sizeof(nasty[0]); v++) {
				memcpy(msg, good, len);
				memcpy(msg + at, &nasty[v], 4);
				check(msg, len, &learnt);
				/* And the exact edges: the good value and a little more, less. */
				for (uint32_t d = 0; d < 17; d++) {
					uint32_t w = (uint32_t)word(good, at) + d - 8;

					memcpy(msg + at, &w, 4);
					check(msg, len, &learnt);
				}
			}
		}
		guard_free(msg, len);
	}
}

/* Two words at once: lengths and offsets that only together pass a check. */
static void
test_hostile_pairs(void **state)
{
	static const uint32_t nasty[] = {
		0, 4, 14, 36, 40, 44, 60, 64, 100, 0x7ffffff8, 0xffffffd0, 0xfffffff8, 0xffffffff,
	};
	const uint32_t nv = sizeof(nasty) / sizeof(nasty[0]);

	(void)state;
	for (uint32_t i = 0; i < LAYOUTS; i++) {
		uint8_t good[MSG_MAX], msg[MSG_MAX];
		struct hvn_rx_layout learnt;
		uint32_t len = build(good, &layouts[i]);

		learn(good, len, &learnt);
		memcpy(msg, good, len);
		for (uint32_t a = 4; a < 36; a += 4) {
			for (uint32_t b = a + 4; b < 36; b += 4) {
				for (uint32_t v = 0; v < nv * nv; v++) {
					memcpy(msg + a, &nasty[v / nv], 4);
					memcpy(msg + b, &nasty[v % nv], 4);
					check(msg, len, &learnt);
				}
				memcpy(msg, good, len);
			}
		}
	}
}

static void
test_truncated(void **state)
{
	(void)state;
	for (uint32_t i = 0; i < LAYOUTS; i++) {
		uint8_t good[MSG_MAX];
		struct hvn_rx_layout learnt;
		uint32_t full = build(good, &layouts[i]);

		learn(good, full, &learnt);
		for (uint32_t len = 0; len <= full; len++) {
			uint8_t *msg = guard_alloc(len, GUARD_AFTER);
			uint32_t claims = len;

			memcpy(msg, good, len);
			check(msg, len, &learnt);
			/* A header that fits the range, around a frame that does not. */
			if (len >= 8)
				memcpy(msg + 4, &claims, 4);
			check(msg, len, &learnt);
			guard_free(msg, len);
		}
	}
}

/* Each layout after each other one: nothing of the old one may stick. */
static void
test_changes(void **state)
{
	struct hvn_rx_layout learnt = { .nrec = UINT32_MAX };
	struct hvn_rx_info info, want;
	uint8_t msg[MSG_MAX];

	(void)state;
	for (uint32_t i = 0; i < LAYOUTS; i++) {
		for (uint32_t j = 0; j < LAYOUTS; j++) {
			for (uint32_t k = 0; k < 3; k++) {
				uint32_t len = build(msg, &layouts[k == 1 ? i : j]);
				int rc = oracle(msg, len, &want);

				assert_int_equal(rc, 0);
				same(hvn_rx_info_read(msg, len, &learnt, &info), &info, rc, &want);
				/* A bad message in between is refused and forgotten. */
				memset(msg + 4, 0xff, 4);
				assert_int_equal(hvn_rx_info_read(msg, len, &learnt, &info),
						 -EINVAL);
			}
		}
	}
}

static void
test_many_records(void **state)
{
	struct rh_ppi many[40];
	struct hvn_rx_layout learnt = { .nrec = UINT32_MAX };
	uint8_t msg[MSG_MAX], frame[FRAME];

	(void)state;
	rh_pattern(frame, sizeof(frame), 1);
	for (uint32_t i = 0; i < 40; i++)
		many[i] = (struct rh_ppi){ .size = 12, .type = 77, .offset = 12 };
	for (uint32_t n = 0; n <= 40; n++)
		check(msg, rh_rndis(msg, many, n, 0, frame, sizeof(frame)), &learnt);
	for (uint32_t n = 0; n < 40; n++)
		many[n] = (struct rh_ppi){ .size = 16, .type = n, .offset = 12, .value = n };
	for (uint32_t n = 0; n <= 40; n++)
		check(msg, rh_rndis(msg, many, n, 0, frame, sizeof(frame)), &learnt);
}

/* Sizes that add up but are no multiples of 4. */
static void
test_odd_records(void **state)
{
	struct rh_ppi two[2] = { { 0, 8, 12, 1 }, { 0, 9, 12, 2 } };
	struct hvn_rx_layout learnt = { .nrec = UINT32_MAX };
	struct hvn_rx_info info;
	uint8_t msg[MSG_MAX], frame[FRAME];
	uint32_t len;

	(void)state;
	rh_pattern(frame, sizeof(frame), 1);
	for (uint32_t size = 12; size <= 28; size++) {
		two[0].size = size;
		two[1].size = 40 - size;
		len = rh_rndis(msg, two, 2, 0, frame, sizeof(frame));
		check(msg, len, &learnt);
		assert_int_equal(hvn_rx_info_read(msg, len, &learnt, &info),
				 size % 4 == 0 ? 0 : -EINVAL);
	}
}

/* Records that do not follow the header at once; what looks like them in between is not. */
static void
test_moved_records(void **state)
{
	struct hvn_rx_layout learnt = { .nrec = UINT32_MAX };
	struct hvn_rx_info info;
	uint8_t msg[MSG_MAX];

	(void)state;
	for (uint32_t i = 2; i < LAYOUTS; i++) {
		const struct layout *l = &layouts[i];
		uint32_t len = build(msg, l), records, shift;

		memcpy(&records, msg + 32, 4);
		for (shift = 0; shift <= records; shift++) {
			uint8_t moved[2 * MSG_MAX];
			uint32_t words[9];

			memcpy(moved, msg, len);
			/* Decoys of the same form with other values, then the records. */
			for (uint32_t at = 56; at < 44 + shift; at += 16)
				moved[at] ^= 0x55;
			memcpy(moved + 44 + shift, msg + 44, len - 44);
			memcpy(words, moved, sizeof(words));
			words[1] += shift;
			words[2] += shift;
			words[7] += shift;
			memcpy(moved, words, sizeof(words));
			check(moved, len + shift, &learnt);
			check(moved, len + shift, &learnt);
			assert_int_equal(hvn_rx_info_read(moved, len + shift, &learnt, &info),
					 shift % 4 == 0 ? 0 : -EINVAL);
		}
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_layouts),
		cmocka_unit_test(test_values),
		cmocka_unit_test(test_hostile_words),
		cmocka_unit_test(test_hostile_pairs),
		cmocka_unit_test(test_truncated),
		cmocka_unit_test(test_changes),
		cmocka_unit_test(test_many_records),
		cmocka_unit_test(test_odd_records),
		cmocka_unit_test(test_moved_records),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

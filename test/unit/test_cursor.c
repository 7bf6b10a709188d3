/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 hvnet contributors
 *
 * The bounded view of foreign bytes: nothing outside, whatever the numbers.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include <hvwire/cursor.h>

#include "guard.h"

#define SIZE 37u

static void
test_inside(void **state)
{
	static const uint64_t huge[] = {
		UINT32_MAX - 1, UINT32_MAX, UINT64_C(1) << 32, UINT64_C(1) << 63,
		UINT64_MAX - SIZE, UINT64_MAX - 1, UINT64_MAX,
	};

	(void)state;
	for (uint64_t ofs = 0; ofs < 2 * SIZE; ofs++) {
		for (uint64_t len = 0; len < 2 * SIZE; len++)
			assert_int_equal(hvw_inside(ofs, len, SIZE), ofs + len <= SIZE);
	}
	for (size_t i = 0; i < sizeof(huge) / sizeof(huge[0]); i++) {
		assert_false(hvw_inside(huge[i], 0, SIZE));
		assert_false(hvw_inside(huge[i], 8, SIZE));
		assert_false(hvw_inside(0, huge[i], SIZE));
		assert_false(hvw_inside(8, huge[i], SIZE));
		for (size_t k = 0; k < sizeof(huge) / sizeof(huge[0]); k++)
			assert_false(hvw_inside(huge[i], huge[k], SIZE));
		/* The sum wraps to something small. */
		assert_false(hvw_inside(huge[i], -huge[i], SIZE));
		assert_false(hvw_inside(huge[i], -huge[i] + 8, SIZE));
	}
	assert_true(hvw_inside(0, UINT64_MAX, UINT64_MAX));
	assert_false(hvw_inside(1, UINT64_MAX, UINT64_MAX));
}

static void
read_all(enum guard_side side)
{
	uint8_t *mem = guard_alloc(SIZE, side);
	struct hvw_view v = hvw_view(mem, SIZE);
	uint8_t got[2 * SIZE], untouched[2 * SIZE];

	memset(untouched, 0xee, sizeof(untouched));
	for (unsigned int i = 0; i < SIZE; i++)
		mem[i] = (uint8_t)(i + 1);
	for (uint64_t ofs = 0; ofs < 2 * SIZE; ofs++) {
		for (uint64_t len = 0; len < 2 * SIZE; len++) {
			memset(got, 0xee, sizeof(got));
			if (ofs + len <= SIZE) {
				assert_true(hvw_read(v, ofs, got, len));
				assert_memory_equal(got, mem + ofs, len);
			} else {
				assert_false(hvw_read(v, ofs, got, len));
				assert_memory_equal(got, untouched, sizeof(got));
			}
		}
	}
	guard_free(mem, SIZE);
}

static void
test_read(void **state)
{
	(void)state;
	read_all(GUARD_AFTER);
	read_all(GUARD_BEFORE);
}

static void
test_read32(void **state)
{
	static const uint8_t bytes[] = { 0x11, 0x22, 0x33, 0x44, 0x55 };
	struct hvw_view v = hvw_view(bytes, sizeof(bytes));
	uint32_t val = 77;

	(void)state;
	assert_false(hvw_read32(v, 2, &val));
	assert_false(hvw_read32(v, UINT64_MAX, &val));
	assert_int_equal(val, 77);
	assert_true(hvw_read32(v, 1, &val));
	assert_int_equal(val, 0x55443322);
}

static void
test_sub(void **state)
{
	uint8_t *mem = guard_alloc(SIZE, GUARD_AFTER);
	struct hvw_view v = hvw_view(mem, SIZE), sub = { .len = 77 };
	uint8_t byte;

	(void)state;
	assert_false(hvw_sub(v, 30, 8, &sub));
	assert_false(hvw_sub(v, SIZE + 1, 0, &sub));
	assert_false(hvw_sub(v, UINT64_MAX - 3, 8, &sub));
	assert_int_equal(sub.len, 77);
	assert_true(hvw_sub(v, 29, 8, &sub));
	assert_ptr_equal(sub.base, mem + 29);
	assert_int_equal(sub.len, 8);
	assert_true(hvw_read(sub, 7, &byte, 1));
	assert_false(hvw_read(sub, 8, &byte, 1));
	assert_true(hvw_sub(v, SIZE, 0, &sub)); /* empty, at the very end */
	assert_false(hvw_read(sub, 0, &byte, 1));
	guard_free(mem, SIZE);
}

/* No bytes at all are a view like any other. */
static void
test_nothing(void **state)
{
	struct hvw_view v = hvw_view(NULL, 0), sub;
	uint8_t byte;

	(void)state;
	assert_false(hvw_read(v, 0, &byte, 1));
	assert_true(hvw_read(v, 0, &byte, 0));
	assert_true(hvw_sub(v, 0, 0, &sub));
	assert_int_equal(sub.len, 0);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_inside),
		cmocka_unit_test(test_read),
		cmocka_unit_test(test_read32),
		cmocka_unit_test(test_sub),
		cmocka_unit_test(test_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

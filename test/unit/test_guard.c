/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 hvnet contributors
 *
 * Proves that guard pages are where the other tests rely on them.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "guard.h"

static const size_t sizes[] = { 1, 8, 100, 4095, 4096, 4097, 12288 };

static void
test_after(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		uint8_t *mem = guard_alloc(sizes[i], GUARD_AFTER);

		memset(mem, 0xa5, sizes[i]);
		assert_false(guard_faults(mem));
		assert_false(guard_faults(mem + sizes[i] - 1));
		assert_true(guard_faults(mem + sizes[i]));
		guard_free(mem, sizes[i]);
	}
}

static void
test_before(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		uint8_t *mem = guard_alloc(sizes[i], GUARD_BEFORE);

		memset(mem, 0xa5, sizes[i]);
		assert_true(guard_faults(mem - 1));
		assert_false(guard_faults(mem));
		guard_free(mem, sizes[i]);
	}
}

static void
test_empty(void **state)
{
	uint8_t *after = guard_alloc(0, GUARD_AFTER);
	uint8_t *before = guard_alloc(0, GUARD_BEFORE);

	(void)state;
	assert_true(guard_faults(after));
	assert_true(guard_faults(before - 1));
	guard_free(after, 0);
	guard_free(before, 0);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_after),
		cmocka_unit_test(test_before),
		cmocka_unit_test(test_empty),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

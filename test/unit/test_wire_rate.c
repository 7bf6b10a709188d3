/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 hvnet contributors
 *
 * Tests the token bucket: exact in the long run, bounded after a pause, safe at the ends.
 */
#include "wire_test.h"

#include <wire/rate.h>

static void
test_not_paced(void **state)
{
	struct rate r;

	(void)state;
	rate_start(&r, 0, 0);
	assert_int_equal(rate_allow(&r, UINT32_MAX, 0), UINT32_MAX);
	rate_take(&r, UINT32_MAX);
	assert_int_equal(rate_allow(&r, 7, 0), 7);
}

static void
test_exact(void **state)
{
	static const uint64_t rates[] = { 1, 3, 999, 1000000, 14880952, 1000000000 };
	uint64_t step, now, sent;
	struct rate r;
	uint32_t n;
	size_t i;

	(void)state;
	for (i = 0; i < ARRAY_LEN(rates); i++) {
		rate_start(&r, rates[i], 0);
		sent = 0;
		step = 2111;
		for (now = step; now <= 2 * RATE_NS_PER_S; now += step) {
			n = rate_allow(&r, UINT32_MAX, now);
			rate_take(&r, n);
			sent += n;
		}
		/* The last step ended up to one step before 2 s. */
		assert_true(sent <= 2 * rates[i]);
		assert_true(sent + rates[i] * step / RATE_NS_PER_S + 2 >= 2 * rates[i]);
	}
}

static void
test_pause(void **state)
{
	struct rate r;

	(void)state;
	rate_start(&r, 1000000, 0);
	assert_int_equal(rate_allow(&r, UINT32_MAX, 3600 * RATE_NS_PER_S), 1000);
	rate_start(&r, 10, 0);
	assert_int_equal(rate_allow(&r, UINT32_MAX, UINT64_MAX), 10);
	rate_start(&r, RATE_NS_PER_S, 0);
	assert_int_equal(rate_allow(&r, UINT32_MAX, UINT64_MAX), 1000000);
}

static void
test_backwards_and_debt(void **state)
{
	struct rate r;

	(void)state;
	rate_start(&r, 1000, RATE_NS_PER_S);
	assert_int_equal(rate_allow(&r, 10, RATE_NS_PER_S / 2), 0);
	assert_int_equal(rate_allow(&r, 10, RATE_NS_PER_S + 5000000), 5);
	rate_take(&r, 8);
	assert_int_equal(rate_allow(&r, 10, RATE_NS_PER_S + 8000000), 0);
	assert_int_equal(rate_allow(&r, 10, RATE_NS_PER_S + 9000000), 1);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_not_paced),
		cmocka_unit_test(test_exact),
		cmocka_unit_test(test_pause),
		cmocka_unit_test(test_backwards_and_debt),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

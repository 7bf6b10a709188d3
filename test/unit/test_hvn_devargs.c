/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 hvnet contributors
 *
 * Device arguments: defaults, values, and one line for each that is refused.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include <rte_devargs.h>

#include "hvn_devargs.h"
#include "hvn_log.h"

static char logged[512];
static unsigned int lines;

void
hvn_log(uint32_t level, const char *fmt, ...)
{
	va_list ap;

	(void)level;
	va_start(ap, fmt);
	vsnprintf(logged, sizeof(logged), fmt, ap);
	va_end(ap);
	lines++;
}

static int
parse(const char *text, struct hvn_devargs *out)
{
	char copy[128];
	struct rte_devargs da = { .args = copy };

	snprintf(copy, sizeof(copy), "%s", text);
	lines = 0;
	logged[0] = '\0';
	return hvn_devargs_parse(&da, "dev0", out);
}

static void
test_defaults(void **state)
{
	struct hvn_devargs out;

	(void)state;
	assert_int_equal(hvn_devargs_parse(NULL, "dev0", &out), 0);
	assert_int_equal(out.latency_us, HVN_LATENCY_DEFAULT);
	assert_int_equal(out.tx_copybreak, HVN_TX_COPYBREAK_DEFAULT);
	assert_int_equal(parse("", &out), 0);
	assert_int_equal(lines, 0);
}

static void
test_values(void **state)
{
	struct hvn_devargs out;

	(void)state;
	assert_int_equal(parse("latency=0,tx_copybreak=65535", &out), 0);
	assert_int_equal(out.latency_us, 0);
	assert_int_equal(out.tx_copybreak, 65535);
	assert_int_equal(lines, 0);
	assert_int_equal(parse("latency=6553,rx_extmbuf_enable=0", &out), 0);
	assert_int_equal(lines, 0);
	/* Accepted, but said to be of no effect. */
	assert_int_equal(parse("rx_copybreak=256", &out), 0);
	assert_int_equal(lines, 1);
	assert_non_null(strstr(logged, "rx_copybreak"));
	assert_int_equal(parse("rx_extmbuf_enable=1", &out), 0);
	assert_int_equal(lines, 1);
}

static void
test_refused(void **state)
{
	static const char *const bad[] = {
		"latency=6554", "latency=-1", "latency=", "latency=5x", "latency=abc",
		"tx_copybreak=65536", "rx_copybreak=no", "latency",
		"tx_copybreak=99999999999999999999",
	};
	struct hvn_devargs out;

	(void)state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		assert_int_equal(parse(bad[i], &out), -EINVAL);
		assert_int_equal(lines, 1);
		assert_non_null(strstr(logged, "dev0"));
	}
	assert_int_equal(parse("colour=blue", &out), -EINVAL);
	assert_int_equal(lines, 1);
	assert_non_null(strstr(logged, "colour=blue"));
	assert_non_null(strstr(logged, "rx_extmbuf_enable"));
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_defaults),
		cmocka_unit_test(test_values),
		cmocka_unit_test(test_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

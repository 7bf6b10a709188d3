/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 hvnet contributors
 *
 * Every violation name is provoked by a wrong guest, alone, and has its consequence.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "judge_cases.h"

static struct rawguest guest;

static const struct judge_case *const lists[] = {
	judge_ring_cases,
	judge_nvsp_cases,
	judge_data_cases,
	judge_control_cases,
};

#define LISTS (sizeof(lists) / sizeof(lists[0]))

static void
bring_up(struct rawguest *g, enum judge_level level)
{
	if (level == LEVEL_TRAFFIC) {
		rg_traffic(g, 2);
		return;
	}
	if (level >= LEVEL_NVSP)
		rg_nvsp_up(g, NVSP_VERSION_61, 1514);
	if (level >= LEVEL_RNDIS)
		rg_rndis_up(g);
}

/* Exactly the case's violation was recorded. */
static void
only(const struct rawguest *g, const struct judge_case *c)
{
	uint32_t v;

	for (v = 0; v < JUDGE_COUNT; v++) {
		if ((g->judge.count[v] != 0) == (v == c->v))
			continue;
		print_message("case for %s: %s recorded %u times\n", judge_name(c->v),
			      judge_name((enum judge_violation)v),
			      (unsigned int)g->judge.count[v]);
		fail();
	}
}

static void
run_case(const struct judge_case *c, enum judge_mode mode, bool expected)
{
	struct rawguest *g = &guest;
	struct nic_session_info info;
	bool dies;

	rg_start(g, mode, NULL);
	g->judge.expected[c->v] = expected;
	bring_up(g, c->level);
	assert_int_equal(rg_violations(g), 0);
	c->provoke(g);
	rg_run(g);
	only(g, c);
	nic_session_info(g->nic, &info);
	dies = c->corrupt ||
	       (mode == JUDGE_STRICT && !expected && c->v != JUDGE_SIGNAL_REDUNDANT);
	if (info.dead != dies) {
		print_message("case for %s: channel %s\n", judge_name(c->v),
			      info.dead ? "died" : "lives");
		fail();
	}
	rg_stop(g);
}

static void
run_all(enum judge_mode mode, bool expected)
{
	const struct judge_case *c;
	uint32_t l;

	for (l = 0; l < LISTS; l++) {
		for (c = lists[l]; c->v != JUDGE_COUNT; c++) {
			if (mode == JUDGE_POLLING &&
			    (c->v == JUDGE_SIGNAL_MISSING || c->v == JUDGE_WAKE_MISSING ||
			     c->v == JUDGE_RING_READ_INDEX))
				continue;
			run_case(c, mode, expected);
		}
	}
}

static void
test_lenient(void **state)
{
	(void)state;
	run_all(JUDGE_LENIENT, false);
}

static void
test_strict(void **state)
{
	(void)state;
	run_all(JUDGE_STRICT, false);
}

static void
test_expected(void **state)
{
	(void)state;
	run_all(JUDGE_STRICT, true);
}

static void
test_polling(void **state)
{
	(void)state;
	run_all(JUDGE_POLLING, false);
}

/* The list of names and the list of cases are the same. */
static void
test_every_name(void **state)
{
	const struct judge_case *c;
	bool seen[JUDGE_COUNT] = { false };
	uint32_t l, v;

	(void)state;
	for (l = 0; l < LISTS; l++)
		for (c = lists[l]; c->v != JUDGE_COUNT; c++)
			seen[c->v] = true;
	for (v = 0; v < JUDGE_COUNT; v++) {
		const char *name = judge_name((enum judge_violation)v);

		if (!seen[v])
			fail_msg("no case provokes %s", name);
		assert_int_equal(judge_find(name), v);
		assert_true(strlen(judge_text((enum judge_violation)v)) > 0);
	}
	assert_int_equal(judge_find("no-such-name"), JUDGE_COUNT);
}

static void
test_expect_list(void **state)
{
	struct judge j = { .mode = JUDGE_STRICT };
	char bad[64];

	(void)state;
	assert_null(judge_expect(&j, "", bad, sizeof(bad)));
	assert_null(judge_expect(&j, "revoke-order,gpa-count", bad, sizeof(bad)));
	assert_true(j.expected[JUDGE_REVOKE_ORDER]);
	assert_true(j.expected[JUDGE_GPA_COUNT]);
	assert_false(judge_record(&j, JUDGE_GPA_COUNT, "n", 0, 40));
	assert_true(judge_record(&j, JUDGE_GPA_RANGE, "n", 3, 41));
	assert_int_equal(j.first[JUDGE_GPA_RANGE].value, 41);
	assert_int_equal(j.first[JUDGE_GPA_RANGE].channel, 3);
	assert_string_equal(judge_expect(&j, "gpa-range,nonsense,x", bad, sizeof(bad)),
			    "nonsense");
	assert_non_null(judge_expect(&j, "gpa-range,,x", bad, sizeof(bad)));
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_every_name),
		cmocka_unit_test(test_expect_list),
		cmocka_unit_test(test_lenient),
		cmocka_unit_test(test_strict),
		cmocka_unit_test(test_expected),
		cmocka_unit_test(test_polling),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 hvnet contributors
 *
 * Numbers of channels: unique while they last, and quiet when they are given out.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include <lab.h>

static struct lab lab;
static struct vmbus_monitor_page monitor;
static uint32_t events[VMBUS_PAGE_SIZE / 4];
static struct lab_chan chan[LAB_MONITORS + 1];

static int
setup(void **state)
{
	(void)state;
	memset(&lab, 0, sizeof(lab));
	memset(&monitor, 0, sizeof(monitor));
	memset(events, 0, sizeof(events));
	memset(chan, 0, sizeof(chan));
	lab.monitor_page.p = &monitor;
	lab.int_page.p = events;
	lab.relid_next = LAB_RELID_FIRST;
	return 0;
}

static uint32_t *
pending(const struct lab_chan *c)
{
	return &monitor.group[c->monitor / VMBUS_MONITOR_GROUP].pending;
}

/* The bit of a guest that is gone would count as a signal of the next one. */
static void
test_quiet(void **state)
{
	uint32_t *flags = events + VMBUS_INT_PAGE_SEND_OFS / 4;
	uint32_t relid = LAB_RELID_FIRST;

	(void)state;
	for (uint32_t g = 0; g < 4; g++)
		monitor.group[g].pending = UINT32_MAX;
	flags[relid / 32] = UINT32_MAX;
	assert_int_equal(lab_ids_take(&lab, &chan[0]), 0);
	assert_int_equal(chan[0].relid, relid);
	assert_int_equal(*pending(&chan[0]), ~(1u << (chan[0].monitor % 32)));
	assert_int_equal(flags[relid / 32], ~(1u << (relid % 32)));
	*pending(&chan[0]) = UINT32_MAX;
	lab_ids_quiet(&lab, &chan[0]);
	assert_int_equal(*pending(&chan[0]), ~(1u << (chan[0].monitor % 32)));
}

/* All ids are used before one is shared; a shared one keeps the neighbour's signal. */
static void
test_shared(void **state)
{
	uint32_t i, k;

	(void)state;
	for (i = 0; i < LAB_MONITORS; i++) {
		assert_int_equal(lab_ids_take(&lab, &chan[i]), 0);
		for (k = 0; k < i; k++) {
			assert_int_not_equal(chan[k].monitor, chan[i].monitor);
			assert_int_not_equal(chan[k].relid, chan[i].relid);
		}
	}
	for (uint32_t g = 0; g < 4; g++)
		monitor.group[g].pending = UINT32_MAX;
	assert_int_equal(lab_ids_take(&lab, &chan[LAB_MONITORS]), 0);
	for (uint32_t g = 0; g < 4; g++)
		assert_int_equal(monitor.group[g].pending, UINT32_MAX);
	for (i = 0; i <= LAB_MONITORS; i++)
		lab_ids_release(&lab, &chan[i]);
	for (i = 0; i < LAB_MONITORS; i++)
		assert_int_equal(lab.monitor_users[i], 0);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(test_quiet, setup),
		cmocka_unit_test_setup(test_shared, setup),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

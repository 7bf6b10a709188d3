/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 hvnet contributors
 *
 * Default queues and rings: the arithmetic, without a machine.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include <hvqueues/hvqueues.h>

static struct hvq_policy
policy(uint32_t vcpus, uint32_t cores, uint32_t host)
{
	const struct hvq_topology topo = { .vcpus = vcpus, .cores = cores };
	struct hvq_policy p;

	hvq_policy_apply(&topo, host, &p);
	return p;
}

/* The rule of the network core, figures from its description. */
static void
test_rss(void **state)
{
	static const uint32_t want[][2] = {
		{ 1, 1 }, { 2, 2 }, { 3, 2 }, { 4, 2 }, { 5, 3 }, { 6, 3 }, { 7, 4 },
		{ 12, 6 }, { 63, 32 }, { 64, 32 }, { 127, 64 }, { 128, 64 }, { 256, 128 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(want) / sizeof(want[0]); i++)
		assert_int_equal(policy(2 * want[i][0], want[i][0], 64).rss, want[i][1]);
}

/* The table of netvsc's change: up to 16 vCPUs one queue each, whatever the cores. */
static void
test_netvsc_small(void **state)
{
	(void)state;
	for (uint32_t vcpus = 1; vcpus <= 16; vcpus++) {
		for (uint32_t cores = 1; cores <= vcpus; cores++) {
			struct hvq_policy p = policy(vcpus, cores, 64);

			assert_int_equal(p.policy_queues, 16);
			assert_int_equal(p.netvsc, vcpus);
		}
	}
}

/* ... and above: min(64, max(16, cores / 2)), capped by the vCPUs. */
static void
test_netvsc_large(void **state)
{
	static const struct {
		uint32_t vcpus, cores, queues;
	} want[] = {
		{ 17, 17, 16 }, { 17, 9, 16 },  { 20, 10, 16 },  { 24, 12, 16 },
		{ 32, 16, 16 }, { 32, 32, 16 }, { 33, 33, 17 },  { 34, 34, 17 },
		{ 48, 24, 16 }, { 48, 48, 24 }, { 64, 32, 16 },  { 64, 64, 32 },
		{ 96, 48, 24 }, { 96, 96, 48 }, { 128, 64, 32 }, { 127, 127, 64 },
		{ 128, 128, 64 }, { 192, 192, 64 }, { 416, 208, 64 }, { 1792, 896, 64 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(want) / sizeof(want[0]); i++)
		assert_int_equal(policy(want[i].vcpus, want[i].cores, 64).netvsc, want[i].queues);
}

static void
test_host_limit(void **state)
{
	(void)state;
	assert_int_equal(policy(16, 8, 1).netvsc, 1);
	assert_int_equal(policy(16, 8, 8).netvsc, 8);
	assert_int_equal(policy(4, 4, 8).netvsc, 4);
	assert_int_equal(policy(128, 128, 40).netvsc, 40);
	assert_int_equal(policy(128, 128, 1000).netvsc, 64);
	/* The host does not move the steps before it. */
	assert_int_equal(policy(128, 128, 1).policy_queues, 64);
}

static void
test_mana(void **state)
{
	(void)state;
	for (uint32_t vcpus = 1; vcpus <= 300; vcpus++) {
		for (uint32_t host = 1; host <= 64; host++) {
			struct hvq_policy p = policy(vcpus, vcpus, host);

			assert_int_equal(p.mana & (p.mana - 1), 0);
			assert_in_range(p.mana, p.netvsc / 2 + 1, p.netvsc);
		}
	}
	assert_int_equal(policy(12, 6, 64).mana, 8);
	assert_int_equal(policy(16, 16, 64).mana, 16);
	assert_int_equal(policy(96, 96, 64).mana, 32);
	assert_int_equal(policy(128, 128, 64).mana, 64);
}

static void
test_nonsense(void **state)
{
	(void)state;
	assert_int_equal(policy(0, 0, 0).netvsc, 1);
	assert_int_equal(policy(0, 0, 0).mana, 1);
	assert_int_equal(policy(0, 0, 0).rss, 1);
	assert_int_equal(policy(4, 400, 64).rss, 2);
	assert_int_equal(policy(UINT32_MAX, UINT32_MAX, UINT32_MAX).rss, 0x80000000u);
	assert_int_equal(policy(UINT32_MAX, UINT32_MAX, UINT32_MAX).netvsc, 64);
}

static void
test_reason(void **state)
{
	static const struct {
		struct hvq_topology topo;
		uint32_t host;
		const char *start;
	} want[] = {
		{ { 4, 2 }, 64, "4, one for each vCPU (4 vCPUs, 2 cores, RSS default 2, " },
		{ { 32, 16 }, 64, "16, the policy's least (" },
		{ { 96, 48 }, 64, "24, half of the cores (" },
		{ { 256, 256 }, 64, "64, the policy's most (" },
		{ { 32, 16 }, 4, "4, all that the host grants (" },
	};
	char buf[160], small[8];

	(void)state;
	for (size_t i = 0; i < sizeof(want) / sizeof(want[0]); i++) {
		int n = hvq_policy_reason(&want[i].topo, want[i].host, buf, sizeof(buf));

		assert_in_range(n, 1, sizeof(buf) - 1);
		assert_memory_equal(buf, want[i].start, strlen(want[i].start));
		assert_int_equal(hvq_policy_reason(&want[i].topo, want[i].host, small,
						   sizeof(small)), n);
		assert_int_equal(strlen(small), sizeof(small) - 1);
	}
}

static void
test_rings(void **state)
{
	struct hvq_ring r;
	uint32_t size = 77;

	(void)state;
	hvq_mana_ring(0, &r);
	assert_int_equal(r.min, 128);
	assert_int_equal(r.def, 1024);
	assert_int_equal(r.max, 8192);
	hvq_mana_ring(2048, &r);
	assert_int_equal(r.max, 2048);
	assert_int_equal(r.def, 1024);
	hvq_mana_ring(256, &r);
	assert_int_equal(r.def, 256);
	hvq_mana_ring(64, &r);
	assert_int_equal(r.min, 64);
	assert_int_equal(r.def, 64);

	hvq_netvsc_ring(18811, &r);
	assert_int_equal(r.def, 1024);
	assert_int_equal(r.max, 18811);
	hvq_netvsc_ring(0, &r);
	assert_int_equal(r.max, 32768);

	hvq_mana_ring(0, &r);
	assert_int_equal(hvq_ring_pick(&r, 0, &size), 0);
	assert_int_equal(size, 1024);
	assert_int_equal(hvq_ring_pick(&r, 192, &size), 0);
	assert_int_equal(size, 192);
	assert_int_equal(hvq_ring_pick(&r, 128, &size), 0);
	assert_int_equal(hvq_ring_pick(&r, 8192, &size), 0);
	assert_int_equal(hvq_ring_pick(&r, 127, &size), -EINVAL);
	assert_int_equal(hvq_ring_pick(&r, 8193, &size), -EINVAL);
	assert_int_equal(size, 8192);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_rss),
		cmocka_unit_test(test_netvsc_small),
		cmocka_unit_test(test_netvsc_large),
		cmocka_unit_test(test_host_limit),
		cmocka_unit_test(test_mana),
		cmocka_unit_test(test_nonsense),
		cmocka_unit_test(test_reason),
		cmocka_unit_test(test_rings),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

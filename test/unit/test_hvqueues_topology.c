/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 hvnet contributors
 *
 * Counting CPUs and cores in made-up sysfs trees, good and broken ones.
 */
#include <errno.h>
#include <ftw.h>
#include <limits.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include <hvqueues/cpulist.h>
#include <hvqueues/hvqueues.h>

static char root[64];

static int
tree_create(void **state)
{
	(void)state;
	strcpy(root, "/tmp/hvqueues-test-XXXXXX");
	return mkdtemp(root) == NULL ? -1 : 0;
}

static int
remove_one(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
	(void)st;
	(void)type;
	(void)ftw;
	return remove(path);
}

static int
tree_remove(void **state)
{
	(void)state;
	return nftw(root, remove_one, 16, FTW_DEPTH | FTW_PHYS);
}

/* Write @p text to a file below ROOT/devices/system/cpu, with its folders. */
static void
put(const char *name, const char *text)
{
	char path[PATH_MAX];
	FILE *f;

	snprintf(path, sizeof(path), "%s/devices/system/cpu/%s", root, name);
	for (char *p = path + strlen(root) + 1; (p = strchr(p, '/')) != NULL; p++) {
		*p = '\0';
		if (mkdir(path, 0700) != 0)
			assert_int_equal(errno, EEXIST);
		*p = '/';
	}
	f = fopen(path, "w");
	assert_non_null(f);
	assert_true(fputs(text, f) >= 0);
	assert_int_equal(fclose(f), 0);
}

static void
put_siblings(unsigned int cpu, const char *list)
{
	char name[64];

	snprintf(name, sizeof(name), "cpu%u/topology/thread_siblings_list", cpu);
	put(name, list);
}

static void
put_ids(unsigned int cpu, int package, int die, int core)
{
	char name[64], text[16];

	snprintf(name, sizeof(name), "cpu%u/topology/core_id", cpu);
	snprintf(text, sizeof(text), "%d\n", core);
	put(name, text);
	snprintf(name, sizeof(name), "cpu%u/topology/physical_package_id", cpu);
	snprintf(text, sizeof(text), "%d\n", package);
	put(name, text);
	if (die < 0)
		return;
	snprintf(name, sizeof(name), "cpu%u/topology/die_id", cpu);
	snprintf(text, sizeof(text), "%d\n", die);
	put(name, text);
}

static void
expect(uint32_t vcpus, uint32_t cores)
{
	struct hvq_topology topo;

	assert_int_equal(hvq_topology_read(root, &topo), 0);
	assert_int_equal(topo.vcpus, vcpus);
	assert_int_equal(topo.cores, cores);
}

static void
expect_error(int error)
{
	struct hvq_topology topo = { .vcpus = 77, .cores = 78 };

	assert_int_equal(hvq_topology_read(root, &topo), error);
	assert_int_equal(topo.vcpus, 77);
	assert_int_equal(topo.cores, 78);
}

static void
test_smt_neighbours(void **state)
{
	(void)state;
	put("online", "0-3\n");
	put_siblings(0, "0-1\n");
	put_siblings(1, "0-1\n");
	put_siblings(2, "2-3\n");
	put_siblings(3, "2-3\n");
	expect(4, 2);
}

/* Two sockets of two cores with two threads; siblings are far apart, as on real servers. */
static void
test_sockets(void **state)
{
	char list[16];

	(void)state;
	put("online", "0-7\n");
	for (unsigned int cpu = 0; cpu < 8; cpu++) {
		snprintf(list, sizeof(list), "%u,%u\n", cpu % 4, cpu % 4 + 4);
		put_siblings(cpu, list);
	}
	expect(8, 4);
}

static void
test_offline_and_sparse(void **state)
{
	(void)state;
	put("online", "0,5,9,100-101\n");
	put_siblings(0, "0\n");
	put_siblings(5, "5,9\n");
	put_siblings(9, "5,9\n");
	put_siblings(100, "100\n"); /* its sibling 102 is offline */
	put_siblings(101, "101\n");
	put_siblings(102, "102\n");
	expect(5, 4);
}

/* Ids: core numbers repeat on each package and die. */
static void
test_ids(void **state)
{
	(void)state;
	put("online", "0-7\n");
	put_ids(0, 0, 0, 0);
	put_ids(1, 0, 0, 0);
	put_ids(2, 0, 1, 0);
	put_ids(3, 0, 1, 0);
	put_ids(4, 1, 0, 0);
	put_ids(5, 1, 0, 0);
	put_ids(6, 1, 0, 1);
	put_ids(7, 1, 0, 1);
	expect(8, 4);
}

static void
test_ids_without_die(void **state)
{
	(void)state;
	put("online", "0-3\n");
	put_ids(0, 0, -1, 0);
	put_ids(1, 0, -1, 0);
	put_ids(2, 1, -1, 0);
	put_ids(3, 1, -1, 0);
	expect(4, 2);
}

static void
test_no_topology(void **state)
{
	(void)state;
	put("online", "0-6\n");
	expect(7, 7);
}

/* Ids of -1 mean that the kernel does not know. */
static void
test_unknown_ids(void **state)
{
	(void)state;
	put("online", "0-1\n");
	put_ids(0, -1, -1, -1);
	put_ids(1, -1, -1, -1);
	expect(2, 2);
}

static void
test_broken_siblings(void **state)
{
	(void)state;
	put("online", "0-5\n");
	put_siblings(0, "nonsense\n");
	put_siblings(1, "");           /* nobody */
	put_siblings(2, "3-5\n");      /* not itself: would swallow the others */
	put_siblings(3, "3-99999\n");
	put_siblings(4, "4,5\n");
	put_ids(0, 0, -1, 7);
	put_ids(3, 0, -1, 7);          /* same core as 0 by their ids */
	expect(6, 4);
}

static void
test_no_online_file(void **state)
{
	(void)state;
	put("cpu0/topology/thread_siblings_list", "0-1\n");
	put("cpu1/online", "1\n");
	put("cpu2/online", "0\n");
	put("cpu13/online", "1\n");
	put("cpufreq/boost", "1\n");
	put("cpu99999/online", "1\n");
	put("cpu7x/online", "1\n");
	expect(3, 2);
}

static void
test_errors(void **state)
{
	static const char *const bad[] = {
		"0-", "-3", "3-1", "0,,1", "0-1-2", "0x1", "a", "0-8192", "99999999999", "1 2",
	};

	(void)state;
	expect_error(-ENOENT);
	put("offline", "\n");
	expect_error(-ENOENT); /* no CPU at all */
	put("online", "\n");
	expect_error(-ENOENT);
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		put("online", bad[i]);
		expect_error(-EINVAL);
	}
	put("online", " 0-1 \n");
	expect(2, 2);
}

/* A list that never ends is refused, the longest good one is not. */
static void
test_long_lists(void **state)
{
	size_t bytes = 200000;
	char *text = malloc(bytes), *p = text;

	(void)state;
	assert_non_null(text);
	for (unsigned int cpu = 0; cpu < HVQ_CPUS_MAX; cpu += 2)
		p += sprintf(p, "%u,", cpu);
	p[-1] = '\n';
	put("online", text);
	expect(HVQ_CPUS_MAX / 2, HVQ_CPUS_MAX / 2);
	memset(text, '1', bytes - 1);
	text[bytes - 1] = '\0';
	put("online", text);
	expect_error(-EINVAL);
	for (size_t i = 0; i + 2 < bytes; i += 2)
		memcpy(text + i, "1,", 2);
	put("online", text);
	expect_error(-EINVAL);
	free(text);
}

static void
test_root(void **state)
{
	struct hvq_topology topo;
	char *endless = malloc(2 * PATH_MAX);

	(void)state;
	assert_non_null(endless);
	memset(endless, 'a', 2 * PATH_MAX - 1);
	endless[2 * PATH_MAX - 1] = '\0';
	assert_int_equal(hvq_topology_read(endless, &topo), -ENAMETOOLONG);
	free(endless);
	assert_int_equal(hvq_topology_read("/dev/null", &topo), -ENOTDIR);
	/* The machine that runs this has a CPU, with or without a /sys. */
	assert_int_equal(hvq_topology_read(NULL, &topo), 0);
	assert_in_range(topo.vcpus, 1, HVQ_CPUS_MAX);
	assert_in_range(topo.cores, 1, topo.vcpus);
}

static void
test_cpulist(void **state)
{
	struct hvq_cpuset *set = calloc(1, sizeof(*set));

	(void)state;
	assert_non_null(set);
	assert_int_equal(hvq_cpulist_parse("63-64,8191\n", set), 0);
	for (uint32_t cpu = 0; cpu < HVQ_CPUS_MAX; cpu++)
		assert_int_equal(hvq_cpuset_has(set, cpu), cpu == 63 || cpu == 64 || cpu == 8191);
	assert_int_equal(hvq_cpulist_parse("", set), 0);
	assert_false(hvq_cpuset_has(set, 63));
	assert_int_equal(hvq_cpulist_parse("8192", set), -EINVAL);
	assert_int_equal(hvq_cpulist_parse("1,", set), -EINVAL);
	free(set);
}

#define TREE_TEST(f) cmocka_unit_test_setup_teardown(f, tree_create, tree_remove)

int
main(void)
{
	const struct CMUnitTest tests[] = {
		TREE_TEST(test_smt_neighbours),
		TREE_TEST(test_sockets),
		TREE_TEST(test_offline_and_sparse),
		TREE_TEST(test_ids),
		TREE_TEST(test_ids_without_die),
		TREE_TEST(test_no_topology),
		TREE_TEST(test_unknown_ids),
		TREE_TEST(test_broken_siblings),
		TREE_TEST(test_no_online_file),
		TREE_TEST(test_errors),
		TREE_TEST(test_long_lists),
		cmocka_unit_test(test_root),
		cmocka_unit_test(test_cpulist),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

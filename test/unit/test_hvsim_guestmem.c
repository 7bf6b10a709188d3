/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 hvnet contributors
 *
 * Guest memory: registering, splitting, finding by VA and by page frame, and giving back.
 */
#include <errno.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cmocka.h>

#include <guestmem.h>

#define PAGE 4096u
#define HUGE_PAGE (2u << 20)
#define VA 0x100000000ull

/* A memfd of @p pages pages; byte 0 of each page is its number + 1. */
static int
file_of(unsigned int pages)
{
	int fd = memfd_create("guest", MFD_CLOEXEC);
	unsigned int i;

	assert_true(fd >= 0);
	assert_int_equal(ftruncate(fd, (off_t)pages * PAGE), 0);
	for (i = 0; i < pages; i++) {
		uint8_t b = (uint8_t)(i + 1);

		assert_int_equal(pwrite(fd, &b, 1, (off_t)i * PAGE), 1);
	}
	return fd;
}

/* The number that stands in the page at @p va, or 0. */
static unsigned int
page_at(struct guestmem *gm, int owner, uint64_t va)
{
	const uint8_t *p = guestmem_find(gm, owner, va, PAGE);

	return p == NULL ? 0 : *p;
}

static void
test_va_find(void **state)
{
	struct guestmem *gm = guestmem_create(GUESTMEM_VA);
	int fd = file_of(4);

	(void)state;
	assert_int_equal(guestmem_map(gm, 1, VA, 4 * PAGE, fd, 0), 0);
	close(fd);
	assert_int_equal(page_at(gm, 1, VA), 1);
	assert_int_equal(page_at(gm, 1, VA + 3 * PAGE), 4);
	assert_null(guestmem_find(gm, 1, VA - 1, 1));
	assert_null(guestmem_find(gm, 1, VA + 4 * PAGE, 1));
	assert_non_null(guestmem_find(gm, 1, VA + 4 * PAGE - 1, 1));
	assert_null(guestmem_find(gm, 1, VA + 4 * PAGE - 1, 2));
	assert_null(guestmem_find(gm, 1, VA, 0));
	assert_null(guestmem_find(gm, 1, UINT64_MAX, 2));
	assert_int_equal(guestmem_bytes(gm), 4 * PAGE);
	guestmem_destroy(gm);
}

static void
test_partial_unmap_splits(void **state)
{
	struct guestmem *gm = guestmem_create(GUESTMEM_VA);
	int fd = file_of(5);

	(void)state;
	assert_int_equal(guestmem_map(gm, 1, VA, 5 * PAGE, fd, 0), 0);
	guestmem_unmap(gm, 1, VA + 2 * PAGE, PAGE);
	assert_int_equal(page_at(gm, 1, VA + PAGE), 2);
	assert_int_equal(page_at(gm, 1, VA + 2 * PAGE), 0);
	assert_int_equal(page_at(gm, 1, VA + 3 * PAGE), 4);
	assert_int_equal(guestmem_bytes(gm), 4 * PAGE);
	/* Over both parts and the hole, but not to the ends. */
	guestmem_unmap(gm, 1, VA + PAGE, 3 * PAGE);
	assert_int_equal(page_at(gm, 1, VA), 1);
	assert_int_equal(page_at(gm, 1, VA + PAGE), 0);
	assert_int_equal(page_at(gm, 1, VA + 4 * PAGE), 5);
	guestmem_unmap(gm, 1, 0, UINT64_MAX);
	assert_int_equal(guestmem_bytes(gm), 0);
	close(fd);
	guestmem_destroy(gm);
}

static void
test_map_over_old(void **state)
{
	struct guestmem *gm = guestmem_create(GUESTMEM_VA);
	int fd = file_of(4);

	(void)state;
	assert_int_equal(guestmem_map(gm, 1, VA, 4 * PAGE, fd, 0), 0);
	assert_int_equal(guestmem_map(gm, 1, VA + PAGE, PAGE, fd, 3 * PAGE), 0);
	assert_int_equal(page_at(gm, 1, VA), 1);
	assert_int_equal(page_at(gm, 1, VA + PAGE), 4);
	assert_int_equal(page_at(gm, 1, VA + 2 * PAGE), 3);
	assert_int_equal(guestmem_bytes(gm), 4 * PAGE);
	close(fd);
	guestmem_destroy(gm);
}

static void
test_owners(void **state)
{
	struct guestmem *gm = guestmem_create(GUESTMEM_VA);
	int fd = file_of(3);

	(void)state;
	assert_int_equal(guestmem_map(gm, 1, VA, PAGE, fd, 0), 0);
	assert_int_equal(guestmem_map(gm, 2, VA, PAGE, fd, PAGE), 0);
	assert_int_equal(guestmem_map(gm, 3, VA + PAGE, PAGE, fd, 2 * PAGE), 0);
	/* One's own first, the others' after that. */
	assert_int_equal(page_at(gm, 1, VA), 1);
	assert_int_equal(page_at(gm, 2, VA), 2);
	assert_int_equal(page_at(gm, 1, VA + PAGE), 3);
	guestmem_drop(gm, 2);
	assert_int_equal(page_at(gm, 2, VA), 1);
	guestmem_drop(gm, 1);
	guestmem_drop(gm, 3);
	assert_int_equal(page_at(gm, 1, VA), 0);
	close(fd);
	guestmem_destroy(gm);
}

static void
test_refused(void **state)
{
	struct guestmem *gm = guestmem_create(GUESTMEM_VA);
	struct guestmem *none = guestmem_create(GUESTMEM_NONE);
	int fd = file_of(1);

	(void)state;
	assert_int_equal(guestmem_map(gm, 1, VA, 0, fd, 0), -EINVAL);
	assert_int_equal(guestmem_map(gm, 1, VA + 1, PAGE, fd, 0), -EINVAL);
	assert_int_equal(guestmem_map(gm, 1, UINT64_MAX - PAGE + 1, 2 * PAGE, fd, 0), -EINVAL);
	/* Fits as it is, but not as whole pages. */
	assert_int_equal(guestmem_map(gm, 1, UINT64_MAX - PAGE + 1, 1, fd, 0), -EINVAL);
	assert_int_equal(guestmem_map(gm, 1, VA, UINT64_MAX, fd, 0), -EINVAL);
	assert_int_equal(guestmem_map(gm, 1, VA, PAGE, fd, UINT64_MAX - 1), -EINVAL);
	assert_int_equal(guestmem_map(gm, 1, VA, PAGE, -1, 0), -EBADF);
	assert_int_equal(guestmem_map(none, 1, VA, PAGE, fd, 0), 0);
	assert_null(guestmem_find(none, 1, VA, 1));
	close(fd);
	guestmem_destroy(gm);
	guestmem_destroy(none);
}

static struct guestmem *fault_gm;

static void
on_sigbus(int sig, siginfo_t *info, void *context)
{
	(void)context;
	if (!guestmem_fault(fault_gm, info->si_addr)) {
		signal(sig, SIG_DFL);
		raise(sig);
	}
}

static void
test_file_cut_short(void **state)
{
	struct sigaction sa = { .sa_sigaction = on_sigbus, .sa_flags = SA_SIGINFO };
	struct sigaction old;
	int fd = file_of(2);
	int local = 0;

	(void)state;
	fault_gm = guestmem_create(GUESTMEM_VA);
	assert_int_equal(guestmem_map(fault_gm, 1, VA, 2 * PAGE, fd, 0), 0);
	sigaction(SIGBUS, &sa, &old);
	assert_int_equal(ftruncate(fd, 0), 0);
	assert_int_equal(page_at(fault_gm, 1, VA + PAGE), 0);
	sigaction(SIGBUS, &old, NULL);
	assert_false(guestmem_fault(fault_gm, &local));
	close(fd);
	guestmem_destroy(fault_gm);
}

/* Frame number of @p p, or 0 when the kernel does not tell. */
static uint64_t
pa_of(const void *p)
{
	FILE *f = fopen("/proc/self/pagemap", "r");
	uint64_t v = 0;

	if (f == NULL)
		return 0;
	if (fseek(f, (long)((uintptr_t)p / PAGE * 8), SEEK_SET) != 0 || fread(&v, 8, 1, f) != 1)
		v = 0;
	fclose(f);
	return (v & ((1ull << 55) - 1)) * PAGE;
}

static long
free_hugepages(void)
{
	FILE *f = fopen("/sys/kernel/mm/hugepages/hugepages-2048kB/free_hugepages", "r");
	long n = 0;

	if (f == NULL)
		return 0;
	if (fscanf(f, "%ld", &n) != 1)
		n = 0;
	fclose(f);
	return n;
}

static void
test_pa_find_and_release(void **state)
{
	struct guestmem *gm;
	uint64_t pa[2];
	uint8_t *p;
	int fd;

	(void)state;
	if (geteuid() != 0 || free_hugepages() < 4)
		skip(); /* needs root and hugepages */
	fd = memfd_create("huge", MFD_CLOEXEC | MFD_HUGETLB);
	assert_true(fd >= 0);
	assert_int_equal(ftruncate(fd, 2 * HUGE_PAGE), 0);
	p = mmap(NULL, 2 * HUGE_PAGE, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_POPULATE, fd, 0);
	assert_ptr_not_equal(p, MAP_FAILED);
	p[0] = 1;
	p[HUGE_PAGE] = 2;
	pa[0] = pa_of(p);
	pa[1] = pa_of(p + HUGE_PAGE);
	if (pa[0] == 0)
		skip(); /* frame numbers are hidden here */
	gm = guestmem_create(GUESTMEM_PA);
	/* The same pages twice, as two processes have them. */
	assert_int_equal(guestmem_map(gm, 1, VA, 2 * HUGE_PAGE, fd, 0), 0);
	assert_int_equal(guestmem_map(gm, 2, VA, 2 * HUGE_PAGE, fd, 0), 0);
	assert_int_equal(page_at(gm, 1, pa[0]), 1);
	assert_int_equal(page_at(gm, 1, pa[1]), 2);
	assert_non_null(guestmem_find(gm, 1, pa[1] + HUGE_PAGE - 1, 1));
	assert_null(guestmem_find(gm, 1, VA, 1));
	guestmem_unmap(gm, 1, VA + HUGE_PAGE, HUGE_PAGE);
	assert_int_equal(page_at(gm, 1, pa[1]), 2);
	guestmem_unmap(gm, 2, VA + HUGE_PAGE, HUGE_PAGE);
	assert_int_equal(page_at(gm, 1, pa[1]), 0);
	assert_int_equal(page_at(gm, 1, pa[0]), 1);
	guestmem_drop(gm, 1);
	guestmem_drop(gm, 2);
	assert_int_equal(page_at(gm, 1, pa[0]), 0);
	assert_int_equal(guestmem_bytes(gm), 0);
	munmap(p, 2 * HUGE_PAGE);
	close(fd);
	guestmem_destroy(gm);
}

/* Mappings of this process whose file has @p name in its name. */
static unsigned int
mappings_of(const char *name)
{
	FILE *f = fopen("/proc/self/maps", "r");
	unsigned int n = 0;
	char line[512];

	assert_non_null(f);
	while (fgets(line, sizeof(line), f) != NULL)
		n += strstr(line, name) != NULL;
	fclose(f);
	return n;
}

/* A guest names less than its huge page: the host has, repairs and gives back all of it. */
static void
test_part_of_hugepage(void **state)
{
	struct sigaction sa = { .sa_sigaction = on_sigbus, .sa_flags = SA_SIGINFO };
	struct sigaction old;
	int fd;

	(void)state;
	if (free_hugepages() < 4)
		skip();
	fd = memfd_create("huge-part", MFD_CLOEXEC | MFD_HUGETLB);
	assert_true(fd >= 0);
	assert_int_equal(ftruncate(fd, 2 * HUGE_PAGE), 0);
	fault_gm = guestmem_create(GUESTMEM_VA);
	assert_int_equal(guestmem_map(fault_gm, 1, VA + PAGE, PAGE, fd, 0), -EINVAL);
	assert_int_equal(guestmem_map(fault_gm, 1, VA, HUGE_PAGE + PAGE, fd, 0), 0);
	assert_int_equal(guestmem_bytes(fault_gm), 2 * HUGE_PAGE);
	guestmem_unmap(fault_gm, 1, VA, PAGE);
	assert_int_equal(guestmem_bytes(fault_gm), HUGE_PAGE);
	guestmem_drop(fault_gm, 1);
	assert_int_equal(mappings_of("huge-part"), 0);
	assert_int_equal(guestmem_map(fault_gm, 1, VA, PAGE, fd, 0), 0);
	sigaction(SIGBUS, &sa, &old);
	assert_int_equal(ftruncate(fd, 0), 0);
	assert_int_equal(page_at(fault_gm, 1, VA), 0);
	sigaction(SIGBUS, &old, NULL);
	close(fd);
	guestmem_destroy(fault_gm);
}

static void
test_many_extents(void **state)
{
	struct guestmem *gm = guestmem_create(GUESTMEM_VA);
	int fd = file_of(3);
	uint64_t i;

	(void)state;
	for (i = 0; i < 500; i++) /* in an order that is not ascending */
		assert_int_equal(guestmem_map(gm, 1, VA + (i * 7 % 500) * 2 * PAGE, PAGE, fd,
					      i % 3 * PAGE), 0);
	for (i = 0; i < 500; i++) {
		assert_int_equal(page_at(gm, 1, VA + (i * 7 % 500) * 2 * PAGE), i % 3 + 1);
		assert_int_equal(page_at(gm, 1, VA + (i * 2 + 1) * PAGE), 0);
	}
	guestmem_unmap(gm, 1, VA + PAGE, 998 * PAGE);
	assert_int_equal(guestmem_bytes(gm), PAGE);
	close(fd);
	guestmem_destroy(gm);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_va_find),
		cmocka_unit_test(test_partial_unmap_splits),
		cmocka_unit_test(test_map_over_old),
		cmocka_unit_test(test_owners),
		cmocka_unit_test(test_refused),
		cmocka_unit_test(test_file_cut_short),
		cmocka_unit_test(test_pa_find_and_release),
		cmocka_unit_test(test_part_of_hugepage),
		cmocka_unit_test(test_many_extents),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

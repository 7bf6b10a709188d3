/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 hvnet contributors
 *
 * Memory between two inaccessible pages, for tests.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "guard.h"

/* Whole pages that hold @p bytes; one even for none, so that every pointer has its page. */
static size_t
span(size_t bytes, size_t page)
{
	size_t pages = (bytes + page - 1) / page;

	return (pages == 0 ? 1 : pages) * page;
}

void *
guard_alloc(size_t bytes, enum guard_side side)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	size_t body = span(bytes, page);
	uint8_t *mem;

	mem = mmap(NULL, body + 2 * page, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (mem == MAP_FAILED || mprotect(mem + page, body, PROT_READ | PROT_WRITE) != 0)
		abort();
	mem += page;
	return side == GUARD_BEFORE ? mem : mem + body - bytes;
}

void
guard_free(void *mem, size_t bytes)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	size_t body = span(bytes, page);
	uintptr_t start = (uintptr_t)mem / page * page;

	/* No bytes at the end of their page: the pointer is already in the guard page. */
	if (bytes == 0 && guard_faults(mem))
		start -= page;
	if (munmap((void *)(start - page), body + 2 * page) != 0)
		abort();
}

int
guard_faults(volatile void *mem)
{
	uintptr_t byte = (uintptr_t)mem;
	int fds[2], ret;

	/* The kernel looks at the byte for us and answers EFAULT instead of a signal. */
	if (pipe2(fds, O_CLOEXEC) != 0)
		abort();
	ret = write(fds[1], (const void *)byte, 1) < 0 && errno == EFAULT;
	close(fds[0]);
	close(fds[1]);
	return ret;
}

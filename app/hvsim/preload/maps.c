/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 hvnet contributors
 *
 * Turns mappings of uio devices into mappings of the lab's memory, and tells the host which
 * shared memory the guest has, so that the host can follow guest-physical addresses.
 *
 * The host is told before memory goes away and after it came. The list of what was told is
 * ours alone: most unmappings of a process concern nothing that the host knows.
 */
/* Both the plain and the 64-bit names are defined here, so they must not be one. */
#undef _FILE_OFFSET_BITS
#define _LARGEFILE64_SOURCE

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <linux/magic.h>

#include "../guestmem.h"
#include "shim.h"

/** Most mappings that the host is told about. */
#define MAPS_MAX 65536u

SHIM_SLOT(mmap64);
SHIM_SLOT(munmap);
SHIM_SLOT(mremap);

struct interval {
	uint64_t va;
	uint64_t end;
};

/* Intervals that the host knows, in no order, n of them; memory comes on demand. */
static struct {
	pthread_mutex_t lock;
	struct interval *tab;
	uint32_t n;
	uint64_t lo; /* all intervals lie in [lo, hi) */
	uint64_t hi;
} maps = { .lock = PTHREAD_MUTEX_INITIALIZER };

static void
maps_child(void)
{
	pthread_mutex_init(&maps.lock, NULL);
	__atomic_store_n(&maps.n, 0, __ATOMIC_RELAXED);
}

__attribute__((constructor)) static void
maps_init(void)
{
	pthread_atfork(NULL, NULL, maps_child);
}

static void
maps_lock(sigset_t *old)
{
	sigset_t all;

	sigfillset(&all);
	pthread_sigmask(SIG_BLOCK, &all, old);
	pthread_mutex_lock(&maps.lock);
}

static void
maps_unlock(const sigset_t *old)
{
	pthread_mutex_unlock(&maps.lock);
	pthread_sigmask(SIG_SETMASK, old, NULL);
}

static bool
maps_add(uint64_t va, uint64_t end)
{
	sigset_t old;
	bool ok;

	maps_lock(&old);
	if (maps.tab == NULL) {
		void *p = (void *)syscall(SYS_mmap, NULL, MAPS_MAX * sizeof(struct interval),
					  PROT_READ | PROT_WRITE,
					  MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

		maps.tab = p == MAP_FAILED ? NULL : p;
	}
	ok = maps.tab != NULL && maps.n < MAPS_MAX;
	if (ok) {
		if (maps.n == 0 || va < maps.lo)
			maps.lo = va;
		if (maps.n == 0 || end > maps.hi)
			maps.hi = end;
		maps.tab[maps.n] = (struct interval){ .va = va, .end = end };
		__atomic_store_n(&maps.n, maps.n + 1, __ATOMIC_RELEASE);
	}
	maps_unlock(&old);
	return ok;
}

/* Cut [va, end) out of the list; true when something was in it. */
static bool
maps_cut(uint64_t va, uint64_t end)
{
	bool hit = false;
	sigset_t old;
	uint32_t i;

	if (__atomic_load_n(&maps.n, __ATOMIC_ACQUIRE) == 0)
		return false;
	maps_lock(&old);
	for (i = 0; maps.n != 0 && va < maps.hi && end > maps.lo && i < maps.n;) {
		struct interval *it = &maps.tab[i];
		struct interval was = *it;

		if (was.end <= va || was.va >= end) {
			i++;
			continue;
		}
		hit = true;
		if (was.va < va && was.end > end && maps.n < MAPS_MAX) {
			maps.tab[maps.n++] = (struct interval){ .va = end, .end = was.end };
			it->end = va;
		} else if (was.va < va) {
			it->end = va;
		} else if (was.end > end) {
			it->va = end;
		} else {
			*it = maps.tab[--maps.n];
			continue;
		}
		i++;
	}
	maps_unlock(&old);
	return hit;
}

/* [va, va + len) is about to change. */
static void
maps_leave(const void *va, size_t len)
{
	struct proto_msg m = { .type = PROTO_MEM_UNMAP };
	uint64_t mask = (uint64_t)sysconf(_SC_PAGESIZE) - 1;
	uint64_t start = (uintptr_t)va;
	uint64_t end = (start + len + mask) & ~mask;
	int err = errno;
	int fd = -1;

	if (maps_cut(start, end)) {
		m.va = start;
		m.len = end - start;
		shim_call(&m, &fd);
	}
	errno = err;
}

/* Is this shared mapping one that the host can be asked to look into? */
static bool
maps_wanted(int fd, int prot)
{
	struct statfs fs;
	struct stat st;
	int mode = shim_mode();

	if (mode != GUESTMEM_PA && mode != GUESTMEM_VA)
		return false;
	if ((prot & PROT_WRITE) == 0 || fstat(fd, &st) != 0 || !S_ISREG(st.st_mode))
		return false;
	/* Page frames stay put in hugetlbfs only. */
	return mode == GUESTMEM_VA ||
	       (fstatfs(fd, &fs) == 0 && fs.f_type == HUGETLBFS_MAGIC);
}

/* A shared mapping was made. */
static void
maps_enter(const void *va, size_t len, int prot, int fd, off64_t ofs)
{
	struct proto_msg m = { .type = PROTO_MEM_MAP };
	int err = errno;

	if (maps_wanted(fd, prot)) {
		m.va = (uintptr_t)va;
		m.len = len;
		m.ofs = (uint64_t)ofs;
		if (maps_add(m.va, m.va + len) && shim_call(&m, &fd) != 0)
			maps_cut(m.va, m.va + len);
	}
	errno = err;
}

/* The memory behind map @p ofs / page of uio device @p n: a descriptor or -1 with errno. */
static int
maps_uio(int n, size_t len, off64_t ofs)
{
	struct proto_msg m = {
		.type = PROTO_UIO_MAP,
		.arg = (uint32_t)n,
		.ofs = (uint64_t)ofs / (uint64_t)sysconf(_SC_PAGESIZE),
		.len = len,
	};
	int fd = -1;
	int ret;

	ret = shim_call(&m, &fd);
	if (ret == 0 && fd >= 0)
		return fd;
	errno = ret != 0 ? -ret : ENODEV;
	return -1;
}

static bool
maps_is_shared(int flags)
{
	int type = flags & MAP_TYPE;

	return (type == MAP_SHARED || type == MAP_SHARED_VALIDATE) &&
	       (flags & MAP_ANONYMOUS) == 0;
}

static void *
maps_mmap(void *va, size_t len, int prot, int flags, int fd, off64_t ofs)
{
	bool shared = maps_is_shared(flags);
	int uio = shared ? shim_uio_number(fd) : -1;
	void *p;
	int mem;

	if ((flags & MAP_FIXED) != 0)
		maps_leave(va, len);
	if (uio >= 0) {
		mem = maps_uio(uio, len, ofs);
		if (mem < 0)
			return MAP_FAILED;
		p = SHIM_REAL(mmap64)(va, len, prot, flags, mem, 0);
		close(mem);
		return p;
	}
	p = SHIM_REAL(mmap64)(va, len, prot, flags, fd, ofs);
	if (p != MAP_FAILED && shared)
		maps_enter(p, len, prot, fd, ofs);
	return p;
}

SHIM_EXPORT void *
mmap(void *va, size_t len, int prot, int flags, int fd, off_t ofs)
{
	return maps_mmap(va, len, prot, flags, fd, ofs);
}

SHIM_EXPORT void *
mmap64(void *va, size_t len, int prot, int flags, int fd, off64_t ofs)
{
	return maps_mmap(va, len, prot, flags, fd, ofs);
}

SHIM_EXPORT int
munmap(void *va, size_t len)
{
	maps_leave(va, len);
	return SHIM_REAL(munmap)(va, len);
}

/* Moved memory is forgotten: without its descriptor it cannot be told anew. */
SHIM_EXPORT void *
mremap(void *va, size_t old_len, size_t new_len, int flags, ...)
{
	void *to = NULL;
	va_list ap;

	if ((flags & MREMAP_FIXED) != 0) {
		va_start(ap, flags);
		to = va_arg(ap, void *);
		va_end(ap);
		maps_leave(to, new_len);
	}
	maps_leave(va, old_len);
	return SHIM_REAL(mremap)(va, old_len, new_len, flags, to);
}

/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 hvnet contributors
 *
 * Inside the preload library: the connection to the host and look-up of the real functions.
 */
#ifndef HVSIM_SHIM_H
#define HVSIM_SHIM_H

#include <dlfcn.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "proto.h"

/** Only the interposed functions leave the library. */
#define SHIM_EXPORT __attribute__((visibility("default")))

/**
 * The next definition of function @p name, looked up at its first call: libraries may call
 * before any constructor of ours has run.
 */
#define SHIM_REAL(name) \
	((__typeof__(&name))(uintptr_t)shim_real(&shim_real_##name, #name))
#define SHIM_SLOT(name) static void *shim_real_##name

static inline void *
shim_real(void **slot, const char *name)
{
	void *p = __atomic_load_n(slot, __ATOMIC_RELAXED);

	if (p == NULL) {
		p = dlsym(RTLD_NEXT, name);
		__atomic_store_n(slot, p, __ATOMIC_RELAXED);
	}
	return p;
}

/**
 * Ask the host; connects at the first call of the process. Signals and cancellation stay
 * away while it runs.
 *
 * @param m
 *   Request; replaced by the answer.
 * @param fd
 *   Descriptor to send or -1; replaced by the received one or -1.
 * @return 0, or -errno: the host's status, or -ENODEV when there is no host.
 */
int shim_call(struct proto_msg *m, int *fd);

/** The host's enum guestmem_mode, or -1 without a host. */
int shim_mode(void);

/**
 * The path to use in place of @p path.
 *
 * @param buf, len
 *   Where a new path is built.
 * @return @p path itself when it is none of ours, @p buf, or NULL with errno set.
 */
const char *shim_path(const char *path, char *buf, size_t len);

/** The uio number behind descriptor @p fd, or -1. Keeps errno. */
int shim_uio_number(int fd);

#endif /* HVSIM_SHIM_H */

/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 hvnet contributors
 *
 * Memory that the host gives to guests: a sealed memfd and the host's mapping of it.
 */
#ifndef HVSIM_SHM_H
#define HVSIM_SHM_H

#include <stdint.h>

struct shm {
	void *p;
	uint64_t len; /**< bytes */
	int fd;
};

/** Make @p len zeroed bytes called @p name; a guest cannot resize them. 0 or -errno. */
int shm_create(struct shm *shm, const char *name, uint64_t len);

/** Unmap and close; guests keep what they have mapped. A zeroed struct is allowed. */
void shm_destroy(struct shm *shm);

#endif /* HVSIM_SHM_H */

/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 hvnet contributors
 *
 * Creates and destroys sealed memfds.
 */
#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "shm.h"

int
shm_create(struct shm *shm, const char *name, uint64_t len)
{
	void *p = MAP_FAILED;
	int ret = 0;
	int fd;

	*shm = (struct shm){ .fd = -1 };
	fd = memfd_create(name, MFD_CLOEXEC | MFD_ALLOW_SEALING);
	if (fd < 0)
		return -errno;
	/* A guest that shrank it would make the host fault. */
	if (ftruncate(fd, (off_t)len) != 0 ||
	    fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) != 0)
		ret = -errno;
	if (ret == 0) {
		p = mmap(NULL, len, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
		if (p == MAP_FAILED)
			ret = -errno;
	}
	if (ret != 0) {
		close(fd);
		return ret;
	}
	*shm = (struct shm){ .p = p, .len = len, .fd = fd };
	return 0;
}

void
shm_destroy(struct shm *shm)
{
	if (shm->p == NULL)
		return;
	munmap(shm->p, shm->len);
	close(shm->fd);
	*shm = (struct shm){ .fd = -1 };
}

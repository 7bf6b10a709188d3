/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 hvnet contributors
 *
 * Compares the shared file mappings of two processes by /proc/PID/maps.
 */
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "procshare.h"

/** Mapped files that are compared, and lines that are read, of one process. */
#define FILES_MAX 512u
#define LINES_MAX 65536u

struct mapped_file {
	unsigned int major;
	unsigned int minor;
	unsigned long inode;
};

/* The files that process @p pid maps shared and writable; -1 when that cannot be read. */
static int
mapped_files(int pid, struct mapped_file files[FILES_MAX])
{
	char line[1024];
	unsigned int lines = 0;
	int n = 0;
	FILE *f;

	snprintf(line, sizeof(line), "/proc/%d/maps", pid);
	f = fopen(line, "re");
	if (f == NULL)
		return -1;
	while (n < (int)FILES_MAX && lines++ < LINES_MAX &&
	       fgets(line, sizeof(line), f) != NULL) {
		struct mapped_file m;
		char perms[5];

		if (sscanf(line, "%*x-%*x %4s %*x %x:%x %lu", perms, &m.major, &m.minor,
			   &m.inode) != 4 || m.inode == 0 || strcmp(perms, "rw-s") != 0 ||
		    strstr(line, "/memfd:hvsim-") != NULL)
			continue;
		files[n++] = m;
	}
	fclose(f);
	return n;
}

bool
procshare(int a, int b)
{
	struct mapped_file fa[FILES_MAX];
	struct mapped_file fb[FILES_MAX];
	int na = mapped_files(a, fa);
	int nb = mapped_files(b, fb);
	int i;
	int k;

	if (a == b || na < 0 || nb < 0)
		return true;
	for (i = 0; i < na; i++)
		for (k = 0; k < nb; k++)
			if (fa[i].inode == fb[k].inode && fa[i].major == fb[k].major &&
			    fa[i].minor == fb[k].minor)
				return true;
	return false;
}

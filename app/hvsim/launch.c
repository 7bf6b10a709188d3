/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 hvnet contributors
 *
 * Finds a guest command, refuses those that cannot be preloaded, and executes it.
 */
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "launch.h"

#define PRELOAD_NAME "libhvsim-preload.so"
#define ASSIST_NAME "libhvsim-assist.so"
/** "#!" lines that lead to "#!" files. Source: Linux, fs/exec.c. */
#define SCRIPTS_MAX 5
/** Program headers that are looked at. */
#define PHDRS_MAX 128

/* Exit statuses of a shell. */
#define STATUS_NOT_FOUND 127
#define STATUS_NOT_RUN 126

/* Find @p name as execvp() does. */
static int
find_command(const char *name, char path[PATH_MAX])
{
	const char *dirs = getenv("PATH");
	struct stat st;
	int ret = -ENOENT;

	if (strchr(name, '/') != NULL || dirs == NULL) {
		if (snprintf(path, PATH_MAX, "%s", name) >= PATH_MAX)
			return -ENAMETOOLONG;
		return access(path, X_OK) == 0 ? 0 : -errno;
	}
	while (*dirs != '\0') {
		size_t len = strcspn(dirs, ":");

		if (snprintf(path, PATH_MAX, "%.*s/%s", len == 0 ? 1 : (int)len,
			     len == 0 ? "." : dirs, name) < PATH_MAX &&
		    stat(path, &st) == 0 && S_ISREG(st.st_mode)) {
			if (access(path, X_OK) == 0)
				return 0;
			ret = -EACCES;
		}
		dirs += len;
		dirs += *dirs == ':';
	}
	return ret;
}

/* Does this 64-bit ELF file ask for a dynamic loader? */
static bool
elf_is_dynamic(int fd, const Elf64_Ehdr *eh)
{
	Elf64_Phdr ph;
	unsigned int i;

	if (eh->e_phentsize != sizeof(ph) || eh->e_phnum > PHDRS_MAX)
		return false;
	for (i = 0; i < eh->e_phnum; i++) {
		off_t at = (off_t)(eh->e_phoff + (uint64_t)i * sizeof(ph));

		if (pread(fd, &ph, sizeof(ph), at) != (ssize_t)sizeof(ph))
			return false;
		if (ph.p_type == PT_INTERP)
			return true;
	}
	return false;
}

/* The interpreter of a "#!" line; false when there is none. */
static bool
script_interpreter(char *line, char path[PATH_MAX])
{
	size_t len;

	line += 2;
	line += strspn(line, " \t");
	len = strcspn(line, " \t\r\n");
	if (len == 0 || len >= PATH_MAX)
		return false;
	memcpy(path, line, len);
	path[len] = '\0';
	return true;
}

/*
 * Look at one file of the chain script, interpreter, ...: 0 when it is fine, 1 when it names
 * the next in @p path, or -errno.
 */
static int
check_file(char path[PATH_MAX], char *err, size_t errlen)
{
	union {
		Elf64_Ehdr eh;
		char text[256];
	} head = { .text = "" };
	struct stat st;
	ssize_t n;
	int ret = 0;
	int fd;

	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return 0; /* executable but not readable: execve will tell */
	if (fstat(fd, &st) != 0)
		st.st_mode = 0;
	if ((st.st_mode & (S_ISUID | S_ISGID)) != 0 ||
	    fgetxattr(fd, "security.capability", NULL, 0) > 0) {
		snprintf(err, errlen, "%s is setuid, setgid or has file capabilities, which keeps "
			 "the simulator out; run the program itself instead", path);
		close(fd);
		return -EPERM;
	}
	n = pread(fd, &head, sizeof(head) - 1, 0);
	if (n > 4 && memcmp(head.text, "#!", 2) == 0) {
		head.text[n] = '\0';
		ret = script_interpreter(head.text, path);
	} else if (n >= (ssize_t)sizeof(head.eh) && memcmp(head.text, ELFMAG, SELFMAG) == 0 &&
		   (head.eh.e_ident[EI_CLASS] != ELFCLASS64 || !elf_is_dynamic(fd, &head.eh))) {
		snprintf(err, errlen, "%s is statically linked or not of this machine, so the "
			 "simulator cannot reach it; use a dynamically linked build", path);
		ret = -ENOEXEC;
	}
	close(fd);
	return ret;
}

/* The folder that hvsim itself is in. */
static int
own_folder(char dir[PATH_MAX])
{
	ssize_t n = readlink("/proc/self/exe", dir, PATH_MAX - 1);
	char *slash;

	if (n <= 0)
		return -ENOENT;
	dir[n] = '\0';
	slash = strrchr(dir, '/');
	if (slash == NULL)
		return -ENOENT;
	*slash = '\0';
	return 0;
}

/* Look for library @p name: $HVSIM_PRELOAD's folder, the build folder, the installed one. */
static int
find_library(const char *name, char path[PATH_MAX], char *err, size_t errlen)
{
	static const char *const places[] = { "preload", "../" HVSIM_LIBDIR "/hvnet",
		"../lib/hvnet" };
	const char *env = getenv("HVSIM_PRELOAD");
	char dir[PATH_MAX];
	size_t i;

	if (env != NULL && strcmp(name, PRELOAD_NAME) == 0) {
		if (strlen(env) < PATH_MAX && access(env, R_OK) == 0) {
			strcpy(path, env);
			return 0;
		}
		snprintf(err, errlen, "HVSIM_PRELOAD=%s cannot be read; unset it", env);
		return -ENOENT;
	}
	if (own_folder(dir) == 0)
		for (i = 0; i < sizeof(places) / sizeof(places[0]); i++)
			if (snprintf(path, PATH_MAX, "%s/%s/%s", dir, places[i], name) <
			    PATH_MAX && access(path, R_OK) == 0)
				return 0;
	snprintf(err, errlen, "%s is neither beside hvsim nor installed; build it with ninja, or "
		 "name it in HVSIM_PRELOAD", name);
	return -ENOENT;
}

static int
find_preload(struct launch *l, bool assist, char *err, size_t errlen)
{
	const char *old = getenv("LD_PRELOAD");
	char lib[PATH_MAX];
	char help[PATH_MAX] = "";
	int ret;

	ret = find_library(PRELOAD_NAME, lib, err, errlen);
	if (ret == 0 && assist)
		ret = find_library(ASSIST_NAME, help, err, errlen);
	if (ret != 0)
		return ret;
	if (strpbrk(lib, " :") != NULL || strpbrk(help, " :") != NULL) {
		snprintf(err, errlen, "%s: the loader takes no path with spaces or colons; move "
			 "hvsim", lib);
		return -EINVAL;
	}
	if (snprintf(l->preload, sizeof(l->preload), "%s%s%s%s%s", lib, assist ? ":" : "", help,
		     old != NULL && *old != '\0' ? ":" : "", old != NULL ? old : "") >=
	    (int)sizeof(l->preload)) {
		snprintf(err, errlen, "LD_PRELOAD is too long; unset it");
		return -ENAMETOOLONG;
	}
	return 0;
}

int
launch_check(struct launch *l, char **argv, bool assist, char *err, size_t errlen)
{
	char path[PATH_MAX];
	struct stat st;
	int tries;
	int ret;

	l->argv = argv;
	l->status = 1;
	ret = find_command(argv[0], l->path);
	if (ret == 0 && stat(l->path, &st) == 0 && S_ISDIR(st.st_mode))
		ret = -EISDIR;
	if (ret != 0) {
		l->status = ret == -ENOENT ? STATUS_NOT_FOUND : STATUS_NOT_RUN;
		snprintf(err, errlen, "command %s: %s; give the path of a program", argv[0],
			 ret == -ENOENT ? "not found" : strerror(-ret));
		return ret;
	}
	strcpy(path, l->path);
	for (tries = 0, ret = 1; ret == 1 && tries < SCRIPTS_MAX; tries++)
		ret = check_file(path, err, errlen);
	if (ret < 0) {
		l->status = STATUS_NOT_RUN;
		return ret;
	}
	return find_preload(l, assist, err, errlen);
}

int
launch_exec(const struct launch *l, const char *socket)
{
	if (setenv("HVSIM_SOCKET", socket, 1) != 0 || setenv("LD_PRELOAD", l->preload, 1) != 0)
		return -errno;
	execv(l->path, l->argv);
	return -errno;
}

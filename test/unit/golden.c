/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 hvnet contributors
 *
 * Reader of the golden vectors in test/golden.
 */
#include <arpa/inet.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "golden.h"

static void __attribute__((noreturn, format(printf, 1, 2)))
die(const char *format, ...)
{
	va_list ap;

	va_start(ap, format);
	fputs("golden vectors: ", stderr);
	vfprintf(stderr, format, ap);
	fputc('\n', stderr);
	va_end(ap);
	exit(EXIT_FAILURE);
}

static FILE *
open_file(const char *file)
{
	char path[4096];
	FILE *f;

	snprintf(path, sizeof(path), "%s/%s", GOLDEN_DIR, file);
	f = fopen(path, "re");
	if (f == NULL)
		die("cannot open %s", path);
	return f;
}

/* Next line without comment and surrounding blanks; false at the end. */
static bool
next_line(FILE *f, char *line, int cap)
{
	while (fgets(line, cap, f) != NULL) {
		size_t skip, len;

		line[strcspn(line, "#\n")] = '\0';
		skip = strspn(line, " \t");
		memmove(line, line + skip, strlen(line + skip) + 1);
		for (len = strlen(line); len > 0 && strchr(" \t", line[len - 1]) != NULL; len--)
			line[len - 1] = '\0';
		if (len > 0)
			return true;
	}
	return false;
}

/* Append the bytes of a line in hex. */
static size_t
take_hex(const char *line, uint8_t *buf, size_t len, size_t cap)
{
	unsigned int byte;
	int used;

	while (sscanf(line, " %2x%n", &byte, &used) == 1) {
		if (len == cap)
			die("more than %zu bytes", cap);
		buf[len++] = (uint8_t)byte;
		line += used;
	}
	if (line[strspn(line, " \t")] != '\0')
		die("'%s' is not hex", line);
	return len;
}

size_t
golden_vector(const char *file, const char *name, uint8_t *buf, size_t cap)
{
	FILE *f = open_file(file);
	bool found = false;
	char line[512];
	size_t len = 0;

	while (next_line(f, line, sizeof(line))) {
		if (strncmp(line, "vector ", 7) == 0) {
			if (found)
				break;
			found = strcmp(line + 7, name) == 0;
		} else if (found) {
			len = take_hex(line, buf, len, cap);
		}
	}
	fclose(f);
	if (!found || len == 0)
		die("no vector '%s' in %s", name, file);
	return len;
}

static void
take_flow(const char *line, struct golden_flow *flow)
{
	unsigned int sport, dport;
	char src[64], dst[64];
	int family;

	if (sscanf(line, "%63s %5u %63s %5u %8x %8x", src, &sport, dst, &dport,
		   &flow->hash_addr, &flow->hash_ports) != 6)
		die("'%s' is not a flow", line);
	family = strchr(src, ':') != NULL ? AF_INET6 : AF_INET;
	flow->addr_len = family == AF_INET6 ? 16 : 4;
	if (inet_pton(family, src, flow->src) != 1 || inet_pton(family, dst, flow->dst) != 1)
		die("'%s' has bad addresses", line);
	flow->sport = (uint16_t)sport;
	flow->dport = (uint16_t)dport;
}

void
golden_toeplitz(struct golden_toeplitz *t)
{
	FILE *f = open_file("toeplitz.txt");
	size_t key = 0;
	char line[512];

	memset(t, 0, sizeof(*t));
	while (next_line(f, line, sizeof(line))) {
		if (strncmp(line, "key ", 4) == 0)
			key = take_hex(line + 4, t->key, key, sizeof(t->key));
		else if (t->nflows == GOLDEN_FLOWS_MAX)
			die("more than %d flows", GOLDEN_FLOWS_MAX);
		else
			take_flow(line, &t->flow[t->nflows++]);
	}
	fclose(f);
	if (key != sizeof(t->key) || t->nflows == 0)
		die("toeplitz.txt has no key or no flows");
}

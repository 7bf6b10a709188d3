/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 hvnet contributors
 *
 * Parser for sysfs lists of CPU numbers.
 */
#include <errno.h>
#include <string.h>

#include "cpulist.h"

/* Read decimal digits at *@p text and step over them; false without one or when too big. */
static bool
take_cpu(const char **text, uint32_t *cpu)
{
	const char *p = *text;
	uint32_t n = 0;

	if (*p < '0' || *p > '9')
		return false;
	for (; *p >= '0' && *p <= '9'; p++) {
		n = n * 10 + (uint32_t)(*p - '0');
		if (n >= HVQ_CPUS_MAX)
			return false;
	}
	*text = p;
	*cpu = n;
	return true;
}

static bool
only_blanks(const char *p)
{
	return p[strspn(p, " \t\r\n")] == '\0';
}

int
hvq_cpulist_parse(const char *text, struct hvq_cpuset *set)
{
	uint32_t first, last;

	memset(set, 0, sizeof(*set));
	text += strspn(text, " \t\r\n");
	if (*text == '\0')
		return 0;
	for (;;) {
		if (!take_cpu(&text, &first))
			return -EINVAL;
		last = first;
		if (*text == '-') {
			text++;
			if (!take_cpu(&text, &last) || last < first)
				return -EINVAL;
		}
		for (uint32_t cpu = first; cpu <= last; cpu++)
			hvq_cpuset_add(set, cpu);
		if (*text != ',')
			return only_blanks(text) ? 0 : -EINVAL;
		text++;
	}
}

/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 hvnet contributors
 *
 * A set of CPU numbers, and the text form in which sysfs gives one ("0-3,8").
 */
#ifndef HVQUEUES_CPULIST_H
#define HVQUEUES_CPULIST_H

#include <stdbool.h>
#include <stdint.h>

#include "hvqueues.h"

/** A set of CPU numbers, 0..HVQ_CPUS_MAX - 1. */
struct hvq_cpuset {
	uint64_t word[HVQ_CPUS_MAX / 64];
};

/** Add @p cpu (< HVQ_CPUS_MAX). */
static inline void
hvq_cpuset_add(struct hvq_cpuset *set, uint32_t cpu)
{
	set->word[cpu / 64] |= UINT64_C(1) << (cpu % 64);
}

/** True when @p cpu (< HVQ_CPUS_MAX) is in the set. */
static inline bool
hvq_cpuset_has(const struct hvq_cpuset *set, uint32_t cpu)
{
	return (set->word[cpu / 64] >> (cpu % 64) & 1) != 0;
}

/** Add all members of @p other. */
static inline void
hvq_cpuset_merge(struct hvq_cpuset *set, const struct hvq_cpuset *other)
{
	for (uint32_t i = 0; i < HVQ_CPUS_MAX / 64; i++)
		set->word[i] |= other->word[i];
}

/**
 * Read a list: numbers and ranges with commas between, blanks and line end around.
 *
 * @param[out] set
 *   The list's members; undefined on error.
 * @return 0 (also for an empty list); -EINVAL when @p text is anything else, a range runs
 *   backwards or a number is not below HVQ_CPUS_MAX.
 */
int hvq_cpulist_parse(const char *text, struct hvq_cpuset *set);

#endif /* HVQUEUES_CPULIST_H */

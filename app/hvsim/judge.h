/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 hvnet contributors
 *
 * The judge: names, counts and consequences of a guest's protocol violations.
 */
#ifndef HVSIM_JUDGE_H
#define HVSIM_JUDGE_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

/** How the host treats its guest. */
enum judge_mode {
	JUDGE_STRICT,  /**< a violation kills the channel silently; rings looked at after signals */
	JUDGE_LENIENT, /**< record and go on; rings looked at after signals */
	JUDGE_POLLING, /**< imask = 1, rings polled; for benchmarks */
};

/** What happens to the channel when a violation is fatal. See judge_names.h for the list. */
enum judge_violation {
#define JUDGE_V(id, name, text) JUDGE_##id,
#include "judge_names.h"
#undef JUDGE_V
	JUDGE_COUNT,
};

/** One judge per host. */
struct judge {
	enum judge_mode mode;
	bool expected[JUDGE_COUNT]; /**< known for this guest: recorded, never fatal */
	uint64_t count[JUDGE_COUNT];
	struct {
		uint64_t value; /**< the offending value of the first occurrence */
		char nic[32];
		uint32_t channel;
	} first[JUDGE_COUNT];
};

/** Stable name, e.g. "ring-write-index". */
const char *judge_name(enum judge_violation v);

/** One sentence: what the guest did wrong. */
const char *judge_text(enum judge_violation v);

/** Find by name; JUDGE_COUNT when unknown. */
enum judge_violation judge_find(const char *name);

/**
 * Record a violation.
 *
 * @return True when the channel must die (strict and not expected).
 */
bool judge_record(struct judge *j, enum judge_violation v, const char *nic, uint32_t channel,
		  uint64_t value);

/** Mark the comma-separated @p names as expected; the first unknown name, or NULL. */
const char *judge_expect(struct judge *j, const char *names, char *bad, size_t badlen);

#endif /* HVSIM_JUDGE_H */

/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 hvnet contributors
 *
 * Guests that do one thing wrong: the cases that provoke each protocol violation.
 */
#ifndef JUDGE_CASES_H
#define JUDGE_CASES_H

#include <string.h>

#include "rawguest.h"

/** How far the guest is brought up before it misbehaves. */
enum judge_level {
	LEVEL_OPEN,    /**< rings only */
	LEVEL_NVSP,    /**< NVSP 6.1 with both buffers */
	LEVEL_RNDIS,   /**< RNDIS initialised */
	LEVEL_TRAFFIC, /**< two channels, packet filter set */
};

/** One way to commit @p v and nothing else. */
struct judge_case {
	enum judge_violation v;
	enum judge_level level;
	void (*provoke)(struct rawguest *g);
	bool corrupt; /**< the channel is lost in every mode */
};

/** Lists end with v == JUDGE_COUNT. */
extern const struct judge_case judge_ring_cases[];
extern const struct judge_case judge_nvsp_cases[];
extern const struct judge_case judge_data_cases[];
extern const struct judge_case judge_control_cases[];

#endif /* JUDGE_CASES_H */

/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 hvnet contributors
 *
 * What the user asked hvsim for.
 */
#ifndef HVSIM_CLI_H
#define HVSIM_CLI_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "guestmem.h"
#include "judge.h"
#include "netvsp/nic.h"

/** Most NICs of one host. */
#define HVSIM_NICS_MAX 16u

enum cli_verb {
	CLI_LAB,   /**< serve, and run one command on it */
	CLI_SERVE, /**< serve until a signal comes */
	CLI_RUN,   /**< run a command on another hvsim */
	CLI_CTL,   /**< ask another hvsim */
	CLI_HELP,
	CLI_VERSION,
};

enum cli_pace {
	CLI_PACE_BUSY,     /**< look all the time */
	CLI_PACE_ADAPTIVE, /**< spin after work, then sleep longer and longer */
	CLI_PACE_PERIOD,   /**< look once in a period */
};

/** One --nic. */
struct cli_nic {
	struct nic_conf conf;
	char wire[512]; /**< for wire_open() */
};

struct cli {
	enum cli_verb verb;
	const char *socket; /**< NULL: not given */
	const char *expect;
	const char *report;
	enum judge_mode mode;
	enum guestmem_mode gpa;
	enum cli_pace pace;
	uint64_t period_ns; /**< with CLI_PACE_PERIOD */
	int cpu;            /**< -1: any */
	bool assist;        /**< queue-info calls of the guest are answered "not supported" */
	bool verbose;
	bool json;
	bool list;          /**< ctl violations: all names */
	struct cli_nic nic[HVSIM_NICS_MAX];
	uint32_t nics;
	char **cmd; /**< command, or words for ctl; NULL-terminated, inside main's argv */
};

/**
 * Understand the command line.
 *
 * @param err
 *   On failure one line that names the value and the remedy.
 * @return 0 or -EINVAL.
 */
int cli_parse(struct cli *cli, int argc, char **argv, char *err, size_t errlen);

/**
 * Understand the value of one --nic, for example "netvsc,queues=4,wire=tap:name=hv0".
 *
 * @param index
 *   Which NIC it is: gives the default name and address.
 * @return 0 or -EINVAL with @p err filled.
 */
int cli_parse_nic(struct cli_nic *nic, const char *spec, uint32_t index, char *err,
		  size_t errlen);

/** The help text. */
extern const char cli_help[];

#endif /* HVSIM_CLI_H */

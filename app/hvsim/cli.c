/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 hvnet contributors
 *
 * Reads hvsim's command line.
 */
#include <errno.h>
#include <getopt.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli.h"

/** Period of the look at the rings in polling mode, nanoseconds. */
#define POLL_DEFAULT_NS 2000
/** Longest period, nanoseconds. */
#define POLL_MAX_NS 1000000000.0

const char cli_help[] =
	"A simulated Hyper-V host for DPDK drivers.\n"
	"\n"
	"  hvsim [OPTIONS] --nic NIC... -- COMMAND...   serve, and run a command on it\n"
	"  hvsim serve [OPTIONS] --nic NIC...           serve until a signal comes\n"
	"  hvsim run [--socket PATH] [--assist queue-info] -- COMMAND...\n"
	"  hvsim ctl [--socket PATH] [--json] info | stats | violations | link NIC up|down\n"
	"  hvsim ctl [--json] violations --list         all that the judge knows\n"
	"\n"
	"  --nic netvsc[,KEY=VALUE]...  wire=SPEC mac= name= channels=1..64 (or queues=)\n"
	"                nvsp=1|2|4|5|6|6.1 mtu= ring=BYTES section=BYTES slots= ranges=\n"
	"                ppi=csum-hash|hash-csum|csum|none|unknown|mix rss= speed= packets=\n"
	"                align= hash-udp=0|1\n"
	"                SPEC is KIND[:KEY=VALUE]... such as tap:name=hv0, gen:size=64, loop,\n"
	"                pair:id=a, pcap:in=FILE or sink (default)\n"
	"  --mode strict|lenient|polling   what violations cost; polling is for benchmarks\n"
	"  --gpa pa|va|none      how guest-physical addresses are understood (root: pa)\n"
	"  --poll busy|adaptive|USEC   how often to look for signals (polling: at the rings)\n"
	"  --expect NAME[,NAME]  violations that this guest is known to commit\n"
	"  --assist queue-info   help upstream's DPDK 22.11 driver in testpmd\n"
	"  --socket PATH         where to listen, or whom to ask\n"
	"  --cpu N               pin the host\n"
	"  --report FILE         write statistics and violations there at the end (JSON)\n"
	"  --verbose             say what happens\n";

enum {
	OPT_SOCKET = 256,
	OPT_MODE,
	OPT_GPA,
	OPT_NIC,
	OPT_CPU,
	OPT_POLL,
	OPT_EXPECT,
	OPT_ASSIST,
	OPT_REPORT,
	OPT_VERBOSE,
	OPT_JSON,
	OPT_LIST,
	OPT_HELP,
	OPT_VERSION,
};

static const struct option cli_options[] = {
	{ "socket", required_argument, NULL, OPT_SOCKET },
	{ "mode", required_argument, NULL, OPT_MODE },
	{ "gpa", required_argument, NULL, OPT_GPA },
	{ "nic", required_argument, NULL, OPT_NIC },
	{ "cpu", required_argument, NULL, OPT_CPU },
	{ "poll", required_argument, NULL, OPT_POLL },
	{ "expect", required_argument, NULL, OPT_EXPECT },
	{ "assist", required_argument, NULL, OPT_ASSIST },
	{ "report", required_argument, NULL, OPT_REPORT },
	{ "verbose", no_argument, NULL, OPT_VERBOSE },
	{ "json", no_argument, NULL, OPT_JSON },
	{ "list", no_argument, NULL, OPT_LIST },
	{ "help", no_argument, NULL, OPT_HELP },
	{ "version", no_argument, NULL, OPT_VERSION },
	{ NULL, 0, NULL, 0 },
};

/* Index of @p word in a NULL-terminated list, or -1. */
static int
word_index(const char *word, const char *const *list)
{
	int i;

	for (i = 0; list[i] != NULL; i++)
		if (strcmp(word, list[i]) == 0)
			return i;
	return -1;
}

static int
parse_poll(struct cli *cli, const char *value, char *err, size_t errlen)
{
	double usec;
	char *end;

	if (strcmp(value, "busy") == 0) {
		cli->pace = CLI_PACE_BUSY;
		return 0;
	}
	if (strcmp(value, "adaptive") == 0) {
		cli->pace = CLI_PACE_ADAPTIVE;
		return 0;
	}
	usec = strtod(value, &end);
	if (end == value || *end != '\0' || !isfinite(usec) ||
	    usec * 1000 < 1 || usec * 1000 > POLL_MAX_NS) {
		snprintf(err, errlen, "--poll %s: use busy, adaptive or microseconds such as 2 or "
			 "0.5", value);
		return -EINVAL;
	}
	cli->pace = CLI_PACE_PERIOD;
	cli->period_ns = (uint64_t)(usec * 1000);
	return 0;
}

static int
parse_cpu(struct cli *cli, const char *value, char *err, size_t errlen)
{
	char *end;
	long n;

	n = strtol(value, &end, 10);
	if (end == value || *end != '\0' || n < 0 || n >= sysconf(_SC_NPROCESSORS_CONF)) {
		snprintf(err, errlen, "--cpu %s: use a CPU from 0 to %ld", value,
			 sysconf(_SC_NPROCESSORS_CONF) - 1);
		return -EINVAL;
	}
	cli->cpu = (int)n;
	return 0;
}

static int
parse_words(struct cli *cli, int opt, const char *value, char *err, size_t errlen)
{
	static const char *const modes[] = { "strict", "lenient", "polling", NULL };
	static const char *const gpas[] = { "pa", "va", "none", NULL };
	int i;

	switch (opt) {
	case OPT_MODE:
		i = word_index(value, modes);
		if (i >= 0) {
			cli->mode = (enum judge_mode)i;
			return 0;
		}
		snprintf(err, errlen, "--mode %s: use strict, lenient or polling", value);
		return -EINVAL;
	case OPT_GPA:
		i = word_index(value, gpas);
		if (i == GUESTMEM_PA && geteuid() != 0) {
			snprintf(err, errlen, "--gpa pa: only root may read page frame numbers; "
				 "use va or none");
			return -EINVAL;
		}
		if (i >= 0) {
			cli->gpa = (enum guestmem_mode)i;
			return 0;
		}
		snprintf(err, errlen, "--gpa %s: use pa, va or none", value);
		return -EINVAL;
	default:
		cli->assist = strcmp(value, "queue-info") == 0;
		if (cli->assist)
			return 0;
		snprintf(err, errlen, "--assist %s: use queue-info", value);
		return -EINVAL;
	}
}

static int
parse_nic(struct cli *cli, const char *value, char *err, size_t errlen)
{
	struct cli_nic *nic = &cli->nic[cli->nics];
	uint32_t i;

	if (cli->nics == HVSIM_NICS_MAX) {
		snprintf(err, errlen, "--nic %s: one host has at most %u NICs; start another",
			 value, HVSIM_NICS_MAX);
		return -EINVAL;
	}
	if (cli_parse_nic(nic, value, cli->nics, err, errlen) != 0)
		return -EINVAL;
	for (i = 0; i < cli->nics; i++) {
		if (strcmp(cli->nic[i].conf.name, nic->conf.name) == 0) {
			snprintf(err, errlen, "--nic: name=%s is taken by another NIC; choose "
				 "another", nic->conf.name);
			return -EINVAL;
		}
		if (memcmp(cli->nic[i].conf.mac, nic->conf.mac, 6) == 0) {
			snprintf(err, errlen, "--nic %s: its MAC address is taken by NIC %s; give "
				 "another mac=", value, cli->nic[i].conf.name);
			return -EINVAL;
		}
	}
	cli->nics++;
	return 0;
}

static int
parse_option(struct cli *cli, int opt, const char *value, char *err, size_t errlen)
{
	switch (opt) {
	case OPT_SOCKET:
		if (*value == '\0') {
			snprintf(err, errlen, "--socket has an empty path; name one or leave the "
				 "option out");
			return -EINVAL;
		}
		cli->socket = value;
		return 0;
	case OPT_MODE:
	case OPT_GPA:
	case OPT_ASSIST:
		return parse_words(cli, opt, value, err, errlen);
	case OPT_NIC:
		return parse_nic(cli, value, err, errlen);
	case OPT_CPU:
		return parse_cpu(cli, value, err, errlen);
	case OPT_POLL:
		return parse_poll(cli, value, err, errlen);
	case OPT_EXPECT:
		cli->expect = value;
		return 0;
	case OPT_REPORT:
		cli->report = value;
		return 0;
	case OPT_VERBOSE:
		cli->verbose = true;
		return 0;
	case OPT_JSON:
		cli->json = true;
		return 0;
	case OPT_LIST:
		cli->list = true;
		return 0;
	case OPT_HELP:
		cli->verb = CLI_HELP;
		return 0;
	case OPT_VERSION:
		cli->verb = CLI_VERSION;
		return 0;
	default:
		return -EINVAL;
	}
}

/* Options that a verb has no use for are mistakes. */
static int
check_verb(const struct cli *cli, bool dashes, char *err, size_t errlen)
{
	static const char *const ctl_verbs[] = { "info", "stats", "violations", "link", NULL };
	bool host = cli->verb == CLI_LAB || cli->verb == CLI_SERVE;

	if (cli->verb == CLI_LAB && cli->cmd[0] != NULL && !dashes)
		snprintf(err, errlen, "%s: unknown verb; use serve, run or ctl, or put -- before "
			 "a command", cli->cmd[0]);
	else if (host && cli->nics == 0)
		snprintf(err, errlen, "no --nic: the host would be empty; add for example "
			 "--nic netvsc,wire=gen (hvsim --help)");
	else if (!host && cli->nics != 0)
		snprintf(err, errlen, "--nic belongs to the serving hvsim; leave it out here");
	else if (cli->verb == CLI_LAB && cli->cmd[0] == NULL)
		snprintf(err, errlen, "no command after --; add one, or use hvsim serve");
	else if (cli->verb == CLI_SERVE && cli->cmd[0] != NULL)
		snprintf(err, errlen, "serve takes no command: %s; use hvsim OPTIONS -- COMMAND",
			 cli->cmd[0]);
	else if (cli->verb == CLI_SERVE && cli->assist)
		snprintf(err, errlen, "--assist belongs to hvsim run when serving; leave it out");
	else if (cli->verb != CLI_CTL && (cli->list || cli->json))
		snprintf(err, errlen, "--list and --json belong to hvsim ctl; leave them out here");
	else if (cli->verb == CLI_RUN && cli->cmd[0] == NULL)
		snprintf(err, errlen, "run needs a command after --");
	else if (cli->verb == CLI_CTL && cli->cmd[0] == NULL)
		snprintf(err, errlen, "ctl needs a verb: info, stats, violations or link");
	else if (cli->verb == CLI_CTL && word_index(cli->cmd[0], ctl_verbs) < 0)
		snprintf(err, errlen, "unknown verb %s; use info, stats, violations or link",
			 cli->cmd[0]);
	else
		return 0;
	return -EINVAL;
}

/* The value of an unknown option, for the error. */
static void
unknown_option(int opt, char *const *argv, char *err, size_t errlen)
{
	const char *arg = argv[optind - 1];

	if (opt == ':')
		snprintf(err, errlen, "%s needs a value; see hvsim --help", arg);
	else if (optopt != 0 && optopt < 256)
		snprintf(err, errlen, "unknown option -%c; see hvsim --help", optopt);
	else
		snprintf(err, errlen, "unknown option %s; see hvsim --help", arg);
}

/* Options of ctl may stand behind its words; those of a command are the command's. */
static const char *
optstring(enum cli_verb verb)
{
	return verb == CLI_CTL ? ":" : "+:";
}

int
cli_parse(struct cli *cli, int argc, char **argv, char *err, size_t errlen)
{
	static const char *const verbs[] = { "serve", "run", "ctl", NULL };
	bool poll_given = false;
	int first = 0;
	int opt;

	*cli = (struct cli){
		.verb = CLI_LAB,
		.gpa = geteuid() == 0 ? GUESTMEM_PA : GUESTMEM_NONE,
		.cpu = -1,
	};
	if (argc > 1 && word_index(argv[1], verbs) >= 0) {
		cli->verb = (enum cli_verb)(CLI_SERVE + word_index(argv[1], verbs));
		first = 1;
	}
	argc -= first;
	argv += first;
	optind = 0;
	opterr = 0;
	while ((opt = getopt_long(argc, argv, optstring(cli->verb), cli_options, NULL)) != -1) {
		if (opt == '?' || opt == ':') {
			unknown_option(opt, argv, err, errlen);
			return -EINVAL;
		}
		if (parse_option(cli, opt, optarg, err, errlen) != 0)
			return -EINVAL;
		poll_given |= opt == OPT_POLL;
		if (cli->verb == CLI_HELP || cli->verb == CLI_VERSION)
			return 0;
	}
	if (!poll_given && cli->mode == JUDGE_POLLING) {
		cli->pace = CLI_PACE_PERIOD;
		cli->period_ns = POLL_DEFAULT_NS;
	} else if (!poll_given) {
		cli->pace = CLI_PACE_ADAPTIVE;
	}
	cli->cmd = &argv[optind];
	return check_verb(cli, optind > 0 && strcmp(argv[optind - 1], "--") == 0, err, errlen);
}

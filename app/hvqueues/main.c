/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 hvnet contributors
 *
 * Prints the CPU topology and the default queues and rings that follow from it.
 */
#include <errno.h>
#include <getopt.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <json-c/json.h>

#include <hvqueues/hvqueues.h>

#include "share.h"

struct options {
	const char *sysfs; /* NULL: this machine */
	uint32_t channels;
	bool json;
};

static const char usage[] =
	"Usage: hvqueues [--sysfs ROOT] [--channels N] [--json]\n"
	"Show the CPU topology and the default queues and rings that drivers take from it.\n"
	"  --sysfs ROOT   read this tree, the folder with 'devices' (default: /sys)\n"
	"  --channels N   queues that the host grants, 1..64 (default: 64)\n"
	"  --json         one JSON object\n"
	"  --help         this text\n";

static int
parse_channels(const char *text, uint32_t *n)
{
	unsigned long val;
	char *end;

	errno = 0;
	val = strtoul(text, &end, 10);
	if (text[0] < '0' || text[0] > '9' || *end != '\0' || errno != 0 || val < 1 ||
	    val > HVQ_QUEUES_MAX) {
		fprintf(stderr, "hvqueues: --channels '%s': give a number from 1 to %u\n", text,
			HVQ_QUEUES_MAX);
		return -EINVAL;
	}
	*n = (uint32_t)val;
	return 0;
}

static int
bad_option(const char *text)
{
	fprintf(stderr, "hvqueues: '%s': not an option, or its value is missing; see --help\n",
		text);
	return -EINVAL;
}

/* Returns 0 to go on, 1 when all is said, -EINVAL after an error message. */
static int
parse_args(int argc, char **argv, struct options *opt)
{
	static const struct option longs[] = {
		{ "sysfs", required_argument, NULL, 's' },
		{ "channels", required_argument, NULL, 'c' },
		{ "json", no_argument, NULL, 'j' },
		{ "help", no_argument, NULL, 'h' },
		{ NULL, 0, NULL, 0 },
	};
	int c;

	opterr = 0;
	while ((c = getopt_long(argc, argv, "", longs, NULL)) != -1) {
		if (c == 's')
			opt->sysfs = optarg;
		else if (c == 'j')
			opt->json = true;
		else if (c == 'c' && parse_channels(optarg, &opt->channels) != 0)
			return -EINVAL;
		else if (c == 'h')
			return fputs(usage, stdout) < 0 ? -EINVAL : 1;
		else if (c == '?')
			return bad_option(argv[optind - 1]);
	}
	return optind < argc ? bad_option(argv[optind]) : 0;
}

static void
print_text(const struct options *opt, const struct hvq_topology *topo, const char *reason)
{
	struct hvq_ring netvsc, mana;
	struct hvq_policy p;

	hvq_policy_apply(topo, opt->channels, &p);
	hvq_netvsc_ring(0, &netvsc);
	hvq_mana_ring(0, &mana);
	printf("vCPUs online            %u\n", topo->vcpus);
	printf("physical cores          %u\n", topo->cores);
	printf("RSS default             %u  %s\n", p.rss,
	       topo->cores <= 2 ? "(1 or 2 cores: the cores)" : "(half of the cores, rounded up)");
	printf("policy queues           %u  (RSS default, at least %u, at most %u)\n",
	       p.policy_queues, HVQ_QUEUES_FLOOR, HVQ_QUEUES_MAX);
	printf("net_hv_netvsc queues    %s\n", reason);
	printf("net_hv_mana queues      %u  (largest power of two up to %u)\n", p.mana, p.netvsc);
	printf("net_hv_netvsc RX ring   %u  (%u..%u)\n", netvsc.def, netvsc.min, netvsc.max);
	printf("net_hv_mana RX ring     %u  (%u..%u, less where the device takes less)\n",
	       mana.def, mana.min, mana.max);
	if (opt->sysfs != NULL)
		return;
	printf("not used by the policy: affinity %u CPUs", share_affinity());
	if (share_cgroup() > 0)
		printf(", cgroup quota %.2f CPUs\n", share_cgroup());
	else
		printf(", no cgroup quota\n");
}

static void
add_int(struct json_object *obj, const char *key, uint32_t val)
{
	json_object_object_add(obj, key, json_object_new_int64(val));
}

static int
print_json(const struct options *opt, const struct hvq_topology *topo, const char *reason)
{
	struct json_object *obj = json_object_new_object();
	struct hvq_policy p;
	int ret;

	if (obj == NULL)
		return -ENOMEM;
	hvq_policy_apply(topo, opt->channels, &p);
	add_int(obj, "vcpus", topo->vcpus);
	add_int(obj, "cores", topo->cores);
	add_int(obj, "channels", opt->channels);
	add_int(obj, "rss_default", p.rss);
	add_int(obj, "policy_queues", p.policy_queues);
	add_int(obj, "netvsc_default", p.netvsc);
	add_int(obj, "mana_default", p.mana);
	add_int(obj, "ring_default", HVQ_RING_DEFAULT);
	json_object_object_add(obj, "netvsc_reason", json_object_new_string(reason));
	ret = puts(json_object_to_json_string_ext(obj, JSON_C_TO_STRING_PRETTY));
	json_object_put(obj);
	return ret < 0 ? -EIO : 0;
}

int
main(int argc, char **argv)
{
	struct options opt = { .channels = HVQ_QUEUES_MAX };
	struct hvq_topology topo;
	char reason[160];
	int ret;

	ret = parse_args(argc, argv, &opt);
	if (ret != 0)
		return ret < 0 ? EXIT_FAILURE : EXIT_SUCCESS;
	ret = hvq_topology_read(opt.sysfs, &topo);
	if (ret != 0) {
		fprintf(stderr, "hvqueues: %s/devices/system/cpu: %s; give the root of a sysfs "
			"tree with --sysfs\n", opt.sysfs, strerror(-ret));
		return EXIT_FAILURE;
	}
	hvq_policy_reason(&topo, opt.channels, reason, sizeof(reason));
	if (opt.json)
		ret = print_json(&opt, &topo, reason);
	else
		print_text(&opt, &topo, reason);
	if (ret != 0 || fflush(stdout) != 0 || ferror(stdout)) {
		fprintf(stderr, "hvqueues: cannot write the result: standard output is closed or "
			"full\n");
		return EXIT_FAILURE;
	}
	return EXIT_SUCCESS;
}

/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 hvnet contributors
 *
 * hvsim's command line: defaults, values, and a one-line error for each mistake.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include <cli.h>
#include <hvwire/nvsp.h>

#define WORDS 64

static struct cli cli;
static char err[1024];

/* Parse a line of words that blanks separate. */
static int
parse(const char *line)
{
	static char text[1024];
	static char *argv[WORDS + 1];
	char *save = NULL;
	int argc = 0;
	char *w;

	snprintf(text, sizeof(text), "hvsim %s", line);
	for (w = strtok_r(text, " ", &save); w != NULL && argc < WORDS;
	     w = strtok_r(NULL, " ", &save))
		argv[argc++] = w;
	argv[argc] = NULL;
	err[0] = '\0';
	return cli_parse(&cli, argc, argv, err, sizeof(err));
}

static void
test_defaults(void **state)
{
	const struct nic_conf *c = &cli.nic[0].conf;
	static const uint8_t mac[6] = { 0x00, 0x15, 0x5d, 0, 0, 1 };

	(void)state;
	assert_int_equal(parse("--nic netvsc -- cmd --nic x"), 0);
	assert_int_equal(cli.verb, CLI_LAB);
	assert_int_equal(cli.mode, JUDGE_STRICT);
	assert_int_equal(cli.pace, CLI_PACE_ADAPTIVE);
	assert_int_equal(cli.gpa, geteuid() == 0 ? GUESTMEM_PA : GUESTMEM_NONE);
	assert_int_equal(cli.cpu, -1);
	assert_int_equal(cli.nics, 1);
	assert_string_equal(cli.cmd[0], "cmd");
	assert_string_equal(cli.cmd[1], "--nic");
	assert_string_equal(c->name, "netvsc0");
	assert_memory_equal(c->mac, mac, 6);
	assert_int_equal(c->channels, 64);
	assert_int_equal(c->nvsp_version, NVSP_VERSION_61);
	assert_int_equal(c->ring_bytes, 2 << 20);
	assert_int_equal(c->max_packets, 8);
	assert_string_equal(cli.nic[0].wire, "sink");
}

static void
test_nic_values(void **state)
{
	const struct nic_conf *c = &cli.nic[1].conf;
	static const uint8_t mac[6] = { 2, 0xaa, 0, 1, 2, 3 };

	(void)state;
	assert_int_equal(parse("serve --nic netvsc,queues=4 --nic netvsc,mac=02:aa:00:01:02:03,"
			       "name=b-1,channels=7,nvsp=5,mtu=2000,ring=64K,section=4K,slots=99,"
			       "ranges=375,ppi=mix,rss=64,speed=25G,packets=1,align=0,hash-udp=1,"
			       "wire=tap:name=hv0:queues=4"), 0);
	assert_int_equal(cli.verb, CLI_SERVE);
	assert_int_equal(cli.nic[0].conf.channels, 4);
	assert_memory_equal(c->mac, mac, 6);
	assert_string_equal(c->name, "b-1");
	assert_int_equal(c->channels, 7);
	assert_int_equal(c->nvsp_version, NVSP_VERSION_5);
	assert_int_equal(c->mtu, 2000);
	assert_int_equal(c->ring_bytes, 65536);
	assert_int_equal(c->section_size, 4096);
	assert_int_equal(c->recv_slots, 99);
	assert_int_equal(c->ranges, 375);
	assert_int_equal(c->ppi, NIC_PPI_MIX);
	assert_int_equal(c->rss_entries, 64);
	assert_true(c->link_bps == 25000000000ull);
	assert_int_equal(c->max_packets, 1);
	assert_int_equal(c->align_shift, 0);
	assert_true(c->hash_udp);
	assert_string_equal(cli.nic[1].wire, "tap:name=hv0:queues=4");
}

static void
test_old_versions_lack_things(void **state)
{
	(void)state;
	assert_int_equal(parse("serve --nic netvsc,nvsp=1"), 0);
	assert_int_equal(cli.nic[0].conf.channels, 1);
	assert_int_equal(cli.nic[0].conf.mtu, 1500);
}

static void
test_poll(void **state)
{
	(void)state;
	assert_int_equal(parse("serve --mode polling --nic netvsc"), 0);
	assert_int_equal(cli.pace, CLI_PACE_PERIOD);
	assert_int_equal(cli.period_ns, 2000);
	assert_int_equal(parse("serve --mode polling --poll busy --nic netvsc"), 0);
	assert_int_equal(cli.pace, CLI_PACE_BUSY);
	assert_int_equal(parse("serve --poll 0.5 --nic netvsc"), 0);
	assert_int_equal(cli.pace, CLI_PACE_PERIOD);
	assert_int_equal(cli.period_ns, 500);
}

static void
test_other_verbs(void **state)
{
	(void)state;
	assert_int_equal(parse("ctl --socket /x violations --list --json"), 0);
	assert_int_equal(cli.verb, CLI_CTL);
	assert_true(cli.list);
	assert_true(cli.json);
	assert_string_equal(cli.socket, "/x");
	assert_string_equal(cli.cmd[0], "violations");
	assert_null(cli.cmd[1]);
	assert_int_equal(parse("run --socket /x -- ls --json"), 0);
	assert_int_equal(cli.verb, CLI_RUN);
	assert_string_equal(cli.cmd[1], "--json");
	assert_int_equal(parse("--help"), 0);
	assert_int_equal(cli.verb, CLI_HELP);
	assert_int_equal(parse("--version"), 0);
	assert_int_equal(cli.verb, CLI_VERSION);
}

/* A command line and what the error has to name. */
static const struct {
	const char *line;
	const char *value;
} bad[] = {
	{ "", "--nic" },
	{ "-- cmd", "--nic" },
	{ "--nic netvsc", "command" },
	{ "--nic netvsc --", "command" },
	{ "frob --nic netvsc", "frob" },
	{ "serve --frob --nic netvsc", "--frob" },
	{ "serve -x --nic netvsc", "-x" },
	{ "serve --nic", "--nic" },
	{ "serve --nic netvsc cmd", "cmd" },
	{ "serve --nic netvsc --assist queue-info", "--assist" },
	{ "serve --nic e1000", "e1000" },
	{ "serve --nic netvsc,frob=1", "frob" },
	{ "serve --nic netvsc,mac", "mac" },
	{ "serve --nic netvsc,mac=1:2", "1:2" },
	{ "serve --nic netvsc,mac=01:00:00:00:00:00", "01:00:00:00:00:00" },
	{ "serve --nic netvsc,mac=00:00:00:00:00:00", "00:00:00:00:00:00" },
	{ "serve --nic netvsc,mac=0x:2:3:4:5:6", "0x:2" },
	{ "serve --nic netvsc,name=a/b", "a/b" },
	{ "serve --nic netvsc,slots=16", "slots=16" },
	{ "serve --nic netvsc,mtu=1500,wire=gen,mtu=1600", "mtu is given twice" },
	{ "serve --nic netvsc,channels=4,queues=2", "queues is given twice" },
	{ "serve --nic netvsc,queues=2,ring=64K,channels=2", "channels is given twice" },
	{ "serve --poll 1e-9 --nic netvsc", "1e-9" },
	{ "serve --socket= --nic netvsc", "--socket" },
	{ "serve --nic netvsc,channels=0", "channels=0" },
	{ "serve --nic netvsc,channels=65", "64" },
	{ "serve --nic netvsc,channels=-1", "-1" },
	{ "serve --nic netvsc,channels=4x", "4x" },
	{ "serve --nic netvsc,ring=16385", "16385" },
	{ "serve --nic netvsc,nvsp=3", "nvsp=3" },
	{ "serve --nic netvsc,ppi=x", "ppi=x" },
	{ "serve --nic netvsc,hash-udp=2", "hash-udp=2" },
	{ "serve --nic netvsc,speed=0", "speed=0" },
	{ "serve --nic netvsc,nvsp=4,channels=2", "channels=2" },
	{ "serve --nic netvsc,nvsp=1,mtu=9000", "mtu=9000" },
	{ "serve --nic netvsc,name=a --nic netvsc,name=a", "name=a" },
	{ "serve --nic netvsc,mac=00:15:5d:00:00:02 --nic netvsc", "MAC" },
	{ "serve --mode loose --nic netvsc", "loose" },
	{ "serve --gpa x --nic netvsc", "--gpa x" },
	{ "serve --poll 0 --nic netvsc", "--poll 0" },
	{ "serve --poll nan --nic netvsc", "nan" },
	{ "serve --poll 1e300 --nic netvsc", "1e300" },
	{ "serve --cpu 100000 --nic netvsc", "100000" },
	{ "serve --cpu x --nic netvsc", "--cpu x" },
	{ "serve --json --nic netvsc", "--json" },
	{ "run", "command" },
	{ "run --nic netvsc -- ls", "--nic" },
	{ "ctl", "verb" },
};

static void
test_mistakes(void **state)
{
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		if (parse(bad[i].line) == 0)
			fail_msg("accepted: %s", bad[i].line);
		if (strstr(err, bad[i].value) == NULL || strchr(err, '\n') != NULL)
			fail_msg("'%s': the error is '%s'", bad[i].line, err);
	}
}

static void
test_too_many_nics(void **state)
{
	char line[1024] = "serve";
	unsigned int i;

	(void)state;
	for (i = 0; i < HVSIM_NICS_MAX; i++)
		strcat(line, " --nic netvsc");
	assert_int_equal(parse(line), 0);
	assert_int_equal(cli.nics, HVSIM_NICS_MAX);
	assert_string_equal(cli.nic[9].conf.name, "netvsc9");
	strcat(line, " --nic netvsc");
	assert_int_not_equal(parse(line), 0);
	assert_non_null(strstr(err, "16"));
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_defaults),
		cmocka_unit_test(test_nic_values),
		cmocka_unit_test(test_old_versions_lack_things),
		cmocka_unit_test(test_poll),
		cmocka_unit_test(test_other_verbs),
		cmocka_unit_test(test_mistakes),
		cmocka_unit_test(test_too_many_nics),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

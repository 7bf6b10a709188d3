/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 hvnet contributors
 *
 * hvsim: a simulated Hyper-V host; starts what the command line asks for.
 */
#include <errno.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "cli.h"
#include "ctl.h"
#include "lab.h"
#include "launch.h"
#include "report.h"
#include "rundir.h"
#include "server.h"

#define ERR_MAX 1024

static int
fail(const char *err, int status)
{
	fprintf(stderr, "hvsim: %s\n", err);
	return status;
}

/* Channels, guests and mappings need many descriptors; the child keeps its own limit. */
static void
raise_files(struct rlimit *old)
{
	struct rlimit rl;

	if (getrlimit(RLIMIT_NOFILE, old) != 0)
		return;
	rl = *old;
	rl.rlim_cur = rl.rlim_max;
	setrlimit(RLIMIT_NOFILE, &rl);
}

static int
pin(int cpu, char *err, size_t errlen)
{
	cpu_set_t set;

	if (cpu < 0)
		return 0;
	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	if (sched_setaffinity(0, sizeof(set), &set) == 0)
		return 0;
	snprintf(err, errlen, "--cpu %d: %s; choose a CPU that this process may use", cpu,
		 strerror(errno));
	return -EINVAL;
}

/* Start the command in a child whose signals and limits are as hvsim found them. */
static pid_t
start_child(const struct launch *l, const char *socket, const sigset_t *sigs,
	    const struct rlimit *files)
{
	pid_t pid = fork();
	int ret;

	if (pid != 0)
		return pid;
	signal(SIGPIPE, SIG_DFL);
	signal(SIGXFSZ, SIG_DFL);
	sigprocmask(SIG_SETMASK, sigs, NULL);
	setrlimit(RLIMIT_NOFILE, files);
	ret = launch_exec(l, socket);
	fprintf(stderr, "hvsim: cannot run %s: %s; give the path of a program\n", l->path,
		strerror(-ret));
	_exit(126);
}

/* Everything between an open run folder and its end. */
static int
serve_in(const struct cli *cli, struct rundir *rd, const struct launch *l, const sigset_t *sigs,
	 const struct rlimit *files)
{
	struct server server = { .epoll = -1 };
	struct lab lab = { 0 };
	char err[ERR_MAX];
	int status = 1;
	int ret;

	ret = lab_create(&lab, cli, rd->path, err, sizeof(err));
	if (ret == 0) {
		ret = server_init(&server, cli, rd, &lab);
		if (ret != 0)
			snprintf(err, sizeof(err), "cannot serve: %s; check ulimit -n",
				 strerror(-ret));
	}
	if (ret == 0 && l != NULL) {
		server.child = start_child(l, rd->socket, sigs, files);
		if (server.child < 0) {
			ret = -errno;
			snprintf(err, sizeof(err), "cannot start %s: %s; free some memory or "
				 "processes", l->argv[0], strerror(-ret));
			server.child = 0;
		}
	} else if (ret == 0) {
		printf("%s\n", rd->socket);
		fflush(stdout);
	}
	if (ret == 0)
		ret = pin(cli->cpu, err, sizeof(err));
	if (ret == 0)
		status = server_run(&server);
	else
		fail(err, 1);
	if (ret == 0 && cli->report != NULL) {
		ret = report_write(&lab, cli->report);
		if (ret != 0) {
			snprintf(err, sizeof(err), "--report %s: cannot be written; name another "
				 "file", cli->report);
			status = fail(err, 1);
		}
	}
	server_fini(&server);
	lab_destroy(&lab);
	return status;
}

static int
serve(const struct cli *cli)
{
	struct launch launch;
	struct rlimit files = { 0 };
	struct rundir rd;
	char err[ERR_MAX];
	sigset_t sigs;
	int status;

	if (cli->verb == CLI_LAB &&
	    launch_check(&launch, cli->cmd, cli->assist, err, sizeof(err)) != 0)
		return fail(err, launch.status);
	server_signals(&sigs);
	raise_files(&files);
	if (rundir_open(&rd, cli->socket, err, sizeof(err)) != 0)
		return fail(err, 1);
	status = serve_in(cli, &rd, cli->verb == CLI_LAB ? &launch : NULL, &sigs, &files);
	rundir_close(&rd);
	return status;
}

static int
run(const struct cli *cli)
{
	char path[RUNDIR_SOCKET_MAX];
	struct launch launch;
	char err[ERR_MAX];
	int ret;

	if (launch_check(&launch, cli->cmd, cli->assist, err, sizeof(err)) != 0)
		return fail(err, launch.status);
	if (ctl_socket(cli, path, err, sizeof(err)) != 0)
		return fail(err, 1);
	ret = launch_exec(&launch, path);
	snprintf(err, sizeof(err), "cannot run %s: %s; give the path of a program",
		 launch.argv[0], strerror(-ret));
	return fail(err, 126);
}

int
main(int argc, char **argv)
{
	static struct cli cli;
	char err[ERR_MAX] = "";

	if (cli_parse(&cli, argc, argv, err, sizeof(err)) != 0)
		return fail(err, 2);
	switch (cli.verb) {
	case CLI_LAB:
	case CLI_SERVE:
		return serve(&cli);
	case CLI_RUN:
		return run(&cli);
	case CLI_CTL:
		return ctl_main(&cli, err, sizeof(err)) == 0 ? 0 : fail(err, 1);
	case CLI_HELP:
		fputs(cli_help, stdout);
		return 0;
	case CLI_VERSION:
		printf("hvsim %s\n", HVSIM_VERSION);
		return 0;
	}
	return 1;
}

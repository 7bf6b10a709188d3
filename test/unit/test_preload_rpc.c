/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 hvnet contributors
 *
 * The guest's connection when the host answers, is silent, takes nobody in, or is gone.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include <preload/shim.h>

/** Calls of a program that starts; each would wait RPC_TIMEOUT_MS. */
#define CALLS 100

static char folder[] = "/tmp/hvsim-rpc-XXXXXX";
static char path[64];

static double
seconds(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (double)ts.tv_sec + (double)ts.tv_nsec / 1e9;
}

/* A listening socket at the place where the guest looks for its host. */
static int
listen_at(int backlog)
{
	struct sockaddr_un sa = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);

	unlink(path);
	memcpy(sa.sun_path, path, strlen(path) + 1);
	assert_int_equal(bind(fd, (struct sockaddr *)&sa, sizeof(sa)), 0);
	assert_int_equal(listen(fd, backlog), 0);
	return fd;
}

/* Run a guest in a process of its own, so that each test has a fresh connection. */
static void
as_guest(int (*guest)(void))
{
	int status;
	pid_t pid = fork();

	if (pid == 0)
		_exit(guest());
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), 0);
}

static int
call(void)
{
	struct proto_msg m = { .type = PROTO_MEM_UNMAP };
	int fd = -1;

	return shim_call(&m, &fd);
}

/* All calls fail, and together they take little longer than the first. */
static int
guest_gives_up(void)
{
	double start = seconds();
	int i;

	for (i = 0; i < CALLS; i++)
		if (call() != -ENODEV || shim_mode() != -1)
			return 1;
	return seconds() - start < 20 * RPC_TIMEOUT_MS / 1000.0 ? 0 : 2;
}

static void
test_silent(void **state)
{
	int fd = listen_at(64);

	(void)state;
	as_guest(guest_gives_up);
	close(fd);
}

/* Nobody comes in, nor does a host hang that only looks whether the socket is served. */
static void
test_full(void **state)
{
	double start = seconds();
	int waiting[8];
	int fd = listen_at(0);
	int n = 0;

	(void)state;
	do
		waiting[n] = hvsim_proto_connect(path);
	while (waiting[n] >= 0 && ++n < 8);
	assert_true(n < 8);
	assert_int_equal(waiting[n], -EAGAIN);
	assert_true(seconds() - start < 9);
	while (n > 0)
		close(waiting[--n]);
	close(fd);
}

static void
test_gone(void **state)
{
	(void)state;
	close(listen_at(64));
	as_guest(guest_gives_up);
}

/* Answers two connections, as after a host that closed the first. */
static void
host_answers(int listener)
{
	struct proto_msg m;
	int in;
	int i;

	for (i = 0; i < 2; i++) {
		int fd = accept(listener, NULL, NULL);
		int k;

		for (k = 0; k < 2 && hvsim_proto_recv(fd, &m, &in, 0) == 1; k++) {
			m.status = 0;
			m.arg = 1;
			snprintf(m.text, sizeof(m.text), "/root-%d", i);
			hvsim_proto_send(fd, &m, -1, 0);
		}
		close(fd);
	}
	_exit(0);
}

static int
guest_reconnects(void)
{
	if (call() != 0 || shim_mode() != 1)
		return 1;
	/* The connection is closed now: found out by the first call, mended by the next. */
	if (call() != -ENODEV)
		return 2;
	return call() == 0 ? 0 : 3;
}

static void
test_reconnect(void **state)
{
	int fd = listen_at(64);
	int status;
	pid_t pid = fork();

	(void)state;
	if (pid == 0)
		host_answers(fd);
	as_guest(guest_reconnects);
	close(fd);
	assert_int_equal(waitpid(pid, &status, 0), pid);
}

static int
setup(void **state)
{
	(void)state;
	if (mkdtemp(folder) == NULL)
		return -1;
	snprintf(path, sizeof(path), "%s/s", folder);
	return setenv("HVSIM_SOCKET", path, 1);
}

static int
teardown(void **state)
{
	(void)state;
	unlink(path);
	return rmdir(folder);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_silent),
		cmocka_unit_test(test_full),
		cmocka_unit_test(test_gone),
		cmocka_unit_test(test_reconnect),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}

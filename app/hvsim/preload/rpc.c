/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 hvnet contributors
 *
 * The guest process's one connection to the host.
 *
 * A forked child makes its own connection when it needs one, but keeps the inherited
 * descriptor: memory that both share stays known to the host until the last of them ends.
 */
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>
#include <fcntl.h>

#include "shim.h"

/** A host that does not answer within this time is given up, milliseconds. */
#ifndef RPC_TIMEOUT_MS
#define RPC_TIMEOUT_MS 10000
#endif
/** Keep our descriptor away from the low numbers that programs count on. */
#define RPC_FD_MIN 200

static struct {
	pthread_mutex_t lock;
	int sock; /* -1: none */
	ino_t ino; /* of the socket: a program may close descriptors that are not its own */
	uint32_t seq;
	bool silent; /* did not answer in time: asking again would cost as long each time */
	int mode;
	char root[PROTO_TEXT];
} rpc = { .lock = PTHREAD_MUTEX_INITIALIZER, .sock = -1, .mode = -1 };

/* What rpc_enter() has to restore. */
struct rpc_guard {
	sigset_t sigs;
	int cancel;
	int err;
};

static void
rpc_enter(struct rpc_guard *g)
{
	sigset_t all;

	g->err = errno;
	sigfillset(&all);
	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &g->cancel);
	pthread_sigmask(SIG_BLOCK, &all, &g->sigs);
	pthread_mutex_lock(&rpc.lock);
}

static void
rpc_leave(struct rpc_guard *g)
{
	pthread_mutex_unlock(&rpc.lock);
	pthread_sigmask(SIG_SETMASK, &g->sigs, NULL);
	pthread_setcancelstate(g->cancel, NULL);
	errno = g->err;
}

static void
rpc_child(void)
{
	pthread_mutex_init(&rpc.lock, NULL);
	rpc.sock = -1;
}

__attribute__((constructor)) static void
rpc_init(void)
{
	pthread_atfork(NULL, NULL, rpc_child);
}

static bool
rpc_alive(void)
{
	struct stat st;

	return rpc.sock >= 0 && fstat(rpc.sock, &st) == 0 && S_ISSOCK(st.st_mode) &&
	       st.st_ino == rpc.ino;
}

/* One request and its answer; a failure leaves no connection. */
static int
rpc_exchange(struct proto_msg *m, int *fd)
{
	struct pollfd pfd = { .fd = rpc.sock, .events = POLLIN };
	uint32_t seq = ++rpc.seq;
	int ret;

	m->seq = seq;
	ret = hvsim_proto_send(rpc.sock, m, *fd, 0);
	*fd = -1;
	if (ret == 0) {
		rpc.silent = poll(&pfd, 1, RPC_TIMEOUT_MS) == 0;
		ret = rpc.silent ? 0 : hvsim_proto_recv(rpc.sock, m, fd, MSG_DONTWAIT);
	}
	if (ret == 1 && m->seq == seq)
		return 0;
	if (*fd >= 0)
		close(*fd);
	*fd = -1;
	close(rpc.sock);
	rpc.sock = -1;
	return -ENODEV;
}

static int
rpc_connect(void)
{
	struct proto_msg m = { .type = PROTO_HELLO, .arg = PROTO_VERSION };
	const char *path = getenv("HVSIM_SOCKET");
	struct stat st;
	int fd = -1;
	int high;

	if (path == NULL || rpc.silent)
		return -ENODEV;
	rpc.sock = hvsim_proto_connect(path);
	if (rpc.sock < 0) {
		rpc.silent = rpc.sock == -EAGAIN;
		rpc.sock = -1;
		return -ENODEV;
	}
	high = fcntl(rpc.sock, F_DUPFD_CLOEXEC, RPC_FD_MIN);
	if (high >= 0) {
		close(rpc.sock);
		rpc.sock = high;
	}
	rpc.ino = fstat(rpc.sock, &st) == 0 ? st.st_ino : 0;
	if (rpc_exchange(&m, &fd) != 0)
		return -ENODEV;
	if (m.status != 0) {
		close(rpc.sock);
		rpc.sock = -1;
		return m.status;
	}
	rpc.mode = (int)m.arg;
	memcpy(rpc.root, m.text, sizeof(rpc.root));
	return 0;
}

int
shim_call(struct proto_msg *m, int *fd)
{
	struct rpc_guard g;
	int ret = 0;

	rpc_enter(&g);
	if (!rpc_alive()) {
		rpc.sock = -1;
		ret = rpc_connect();
	}
	if (ret == 0)
		ret = rpc_exchange(m, fd);
	else
		*fd = -1;
	rpc_leave(&g);
	return ret != 0 ? ret : m->status;
}

/* Connect once so that root and mode are known; the tree outlives a broken connection. */
static int
rpc_known(void)
{
	struct rpc_guard g;
	int ret = 0;

	if (getenv("HVSIM_SOCKET") == NULL)
		return -ENODEV;
	rpc_enter(&g);
	if (rpc.root[0] == '\0')
		ret = rpc_connect();
	rpc_leave(&g);
	return ret;
}

int
shim_mode(void)
{
	return rpc_known() == 0 ? rpc.mode : -1;
}

const char *
shim_path(const char *path, char *buf, size_t len)
{
	static const char prefix[] = PROTO_SYSFS_VMBUS;
	const size_t plen = sizeof(prefix) - 1;
	size_t root;
	size_t rest;

	if (path == NULL || strncmp(path, prefix, plen) != 0 ||
	    (path[plen] != '/' && path[plen] != '\0') || getenv("HVSIM_SOCKET") == NULL)
		return path;
	if (rpc_known() != 0) {
		errno = ENODEV;
		return NULL;
	}
	root = strlen(rpc.root);
	rest = strlen(path);
	if (root + rest + 1 > len) {
		errno = ENAMETOOLONG;
		return NULL;
	}
	memcpy(buf, rpc.root, root);
	memcpy(buf + root, path, rest + 1);
	return buf;
}

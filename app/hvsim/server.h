/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 hvnet contributors
 *
 * The host's one loop: NICs, wires, guests, control and signals.
 */
#ifndef HVSIM_SERVER_H
#define HVSIM_SERVER_H

#include <signal.h>
#include <stdbool.h>
#include <sys/types.h>

#include "cli.h"
#include "lab.h"
#include "rundir.h"

/** What an epoll event is about. */
enum source_kind {
	SOURCE_LISTEN,
	SOURCE_SIGNAL,
	SOURCE_GUEST, /**< a connection: guest process or control */
	SOURCE_UIO,   /**< the host's end of an open /dev/uioN */
	SOURCE_WIRE,
};

struct source {
	enum source_kind kind;
	int fd;
	int id;             /**< guests: the owner number in guest memory */
	int pid;            /**< guests and their uio ends: the process, 0: not known */
	bool closed;        /**< to be freed after this batch of events */
	struct lab_nic *nic; /**< uio */
	struct source *next;
};

struct server {
	const struct cli *cli;
	struct rundir *rd;
	struct lab *lab;
	struct source *sources;
	int epoll;
	int next_id;
	pid_t child;        /**< 0: none */
	int status;         /**< of the child, as a shell would show it */
	bool stop;
};

/** Block the signals that the loop takes; before anything else. @p old for the child. */
void server_signals(sigset_t *old);

/** Prepare; 0 or -errno. */
int server_init(struct server *s, const struct cli *cli, struct rundir *rd, struct lab *lab);

/** Run until a signal or the end of the child; returns the exit status. */
int server_run(struct server *s);

/** Close all connections. */
void server_fini(struct server *s);

/** Watch @p fd; NULL when memory is short. */
struct source *server_add(struct server *s, enum source_kind kind, int fd, uint32_t events);

/** Stop watching; closes the descriptor unless it is a uio end or a wire. */
void server_remove(struct server *s, struct source *src);

/* guest.c */

/** Answer what guest or control @p src asked. */
void guest_input(struct server *s, struct source *src);

/** A guest's end of uio device spoke or closed. */
void guest_uio_input(struct server *s, struct source *src);

#endif /* HVSIM_SERVER_H */

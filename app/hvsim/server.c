/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 hvnet contributors
 *
 * Runs everything in one thread: NICs as fast as asked, descriptors every 100 us or when idle.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "server.h"

/** Descriptors are looked at this often while NICs work, nanoseconds. */
#define CONTROL_NS 100000u
/** Adaptive: spin this long after the last work, then sleep from MIN doubling to MAX. */
#define ADAPT_SPIN_NS 50000u
#define ADAPT_MIN_NS 4000u
#define ADAPT_MAX_NS 100000u
/** A shorter rest is spun, a longer one slept. */
#define SLEEP_MIN_NS 60000u
/** Without a session the loop only waits. */
#define IDLE_NS 1000000000u
/** Events taken at once. */
#define EVENTS 64

/** For the SIGBUS handler. */
static struct guestmem *fault_gm;

static uint64_t
now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * 1000000000u + (uint64_t)ts.tv_nsec;
}

static inline void
relax(void)
{
#if defined(__x86_64__)
	__builtin_ia32_pause();
#elif defined(__aarch64__)
	__asm__ volatile("yield");
#endif
}

/* A guest cut a file of its memory short while the host looked into it. */
static void
on_sigbus(int sig, siginfo_t *info, void *context)
{
	(void)context;
	if (fault_gm != NULL && guestmem_fault(fault_gm, info->si_addr))
		return;
	signal(sig, SIG_DFL);
	raise(sig);
}

void
server_signals(sigset_t *old)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGINT);
	sigaddset(&set, SIGTERM);
	sigaddset(&set, SIGHUP);
	sigaddset(&set, SIGQUIT);
	sigaddset(&set, SIGCHLD);
	sigprocmask(SIG_BLOCK, &set, old);
	signal(SIGPIPE, SIG_IGN);
	signal(SIGXFSZ, SIG_IGN); /* a capture that the user limits ends with an error */
}

struct source *
server_add(struct server *s, enum source_kind kind, int fd, uint32_t events)
{
	struct source *src = calloc(1, sizeof(*src));
	struct epoll_event ev = { .events = events, .data.ptr = src };

	if (src == NULL)
		return NULL;
	src->kind = kind;
	src->fd = fd;
	src->id = s->next_id++;
	if (epoll_ctl(s->epoll, EPOLL_CTL_ADD, fd, &ev) != 0) {
		free(src);
		return NULL;
	}
	src->next = s->sources;
	s->sources = src;
	return src;
}

void
server_remove(struct server *s, struct source *src)
{
	if (src->closed)
		return;
	src->closed = true;
	epoll_ctl(s->epoll, EPOLL_CTL_DEL, src->fd, NULL);
	if (src->kind == SOURCE_UIO)
		lab_uio_close(src->nic, src->fd);
	else if (src->kind == SOURCE_GUEST || src->kind == SOURCE_SIGNAL)
		close(src->fd);
}

/* Free what was removed; not before all events of the batch were looked at. */
static void
sources_sweep(struct server *s)
{
	struct source **p = &s->sources;

	while (*p != NULL) {
		struct source *src = *p;

		if (!src->closed) {
			p = &src->next;
			continue;
		}
		*p = src->next;
		free(src);
	}
}

static int
watch_wires(struct server *s)
{
	uint32_t i;
	uint32_t q;

	for (i = 0; i < s->lab->nics; i++) {
		struct wire *w = s->lab->nic[i].wire;

		for (q = 0; w->ops->fd != NULL && q < w->nqueues; q++) {
			int fd = w->ops->fd(w, q);

			/* Edge-triggered: a NIC without room must not keep the loop awake. */
			if (fd >= 0 && server_add(s, SOURCE_WIRE, fd, EPOLLIN | EPOLLET) == NULL &&
			    errno != EPERM && errno != EEXIST)
				return -errno;
		}
	}
	return 0;
}

int
server_init(struct server *s, const struct cli *cli, struct rundir *rd, struct lab *lab)
{
	struct sigaction sa = { .sa_sigaction = on_sigbus, .sa_flags = SA_SIGINFO };
	sigset_t set;
	int fd;

	*s = (struct server){ .cli = cli, .rd = rd, .lab = lab, .next_id = 1 };
	s->epoll = epoll_create1(EPOLL_CLOEXEC);
	if (s->epoll < 0)
		return -errno;
	sigemptyset(&set);
	sigaddset(&set, SIGINT);
	sigaddset(&set, SIGTERM);
	sigaddset(&set, SIGHUP);
	sigaddset(&set, SIGQUIT);
	sigaddset(&set, SIGCHLD);
	fd = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
	if (fd < 0)
		return -errno;
	if (server_add(s, SOURCE_SIGNAL, fd, EPOLLIN) == NULL) {
		close(fd);
		return -ENOMEM;
	}
	if (server_add(s, SOURCE_LISTEN, rd->listen, EPOLLIN) == NULL)
		return -ENOMEM;
	fault_gm = lab->gm;
	sigaction(SIGBUS, &sa, NULL);
	/* Sleeps of a few microseconds are meant so. */
	prctl(PR_SET_TIMERSLACK, 1UL, 0UL, 0UL, 0UL);
	return watch_wires(s);
}

void
server_fini(struct server *s)
{
	struct source *src;

	for (src = s->sources; src != NULL; src = src->next)
		server_remove(s, src);
	sources_sweep(s);
	if (s->epoll >= 0)
		close(s->epoll);
	fault_gm = NULL;
}

static void
accept_guest(struct server *s)
{
	int fd = accept4(s->rd->listen, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);

	if (fd >= 0 && server_add(s, SOURCE_GUEST, fd, EPOLLIN) == NULL)
		close(fd);
}

/* The child ended, if it did. */
static void
reap_child(struct server *s)
{
	int status;

	if (s->child == 0 || waitpid(s->child, &status, WNOHANG) != s->child)
		return;
	s->child = 0;
	s->status = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
	s->stop = true;
}

static void
take_signals(struct server *s, int fd)
{
	struct signalfd_siginfo si;

	while (read(fd, &si, sizeof(si)) == (ssize_t)sizeof(si)) {
		if (si.ssi_signo == SIGCHLD) {
			reap_child(s);
		} else if (s->child == 0) {
			s->stop = true;
		} else if (si.ssi_code != SI_KERNEL) {
			/* From the terminal the child has got it already. */
			kill(s->child, (int)si.ssi_signo);
		}
	}
}

/* Wait for descriptors at most @p wait_ns and serve them; true when there was one. */
static bool
serve_descriptors(struct server *s, uint64_t wait_ns)
{
	struct timespec ts = {
		.tv_sec = (time_t)(wait_ns / 1000000000u),
		.tv_nsec = (long)(wait_ns % 1000000000u),
	};
	struct epoll_event ev[EVENTS];
	int n;
	int i;

	n = epoll_pwait2(s->epoll, ev, EVENTS, &ts, NULL);
	if (n < 0 && errno == ENOSYS)
		n = epoll_wait(s->epoll, ev, EVENTS, (int)((wait_ns + 999999) / 1000000));
	for (i = 0; i < n; i++) {
		struct source *src = ev[i].data.ptr;

		if (src->closed)
			continue;
		switch (src->kind) {
		case SOURCE_LISTEN:
			accept_guest(s);
			break;
		case SOURCE_SIGNAL:
			take_signals(s, src->fd);
			break;
		case SOURCE_GUEST:
			guest_input(s, src);
			break;
		case SOURCE_UIO:
			guest_uio_input(s, src);
			break;
		case SOURCE_WIRE:
			break; /* only to wake up */
		}
	}
	if (n > 0)
		sources_sweep(s);
	return n > 0;
}

/* What the pace needs to know from round to round. */
struct pace {
	uint64_t last_work;
	uint64_t sleep;
	uint64_t next_round;
	uint64_t next_control;
};

/* Rest between two rounds, as the user wants it. */
static void
rest(struct server *s, struct pace *p, bool worked, uint64_t now)
{
	switch (s->cli->pace) {
	case CLI_PACE_BUSY:
		relax();
		return;
	case CLI_PACE_ADAPTIVE:
		if (worked || now - p->last_work < ADAPT_SPIN_NS) {
			if (worked)
				p->last_work = now;
			p->sleep = ADAPT_MIN_NS;
			relax();
			return;
		}
		if (serve_descriptors(s, p->sleep))
			p->last_work = now_ns();
		p->next_control = now + p->sleep + CONTROL_NS;
		p->sleep = p->sleep * 2 < ADAPT_MAX_NS ? p->sleep * 2 : ADAPT_MAX_NS;
		return;
	case CLI_PACE_PERIOD:
		p->next_round += s->cli->period_ns;
		if (p->next_round < now)
			p->next_round = now;
		while (now < p->next_round) {
			if (p->next_round - now >= SLEEP_MIN_NS)
				serve_descriptors(s, p->next_round - now - SLEEP_MIN_NS / 2);
			else
				relax();
			now = now_ns();
		}
		return;
	}
}

int
server_run(struct server *s)
{
	struct pace p = { 0 };

	reap_child(s);
	while (!s->stop) {
		uint64_t now = now_ns();
		uint32_t work;

		if (s->lab->open == 0) {
			serve_descriptors(s, IDLE_NS);
			continue;
		}
		if (now >= p.next_control) {
			p.next_control = now + CONTROL_NS;
			serve_descriptors(s, 0);
		}
		if (now >= s->lab->due_ns)
			lab_tick(s->lab, now);
		work = lab_poll(s->lab, now);
		rest(s, &p, work != 0, now);
	}
	return s->status;
}

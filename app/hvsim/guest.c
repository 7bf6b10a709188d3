/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 hvnet contributors
 *
 * Answers guest processes and control clients; never waits for them.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include "preload/proto.h"
#include "procshare.h"
#include "report.h"
#include "server.h"

/** Messages taken from one connection before the others have their turn. */
#define GUEST_BATCH 32

/* Put a text into a memfd for the other side to read; descriptor or -errno. */
static int
text_file(const char *text)
{
	size_t len = strlen(text);
	size_t done = 0;
	int fd = memfd_create("hvsim-answer", MFD_CLOEXEC);

	if (fd < 0)
		return -errno;
	while (done < len) {
		ssize_t n = write(fd, text + done, len - done);

		if (n <= 0) {
			close(fd);
			return -EIO;
		}
		done += (size_t)n;
	}
	lseek(fd, 0, SEEK_SET);
	return fd;
}

/* "link NIC up|down". */
static int
ctl_link(struct server *s, char *words, struct proto_msg *m)
{
	char *save = NULL;
	char *name;
	char *state;
	struct lab_nic *n;

	strtok_r(words, " ", &save);
	name = strtok_r(NULL, " ", &save);
	state = strtok_r(NULL, " ", &save);
	if (name == NULL || state == NULL || strtok_r(NULL, " ", &save) != NULL ||
	    (strcmp(state, "up") != 0 && strcmp(state, "down") != 0)) {
		snprintf(m->text, sizeof(m->text), "use link NIC up|down");
		return -EINVAL;
	}
	n = lab_find(s->lab, name);
	if (n == NULL) {
		snprintf(m->text, sizeof(m->text), "link %.64s: no such NIC; see hvsim ctl info",
			 name);
		return -ENODEV;
	}
	nic_set_link(n->nic, strcmp(state, "up") == 0);
	return 0;
}

/* Carry out a control verb; the answer's descriptor or -1. */
static int
ctl_verb(struct server *s, struct proto_msg *m)
{
	char words[PROTO_TEXT];
	struct json_object *o = NULL;
	int fd = -1;

	memcpy(words, m->text, sizeof(words));
	m->text[0] = '\0';
	m->status = 0;
	if (strcmp(words, "stats") == 0) {
		o = report_stats(s->lab);
	} else if (strcmp(words, "violations") == 0) {
		o = report_violations(s->lab);
	} else if (strcmp(words, "info") == 0) {
		o = report_info(s->lab, s->rd->socket);
	} else if (strncmp(words, "link ", 5) == 0 || strcmp(words, "link") == 0) {
		m->status = ctl_link(s, words, m);
		o = json_object_new_object();
	} else {
		snprintf(m->text, sizeof(m->text), "unknown verb %.64s; use info, stats, "
			 "violations or link", words);
		m->status = -EINVAL;
	}
	if (o != NULL && m->status == 0) {
		fd = text_file(json_object_to_json_string_ext(o, JSON_C_TO_STRING_PRETTY));
		if (fd < 0)
			m->status = fd;
	}
	json_object_put(o);
	return fd;
}

static int
hello(struct server *s, struct source *src, struct proto_msg *m)
{
	struct ucred cred = { 0 };
	socklen_t len = sizeof(cred);

	if (m->arg != PROTO_VERSION)
		return -EPROTONOSUPPORT;
	if (getsockopt(src->fd, SOL_SOCKET, SO_PEERCRED, &cred, &len) == 0)
		src->pid = (int)cred.pid;
	m->arg = (uint32_t)s->cli->gpa;
	snprintf(m->text, sizeof(m->text), "%s", s->lab->root);
	return 0;
}

/*
 * Has a stranger the NIC already? The kernel would let both in and both would fail in odd
 * ways; secondary processes of the same application share memory with it and are welcome.
 */
static bool
uio_taken(const struct server *s, const struct source *src, const struct lab_nic *n)
{
	const struct source *other;
	int holder = 0;

	for (other = s->sources; other != NULL; other = other->next) {
		if (other->kind != SOURCE_UIO || other->closed || other->nic != n)
			continue;
		if (other->pid == 0 || src->pid == 0 || procshare(other->pid, src->pid))
			return false;
		holder = other->pid;
	}
	if (holder != 0)
		fprintf(stderr, "hvsim: NIC %s is taken by process %d, so process %d cannot have "
			"it; end that or use another NIC\n", nic_conf(n->nic)->name, holder,
			src->pid);
	return holder != 0;
}

/* Open /dev/uioN; the descriptor for the guest is put into @p fd. */
static int
uio_open(struct server *s, struct source *src, const struct proto_msg *m, int *fd)
{
	struct source *uio;
	struct lab_nic *n;
	int host;
	int ret;

	if (m->arg >= s->lab->nics)
		return -ENOENT;
	n = &s->lab->nic[m->arg];
	if (uio_taken(s, src, n))
		return -EBUSY;
	ret = lab_uio_open(n, src->id, &host, fd);
	if (ret != 0)
		return ret;
	uio = server_add(s, SOURCE_UIO, host, EPOLLIN);
	if (uio == NULL) {
		close(*fd);
		*fd = -1;
		lab_uio_close(n, host);
		return -ENOMEM;
	}
	uio->nic = n;
	uio->pid = src->pid;
	return 0;
}

/* One request; @p in is the descriptor that came, the result the one to send. */
static int
request(struct server *s, struct source *src, struct proto_msg *m, int in, bool *close_out)
{
	int fd = -1;

	*close_out = true;
	switch (m->type) {
	case PROTO_HELLO:
		m->status = hello(s, src, m);
		break;
	case PROTO_UIO_OPEN:
		m->status = uio_open(s, src, m, &fd);
		break;
	case PROTO_UIO_MAP:
		*close_out = false;
		fd = m->arg < s->lab->nics ?
			lab_uio_map(&s->lab->nic[m->arg], m->ofs, m->len) : -ENODEV;
		m->status = fd < 0 ? fd : 0;
		break;
	case PROTO_MEM_MAP:
		m->status = in < 0 ? -EBADF :
			guestmem_map(s->lab->gm, src->id, m->va, m->len, in, m->ofs);
		break;
	case PROTO_MEM_UNMAP:
		guestmem_unmap(s->lab->gm, src->id, m->va, m->len);
		m->status = 0;
		break;
	case PROTO_CTL:
		fd = ctl_verb(s, m);
		break;
	default:
		m->status = -ENOSYS;
		break;
	}
	return fd;
}

void
guest_input(struct server *s, struct source *src)
{
	struct proto_msg m;
	bool close_out;
	int in;
	int out;
	int ret;
	int i;

	for (i = 0; i < GUEST_BATCH; i++) {
		ret = hvsim_proto_recv(src->fd, &m, &in, MSG_DONTWAIT);
		if (ret == -EAGAIN || ret == -EINTR)
			return;
		if (ret != 1)
			break;
		out = request(s, src, &m, in, &close_out);
		if (in >= 0)
			close(in);
		/* A client waits for each answer, so there is room for it, or it is no client. */
		ret = hvsim_proto_send(src->fd, &m, out < 0 ? -1 : out, MSG_DONTWAIT);
		if (out >= 0 && close_out)
			close(out);
		if (ret != 0)
			break;
	}
	if (i == GUEST_BATCH)
		return;
	if (s->cli->verbose && src->pid != 0)
		fprintf(stderr, "hvsim: guest process %d left\n", src->pid);
	guestmem_drop(s->lab->gm, src->id);
	server_remove(s, src);
}

void
guest_uio_input(struct server *s, struct source *src)
{
	int32_t value;
	ssize_t n;
	int i;

	for (i = 0; i < GUEST_BATCH; i++) {
		n = recv(src->fd, &value, sizeof(value), MSG_DONTWAIT | MSG_TRUNC);
		if (n < 0 && (errno == EAGAIN || errno == EINTR))
			return;
		if (n <= 0) {
			server_remove(s, src);
			return;
		}
		/* The kernel refuses other sizes. */
		if (n == (ssize_t)sizeof(value))
			lab_uio_write(src->nic, value);
	}
}

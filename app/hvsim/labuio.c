/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 hvnet contributors
 *
 * What /dev/uioN does: the guest holds one end of a socket pair, the NIC the other.
 *
 * The kernel sees the last close of a device; here the host's end of each open sees end of
 * file when the guest's last duplicate is gone, however the guest ended.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <linux/sockios.h>

#include "lab.h"
#include "preload/proto.h"

/* Begin a session: fresh rings, as the kernel's first open makes them. */
static int
session_begin(struct lab_nic *n, int owner)
{
	struct lab_chan *c = &n->chan[0];
	int ret;

	memset(c->rings.p, 0, c->rings.len);
	lab_ids_quiet(n->lab, c);
	ret = nic_open(n->nic, c->rings.p, n->recv.p, n->recv_gpadl, n->recv.len, n->send.p,
		       n->send_gpadl, n->send.len);
	if (ret != 0)
		return ret;
	n->owner = owner;
	n->events = 0;
	n->sessions++;
	n->lab->open++;
	if (n->lab->verbose)
		fprintf(stderr, "hvsim: %s: session %llu begins\n", nic_conf(n->nic)->name,
			(unsigned long long)n->sessions);
	return 0;
}

/* Name the guest's end, so that the guest knows it again. */
static int
name_socket(const struct lab_nic *n, int fd)
{
	static uint64_t serial;
	struct sockaddr_un sa = { .sun_family = AF_UNIX };
	int len;

	len = snprintf(sa.sun_path + 1, sizeof(sa.sun_path) - 1, PROTO_UIO_NAME "%u.%d.%llu",
		       n->index, (int)getpid(), (unsigned long long)serial++);
	return bind(fd, (const struct sockaddr *)&sa,
		    (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + (size_t)len)) == 0 ?
		0 : -errno;
}

int
lab_uio_open(struct lab_nic *n, int owner, int *host, int *guest)
{
	int sv[2];
	int ret = 0;

	if (n->uios == LAB_UIO_MAX)
		return -EMFILE;
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, sv) != 0)
		return -errno;
	ret = name_socket(n, sv[1]);
	if (ret == 0 && n->uios == 0)
		ret = session_begin(n, owner);
	if (ret != 0) {
		close(sv[0]);
		close(sv[1]);
		return ret;
	}
	n->uio[n->uios++] = sv[0];
	*host = sv[0];
	*guest = sv[1];
	return 0;
}

void
lab_uio_close(struct lab_nic *n, int host)
{
	uint32_t i;

	for (i = 0; i < n->uios && n->uio[i] != host; i++)
		;
	if (i == n->uios)
		return;
	close(host);
	n->uio[i] = n->uio[--n->uios];
	if (n->uios != 0)
		return;
	nic_close(n->nic);
	n->lab->open--;
	if (n->lab->verbose)
		fprintf(stderr, "hvsim: %s: session %llu ends\n", nic_conf(n->nic)->name,
			(unsigned long long)n->sessions);
}

int
lab_uio_map(struct lab_nic *n, uint64_t k, uint64_t len)
{
	const struct shm *const map[VMBUS_MAP_COUNT] = {
		[VMBUS_MAP_RINGS] = &n->chan[0].rings,
		[VMBUS_MAP_INT] = &n->lab->int_page,
		[VMBUS_MAP_MONITOR] = &n->lab->monitor_page,
		[VMBUS_MAP_RECV] = &n->recv,
		[VMBUS_MAP_SEND] = &n->send,
	};

	if (k >= VMBUS_MAP_COUNT || len == 0 || len > map[k]->len)
		return -EINVAL;
	return map[k]->fd;
}

/* The kernel writes the interrupt mask of every inbound ring of the device. */
static void
set_masks(struct lab_nic *n, uint32_t mask)
{
	uint32_t i;

	for (i = 0; i < VMBUS_CHANNELS_MAX; i++) {
		struct lab_chan *c = &n->chan[i];
		struct vmbus_ring_hdr *rx;

		if (c->relid == 0 || c->rings.p == NULL)
			continue;
		rx = (struct vmbus_ring_hdr *)((char *)c->rings.p + c->rings.len / 2);
		__atomic_store_n(&rx->imask, mask, __ATOMIC_SEQ_CST);
	}
}

void
lab_uio_write(struct lab_nic *n, int32_t value)
{
	set_masks(n, value == 0);
	if (value == 0)
		return;
	/* Without an event bit the signal is the primary channel's, and only a hint. */
	if (!lab_events(n))
		nic_look(n->nic, 0);
}

void
lab_uio_interrupt(struct lab_nic *n)
{
	uint32_t i;

	n->events++;
	for (i = 0; i < n->uios; i++) {
		int queued = 0;

		/* An event that was not read yet stands for this one too. */
		if (ioctl(n->uio[i], SIOCOUTQ, &queued) == 0 && queued > 0)
			continue;
		send(n->uio[i], &n->events, sizeof(n->events), MSG_DONTWAIT | MSG_NOSIGNAL);
	}
}

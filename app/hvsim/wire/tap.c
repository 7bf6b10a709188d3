/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 hvnet contributors
 *
 * A wire that ends in the kernel: a TAP interface with 1..256 queues.
 *
 * The interface lives as long as the wire and may be moved to another network namespace:
 * after open only its descriptors are used, never its name. No offloads are negotiated, so
 * the kernel completes every checksum before a frame comes here.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/if_tun.h>
#include <net/if.h>
#include <net/if_arp.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

#include "kind.h"

#define ARRAY_LEN(a) (sizeof(a) / sizeof((a)[0]))

#define TAP_DEVICE "/dev/net/tun"
/** Most queues of a TAP interface (kernel's MAX_TAP_QUEUES). */
#define TAP_QUEUES_MAX 256u
/** Frames that one rx() takes from a queue. */
#define TAP_BATCH 32u
/** Bytes besides the MTU: Ethernet header, two tags. */
#define TAP_OVERHEAD 22u
#define TAP_MTU_MIN 68u
#define TAP_MTU_DEFAULT 1500u
#define TAP_ALIGN 64u
/** Pieces of a frame that are written as they are; a frame with more is copied first. */
#define TAP_IOV 32u
/** Events taken from epoll at a time. */
#define TAP_EVENTS 64

#ifndef IFF_TUN_EXCL
#define IFF_TUN_EXCL 0x8000
#endif

struct tap_conf {
	uint64_t queues;
	uint64_t mtu;
	uint64_t up;
	uint8_t mac[6];
	char name[IFNAMSIZ];
};

struct tap {
	struct wire w;
	int epoll;
	uint32_t idle;   /**< empty-handed rx() calls since the last look at epoll */
	uint32_t stride; /**< bytes of a buffer; a frame that fills it was cut */
	uint8_t *memory; /**< nqueues x TAP_BATCH buffers; pages appear as they are used */
	bool ready[TAP_QUEUES_MAX]; /**< the queue may have frames */
	int fds[TAP_QUEUES_MAX];
	uint8_t scratch[WIRE_FRAME_MAX];
};

#define FIELD(name) .key = #name, .offset = offsetof(struct tap_conf, name)

enum tap_opt {
	TAP_OPT_NAME,
	TAP_OPT_MAC,
};

static const struct wire_opt tap_opts[] = {
	[TAP_OPT_NAME] = { FIELD(name), .type = WIRE_OPT_TEXT, .max = IFNAMSIZ - 1 },
	[TAP_OPT_MAC] = { FIELD(mac), .type = WIRE_OPT_MAC },
	{ FIELD(queues), .type = WIRE_OPT_U64, .min = 1, .max = TAP_QUEUES_MAX },
	{ FIELD(mtu), .type = WIRE_OPT_U64, .min = TAP_MTU_MIN,
	  .max = WIRE_FRAME_MAX - TAP_OVERHEAD },
	{ FIELD(up), .type = WIRE_OPT_FLAG },
};

static const struct tap_conf tap_defaults = {
	.queues = 1,
	.mtu = TAP_MTU_DEFAULT,
	.up = 1,
	.name = "hv%d",
};

static void
tap_close(struct wire *w)
{
	struct tap *t = (struct tap *)w;
	uint32_t i;

	for (i = 0; i < w->nqueues; i++)
		close(t->fds[i]);
	if (t->epoll >= 0)
		close(t->epoll);
	free(t->memory);
	free(t);
}

static void
tap_look(struct tap *t)
{
	struct epoll_event ev[TAP_EVENTS];
	int i, n;

	n = epoll_wait(t->epoll, ev, TAP_EVENTS, 0);
	for (i = 0; i < n; i++)
		t->ready[ev[i].data.u32] = true;
}

/*
 * Reading an empty queue costs a system call, and there may be 256. Events are edge
 * triggered: a queue is read until it is empty, then left alone until epoll names it again,
 * and epoll is asked once per round over the queues.
 */
static uint32_t
tap_rx(struct wire *w, uint32_t q, struct wire_rx *frames, uint32_t max)
{
	struct tap *t = (struct tap *)w;
	uint8_t *buf = t->memory + (size_t)q * TAP_BATCH * t->stride;
	uint32_t n = 0, tries;
	uint64_t bytes = 0;
	ssize_t len;

	if (!t->ready[q]) {
		if (++t->idle < w->nqueues)
			return 0;
		t->idle = 0;
		tap_look(t);
		if (!t->ready[q])
			return 0;
	}
	if (max > TAP_BATCH)
		max = TAP_BATCH;
	for (tries = 0; n < max && tries < TAP_BATCH; tries++) {
		len = read(t->fds[q], buf, t->stride);
		if (len < 0) {
			t->ready[q] = errno == EINTR;
			break;
		}
		if (len == 0 || len >= (ssize_t)t->stride) {
			w->stats.rx_dropped++;
			continue;
		}
		frames[n].data = buf;
		frames[n++].len = (uint32_t)len;
		bytes += (uint64_t)len;
		buf += t->stride;
	}
	w->stats.rx_frames += n;
	w->stats.rx_bytes += bytes;
	return n;
}

static bool
tap_write(struct tap *t, int fd, const struct wire_tx *frame)
{
	struct iovec iov[TAP_IOV];
	uint32_t i, len;

	if (frame->nsegs == 1)
		return write(fd, frame->segs[0].data, frame->segs[0].len) > 0;
	if (frame->nsegs > TAP_IOV) {
		len = wire_gather(frame, t->scratch, sizeof(t->scratch));
		return len != 0 && write(fd, t->scratch, len) > 0;
	}
	for (i = 0; i < frame->nsegs; i++) {
		/* iovec has no const, writev() does not write to it. */
		iov[i].iov_base = (void *)(uintptr_t)frame->segs[i].data;
		iov[i].iov_len = frame->segs[i].len;
	}
	return writev(fd, iov, (int)frame->nsegs) > 0;
}

static void
tap_tx(struct wire *w, uint32_t q, const struct wire_tx *frames, uint32_t n)
{
	struct tap *t = (struct tap *)w;
	uint32_t i;

	for (i = 0; i < n; i++) {
		if (!tap_write(t, t->fds[q], &frames[i])) {
			w->stats.tx_dropped++;
			continue;
		}
		w->stats.tx_frames++;
		w->stats.tx_bytes += frames[i].len;
	}
}

static int
tap_fd(struct wire *w, uint32_t q)
{
	return ((struct tap *)w)->fds[q];
}

static void
tap_set_link(struct wire *w, bool up)
{
	int carrier = up ? 1 : 0;

	/* Kernels before 5.0 cannot: the far end then sees no link change. */
	(void)ioctl(((struct tap *)w)->fds[0], TUNSETCARRIER, &carrier);
}

static const struct wire_ops tap_ops = {
	.name = "tap",
	.close = tap_close,
	.rx = tap_rx,
	.tx = tap_tx,
	.fd = tap_fd,
	.set_link = tap_set_link,
};

/* Turn the error of a call into the line that helps. @p name: the interface. */
static void *
tap_refuse(const char *name, uint32_t queue, int error, const struct wire_err *err)
{
	if (error == EPERM || error == EACCES)
		return wire_fail(err, "creating TAP interface %s needs CAP_NET_ADMIN; "
				 "run as root or choose another wire", name);
	if (error == EBUSY || error == EEXIST)
		return wire_fail(err, "an interface named %s exists; choose another name, "
				 "or if it is a TAP of yours: ip link del %s", name, name);
	if (error == EMFILE || error == ENFILE)
		return wire_fail(err, "no descriptor left for queue %u of TAP interface %s; "
				 "raise 'ulimit -n' or use fewer queues", queue, name);
	if (error == ENOENT || error == ENODEV || error == ENXIO)
		return wire_fail(err, TAP_DEVICE " is not there (%s); load the kernel's tun "
				 "module or choose another wire", strerror(error));
	return wire_fail(err, "cannot create queue %u of TAP interface %s: %s", queue, name,
			 strerror(error));
}

/* Create the interface with the first queue, attach the others; ifr gets the real name. */
static bool
tap_attach(struct tap *t, uint32_t queues, struct ifreq *ifr, const struct wire_err *err)
{
	struct epoll_event ev = { .events = EPOLLIN | EPOLLET };
	uint32_t i;
	int fd;

	for (i = 0; i < queues; i++) {
		fd = open(TAP_DEVICE, O_RDWR | O_NONBLOCK | O_CLOEXEC);
		if (fd < 0) {
			tap_refuse(ifr->ifr_name, i, errno, err);
			return false;
		}
		t->fds[i] = fd;
		t->w.nqueues = i + 1;
		ifr->ifr_flags = (short)(IFF_TAP | IFF_NO_PI | IFF_MULTI_QUEUE |
					 (i == 0 ? IFF_TUN_EXCL : 0));
		if (ioctl(fd, TUNSETIFF, ifr) != 0 || ioctl(fd, TUNSETOFFLOAD, 0) != 0) {
			tap_refuse(ifr->ifr_name, i, errno, err);
			return false;
		}
		ev.data.u32 = i;
		if (epoll_ctl(t->epoll, EPOLL_CTL_ADD, fd, &ev) != 0) {
			wire_fail(err, "cannot watch queue %u: %s", i, strerror(errno));
			return false;
		}
	}
	return true;
}

static bool
tap_configure(const struct tap_conf *c, uint32_t given, struct ifreq *ifr,
	      const struct wire_err *err)
{
	int sock = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	const char *what = "open a socket for";
	bool ok = false;

	if (sock < 0)
		goto out;
	what = "set the MAC address of";
	if ((given & 1u << TAP_OPT_MAC) != 0) {
		ifr->ifr_hwaddr.sa_family = ARPHRD_ETHER;
		memcpy(ifr->ifr_hwaddr.sa_data, c->mac, sizeof(c->mac));
		if (ioctl(sock, SIOCSIFHWADDR, ifr) != 0)
			goto out;
	}
	what = "set the MTU of";
	ifr->ifr_mtu = (int)c->mtu;
	if (ioctl(sock, SIOCSIFMTU, ifr) != 0)
		goto out;
	what = "bring up";
	if (c->up != 0) {
		if (ioctl(sock, SIOCGIFFLAGS, ifr) != 0)
			goto out;
		ifr->ifr_flags = (short)(ifr->ifr_flags | IFF_UP);
		if (ioctl(sock, SIOCSIFFLAGS, ifr) != 0)
			goto out;
	}
	ok = true;
out:
	if (!ok)
		wire_fail(err, "cannot %s TAP interface %s: %s", what, ifr->ifr_name,
			  strerror(errno));
	if (sock >= 0)
		close(sock);
	return ok;
}

static struct wire *
tap_open(const void *conf, uint32_t given, const uint8_t mac[6], const struct wire_err *err)
{
	const struct tap_conf *c = conf;
	struct ifreq ifr = { 0 };
	struct tap *t;

	(void)mac;
	t = calloc(1, sizeof(*t));
	if (t == NULL)
		return wire_fail(err, "no memory");
	t->w.ops = &tap_ops;
	t->stride = ((uint32_t)c->mtu + TAP_OVERHEAD + TAP_ALIGN) / TAP_ALIGN * TAP_ALIGN;
	t->memory = calloc(c->queues * TAP_BATCH, t->stride);
	t->epoll = epoll_create1(EPOLL_CLOEXEC);
	memcpy(ifr.ifr_name, c->name, sizeof(ifr.ifr_name));
	if (t->memory == NULL || t->epoll < 0)
		wire_fail(err, "no memory or descriptors for %llu queues",
			  (unsigned long long)c->queues);
	else if (tap_attach(t, (uint32_t)c->queues, &ifr, err) &&
		 tap_configure(c, given, &ifr, err))
		return &t->w;
	tap_close(&t->w);
	return NULL;
}

const struct wire_kind wire_kind_tap = {
	.name = "tap",
	.opts = tap_opts,
	.nopts = ARRAY_LEN(tap_opts),
	.conf_size = sizeof(struct tap_conf),
	.defaults = &tap_defaults,
	.open = tap_open,
};

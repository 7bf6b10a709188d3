/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 hvnet contributors
 *
 * What a guest process and the host say to each other over the lab's Unix socket.
 *
 * SOCK_SEQPACKET; each request is one struct proto_msg, each gets one struct proto_msg as the
 * answer. Descriptors travel with SCM_RIGHTS, at most one per message. One connection belongs
 * to one process; when it closes, the host forgets the memory that came through it.
 */
#ifndef HVSIM_PROTO_H
#define HVSIM_PROTO_H

#include <stdint.h>

#define PROTO_VERSION 1u

/** Where the real system has its VMBus files. */
#define PROTO_SYSFS_VMBUS "/sys/bus/vmbus"
#define PROTO_DEV_UIO "/dev/uio"

/**
 * Abstract address to which the guest's end of a uio socket is bound: "\0" PROTO_UIO_NAME
 * "<uio number>.<host pid>.<serial>". The guest recognises its uio descriptors by it, so
 * that dup, fork and close need no tracking.
 */
#define PROTO_UIO_NAME "hvsim-uio-"

enum proto_type {
	/** arg = PROTO_VERSION. Answer: arg = enum guestmem_mode, text = tree root. */
	PROTO_HELLO = 1,
	/** arg = uio number. Answer: status, descriptor to give to the guest. */
	PROTO_UIO_OPEN,
	/** arg = uio number, ofs = map number, len = bytes. Answer: status, descriptor. */
	PROTO_UIO_MAP,
	/** va, len, ofs, descriptor: the guest has mapped this. Answer: status. */
	PROTO_MEM_MAP,
	/** va, len: the guest is about to unmap this. Answer: status. */
	PROTO_MEM_UNMAP,
	/** text = control verb. Answer: status; text = error, or descriptor of a JSON text. */
	PROTO_CTL,
};

/** Bytes of text in a message, with the final NUL. */
#define PROTO_TEXT 256

struct proto_msg {
	uint32_t type;   /**< enum proto_type */
	uint32_t seq;    /**< echoed by the answer */
	int32_t status;  /**< answer: 0 or -errno */
	uint32_t arg;
	uint64_t va;
	uint64_t len;
	uint64_t ofs;
	char text[PROTO_TEXT];
};

/**
 * Send @p m with descriptor @p fd (-1: none); never raises SIGPIPE.
 *
 * @param flags
 *   More MSG_* flags.
 * @return 0 or -errno.
 */
int hvsim_proto_send(int sock, const struct proto_msg *m, int fd, int flags);

/**
 * Receive one message.
 *
 * @param fd
 *   Receives the descriptor that came along (close-on-exec, owned by the caller) or -1.
 * @return 1, 0 at end of file, or -errno (-EPROTO: not a message of this protocol).
 */
int hvsim_proto_recv(int sock, struct proto_msg *m, int *fd, int flags);

/**
 * Connect to the host at @p path.
 *
 * @return A close-on-exec socket, or -errno (-EAGAIN: somebody listens but takes nobody in).
 */
int hvsim_proto_connect(const char *path);

#endif /* HVSIM_PROTO_H */

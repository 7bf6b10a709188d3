/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 hvnet contributors
 *
 * Makes read and write on a uio socket behave as on the device file when the host is gone.
 *
 * The kernel's uio device takes and gives exactly four bytes; only such calls are looked at.
 */
#undef _FORTIFY_SOURCE

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "shim.h"

/** Bytes of one uio event. */
#define UIO_EVENT_LEN 4u

SHIM_SLOT(read);
SHIM_SLOT(write);

int
shim_uio_number(int fd)
{
	static const char prefix[] = PROTO_UIO_NAME;
	const size_t plen = sizeof(prefix) - 1;
	struct sockaddr_un sa;
	socklen_t len = sizeof(sa) - 1;
	int err = errno;
	int n = -1;

	memset(&sa, 0, sizeof(sa));
	if (getsockname(fd, (struct sockaddr *)&sa, &len) == 0 && sa.sun_family == AF_UNIX &&
	    len > offsetof(struct sockaddr_un, sun_path) + 1 + plen &&
	    sa.sun_path[0] == '\0' && memcmp(sa.sun_path + 1, prefix, plen) == 0)
		n = atoi(sa.sun_path + 1 + plen);
	errno = err;
	return n;
}

SHIM_EXPORT ssize_t
write(int fd, const void *buf, size_t len)
{
	ssize_t n;

	if (len != UIO_EVENT_LEN || shim_uio_number(fd) < 0)
		return SHIM_REAL(write)(fd, buf, len);
	n = send(fd, buf, len, MSG_NOSIGNAL | MSG_DONTWAIT);
	if (n < 0 && errno == EAGAIN)
		return (ssize_t)len; /* the host has a notice of ours that it did not read yet */
	if (n < 0)
		errno = EIO;
	return n;
}

SHIM_EXPORT ssize_t
read(int fd, void *buf, size_t len)
{
	ssize_t n;

	if (len != UIO_EVENT_LEN || shim_uio_number(fd) < 0)
		return SHIM_REAL(read)(fd, buf, len);
	n = recv(fd, buf, len, 0);
	if (n == 0 || (n < 0 && errno == ECONNRESET)) {
		errno = EIO;
		return -1;
	}
	return n;
}

/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 hvnet contributors
 *
 * A channel's set-up, its outbound lock, its signals and single packets of the control path.
 */
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include <rte_pause.h>

#include "hvn_channel.h"

/** Tries for the outbound lock: a few microseconds, longer than a holder's batch. */
#define OUT_LOCK_SPINS 2000

int
hvn_channel_init(struct hvn_channel *ch, void *rings, uint64_t bytes, uint16_t index,
		 uint16_t relid)
{
	uint64_t half = bytes / 2;
	int rc;

	memset(ch, 0, sizeof(*ch));
	ch->index = index;
	ch->relid = relid;
	ch->uio_fd = -1;
	rc = vmring_attach(&ch->out, rings, half, true);
	if (rc == 0)
		rc = vmring_attach(&ch->in, (uint8_t *)rings + half, half, false);
	if (rc != 0)
		return rc;
	for (uint32_t i = 0; i < HVN_XFERS; i++)
		ch->xfer_free[i] = (uint16_t)(HVN_XFERS - 1 - i);
	ch->xfer_free_count = HVN_XFERS;
	/* We poll: the host must not interrupt. Recent kernels leave this to user space. */
	vmring_store_relaxed(&ch->in.hdr->imask, 1);
	return 0;
}

void
hvn_channel_set_signal(struct hvn_channel *ch, uint32_t *word, uint32_t bit, int uio_fd)
{
	ch->sig_word = word;
	ch->sig_bit = bit;
	ch->uio_fd = uio_fd;
}

void
hvn_channel_signal(struct hvn_channel *ch)
{
	const int32_t kick = 1;

	vmring_count(&ch->stats.signals);
	vmring_or(ch->sig_word, ch->sig_bit);
	if (ch->uio_fd < 0)
		return;
	/* No monitor: the kernel signals on write, and unmasks interrupts as a side effect. */
	if (write(ch->uio_fd, &kick, sizeof(kick)) != (ssize_t)sizeof(kick))
		hvn_channel_kill(ch);
	vmring_store_relaxed(&ch->in.hdr->imask, 1);
}

bool
hvn_channel_out_lock(struct hvn_channel *ch)
{
	for (int i = 0; i < OUT_LOCK_SPINS; i++) {
		if (vmring_trylock(&ch->out_lock))
			return true;
		rte_pause();
	}
	return false;
}

int
hvn_channel_send(struct hvn_channel *ch, const void *pkt, uint32_t len)
{
	bool sig = false;
	int rc;

	if (hvn_channel_is_dead(ch))
		return -EIO;
	if (!hvn_channel_out_lock(ch))
		return -EAGAIN;
	rc = vmring_refresh(&ch->out);
	if (rc == 0 && !vmring_fits(&ch->out, len))
		rc = -EAGAIN;
	if (rc == 0) {
		vmring_put(&ch->out, pkt, len);
		sig = vmring_publish(&ch->out);
	}
	hvn_channel_out_unlock(ch);
	if (rc == -EIO)
		hvn_channel_kill(ch);
	if (sig)
		hvn_channel_signal(ch);
	return rc;
}

int
hvn_channel_send_nvsp(struct hvn_channel *ch, const void *msg, uint32_t len, uint64_t xact)
{
	struct {
		struct vmbus_pkt_desc desc;
		uint8_t msg[NVSP_MSG_SIZE];
	} pkt = {
		.desc = {
			.type = VMBUS_PKT_INBAND,
			.offset8 = sizeof(struct vmbus_pkt_desc) / 8,
			.len8 = sizeof(pkt) / 8,
			.flags = xact != 0 ? VMBUS_PKT_F_COMPLETION : 0,
			.xact = xact,
		},
	};

	static_assert(sizeof(pkt) % 8 == 0, "packets are multiples of 8 bytes");
	if (len > sizeof(pkt.msg))
		return -EINVAL;
	memcpy(pkt.msg, msg, len);
	return hvn_channel_send(ch, &pkt, sizeof(pkt));
}

/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 hvnet contributors
 *
 * The parts of the ring engine that are not on the fast path.
 */
#include "vmring.h"

int
vmring_attach(struct vmring *r, void *mem, uint64_t bytes, bool producer)
{
	struct vmbus_ring_hdr *hdr = mem;
	uint32_t widx, ridx;

	if (bytes < 2 * VMBUS_PAGE_SIZE || bytes % VMBUS_PAGE_SIZE != 0 || bytes > UINT32_MAX / 2)
		return -EINVAL;
	*r = (struct vmring){
		.hdr = hdr,
		.data = (uint8_t *)mem + VMBUS_PAGE_SIZE,
		.size = (uint32_t)(bytes - VMBUS_PAGE_SIZE),
	};
	widx = vmring_load_acquire(&hdr->write_index);
	ridx = vmring_load_acquire(&hdr->read_index);
	if (!vmring_index_ok(r, widx) || !vmring_index_ok(r, ridx))
		return -EIO;
	r->pos = producer ? widx : ridx;
	r->pub = r->pos;
	r->peer = producer ? ridx : widx;
	return 0;
}

void
vmring_reset_shared(void *mem)
{
	struct vmbus_ring_hdr *hdr = mem;

	vmring_store_relaxed(&hdr->write_index, 0);
	vmring_store_relaxed(&hdr->read_index, 0);
	vmring_store_relaxed(&hdr->imask, 0);
	vmring_store_relaxed(&hdr->pending_send, 0);
	vmring_store_release(&hdr->features, VMBUS_RING_FEAT_PENDING_SEND);
}

bool
vmring_release_signal(struct vmring *r, uint32_t consumed)
{
	uint32_t wanted = vmring_load_acquire(&r->hdr->pending_send);
	uint32_t widx, free_new, free_old;

	widx = vmring_load_acquire(&r->hdr->write_index);
	if (!vmring_index_ok(r, widx))
		return false; /* the next vmring_poll() reports it */
	free_new = r->size - vmring_distance(r, r->pos, widx);
	free_old = free_new > consumed ? free_new - consumed : 0;
	return free_old <= wanted && free_new > wanted;
}

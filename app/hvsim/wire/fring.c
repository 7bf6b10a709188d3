/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 hvnet contributors
 *
 * A bounded first-in first-out store of whole frames, for wires that lead back to a guest.
 */
#include <errno.h>
#include <stdlib.h>

#include "fring.h"
#include "kind.h"

_Static_assert(FRING_SLOT >= WIRE_FRAME_MAX, "a slot holds any frame");

int
fring_init(struct fring *r, uint32_t depth)
{
	*r = (struct fring){ .depth = depth };
	r->slots = calloc(depth, FRING_SLOT);
	r->lens = calloc(depth, sizeof(*r->lens));
	if (r->slots != NULL && r->lens != NULL)
		return 0;
	fring_fini(r);
	return -ENOMEM;
}

void
fring_fini(struct fring *r)
{
	free(r->slots);
	free(r->lens);
	*r = (struct fring){ 0 };
}

uint8_t *
fring_push(struct fring *r, const struct wire_tx *frame)
{
	uint32_t at = r->head & (r->depth - 1);
	uint8_t *slot = r->slots + (size_t)at * FRING_SLOT;
	uint32_t len;

	if (r->head - r->tail == r->depth)
		return NULL;
	len = wire_gather(frame, slot, WIRE_FRAME_MAX);
	if (len == 0)
		return NULL;
	r->lens[at] = len;
	r->head++;
	return slot;
}

uint32_t
fring_pop(struct fring *r, struct wire_rx *frames, uint32_t max, uint64_t *bytes)
{
	uint32_t i, at, n;

	r->tail = r->read;
	n = r->head - r->read;
	if (n > max)
		n = max;
	for (i = 0; i < n; i++) {
		at = (r->read + i) & (r->depth - 1);
		frames[i].data = r->slots + (size_t)at * FRING_SLOT;
		frames[i].len = r->lens[at];
		*bytes += r->lens[at];
	}
	r->read += n;
	return n;
}

/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 hvnet contributors
 *
 * A bounded first-in first-out store of whole frames, for wires that lead back to a guest.
 *
 *   tail           read            head
 *    | lent to rx() | waiting       | free ...
 *
 * Frames handed out stay in place until the next fring_pop() returns their slots.
 */
#ifndef HVSIM_WIRE_FRING_H
#define HVSIM_WIRE_FRING_H

#include <stdint.h>

#include "wire.h"

/** Bytes of a slot: a whole frame, on its own cache lines. */
#define FRING_SLOT 9024u

/** One thread uses a ring; indices count up and wrap. */
struct fring {
	uint8_t *slots;
	uint32_t *lens;
	uint32_t depth;
	uint32_t head;
	uint32_t read;
	uint32_t tail;
};

/** Allocate a ring of @p depth frames (a power of two). @return 0 or -ENOMEM. */
int fring_init(struct fring *r, uint32_t depth);

/** Free the memory; a zeroed ring is allowed. */
void fring_fini(struct fring *r);

/**
 * Copy a frame in.
 *
 * @return The slot's bytes, which the caller may still change; NULL when the ring is full,
 *   or the frame empty or longer than WIRE_FRAME_MAX.
 */
uint8_t *fring_push(struct fring *r, const struct wire_tx *frame);

/** Free what the last call lent, then lend up to @p max frames. @p bytes: their sum is added. */
uint32_t fring_pop(struct fring *r, struct wire_rx *frames, uint32_t max, uint64_t *bytes);

#endif /* HVSIM_WIRE_FRING_H */

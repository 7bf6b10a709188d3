/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 hvnet contributors
 *
 * Fuzz target: a ring whose other side writes anything, anywhere, at any time.
 *
 * Input: steps of 8 bytes {u8 what, u8 how much, u16 where, u32 value}.
 */
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <vmring/vmring.h>

#include "guard.h"

#define BYTES (2 * VMBUS_PAGE_SIZE)
#define STEPS_MAX 512u

struct step {
	uint8_t what;
	uint8_t amount;
	uint16_t where;
	uint32_t value;
};

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void
require(bool ok)
{
	if (!ok)
		abort();
}

/* Walk up to @p most packets as a driver does, copying each as a whole. */
static void
consume(struct vmring *r, unsigned int most)
{
	struct vmbus_pkt_desc desc;
	uint8_t pkt[BYTES];
	uint32_t avail;

	if (vmring_poll(r, &avail) != 0)
		return;
	require(avail < r->size);
	while (most-- > 0 && vmring_peek(r, avail, &desc) == 0) {
		require(desc.offset8 <= desc.len8 && desc.len8 * 8u < avail);
		vmring_copy_out(r, 0, pkt, desc.len8 * 8u);
		avail -= vmring_skip(r, &desc);
		require(vmring_index_ok(r, r->pos));
	}
	vmring_release(r);
}

/* Put up to @p most packets of @p len bytes. */
static void
produce(struct vmring *r, unsigned int most, uint32_t len)
{
	static const uint8_t pkt[BYTES];

	if (vmring_refresh(r) != 0)
		return;
	while (most-- > 0 && vmring_fits(r, len)) {
		vmring_put(r, pkt, len);
		require(vmring_index_ok(r, r->pos));
	}
	vmring_publish(r);
}

/* The other side's doing: a word of the header, or of the data. */
static void
meddle(uint8_t *mem, const struct step *s)
{
	uint32_t ofs = s->what & 8 ? s->where % 17u * 4 :
				     VMBUS_PAGE_SIZE + s->where % VMBUS_PAGE_SIZE / 4 * 4;

	memcpy(mem + ofs, &s->value, sizeof(s->value));
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	uint8_t *out = guard_alloc(BYTES, GUARD_AFTER);
	uint8_t *in = guard_alloc(BYTES, GUARD_AFTER);
	struct vmring prod, cons;
	struct step s;

	vmring_reset_shared(out);
	vmring_reset_shared(in);
	require(vmring_attach(&prod, out, BYTES, true) == 0);
	require(vmring_attach(&cons, in, BYTES, false) == 0);
	for (unsigned int i = 0; i < STEPS_MAX && size - i * sizeof(s) >= sizeof(s) &&
	     i * sizeof(s) < size; i++) {
		memcpy(&s, data + i * sizeof(s), sizeof(s));
		switch (s.what & 7) {
		case 0:
			consume(&cons, s.amount);
			break;
		case 1:
			produce(&prod, s.amount, 16 + s.where % 500u * 8);
			break;
		case 2:
		case 3:
			meddle(out, &s);
			break;
		default:
			meddle(in, &s);
			break;
		}
	}
	guard_free(out, BYTES);
	guard_free(in, BYTES);
	return 0;
}

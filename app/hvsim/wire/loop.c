/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 hvnet contributors
 *
 * A wire that leads back: what the guest sends on a queue arrives on the same queue.
 */
#include <stdlib.h>
#include <string.h>

#include "fring.h"
#include "kind.h"

#define ARRAY_LEN(a) (sizeof(a) / sizeof((a)[0]))

#define LOOP_QUEUES_MAX 64u
/** Frames that wait in one queue. */
#define LOOP_DEPTH_DEFAULT 512u
#define LOOP_DEPTH_MAX 4096u
#define MAC_LEN 6u

struct loop_conf {
	uint64_t queues;
	uint64_t depth;
	uint64_t swap;
};

struct loop {
	struct wire w;
	bool swap;
	struct fring rings[LOOP_QUEUES_MAX];
};

#define FIELD(name) .key = #name, .offset = offsetof(struct loop_conf, name)

static const struct wire_opt loop_opts[] = {
	{ FIELD(queues), .type = WIRE_OPT_U64, .min = 1, .max = LOOP_QUEUES_MAX },
	{ FIELD(depth), .type = WIRE_OPT_U64, .min = 1, .max = LOOP_DEPTH_MAX },
	{ FIELD(swap), .type = WIRE_OPT_FLAG },
};

static const struct loop_conf loop_defaults = {
	.queues = 1,
	.depth = LOOP_DEPTH_DEFAULT,
};

static void
loop_close(struct wire *w)
{
	struct loop *l = (struct loop *)w;
	uint32_t i;

	for (i = 0; i < w->nqueues; i++)
		fring_fini(&l->rings[i]);
	free(l);
}

static uint32_t
loop_rx(struct wire *w, uint32_t q, struct wire_rx *frames, uint32_t max)
{
	struct loop *l = (struct loop *)w;
	uint32_t n = fring_pop(&l->rings[q], frames, max, &w->stats.rx_bytes);

	w->stats.rx_frames += n;
	return n;
}

/* Back to the sender: a NIC that filters by its own address then takes the frame. */
static void
swap_macs(uint8_t *frame)
{
	uint8_t dst[MAC_LEN];

	memcpy(dst, frame, MAC_LEN);
	memcpy(frame, frame + MAC_LEN, MAC_LEN);
	memcpy(frame + MAC_LEN, dst, MAC_LEN);
}

static void
loop_tx(struct wire *w, uint32_t q, const struct wire_tx *frames, uint32_t n)
{
	struct loop *l = (struct loop *)w;
	uint8_t *slot;
	uint32_t i;

	for (i = 0; i < n; i++) {
		w->stats.tx_frames++;
		w->stats.tx_bytes += frames[i].len;
		slot = fring_push(&l->rings[q], &frames[i]);
		if (slot == NULL)
			w->stats.rx_dropped++;
		else if (l->swap && frames[i].len >= 2 * MAC_LEN)
			swap_macs(slot);
	}
}

static const struct wire_ops loop_ops = {
	.name = "loop",
	.close = loop_close,
	.rx = loop_rx,
	.tx = loop_tx,
};

static struct wire *
loop_open(const void *conf, uint32_t given, const uint8_t mac[6], const struct wire_err *err)
{
	const struct loop_conf *c = conf;
	struct loop *l = calloc(1, sizeof(*l));
	uint32_t i;

	(void)given;
	(void)mac;
	if (l == NULL)
		return wire_fail(err, "no memory");
	l->w.ops = &loop_ops;
	l->swap = c->swap != 0;
	l->w.nqueues = (uint32_t)c->queues;
	if ((c->depth & (c->depth - 1)) != 0) {
		free(l);
		return wire_fail(err, "depth=%llu is not a power of two; use 1 to %u",
				 (unsigned long long)c->depth, LOOP_DEPTH_MAX);
	}
	for (i = 0; i < l->w.nqueues; i++) {
		if (fring_init(&l->rings[i], (uint32_t)c->depth) != 0) {
			loop_close(&l->w);
			return wire_fail(err, "no memory for %u queues of %llu frames",
					 (unsigned int)c->queues, (unsigned long long)c->depth);
		}
	}
	return &l->w;
}

const struct wire_kind wire_kind_loop = {
	.name = "loop",
	.opts = loop_opts,
	.nopts = ARRAY_LEN(loop_opts),
	.conf_size = sizeof(struct loop_conf),
	.defaults = &loop_defaults,
	.open = loop_open,
};

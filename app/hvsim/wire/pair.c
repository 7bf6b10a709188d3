/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 hvnet contributors
 *
 * A wire between two NICs of one host: what one sends, the other receives.
 *
 * Both ends name the same id. Each owns the rings it receives from; the sender copies into
 * the peer's. Frames sent while the other end is absent, its link down or its ring full are
 * the sender's drops.
 */
#include <stdlib.h>
#include <string.h>

#include "fring.h"
#include "kind.h"

#define ARRAY_LEN(a) (sizeof(a) / sizeof((a)[0]))

#define PAIR_QUEUES_MAX 64u
#define PAIR_ID_MAX 31u
/** Frames that wait in one queue. */
#define PAIR_DEPTH_DEFAULT 512u
#define PAIR_DEPTH_MAX 4096u

struct pair_conf {
	uint64_t queues;
	uint64_t depth;
	char id[PAIR_ID_MAX + 1];
};

struct pair {
	struct wire w;
	struct pair *next; /**< in the list of all ends */
	struct pair *peer;
	bool up;
	char id[PAIR_ID_MAX + 1];
	struct fring rings[PAIR_QUEUES_MAX];
};

#define FIELD(name) .key = #name, .offset = offsetof(struct pair_conf, name)

enum pair_opt {
	PAIR_ID,
};

static const struct wire_opt pair_opts[] = {
	[PAIR_ID] = { FIELD(id), .type = WIRE_OPT_TEXT, .max = PAIR_ID_MAX },
	{ FIELD(queues), .type = WIRE_OPT_U64, .min = 1, .max = PAIR_QUEUES_MAX },
	{ FIELD(depth), .type = WIRE_OPT_U64, .min = 1, .max = PAIR_DEPTH_MAX },
};

static const struct pair_conf pair_defaults = {
	.queues = 1,
	.depth = PAIR_DEPTH_DEFAULT,
};

/** All open ends of this process; the host has one thread. */
static struct pair *ends;

static void
pair_close(struct wire *w)
{
	struct pair *p = (struct pair *)w, **at;
	uint32_t i;

	for (at = &ends; *at != NULL; at = &(*at)->next) {
		if (*at == p) {
			*at = p->next;
			break;
		}
	}
	if (p->peer != NULL)
		p->peer->peer = NULL;
	for (i = 0; i < w->nqueues; i++)
		fring_fini(&p->rings[i]);
	free(p);
}

static uint32_t
pair_rx(struct wire *w, uint32_t q, struct wire_rx *frames, uint32_t max)
{
	struct pair *p = (struct pair *)w;
	uint32_t n = fring_pop(&p->rings[q], frames, max, &w->stats.rx_bytes);

	w->stats.rx_frames += n;
	return n;
}

static void
pair_tx(struct wire *w, uint32_t q, const struct wire_tx *frames, uint32_t n)
{
	struct pair *p = (struct pair *)w;
	struct pair *peer = p->peer;
	struct fring *ring;
	uint32_t i;

	if (peer == NULL || !peer->up || !p->up) {
		w->stats.tx_dropped += n;
		return;
	}
	ring = &peer->rings[q % peer->w.nqueues];
	for (i = 0; i < n; i++) {
		if (fring_push(ring, &frames[i]) == NULL) {
			w->stats.tx_dropped++;
			continue;
		}
		w->stats.tx_frames++;
		w->stats.tx_bytes += frames[i].len;
	}
}

static void
pair_set_link(struct wire *w, bool up)
{
	((struct pair *)w)->up = up;
}

static const struct wire_ops pair_ops = {
	.name = "pair",
	.close = pair_close,
	.rx = pair_rx,
	.tx = pair_tx,
	.set_link = pair_set_link,
};

/* Find the other end of @p id. @return false when both ends exist already. */
static bool
find_peer(const char *id, struct pair **peer)
{
	struct pair *p;

	*peer = NULL;
	for (p = ends; p != NULL; p = p->next) {
		if (strcmp(p->id, id) != 0)
			continue;
		if (p->peer != NULL)
			return false;
		*peer = p;
	}
	return true;
}

static struct wire *
pair_open(const void *conf, uint32_t given, const uint8_t mac[6], const struct wire_err *err)
{
	const struct pair_conf *c = conf;
	struct pair *p, *peer;
	uint32_t i;

	(void)mac;
	if ((given & 1u << PAIR_ID) == 0)
		return wire_fail(err, "no id; write pair:id=NAME for both NICs");
	if ((c->depth & (c->depth - 1)) != 0)
		return wire_fail(err, "depth=%llu is not a power of two; use 1 to %u",
				 (unsigned long long)c->depth, PAIR_DEPTH_MAX);
	if (!find_peer(c->id, &peer))
		return wire_fail(err, "id=%s joins two NICs already; choose another id", c->id);
	p = calloc(1, sizeof(*p));
	if (p == NULL)
		return wire_fail(err, "no memory");
	p->w.ops = &pair_ops;
	p->w.nqueues = (uint32_t)c->queues;
	p->up = true;
	memcpy(p->id, c->id, sizeof(p->id));
	for (i = 0; i < p->w.nqueues; i++) {
		if (fring_init(&p->rings[i], (uint32_t)c->depth) != 0) {
			pair_close(&p->w);
			return wire_fail(err, "no memory for %u queues of %llu frames",
					 (unsigned int)c->queues, (unsigned long long)c->depth);
		}
	}
	p->next = ends;
	ends = p;
	p->peer = peer;
	if (peer != NULL)
		peer->peer = p;
	return &p->w;
}

const struct wire_kind wire_kind_pair = {
	.name = "pair",
	.opts = pair_opts,
	.nopts = ARRAY_LEN(pair_opts),
	.conf_size = sizeof(struct pair_conf),
	.defaults = &pair_defaults,
	.open = pair_open,
};

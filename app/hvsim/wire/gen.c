/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 hvnet contributors
 *
 * A wire that generates traffic from constant frames and swallows what the guest sends.
 *
 * All frames are built once, at open. The NIC copies them into its receive buffer itself and
 * only asks how many may go, so generating costs no more than that question per batch.
 */
#include <stdlib.h>
#include <string.h>

#include "kind.h"
#include "rate.h"
#include "template.h"

#define ARRAY_LEN(a) (sizeof(a) / sizeof((a)[0]))

/** Frame lengths in bytes, without FCS: "size=64" is 64 bytes in memory, 68 on a cable. */
#define SIZE_MIN 60u
#define SIZE_LIMIT 9018u
#define SIZE_DEFAULT 64u
#define FLOWS_MAX 65536u
#define FLOWS_DEFAULT 256u
#define RATE_MAX RATE_NS_PER_S
#define BATCH_MAX 4096u
#define RANGES_MAX 375u
#define DELAY_MAX_MS 3600000u
#define NS_PER_MS 1000000u

/** Most memory for the frames, bytes; 65,536 flows of 1514 bytes fit. */
#define FRAMES_MAX (128u << 20)
/** Frames start on their own cache line. */
#define FRAME_ALIGN 64u

/** Simple IMIX in the order in which it is sent: 7 short, 4 middle, 1 full frame. */
static const uint16_t imix[] = {
	64, 594, 64, 594, 64, 64, 1514, 64, 594, 64, 594, 64,
};

enum gen_mix {
	GEN_MIX_NONE,
	GEN_MIX_IMIX,
};

struct gen_conf {
	uint64_t size;
	uint64_t mix;
	uint64_t flows;
	uint64_t l4;
	uint64_t ip;
	uint64_t rate;
	uint64_t burst;
	uint64_t ranges;
	uint64_t touch;
	uint64_t until;
	uint64_t delay; /**< ms */
	uint8_t dst[6];
	uint8_t src[6];
};

struct gen {
	struct wire w;
	struct rate rate;
	uint64_t until;    /**< frames to send in all, UINT64_MAX = no end */
	uint64_t delay_ns;
	uint64_t start_ns; /**< first frame, once started */
	bool started;      /**< the NIC has asked */
	uint32_t count;
	struct wire_rx *templates;
	uint8_t *memory;
};

static const char *const mix_words[] = { "none", "imix", NULL };
static const char *const l4_words[] = { "udp", "tcp", "none", NULL };
static const char *const ip_words[] = { "4", "6", NULL };

#define FIELD(name) .key = #name, .offset = offsetof(struct gen_conf, name)

enum gen_opt {
	GEN_SIZE,
	GEN_MIX,
	GEN_DST,
};

static const struct wire_opt gen_opts[] = {
	[GEN_SIZE] = { FIELD(size), .type = WIRE_OPT_U64, .min = SIZE_MIN, .max = SIZE_LIMIT },
	[GEN_MIX] = { FIELD(mix), .type = WIRE_OPT_CHOICE, .words = mix_words },
	[GEN_DST] = { FIELD(dst), .type = WIRE_OPT_MAC },
	{ FIELD(src), .type = WIRE_OPT_MAC },
	{ FIELD(flows), .type = WIRE_OPT_U64, .min = 1, .max = FLOWS_MAX },
	{ FIELD(l4), .type = WIRE_OPT_CHOICE, .words = l4_words },
	{ FIELD(ip), .type = WIRE_OPT_CHOICE, .words = ip_words },
	{ FIELD(rate), .type = WIRE_OPT_U64, .max = RATE_MAX },
	{ FIELD(burst), .type = WIRE_OPT_U64, .max = BATCH_MAX },
	{ FIELD(ranges), .type = WIRE_OPT_U64, .max = RANGES_MAX },
	{ FIELD(touch), .type = WIRE_OPT_FLAG },
	{ FIELD(until), .type = WIRE_OPT_U64, .max = INT64_MAX },
	{ FIELD(delay), .type = WIRE_OPT_U64, .max = DELAY_MAX_MS },
};

static const struct gen_conf gen_defaults = {
	.size = SIZE_DEFAULT,
	.flows = FLOWS_DEFAULT,
	.src = { 0x02, 0x68, 0x76, 0x67, 0x65, 0x6e },
};

static void
gen_close(struct wire *w)
{
	struct gen *g = (struct gen *)w;

	free(g->templates);
	free(g->memory);
	free(g);
}

static const struct wire_rx *
gen_templates(struct wire *w, uint32_t *count)
{
	struct gen *g = (struct gen *)w;

	*count = g->count;
	return g->templates;
}

static uint32_t
gen_budget(struct wire *w, uint32_t q, uint32_t max, uint64_t now_ns)
{
	struct gen *g = (struct gen *)w;
	uint64_t left = g->until - w->stats.rx_frames;

	(void)q;
	if (!g->started) {
		g->started = true;
		g->start_ns = now_ns + g->delay_ns;
		rate_start(&g->rate, g->rate.per_s, g->start_ns);
	}
	if (now_ns < g->start_ns)
		return 0;
	if (left < max)
		max = (uint32_t)left;
	return rate_allow(&g->rate, max, now_ns);
}

static void
gen_sent(struct wire *w, uint32_t n, uint64_t bytes)
{
	struct gen *g = (struct gen *)w;

	w->stats.rx_frames += n;
	w->stats.rx_bytes += bytes;
	rate_take(&g->rate, n);
}

static const struct wire_ops gen_ops = {
	.name = "gen",
	.close = gen_close,
	.rx = wire_rx_none,
	.tx = wire_tx_count,
	.templates = gen_templates,
	.budget = gen_budget,
	.sent = gen_sent,
};

static uint32_t
gen_length(const struct gen_conf *c, uint32_t i)
{
	return c->mix == GEN_MIX_IMIX ? imix[i % ARRAY_LEN(imix)] : (uint32_t)c->size;
}

static uint64_t
gen_stride(const struct gen_conf *c, uint32_t i)
{
	return (gen_length(c, i) + FRAME_ALIGN - 1) / FRAME_ALIGN * FRAME_ALIGN;
}

/* With a mix the count is a whole number of its rounds; flows then repeat at the end. */
static uint32_t
gen_count(const struct gen_conf *c)
{
	uint32_t round = c->mix == GEN_MIX_IMIX ? ARRAY_LEN(imix) : 1;

	return ((uint32_t)c->flows + round - 1) / round * round;
}

static bool
gen_build(struct gen *g, const struct gen_conf *c, const struct template_plan *plan)
{
	uint64_t total = 0;
	uint8_t *p;
	uint32_t i;

	g->count = gen_count(c);
	for (i = 0; i < g->count; i++)
		total += gen_stride(c, i);
	g->templates = calloc(g->count, sizeof(*g->templates));
	g->memory = aligned_alloc(FRAME_ALIGN, total);
	if (g->templates == NULL || g->memory == NULL)
		return false;
	for (i = 0, p = g->memory; i < g->count; p += gen_stride(c, i), i++) {
		template_build(plan, i % (uint32_t)c->flows, p, gen_length(c, i));
		g->templates[i].data = p;
		g->templates[i].len = gen_length(c, i);
	}
	return true;
}

/* Refuse what contradicts itself or would take too much memory. */
static bool
gen_check(const struct gen_conf *c, uint32_t given, const struct template_plan *plan,
	  const struct wire_err *err)
{
	uint32_t shortest = c->mix == GEN_MIX_IMIX ? imix[0] : (uint32_t)c->size;
	uint64_t total = 0;
	uint32_t i;

	if (c->mix != GEN_MIX_NONE && (given & 1u << GEN_SIZE) != 0) {
		wire_fail(err, "size and mix exclude each other; keep one");
		return false;
	}
	if (shortest < template_headers(plan)) {
		wire_fail(err, "%u-byte frames are too short for ip=%s:l4=%s; use size=%u or more",
			  shortest, ip_words[c->ip], l4_words[c->l4], template_headers(plan));
		return false;
	}
	for (i = 0; i < gen_count(c); i++)
		total += gen_stride(c, i);
	if (total > FRAMES_MAX) {
		wire_fail(err, "flows=%llu of such frames need %llu MB, the limit is %u; "
			  "use fewer flows or shorter frames", (unsigned long long)c->flows,
			  (unsigned long long)(total >> 20), FRAMES_MAX >> 20);
		return false;
	}
	return true;
}

static struct wire *
gen_open(const void *conf, uint32_t given, const uint8_t mac[6], const struct wire_err *err)
{
	const struct gen_conf *c = conf;
	struct template_plan plan = {
		.ip = c->ip == 0 ? 4 : 6,
		.l4 = (enum template_l4)c->l4,
	};
	struct gen *g;

	memcpy(plan.dst, (given & 1u << GEN_DST) != 0 ? c->dst : mac, sizeof(plan.dst));
	memcpy(plan.src, c->src, sizeof(plan.src));
	if (!gen_check(c, given, &plan, err))
		return NULL;
	g = calloc(1, sizeof(*g));
	if (g == NULL)
		return wire_fail(err, "no memory");
	g->w.ops = &gen_ops;
	g->w.nqueues = 1;
	g->w.touch = c->touch != 0;
	g->w.ranges = (uint32_t)c->ranges;
	g->w.burst = (uint32_t)c->burst;
	g->rate.per_s = c->rate;
	g->until = c->until != 0 ? c->until : UINT64_MAX;
	g->delay_ns = c->delay * NS_PER_MS;
	if (!gen_build(g, c, &plan)) {
		gen_close(&g->w);
		return wire_fail(err, "no memory for the frames");
	}
	return &g->w;
}

const struct wire_kind wire_kind_gen = {
	.name = "gen",
	.opts = gen_opts,
	.nopts = ARRAY_LEN(gen_opts),
	.conf_size = sizeof(struct gen_conf),
	.defaults = &gen_defaults,
	.open = gen_open,
};

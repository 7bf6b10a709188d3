/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 hvnet contributors
 *
 * A wire made of capture files: one is replayed to the guest, one takes what it sends.
 *
 * The input is read whole at open, so that replay never waits for a disk.
 */
#include <pcap/pcap.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "kind.h"
#include "rate.h"

#define ARRAY_LEN(a) (sizeof(a) / sizeof((a)[0]))

/** Most bytes of frames that are held in memory. */
#define REPLAY_MAX (256u << 20)
/** Bytes of a frame that cannot be shorter: its Ethernet header. */
#define FRAME_MIN 14u
#define SNAPLEN_DEFAULT 65535u
#define LOOP_MAX 1000000000u
#define RATE_MAX RATE_NS_PER_S
#define DELAY_MAX_MS 3600000u
#define NS_PER_MS 1000000u
/** Captured frames reach the file at the latest this long after they were sent, if more come. */
#define FLUSH_NS 100000000u

struct pcap_conf {
	uint64_t loop;
	uint64_t rate;
	uint64_t delay; /**< ms */
	uint64_t snaplen;
	char in[WIRE_TEXT_MAX];
	char out[WIRE_TEXT_MAX];
};

/** Where a frame lies in the replay memory. */
struct replay_frame {
	uint32_t offset;
	uint32_t len;
};

struct replay {
	uint8_t *memory;
	size_t used, room;
	struct replay_frame *frames;
	uint32_t count, frames_room;
	uint32_t next;
	uint64_t left; /**< rounds to go, the running one included; UINT64_MAX = for ever */
	struct rate rate;
	uint64_t delay_ns;
	uint64_t start_ns; /**< first frame, once started */
	bool started;      /**< the NIC has asked */
};

struct pcap_wire {
	struct wire w;
	struct replay in;
	pcap_t *dead;
	pcap_dumper_t *out;
	uint32_t snaplen;
	uint64_t flushed_ns;
	uint8_t scratch[WIRE_FRAME_MAX];
};

#define FIELD(name) .key = #name, .offset = offsetof(struct pcap_conf, name)

enum pcap_opt {
	PCAP_IN,
	PCAP_OUT,
	PCAP_LOOP,
	PCAP_RATE,
	PCAP_DELAY,
	PCAP_SNAPLEN,
};

static const struct wire_opt pcap_opts[] = {
	[PCAP_IN] = { FIELD(in), .type = WIRE_OPT_TEXT, .max = WIRE_TEXT_MAX - 1 },
	[PCAP_OUT] = { FIELD(out), .type = WIRE_OPT_TEXT, .max = WIRE_TEXT_MAX - 1 },
	[PCAP_LOOP] = { FIELD(loop), .type = WIRE_OPT_U64, .max = LOOP_MAX },
	[PCAP_RATE] = { FIELD(rate), .type = WIRE_OPT_U64, .max = RATE_MAX },
	[PCAP_DELAY] = { FIELD(delay), .type = WIRE_OPT_U64, .max = DELAY_MAX_MS },
	[PCAP_SNAPLEN] = { FIELD(snaplen), .type = WIRE_OPT_U64, .min = FRAME_MIN,
			   .max = SNAPLEN_DEFAULT },
};

static const struct pcap_conf pcap_defaults = {
	.loop = 1,
	.snaplen = SNAPLEN_DEFAULT,
};

static void
pcap_wire_close(struct wire *w)
{
	struct pcap_wire *p = (struct pcap_wire *)w;

	if (p->out != NULL)
		pcap_dump_close(p->out);
	if (p->dead != NULL)
		pcap_close(p->dead);
	free(p->in.frames);
	free(p->in.memory);
	free(p);
}

static uint32_t
replay_allow(struct replay *r, uint32_t max)
{
	uint64_t now;

	if (r->rate.per_s == 0 && r->delay_ns == 0)
		return max;
	now = rate_now_ns();
	if (!r->started) {
		r->started = true;
		r->start_ns = now + r->delay_ns;
		rate_start(&r->rate, r->rate.per_s, r->start_ns);
	}
	if (now < r->start_ns)
		return 0;
	return rate_allow(&r->rate, max, now);
}

static uint32_t
pcap_wire_rx(struct wire *w, uint32_t q, struct wire_rx *frames, uint32_t max)
{
	struct replay *r = &((struct pcap_wire *)w)->in;
	uint32_t n = 0;

	(void)q;
	if (r->left == 0)
		return 0;
	max = replay_allow(r, max);
	while (n < max && r->left != 0) {
		frames[n].data = r->memory + r->frames[r->next].offset;
		frames[n].len = r->frames[r->next].len;
		w->stats.rx_bytes += frames[n++].len;
		if (++r->next < r->count)
			continue;
		r->next = 0;
		if (r->left != UINT64_MAX)
			r->left--;
	}
	rate_take(&r->rate, n);
	w->stats.rx_frames += n;
	return n;
}

static void
pcap_wire_tx(struct wire *w, uint32_t q, const struct wire_tx *frames, uint32_t n)
{
	struct pcap_wire *p = (struct pcap_wire *)w;
	struct pcap_pkthdr hdr = { 0 };
	struct timespec ts;
	uint64_t now;
	uint32_t i, len;

	if (p->out == NULL) {
		wire_tx_count(w, q, frames, n);
		return;
	}
	clock_gettime(CLOCK_REALTIME, &ts);
	hdr.ts.tv_sec = ts.tv_sec;
	hdr.ts.tv_usec = ts.tv_nsec; /* the file says that these are ns */
	for (i = 0; i < n; i++) {
		len = wire_gather(&frames[i], p->scratch, sizeof(p->scratch));
		if (len == 0 || ferror(pcap_dump_file(p->out)) != 0) {
			w->stats.tx_dropped++;
			continue;
		}
		hdr.len = len;
		hdr.caplen = len < p->snaplen ? len : p->snaplen;
		pcap_dump((u_char *)p->out, &hdr, p->scratch);
		w->stats.tx_frames++;
		w->stats.tx_bytes += len;
	}
	now = rate_now_ns();
	if (now - p->flushed_ns >= FLUSH_NS) {
		pcap_dump_flush(p->out);
		p->flushed_ns = now;
	}
}

static const struct wire_ops pcap_wire_ops = {
	.name = "pcap",
	.close = pcap_wire_close,
	.rx = pcap_wire_rx,
	.tx = pcap_wire_tx,
};

/* Make room for one more item. @return The array, perhaps moved, or NULL. */
static void *
grow(void *array, size_t *room, size_t need, size_t item)
{
	size_t want = *room != 0 ? *room : 1024;
	void *moved;

	if (need <= *room)
		return array;
	while (want < need)
		want *= 2;
	moved = realloc(array, want * item);
	if (moved != NULL)
		*room = want;
	return moved;
}

static bool
replay_add(struct replay *r, const uint8_t *data, uint32_t len)
{
	size_t frames_room = r->frames_room;
	void *p;

	p = grow(r->memory, &r->room, r->used + len, 1);
	if (p == NULL)
		return false;
	r->memory = p;
	p = grow(r->frames, &frames_room, r->count + 1u, sizeof(*r->frames));
	if (p == NULL)
		return false;
	r->frames = p;
	r->frames_room = (uint32_t)frames_room;
	memcpy(r->memory + r->used, data, len);
	r->frames[r->count].offset = (uint32_t)r->used;
	r->frames[r->count++].len = len;
	r->used += len;
	return true;
}

/* Frames that were cut at capture, or do not fit a wire, are left out and counted. */
static bool
replay_read(struct pcap_wire *p, pcap_t *file, const char *name, const struct wire_err *err)
{
	struct pcap_pkthdr *hdr;
	const u_char *data;
	int rc;

	while ((rc = pcap_next_ex(file, &hdr, &data)) == 1) {
		if (hdr->caplen != hdr->len || hdr->len < FRAME_MIN || hdr->len > WIRE_FRAME_MAX) {
			p->w.stats.rx_dropped++;
			continue;
		}
		if (p->in.used + hdr->len > REPLAY_MAX) {
			wire_fail(err, "in=%s has more than %u MB of frames; cut the file", name,
				  REPLAY_MAX >> 20);
			return false;
		}
		if (!replay_add(&p->in, data, hdr->len)) {
			wire_fail(err, "no memory for the frames of in=%s", name);
			return false;
		}
	}
	if (rc == PCAP_ERROR) {
		wire_fail(err, "in=%s is damaged: %s; repair or replace it", name,
			  pcap_geterr(file));
		return false;
	}
	if (p->in.count == 0) {
		wire_fail(err, "in=%s has no complete frame of %u to %u bytes; use another file",
			  name, FRAME_MIN, WIRE_FRAME_MAX);
		return false;
	}
	return true;
}

static bool
replay_open(struct pcap_wire *p, const struct pcap_conf *c, const struct wire_err *err)
{
	char text[PCAP_ERRBUF_SIZE] = "";
	pcap_t *file = pcap_open_offline(c->in, text);
	bool ok = false;

	if (file == NULL) {
		wire_fail(err, "cannot read in=%s: %s", c->in, text);
		return false;
	}
	if (pcap_datalink(file) != DLT_EN10MB)
		wire_fail(err, "in=%s has link type %d, not Ethernet; capture on an Ethernet "
			  "interface", c->in, pcap_datalink(file));
	else
		ok = replay_read(p, file, c->in, err);
	pcap_close(file);
	p->in.left = c->loop != 0 ? c->loop : UINT64_MAX;
	p->in.rate.per_s = c->rate;
	p->in.delay_ns = c->delay * NS_PER_MS;
	return ok;
}

static bool
capture_open(struct pcap_wire *p, const struct pcap_conf *c, const struct wire_err *err)
{
	p->snaplen = (uint32_t)c->snaplen;
	p->dead = pcap_open_dead_with_tstamp_precision(DLT_EN10MB, (int)p->snaplen,
						       PCAP_TSTAMP_PRECISION_NANO);
	if (p->dead == NULL) {
		wire_fail(err, "no memory");
		return false;
	}
	p->out = pcap_dump_open(p->dead, c->out);
	if (p->out == NULL) {
		wire_fail(err, "cannot write out=%s: %s", c->out, pcap_geterr(p->dead));
		return false;
	}
	pcap_dump_flush(p->out);
	return true;
}

static bool
same_file(const char *a, const char *b)
{
	struct stat sa, sb;

	if (strcmp(a, b) == 0)
		return true;
	return stat(a, &sa) == 0 && stat(b, &sb) == 0 && sa.st_dev == sb.st_dev &&
	       sa.st_ino == sb.st_ino;
}

/* Opening a pipe or a terminal could wait for ever, and "-" would be the host's own. */
static bool
is_plain(const char *key, const char *name, const struct wire_err *err)
{
	struct stat st;

	if (strcmp(name, "-") != 0 && (stat(name, &st) != 0 || S_ISREG(st.st_mode)))
		return true;
	wire_fail(err, "%s=%s is not a regular file; name one", key, name);
	return false;
}

/* Options that make no sense together. */
static bool
pcap_check(const struct pcap_conf *c, uint32_t given, const struct wire_err *err)
{
	bool in = (given & 1u << PCAP_IN) != 0, out = (given & 1u << PCAP_OUT) != 0;
	uint32_t in_only = 1u << PCAP_LOOP | 1u << PCAP_RATE | 1u << PCAP_DELAY;

	if (!in && !out)
		wire_fail(err, "no file; write in=FILE to replay, out=FILE to capture, or both");
	else if (!in && (given & in_only) != 0)
		wire_fail(err, "loop, rate and delay are for replay; add in=FILE or drop them");
	else if (!out && (given & 1u << PCAP_SNAPLEN) != 0)
		wire_fail(err, "snaplen is for capture; add out=FILE or leave it out");
	else if (in && out && same_file(c->in, c->out))
		wire_fail(err, "in and out are the same file %s; choose another out", c->out);
	else
		return (!in || is_plain("in", c->in, err)) &&
		       (!out || is_plain("out", c->out, err));
	return false;
}

static struct wire *
pcap_wire_open(const void *conf, uint32_t given, const uint8_t mac[6], const struct wire_err *err)
{
	const struct pcap_conf *c = conf;
	struct pcap_wire *p;

	(void)mac;
	if (!pcap_check(c, given, err))
		return NULL;
	p = calloc(1, sizeof(*p));
	if (p == NULL)
		return wire_fail(err, "no memory");
	p->w.ops = &pcap_wire_ops;
	p->w.waits = true;
	p->w.nqueues = 1;
	if (((given & 1u << PCAP_IN) != 0 && !replay_open(p, c, err)) ||
	    ((given & 1u << PCAP_OUT) != 0 && !capture_open(p, c, err))) {
		pcap_wire_close(&p->w);
		return NULL;
	}
	return &p->w;
}

const struct wire_kind wire_kind_pcap = {
	.name = "pcap",
	.opts = pcap_opts,
	.nopts = ARRAY_LEN(pcap_opts),
	.conf_size = sizeof(struct pcap_conf),
	.defaults = &pcap_defaults,
	.open = pcap_wire_open,
};

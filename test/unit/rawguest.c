/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 hvnet contributors
 *
 * The hand-built guest: memory, rings, signals, bring-up.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "rawguest.h"

#define RG_IDLE_POLLS 4096
#define STEP_NS 5000000ull

static void *
env_offer(void *ctx, uint32_t index)
{
	struct rawguest *g = ctx;

	assert_true(index > 0 && index < RG_CHANNELS);
	g->rings[index] = calloc(2, g->conf.ring_bytes);
	g->offered[index] = true;
	return g->rings[index];
}

static void
env_rescind(void *ctx, uint32_t index)
{
	struct rawguest *g = ctx;

	assert_true(g->offered[index]);
	g->offered[index] = false;
	free(g->rings[index]);
	g->rings[index] = NULL;
}

static void *
env_gpa(void *ctx, uint64_t gpa, uint32_t len)
{
	struct rawguest *g = ctx;

	if (gpa < RG_MEM_GPA || gpa - RG_MEM_GPA > RG_MEM_BYTES - len)
		return NULL;
	return g->mem + (gpa - RG_MEM_GPA);
}

static void
env_interrupt(void *ctx, uint32_t index)
{
	((struct rawguest *)ctx)->interrupts[index]++;
}

static uint32_t
wire_take(struct wire *w, uint32_t q, struct wire_rx *frames, uint32_t max)
{
	struct rg_wire *rw = (struct rg_wire *)w;
	uint32_t n = 0;

	assert_int_equal(q, 0);
	while (n < max && rw->in_next < rw->in_count)
		frames[n++] = rw->in_frame[rw->in_next++];
	return n;
}

static void
wire_put(struct wire *w, uint32_t q, const struct wire_tx *frames, uint32_t n)
{
	struct rg_wire *rw = (struct rg_wire *)w;
	uint32_t i, s;

	assert_int_equal(q, 0);
	for (i = 0; i < n; i++) {
		uint32_t at = rw->out_count % RG_FRAMES, len = 0;

		for (s = 0; s < frames[i].nsegs; s++) {
			assert_true(len + frames[i].segs[s].len <= RG_CAPTURE);
			memcpy(rw->out[at] + len, frames[i].segs[s].data, frames[i].segs[s].len);
			len += frames[i].segs[s].len;
		}
		assert_int_equal(len, frames[i].len);
		rw->out_len[at] = len;
		rw->out_count++;
	}
}

static void
wire_link(struct wire *w, bool up)
{
	((struct rg_wire *)w)->link = up;
}

static const struct wire_ops rg_wire_ops = {
	.name = "test",
	.rx = wire_take,
	.tx = wire_put,
	.set_link = wire_link,
};

void
rg_start(struct rawguest *g, enum judge_mode mode, void (*tweak)(struct nic_conf *conf))
{
	static const struct nic_conf conf = {
		.name = "netvsc0",
		.mac = { 0x02, 0x15, 0x5d, 0x01, 0x02, 0x03 },
		.channels = 4,
		.nvsp_version = NVSP_VERSION_61,
		.mtu = 9000,
		.ring_bytes = 4 * 4096,
		.section_size = 6144,
		.max_packets = 8,
		.align_shift = 3,
		.ranges = 1,
		.rss_entries = 128,
		.link_bps = 10000000000ull,
	};
	struct nic_env env = {
		.ctx = g,
		.channel_offer = env_offer,
		.channel_rescind = env_rescind,
		.gpa = env_gpa,
		.interrupt = env_interrupt,
	};

	memset(g, 0, sizeof(*g));
	g->conf = conf;
	if (tweak != NULL)
		tweak(&g->conf);
	g->judge.mode = mode;
	g->wire.w.ops = &rg_wire_ops;
	g->wire.w.nqueues = 1;
	g->rings[0] = calloc(2, g->conf.ring_bytes);
	g->recv = malloc(RG_RECV_BYTES);
	g->send = malloc(RG_SEND_BYTES);
	g->mem = malloc(RG_MEM_BYTES);
	memset(g->recv, 0xa5, RG_RECV_BYTES);
	memset(g->send, 0x5a, RG_SEND_BYTES);
	memset(g->mem, 0x77, RG_MEM_BYTES);
	g->now_ns = 1000000000;
	g->nic = nic_create(&g->conf, &env, &g->wire.w, &g->judge);
	assert_non_null(g->nic);
	assert_int_equal(nic_open(g->nic, g->rings[0], g->recv, RG_RECV_GPADL, RG_RECV_BYTES,
				  g->send, RG_SEND_GPADL, RG_SEND_BYTES), 0);
}

void
rg_stop(struct rawguest *g)
{
	uint32_t i;

	nic_destroy(g->nic);
	for (i = 1; i < RG_CHANNELS; i++)
		assert_false(g->offered[i]);
	free(g->rings[0]);
	free(g->recv);
	free(g->send);
	free(g->mem);
}

void
rg_run(struct rawguest *g)
{
	uint32_t i;

	for (i = 0; i < RG_IDLE_POLLS && nic_poll(g->nic, g->now_ns) != 0; i++)
		g->now_ns += 1000;
	assert_true(i < RG_IDLE_POLLS);
}

void
rg_wait(struct rawguest *g, uint64_t ns)
{
	uint64_t end = g->now_ns + ns;

	while (g->now_ns < end) {
		g->now_ns += STEP_NS;
		nic_poll(g->nic, g->now_ns);
	}
}

struct vmbus_ring_hdr *
rg_tx_hdr(struct rawguest *g, uint32_t ch)
{
	return (struct vmbus_ring_hdr *)g->rings[ch];
}

struct vmbus_ring_hdr *
rg_rx_hdr(struct rawguest *g, uint32_t ch)
{
	return (struct vmbus_ring_hdr *)(g->rings[ch] + g->conf.ring_bytes);
}

uint32_t
rg_ring_size(const struct rawguest *g)
{
	return g->conf.ring_bytes - 4096;
}

uint32_t
rg_write(struct rawguest *g, uint32_t ch, uint32_t at, const void *pkt, uint32_t len)
{
	uint8_t *data = g->rings[ch] + 4096;
	const uint8_t *src = pkt;
	uint32_t size = rg_ring_size(g), i, start = at;
	uint8_t trailer[8] = { 0 };

	memcpy(trailer + 4, &start, 4);
	for (i = 0; i < len; i++, at = (at + 1) % size)
		data[at] = src[i];
	for (i = 0; i < 8; i++, at = (at + 1) % size)
		data[at] = trailer[i];
	return at;
}

void
rg_signal(struct rawguest *g, uint32_t ch)
{
	if (rg_tx_hdr(g, ch)->imask == 0)
		nic_signal(g->nic, ch);
}

void
rg_put(struct rawguest *g, uint32_t ch, const void *pkt, uint32_t len)
{
	struct vmbus_ring_hdr *h = rg_tx_hdr(g, ch);
	uint32_t old = h->write_index;

	h->write_index = rg_write(g, ch, old, pkt, len);
	if (!g->mute && h->imask == 0 && h->read_index == old)
		nic_signal(g->nic, ch);
}

void
rg_nvsp(struct rawguest *g, uint32_t ch, uint16_t flags, uint64_t xact, const void *msg,
	uint32_t len)
{
	struct {
		struct vmbus_pkt_desc desc;
		uint8_t msg[40];
	} pkt = {
		.desc = { .type = VMBUS_PKT_INBAND, .offset8 = 2, .len8 = 7, .flags = flags,
			  .xact = xact },
	};

	memcpy(pkt.msg, msg, len);
	rg_put(g, ch, &pkt, sizeof(pkt));
}

void
rg_gpa(struct rawguest *g, uint32_t ch, uint64_t xact, const void *ranges, uint32_t bytes,
       uint32_t count, uint32_t channel_type, uint32_t section, uint32_t size)
{
	uint8_t buf[4096] = { 0 };
	uint32_t hlen = 24 + bytes, msg[10] = { NVSP_RNDIS, channel_type, section, size };
	struct vmbus_pkt_desc desc = {
		.type = VMBUS_PKT_GPA_DIRECT,
		.offset8 = (uint16_t)(hlen / 8),
		.len8 = (uint16_t)(hlen / 8 + 5),
		.flags = 1,
		.xact = xact,
	};

	memcpy(buf, &desc, sizeof(desc));
	memcpy(buf + 20, &count, 4);
	memcpy(buf + 24, ranges, bytes);
	memcpy(buf + hlen, msg, sizeof(msg));
	rg_put(g, ch, buf, hlen + 40);
}

void
rg_complete(struct rawguest *g, uint32_t ch, uint64_t xact)
{
	struct {
		struct vmbus_pkt_desc desc;
		uint32_t msg[10];
	} pkt = {
		.desc = { .type = VMBUS_PKT_COMPLETION, .offset8 = 2, .len8 = 7, .xact = xact },
		.msg = { NVSP_RNDIS_COMPLETE, NVSP_STATUS_OK },
	};

	rg_put(g, ch, &pkt, sizeof(pkt));
}

bool
rg_get(struct rawguest *g, uint32_t ch)
{
	struct vmbus_ring_hdr *h = rg_rx_hdr(g, ch);
	const uint8_t *data = g->rings[ch] + g->conf.ring_bytes + 4096;
	uint32_t size = rg_ring_size(g), at = h->read_index, i, used, before, after;
	struct rg_packet *p = &g->pkt;
	uint8_t trailer[8];

	if (at == h->write_index)
		return false;
	for (i = 0; i < 16; i++)
		((uint8_t *)&p->desc)[i] = data[(at + i) % size];
	p->len = p->desc.len8 * 8u;
	assert_true(p->len >= 16 && p->len <= sizeof(p->bytes));
	for (i = 0; i < p->len; i++)
		p->bytes[i] = data[(at + i) % size];
	for (i = 0; i < 8; i++)
		trailer[i] = data[(at + p->len + i) % size];
	assert_memory_equal(trailer, "\0\0\0\0", 4);
	assert_memory_equal(trailer + 4, &at, 4);
	p->nvsp = p->bytes + p->desc.offset8 * 8u;
	p->nvsp_len = p->len - p->desc.offset8 * 8u;
	used = (h->write_index + size - at) % size;
	assert_true(p->len + 8 <= used);
	before = size - used;
	after = before + p->len + 8;
	h->read_index = (at + p->len + 8) % size;
	if (!g->deaf && h->pending_send != 0 && before <= h->pending_send &&
	    after > h->pending_send)
		nic_signal(g->nic, ch);
	return true;
}

const uint8_t *
rg_expect(struct rawguest *g, uint64_t xact, uint32_t type)
{
	uint32_t got;

	rg_run(g);
	assert_true(rg_get(g, 0));
	assert_int_equal(g->pkt.desc.type, VMBUS_PKT_COMPLETION);
	assert_int_equal(g->pkt.desc.xact, xact);
	assert_true(g->pkt.nvsp_len >= 8);
	memcpy(&got, g->pkt.nvsp, 4);
	assert_int_equal(got, type);
	return g->pkt.nvsp;
}

void
rg_nvsp_up(struct rawguest *g, uint32_t version, uint32_t frame_max)
{
	struct nvsp_init init = { NVSP_INIT, version, version };
	struct nvsp_ndis_config config = { NVSP_NDIS_CONFIG, frame_max, 0,
					   NVSP_CAP_8021Q | NVSP_CAP_SRIOV };
	struct nvsp_ndis_version ndis = { NVSP_NDIS_VERSION, 6, 30 };
	struct nvsp_buffer rx = { NVSP_RXBUF, RG_RECV_GPADL, NVSP_RXBUF_ID, 0 };
	struct nvsp_buffer tx = { NVSP_TXBUF, RG_SEND_GPADL, NVSP_TXBUF_ID, 0 };
	struct nvsp_init_complete done;

	rg_nvsp(g, 0, 1, 1, &init, sizeof(init));
	memcpy(&done, rg_expect(g, 1, NVSP_INIT_COMPLETE), sizeof(done));
	assert_int_equal(done.status, NVSP_STATUS_OK);
	if (version >= NVSP_VERSION_2)
		rg_nvsp(g, 0, 0, 0, &config, sizeof(config));
	rg_nvsp(g, 0, 0, 0, &ndis, sizeof(ndis));
	rg_nvsp(g, 0, 1, 2, &rx, sizeof(rx));
	assert_int_equal(rg_expect(g, 2, NVSP_RXBUF_COMPLETE)[4], NVSP_STATUS_OK);
	rg_nvsp(g, 0, 1, 3, &tx, sizeof(tx));
	assert_int_equal(rg_expect(g, 3, NVSP_TXBUF_COMPLETE)[4], NVSP_STATUS_OK);
}

void
rg_control_send(struct rawguest *g, const void *msg, uint32_t len, uint32_t status)
{
	struct vmbus_gpa_range r = { len, 0, RG_MEM_GPA >> 12 };

	memcpy(g->mem, msg, len);
	rg_gpa(g, 0, 77, &r, sizeof(r), 1, NVSP_CHANNEL_CONTROL, NVSP_SECTION_NONE, 0);
	assert_int_equal(rg_expect(g, 77, NVSP_RNDIS_COMPLETE)[4], status);
}

void
rg_control(struct rawguest *g, const void *msg, uint32_t len)
{
	struct vmbus_xfer_hdr h;
	struct vmbus_xfer_range r;
	uint32_t nvsp[4];

	rg_control_send(g, msg, len, NVSP_STATUS_OK);
	assert_true(rg_get(g, 0));
	memcpy(&h, g->pkt.bytes, sizeof(h));
	memcpy(&r, g->pkt.bytes + sizeof(h), sizeof(r));
	memcpy(nvsp, g->pkt.nvsp, sizeof(nvsp));
	assert_int_equal(h.desc.type, VMBUS_PKT_XFER_PAGES);
	assert_int_equal(h.set_id, NVSP_RXBUF_ID);
	assert_int_equal(h.nranges, 1);
	assert_int_equal(nvsp[0], NVSP_RNDIS);
	assert_int_equal(nvsp[1], NVSP_CHANNEL_CONTROL);
	assert_true(r.len <= sizeof(g->reply) && r.ofs + r.len <= RG_RECV_BYTES);
	memcpy(g->reply, g->recv + r.ofs, r.len);
	g->reply_len = r.len;
	g->reply_xact = h.desc.xact;
	rg_complete(g, 0, h.desc.xact);
	rg_run(g);
}

void
rg_rndis_up(struct rawguest *g)
{
	struct rndis_initialize init = { RNDIS_INITIALIZE, sizeof(init), ++g->rid, 1, 0, 0x4000 };
	struct rndis_initialize_complete done;

	rg_control(g, &init, sizeof(init));
	memcpy(&done, g->reply, sizeof(done));
	assert_int_equal(done.type, RNDIS_INITIALIZE | RNDIS_COMPLETION);
	assert_int_equal(done.rid, g->rid);
	assert_int_equal(done.status, 0);
}

uint32_t
rg_query(struct rawguest *g, uint32_t oid, void *out, uint32_t max)
{
	struct rndis_oid_request req = { RNDIS_QUERY, sizeof(req), ++g->rid, oid, 0, 0, 0 };
	struct rndis_query_complete done;

	rg_control(g, &req, sizeof(req));
	memcpy(&done, g->reply, sizeof(done));
	assert_int_equal(done.type, RNDIS_QUERY | RNDIS_COMPLETION);
	assert_int_equal(done.rid, g->rid);
	assert_int_equal(done.status, 0);
	assert_true(done.buf_len <= max && done.buf_offset + 8 + done.buf_len == g->reply_len);
	memcpy(out, g->reply + done.buf_offset + 8, done.buf_len);
	return done.buf_len;
}

uint32_t
rg_set(struct rawguest *g, uint32_t oid, const void *val, uint32_t len)
{
	struct rndis_oid_request req = { RNDIS_SET, sizeof(req) + len, ++g->rid, oid, len,
					 RNDIS_OID_DATA_OFFSET, 0 };
	struct rndis_status_complete done;
	uint8_t msg[4096];

	memcpy(msg, &req, sizeof(req));
	memcpy(msg + sizeof(req), val, len);
	rg_control(g, msg, sizeof(req) + len);
	memcpy(&done, g->reply, sizeof(done));
	assert_int_equal(done.type, RNDIS_SET | RNDIS_COMPLETION);
	assert_int_equal(done.rid, g->rid);
	return done.status;
}

void
rg_filter(struct rawguest *g, uint32_t filter)
{
	assert_int_equal(rg_set(g, OID_GEN_CURRENT_PACKET_FILTER, &filter, sizeof(filter)), 0);
}

void
rg_traffic(struct rawguest *g, uint32_t channels)
{
	struct nvsp_subchannel req = { NVSP_SUBCHANNEL, NVSP_SUBCHANNEL_ALLOCATE, channels - 1 };
	uint32_t i, type;

	rg_nvsp_up(g, NVSP_VERSION_61, 1514);
	rg_rndis_up(g);
	if (channels > 1) {
		rg_nvsp(g, 0, 1, 9, &req, sizeof(req));
		assert_int_equal(rg_expect(g, 9, NVSP_SUBCHANNEL)[4], NVSP_STATUS_OK);
		for (i = 1; i < channels; i++) {
			assert_true(g->offered[i]);
			nic_channel_opened(g->nic, i);
		}
		rg_run(g);
		assert_true(rg_get(g, 0));
		memcpy(&type, g->pkt.nvsp, 4);
		assert_int_equal(type, NVSP_SEND_TABLE);
	}
	rg_filter(g, NDIS_FILTER_DIRECTED | NDIS_FILTER_ALL_MULTICAST | NDIS_FILTER_BROADCAST);
}

uint32_t
rg_rss(struct rawguest *g, uint32_t entries, uint32_t channels, uint32_t types)
{
	static const uint8_t key[40] = {
		0x6d, 0x5a, 0x56, 0xda, 0x25, 0x5b, 0x0e, 0xc2, 0x41, 0x67, 0x25, 0x3d, 0x43,
		0xa3, 0x8f, 0xb0, 0xd0, 0xca, 0x2b, 0xcb, 0xae, 0x7b, 0x30, 0xb4, 0x77, 0xcb,
		0x2d, 0xa3, 0x80, 0x30, 0xf2, 0x0c, 0x6a, 0x42, 0xb7, 0x3b, 0xbe, 0xac, 0x01,
		0xfa,
	};
	struct {
		struct ndis_rss_params p;
		uint8_t key[40];
		uint32_t table[NDIS_RSS_ENTRIES_MAX];
	} set = {
		.p = {
			.hdr = { NDIS_OBJ_RSS_PARAMS, 2, sizeof(set.p) },
			.hash = NDIS_HASH_TOEPLITZ | types,
			.ind_size = (uint16_t)(entries * 4),
			.ind_offset = 80,
			.key_size = 40,
			.key_offset = 40,
		},
	};
	uint32_t i;

	memcpy(set.key, key, sizeof(key));
	for (i = 0; i < entries; i++)
		set.table[i] = i % channels;
	return rg_set(g, OID_GEN_RECEIVE_SCALE_PARAMETERS, &set, 80 + entries * 4);
}

uint32_t
rg_rndis_packet(uint8_t *dst, const void *frame, uint32_t len)
{
	struct rndis_packet h = {
		.type = RNDIS_PACKET,
		.len = (uint32_t)sizeof(h) + len,
		.data_offset = RNDIS_PACKET_DATA_MIN,
		.data_len = len,
	};

	memcpy(dst, &h, sizeof(h));
	memcpy(dst + sizeof(h), frame, len);
	return h.len;
}

void
rg_send_section(struct rawguest *g, uint32_t ch, uint64_t xact, uint32_t section, uint32_t n)
{
	struct nvsp_rndis msg = { NVSP_RNDIS, NVSP_CHANNEL_DATA, section, n };

	rg_nvsp(g, ch, 1, xact, &msg, sizeof(msg));
}

void
rg_frame(const struct rawguest *g, uint8_t *frame, uint32_t len, uint8_t seed)
{
	uint32_t i;

	for (i = 0; i < len; i++)
		frame[i] = (uint8_t)(seed + i * 7);
	memcpy(frame, g->conf.mac, 6);
	frame[6] = 2;
	frame[12] = 0x88;
	frame[13] = 0xb5;
}

void
rg_wire_in(struct rawguest *g, const void *frame, uint32_t len)
{
	struct rg_wire *w = &g->wire;

	if (w->in_next == w->in_count)
		w->in_next = w->in_count = 0;
	assert_true(w->in_count < RG_FRAMES && len <= RG_CAPTURE);
	memcpy(w->in[w->in_count], frame, len);
	w->in_frame[w->in_count] = (struct wire_rx){ .data = w->in[w->in_count], .len = len };
	w->in_count++;
}

uint64_t
rg_violations(const struct rawguest *g)
{
	uint64_t sum = 0;
	uint32_t v;

	for (v = 0; v < JUDGE_COUNT; v++) {
		if (g->judge.count[v] != 0)
			print_message("violation %s: %u times, first value %#llx\n",
				      judge_name((enum judge_violation)v),
				      (unsigned int)g->judge.count[v],
				      (unsigned long long)g->judge.first[v].value);
		sum += g->judge.count[v];
	}
	return sum;
}

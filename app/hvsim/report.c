/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 hvnet contributors
 *
 * Turns what the host knows into JSON.
 */
#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <unistd.h>

#include "report.h"

/* A counter of a struct and its key. */
struct counter {
	const char *key;
	size_t ofs;
};

#define CHAN(key, field) { key, offsetof(struct nic_channel_stats, field) }
#define WIRE(field) { #field, offsetof(struct wire_stats, field) }

/* What is lost has "dropped" in its key: tools sum such keys up. */
static const struct counter chan_counters[] = {
	CHAN("rx_packets", rx_packets),
	CHAN("rx_bytes", rx_bytes),
	CHAN("rx_messages", rx_messages),
	CHAN("rx_completions", rx_completions),
	CHAN("rx_dropped_no_buffer", rx_no_buffer),
	CHAN("rx_ring_full", rx_ring_full),
	CHAN("rx_dropped_filter", rx_filtered),
	CHAN("rx_dropped_oversize", rx_oversize),
	CHAN("tx_packets", tx_packets),
	CHAN("tx_bytes", tx_bytes),
	CHAN("tx_messages", tx_messages),
	CHAN("tx_section", tx_section),
	CHAN("tx_gpa", tx_gpa),
	CHAN("tx_mixed", tx_mixed),
	CHAN("tx_errors", tx_errors),
	CHAN("signals", signals),
	CHAN("signals_redundant", signals_redundant),
	CHAN("interrupts", interrupts),
};

static const struct counter wire_counters[] = {
	WIRE(rx_frames),
	WIRE(rx_bytes),
	WIRE(rx_dropped),
	WIRE(tx_frames),
	WIRE(tx_bytes),
	WIRE(tx_dropped),
};

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))

static void
add_u64(struct json_object *o, const char *key, uint64_t v)
{
	json_object_object_add(o, key, json_object_new_int64(v > INT64_MAX ? INT64_MAX :
							      (int64_t)v));
}

static void
add_text(struct json_object *o, const char *key, const char *v)
{
	json_object_object_add(o, key, json_object_new_string(v));
}

static void
add_bool(struct json_object *o, const char *key, bool v)
{
	json_object_object_add(o, key, json_object_new_boolean(v));
}

static void
add_counters(struct json_object *o, const void *st, const struct counter *c, size_t n)
{
	size_t i;

	for (i = 0; i < n; i++)
		add_u64(o, c[i].key, *(const uint64_t *)((const char *)st + c[i].ofs));
}

static struct json_object *
session_json(const struct nic *nic)
{
	struct json_object *o = json_object_new_object();
	struct nic_session_info s;
	char text[32];

	nic_session_info(nic, &s);
	snprintf(text, sizeof(text), "0x%x", s.nvsp_version);
	add_text(o, "nvsp_version", text);
	add_u64(o, "mtu", s.mtu);
	add_u64(o, "filter", s.filter);
	add_u64(o, "channels", s.channels);
	add_u64(o, "recv_slots", s.recv_slots);
	add_u64(o, "recv_outstanding", s.recv_outstanding);
	add_u64(o, "rss_channels", s.rss_channels);
	add_bool(o, "link_up", s.link_up);
	add_bool(o, "dead", s.dead);
	return o;
}

/* Channels that ever did something; the primary always. */
static struct json_object *
channels_json(const struct nic *nic)
{
	struct json_object *list = json_object_new_array();
	struct nic_channel_stats st;
	struct json_object *o;
	uint32_t i;

	for (i = 0; i < VMBUS_CHANNELS_MAX; i++) {
		nic_channel_stats(nic, i, &st);
		if (i > 0 && st.rx_packets == 0 && st.tx_messages == 0 && st.signals == 0 &&
		    i >= nic_channels(nic))
			continue;
		o = json_object_new_object();
		add_u64(o, "index", i);
		add_counters(o, &st, chan_counters, COUNT(chan_counters));
		json_object_array_add(list, o);
	}
	return list;
}

struct json_object *
report_stats(struct lab *lab)
{
	struct json_object *top = json_object_new_object();
	struct json_object *list = json_object_new_array();
	uint32_t i;

	for (i = 0; i < lab->nics; i++) {
		const struct lab_nic *n = &lab->nic[i];
		struct json_object *o = json_object_new_object();
		struct json_object *w = json_object_new_object();

		add_text(o, "name", nic_conf(n->nic)->name);
		add_bool(o, "open", nic_is_open(n->nic));
		add_u64(o, "sessions", n->sessions);
		json_object_object_add(o, "session", session_json(n->nic));
		add_text(w, "kind", n->wire->ops->name);
		add_counters(w, &n->wire->stats, wire_counters, COUNT(wire_counters));
		json_object_object_add(o, "wire", w);
		json_object_object_add(o, "channels", channels_json(n->nic));
		json_object_array_add(list, o);
	}
	json_object_object_add(top, "nics", list);
	return top;
}

struct json_object *
report_violations(const struct lab *lab)
{
	struct json_object *top = json_object_new_object();
	struct json_object *list = json_object_new_array();
	unsigned int v;

	for (v = 0; v < JUDGE_COUNT; v++) {
		struct json_object *o;

		if (lab != NULL && lab->judge.count[v] == 0)
			continue;
		o = json_object_new_object();
		add_text(o, "name", judge_name((enum judge_violation)v));
		add_text(o, "text", judge_text((enum judge_violation)v));
		if (lab != NULL) {
			add_u64(o, "count", lab->judge.count[v]);
			add_bool(o, "expected", lab->judge.expected[v]);
			add_text(o, "first_nic", lab->judge.first[v].nic);
			add_u64(o, "first_channel", lab->judge.first[v].channel);
			add_u64(o, "first_value", lab->judge.first[v].value);
		}
		json_object_array_add(list, o);
	}
	json_object_object_add(top, "violations", list);
	return top;
}

struct json_object *
report_info(struct lab *lab, const char *socket)
{
	static const char *const modes[] = { "strict", "lenient", "polling" };
	struct json_object *top = json_object_new_object();
	struct json_object *list = json_object_new_array();
	uint32_t i;

	add_u64(top, "pid", (uint64_t)getpid());
	add_text(top, "socket", socket);
	add_text(top, "tree", lab->root);
	add_text(top, "mode", modes[lab->judge.mode]);
	add_u64(top, "guest_memory_bytes", guestmem_bytes(lab->gm));
	for (i = 0; i < lab->nics; i++) {
		const struct lab_nic *n = &lab->nic[i];
		const struct nic_conf *c = nic_conf(n->nic);
		struct json_object *o = json_object_new_object();
		char mac[18];

		snprintf(mac, sizeof(mac), "%02x:%02x:%02x:%02x:%02x:%02x", c->mac[0], c->mac[1],
			 c->mac[2], c->mac[3], c->mac[4], c->mac[5]);
		add_text(o, "name", c->name);
		add_text(o, "guid", n->guid);
		add_text(o, "mac", mac);
		add_u64(o, "uio", n->index);
		add_u64(o, "relid", n->chan[0].relid);
		add_u64(o, "channels", c->channels);
		add_text(o, "wire", n->wire->ops->name);
		add_bool(o, "open", nic_is_open(n->nic));
		add_u64(o, "uio_descriptors", n->uios);
		json_object_array_add(list, o);
	}
	json_object_object_add(top, "nics", list);
	return top;
}

int
report_write(struct lab *lab, const char *path)
{
	struct json_object *top = report_stats(lab);
	struct json_object *v = report_violations(lab);
	struct json_object *list;
	int ret;

	if (json_object_object_get_ex(v, "violations", &list))
		json_object_object_add(top, "violations", json_object_get(list));
	ret = json_object_to_file_ext(path, top, JSON_C_TO_STRING_PRETTY) == 0 ? 0 : -errno;
	json_object_put(v);
	json_object_put(top);
	return ret;
}

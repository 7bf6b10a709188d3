/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 hvnet contributors
 *
 * Puts one NIC into the machine: memory, files, wire, and its sub-channels' coming and going.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "lab.h"

/** Sub-channels' "ring" files appear after 1 to 4 ms. */
#define PUBLISH_MIN_NS 1000000u
#define PUBLISH_STEP_NS 200000u
#define PUBLISH_STEPS 17u

static uint64_t
now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * 1000000000u + (uint64_t)ts.tv_nsec;
}

static struct tree_chan
chan_files(const struct lab_chan *c)
{
	return (struct tree_chan){
		.guid = c->nic->guid,
		.relid = c->relid,
		.index = c->index,
		.monitor = c->monitor,
		.cpu = c->index % (uint32_t)sysconf(_SC_NPROCESSORS_CONF),
	};
}

/* Numbers, ring memory and folder of a channel. */
static int
chan_create(struct lab_chan *c, uint32_t ring_bytes)
{
	struct lab *lab = c->nic->lab;
	struct tree_chan files;
	char name[64];
	int ret;

	ret = lab_ids_take(lab, c);
	if (ret != 0)
		return ret;
	snprintf(name, sizeof(name), "hvsim-ring-%u", c->relid);
	ret = shm_create(&c->rings, name, 2ull * ring_bytes);
	if (ret == 0) {
		files = chan_files(c);
		ret = tree_add_channel(lab->root, &files);
	}
	if (ret != 0) {
		shm_destroy(&c->rings);
		lab_ids_release(lab, c);
	}
	return ret;
}

static void
chan_destroy(struct lab_chan *c)
{
	if (c->relid == 0)
		return;
	tree_remove_channel(c->nic->lab->root, c->nic->guid, c->relid);
	shm_destroy(&c->rings);
	lab_ids_release(c->nic->lab, c);
	c->due_ns = 0;
}

static void *
env_offer(void *ctx, uint32_t index)
{
	struct lab_nic *n = ctx;
	struct lab_chan *c = &n->chan[index];
	int ret;

	ret = chan_create(c, nic_conf(n->nic)->ring_bytes);
	if (ret != 0) {
		fprintf(stderr, "hvsim: %s: sub-channel %u: %s\n", nic_conf(n->nic)->name, index,
			strerror(-ret));
		return NULL;
	}
	/* Not in the order of the indices: guests must not count on it. */
	c->due_ns = now_ns() + PUBLISH_MIN_NS + index * 7 % PUBLISH_STEPS * PUBLISH_STEP_NS;
	if (c->due_ns < n->lab->due_ns)
		n->lab->due_ns = c->due_ns;
	return c->rings.p;
}

static void
env_rescind(void *ctx, uint32_t index)
{
	struct lab_nic *n = ctx;

	chan_destroy(&n->chan[index]);
}

static void *
env_gpa(void *ctx, uint64_t gpa, uint32_t len)
{
	struct lab_nic *n = ctx;

	return guestmem_find(n->lab->gm, n->owner, gpa, len);
}

static void
env_interrupt(void *ctx, uint32_t index)
{
	(void)index; /* one descriptor serves all channels */
	lab_uio_interrupt(ctx);
}

void
lab_chan_publish(struct lab_chan *c)
{
	struct tree_chan files = chan_files(c);

	c->due_ns = 0;
	nic_channel_opened(c->nic->nic, c->index);
	tree_add_ring(c->nic->lab->root, &files, c->rings.fd);
}

static int
nic_memory(struct lab_nic *n, uint32_t ring_bytes)
{
	int ret;

	ret = shm_create(&n->recv, "hvsim-recv", VMBUS_UIO_RECV_BYTES);
	if (ret == 0)
		ret = shm_create(&n->send, "hvsim-send", VMBUS_UIO_SEND_BYTES);
	if (ret == 0)
		ret = chan_create(&n->chan[0], ring_bytes);
	return ret;
}

static int
nic_files(struct lab_nic *n)
{
	struct tree_chan files = chan_files(&n->chan[0]);
	const struct lab *lab = n->lab;
	struct tree_dev dev = {
		.relid = n->chan[0].relid,
		.monitor = n->chan[0].monitor,
		.uio = n->index,
	};
	const struct shm *map[VMBUS_MAP_COUNT] = { &n->chan[0].rings, &lab->int_page,
		&lab->monitor_page, &n->recv, &n->send };
	char recv[32];
	char send[32];
	const char *const names[VMBUS_MAP_COUNT] = { "txrx_rings", "int_page", "monitor_page",
		recv, send };
	unsigned int k;
	int ret;

	snprintf(recv, sizeof(recv), "recv:%u", n->recv_gpadl);
	snprintf(send, sizeof(send), "send:%u", n->send_gpadl);
	memcpy(dev.guid, n->guid, sizeof(dev.guid));
	for (k = 0; k < VMBUS_MAP_COUNT; k++) {
		dev.map[k].name = names[k];
		dev.map[k].size = map[k]->len;
		dev.map[k].addr = (uint64_t)(n->index * VMBUS_MAP_COUNT + k + 1) << 28;
	}
	ret = tree_add_device(lab->root, &dev);
	return ret == 0 ? tree_add_ring(lab->root, &files, n->chan[0].rings.fd) : ret;
}

int
lab_nic_create(struct lab *lab, uint32_t index, const struct cli_nic *conf, char *err,
	       size_t errlen)
{
	struct lab_nic *n = &lab->nic[index];
	struct nic_env env = {
		.ctx = n,
		.channel_offer = env_offer,
		.channel_rescind = env_rescind,
		.gpa = env_gpa,
		.interrupt = env_interrupt,
	};
	uint32_t i;
	int ret;

	n->lab = lab;
	n->index = index;
	for (i = 0; i < VMBUS_CHANNELS_MAX; i++)
		n->chan[i] = (struct lab_chan){ .nic = n, .index = i };
	tree_guid(n->guid, conf->conf.mac, index);
	n->recv_gpadl = lab->gpadl_next++;
	n->send_gpadl = lab->gpadl_next++;
	n->wire = wire_open(conf->wire, conf->conf.mac, err, errlen);
	if (n->wire == NULL)
		return -EINVAL;
	ret = nic_memory(n, conf->conf.ring_bytes);
	if (ret == 0)
		ret = nic_files(n);
	if (ret == 0) {
		n->nic = nic_create(&conf->conf, &env, n->wire, &lab->judge);
		if (n->nic == NULL)
			ret = -ENOMEM;
	}
	if (ret != 0)
		snprintf(err, errlen, "NIC %s: %s; check memory, open files (ulimit -n) and room "
			 "in %s", conf->conf.name, strerror(-ret), lab->root);
	return ret;
}

void
lab_nic_destroy(struct lab_nic *n)
{
	uint32_t i;

	while (n->uios != 0)
		lab_uio_close(n, n->uio[n->uios - 1]);
	nic_destroy(n->nic);
	wire_close(n->wire);
	for (i = 0; i < VMBUS_CHANNELS_MAX; i++)
		if (n->chan[i].nic != NULL)
			chan_destroy(&n->chan[i]);
	shm_destroy(&n->recv);
	shm_destroy(&n->send);
}

/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 hvnet contributors
 *
 * Opens and closes a NIC: maps, channels, signals, buffers, session.
 */
#include <errno.h>
#include <string.h>
#include <time.h>

#include <rte_eal.h>
#include <rte_interrupts.h>
#include <rte_malloc.h>
#include <rte_memory.h>

#include "hvn_attach.h"
#include "hvn_bringup.h"
#include "hvn_clock.h"
#include "hvn_compat.h"
#include "hvn_inbound.h"
#include "hvn_log.h"

/* Sub-channels are offered, opened and shown by the kernel one after the other. */
#define SUBCHANNEL_DEADLINE_MS 10000u
#define SUBCHANNEL_NAP_NS 1000000L

/* A map that the bus made; NULL when it is missing or smaller than @p min bytes. */
static void *
bus_map(const struct hvn_nic *nic, enum vmbus_uio_map k, uint64_t min)
{
	const struct rte_mem_resource *res = &nic->vmbus->resource[k];

	if (res->addr == NULL || res->len < min || res->len % VMBUS_PAGE_SIZE != 0)
		return NULL;
	return res->addr;
}

static int
check_maps(const struct hvn_nic *nic)
{
	static const uint64_t min[VMBUS_MAP_COUNT] = {
		[VMBUS_MAP_RINGS] = 4 * VMBUS_PAGE_SIZE,
		[VMBUS_MAP_INT] = VMBUS_PAGE_SIZE,
		[VMBUS_MAP_MONITOR] = VMBUS_PAGE_SIZE,
		[VMBUS_MAP_RECV] = 3 * VMBUS_PAGE_SIZE,
		[VMBUS_MAP_SEND] = VMBUS_PAGE_SIZE,
	};

	for (uint32_t k = 0; k < VMBUS_MAP_COUNT; k++) {
		if (bus_map(nic, k, min[k]) == NULL) {
			HVN_LOG(ERR, "%s: uio map %u has %llu bytes, at least %llu are needed",
				nic->name, k, (unsigned long long)nic->vmbus->resource[k].len,
				(unsigned long long)min[k]);
			return -EINVAL;
		}
	}
	if (nic->vmbus->resource[VMBUS_MAP_RECV].len > UINT32_MAX ||
	    nic->vmbus->relid > UINT16_MAX)
		return -EINVAL;
	return 0;
}

/* How the host learns of news on a channel, and how soon. */
static void
set_signal(struct hvn_nic *nic, struct hvn_channel *ch, uint32_t relid, uint32_t monitor)
{
	uint32_t group = monitor / VMBUS_MONITOR_GROUP, bit = monitor % VMBUS_MONITOR_GROUP;
	struct vmbus_monitor_page *page = bus_map(nic, VMBUS_MAP_MONITOR, VMBUS_PAGE_SIZE);
	uint32_t *flags;

	if (monitor < RTE_DIM(page->group) * VMBUS_MONITOR_GROUP) {
		/* 100 ns units; a write of half a word that only we and the host look at. */
		__atomic_store_n(&page->latency[group][bit], (uint16_t)(nic->latency_us * 10),
				 __ATOMIC_RELAXED);
		hvn_channel_set_signal(ch, &page->group[group].pending, 1u << bit, -1);
		return;
	}
	flags = RTE_PTR_ADD(bus_map(nic, VMBUS_MAP_INT, VMBUS_PAGE_SIZE),
			    VMBUS_INT_PAGE_SEND_OFS);
	hvn_channel_set_signal(ch, &flags[relid / 32], 1u << (relid % 32),
			       rte_intr_fd_get(nic->vmbus->intr_handle));
}

/* Make channel @p index of nic->map[index]. */
static int
add_channel(struct hvn_nic *nic, uint32_t index)
{
	const struct hvn_ring_map *m = &nic->map[index];
	struct hvn_channel *ch;
	int ret;

	ch = rte_zmalloc_socket("hvn_channel", sizeof(*ch), RTE_CACHE_LINE_SIZE, nic->socket);
	if (ch == NULL)
		return -ENOMEM;
	ret = hvn_channel_init(ch, m->addr, m->len, (uint16_t)index, (uint16_t)m->relid);
	if (ret != 0) {
		rte_free(ch);
		return ret;
	}
	ch->recv = bus_map(nic, VMBUS_MAP_RECV, 1);
	ch->recv_len = (uint32_t)nic->vmbus->resource[VMBUS_MAP_RECV].len;
	set_signal(nic, ch, m->relid, m->monitor);
	nic->channel[index] = ch;
	nic->nchannels = index + 1;
	return 0;
}

static int
open_primary(struct hvn_nic *nic)
{
	const struct rte_vmbus_device *dev = nic->vmbus;
	int ret;

	nic->map[0] = (struct hvn_ring_map){
		.addr = dev->resource[VMBUS_MAP_RINGS].addr,
		.len = dev->resource[VMBUS_MAP_RINGS].len,
		.relid = dev->relid,
		.monitor = dev->monitor_id,
	};
	ret = add_channel(nic, 0);
	if (ret != 0) {
		HVN_LOG(ERR, "%s: primary channel: %s", nic->name, strerror(-ret));
		return ret;
	}
	hvn_session_init(&nic->session, nic->channel[0]);
	nic->session.notify_fd = nic->notify_fd;
	nic->session.uio_fd = rte_intr_fd_get(dev->intr_handle);
	nic->channel[0]->session = &nic->session;
	return 0;
}

/* RNDIS requests go by address where the host can reach our memory, else by section 0. */
static int
choose_transport(struct hvn_nic *nic)
{
	uint64_t gpa[HVN_REQUEST_SLOTS];
	uint32_t n = 0;

	if (rte_eal_iova_mode() == RTE_IOVA_PA) {
		nic->pages = rte_zmalloc_socket("hvn_requests",
						HVN_REQUEST_SLOTS * VMBUS_PAGE_SIZE,
						VMBUS_PAGE_SIZE, nic->socket);
		for (; nic->pages != NULL && n < HVN_REQUEST_SLOTS; n++) {
			gpa[n] = rte_mem_virt2iova(nic->pages + n * VMBUS_PAGE_SIZE);
			if (gpa[n] == RTE_BAD_IOVA)
				break;
		}
	}
	if (n == HVN_REQUEST_SLOTS) {
		hvn_session_use_pages(&nic->session, nic->pages, gpa, n);
		return 0;
	}
	if (nic->section_bytes == 0) {
		HVN_LOG(ERR, "%s: IOVA is VA and the host took no send buffer: no way to talk "
			"to it; use --iova-mode=pa", nic->name);
		return -ENOTSUP;
	}
	hvn_session_use_section(&nic->session, bus_map(nic, VMBUS_MAP_SEND, 1),
				nic->section_bytes);
	return 0;
}

/* The pool of send sections; without one everything goes by address. */
static int
open_sections(struct hvn_nic *nic)
{
	const struct rte_mem_resource *res = &nic->vmbus->resource[VMBUS_MAP_SEND];
	int ret;

	if (nic->section_bytes == 0)
		return 0;
	ret = hvn_section_pool_init(&nic->sections, res->addr, res->len, nic->section_bytes,
				    nic->socket);
	if (ret == -EINVAL) /* only the control section fits */
		return 0;
	return ret;
}

int
hvn_nic_open(struct hvn_nic *nic)
{
	int ret;

	/* What stays zero was not reached, and is not undone by hvn_bringup_end(). */
	nic->asked = false;
	nic->section_bytes = 0;
	memset(&nic->rxbuf, 0, sizeof(nic->rxbuf));
	memset(&nic->limits, 0, sizeof(nic->limits));
	ret = check_maps(nic);
	if (ret == 0)
		ret = open_primary(nic);
	if (ret != 0)
		return ret;
	ret = hvn_bringup_nvsp(nic);
	if (ret == 0)
		ret = choose_transport(nic);
	if (ret == 0)
		ret = open_sections(nic);
	if (ret == 0)
		ret = hvn_bringup_rndis(nic);
	if (ret != 0) {
		hvn_nic_close(nic);
		hvn_nic_free(nic);
		return ret;
	}
	nic->max_channels = 1;
	if (hvn_subchan_supported(nic->name, nic->vmbus->relid) &&
	    nic->version >= NVSP_VERSION_5)
		nic->max_channels = RTE_MIN(nic->rss.queues, VMBUS_CHANNELS_MAX);
	nic->open = true;
	return 0;
}

/* Wait until all @p count sub-channels are there and mapped. */
static int
map_subchannels(struct hvn_nic *nic, uint32_t count)
{
	const struct timespec nap = { .tv_nsec = SUBCHANNEL_NAP_NS };
	uint64_t end = hvn_now_ms() + SUBCHANNEL_DEADLINE_MS;
	uint32_t found = 0;
	int ret;

	for (;;) {
		ret = hvn_subchan_scan(nic->name, &nic->map[1], count, &found);
		if (ret == 0 && found == count)
			return 0;
		if (ret == 0 && hvn_now_ms() >= end)
			ret = -ETIMEDOUT;
		if (ret == 0 && hvn_channel_is_dead(nic->channel[0]))
			ret = -EIO;
		if (ret != 0) {
			HVN_LOG(ERR, "%s: %u of %u sub-channels appeared: %s", nic->name,
				found, count, strerror(-ret));
			return ret;
		}
		nanosleep(&nap, NULL);
		hvn_inbound_drain(nic->channel[0]);
	}
}

int
hvn_nic_grow(struct hvn_nic *nic, uint32_t want)
{
	uint32_t count = want - 1, granted = 0;
	int ret;

	if (want <= nic->nchannels)
		return 0;
	if (nic->asked)
		return -EALREADY;
	nic->asked = true;
	ret = hvn_bringup_subchannels(nic, count, &granted);
	if (ret != 0)
		return ret;
	if (granted < count) {
		HVN_LOG(ERR, "%s: %u channels are needed, the host granted %u; configure at "
			"most %u queues", nic->name, want, granted + 1, granted + 1);
		return -ENOSPC;
	}
	ret = map_subchannels(nic, count);
	for (uint32_t i = 1; ret == 0 && i <= count; i++) {
		ret = add_channel(nic, i);
		if (ret != 0)
			HVN_LOG(ERR, "%s: channel %u: %s", nic->name, i, strerror(-ret));
	}
	return ret;
}

void
hvn_nic_close(struct hvn_nic *nic)
{
	if (nic->channel[0] != NULL && nic->session.ch != NULL) {
		hvn_bringup_end(nic);
		nic->channel[0]->session = NULL;
		hvn_session_fini(&nic->session);
	}
	for (uint32_t i = 0; i < nic->nchannels; i++)
		hvn_channel_kill(nic->channel[i]);
	/* Sub-channel rings first: the kernel frees them with the last descriptor. */
	hvn_subchan_unmap(&nic->map[1], VMBUS_CHANNELS_MAX - 1);
	rte_vmbus_unmap_device(nic->vmbus);
	rte_free(nic->pages);
	nic->pages = NULL;
	nic->open = false;
}

void
hvn_nic_free(struct hvn_nic *nic)
{
	for (uint32_t i = 0; i < nic->nchannels; i++) {
		rte_free(nic->channel[i]);
		nic->channel[i] = NULL;
	}
	nic->nchannels = 0;
	hvn_section_pool_fini(&nic->sections);
}

int
hvn_nic_map(struct hvn_nic *nic)
{
	int ret = rte_vmbus_map_device(nic->vmbus);

	if (ret == 0)
		return 0;
	HVN_LOG(ERR, "%s: cannot map the device again", nic->name);
	return ret < 0 && ret != -1 ? ret : -ENODEV;
}

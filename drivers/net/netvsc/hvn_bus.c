/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 hvnet contributors
 *
 * Meets the vmbus bus: registration with the ABI guard, probe and remove; and the log.
 */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <rte_dev.h>
#include <rte_eal.h>
#include <rte_malloc.h>
#include <rte_version.h>

#include "hvn_compat.h"
#include "hvn_log.h"
#include "hvn_port.h"

#define DRIVER_NAME net_hv_netvsc

/* f8615163-df3e-46c5-913f-f2d2f965ed0e, the class of synthetic NICs, then the end mark. */
static const rte_uuid_t id_table[] = {
	RTE_UUID_INIT(0xf8615163, 0xdf3e, 0x46c5, 0x913f, 0xf2d2f965ed0eull),
	RTE_UUID_INIT(0, 0, 0, 0, 0ull),
};

RTE_LOG_REGISTER_SUFFIX(hvn_logtype, driver, NOTICE)

void
hvn_log(uint32_t level, const char *fmt, ...)
{
	char line[256];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(line, sizeof(line), fmt, ap);
	va_end(ap);
	rte_log(level, (uint32_t)hvn_logtype, "hv_netvsc: %s\n", line);
}

/* Fill a new port's device data. */
static int
init_port(struct hvn_port *port, struct rte_eth_dev *dev)
{
	struct hvn_nic *nic = &port->nic;
	int ret;

	port->dev = dev;
	pthread_mutex_init(&port->event_lock, NULL);
	nic->notify_fd = -1;
	ret = hvn_events_start(port);
	if (ret != 0) {
		HVN_LOG(ERR, "%s: event descriptor: %s", nic->name, strerror(-ret));
		goto fail;
	}
	ret = hvn_nic_open(nic);
	if (ret != 0)
		goto fail_events;
	dev->data->mac_addrs = rte_zmalloc_socket("hvn_mac", sizeof(nic->mac), 0, nic->socket);
	if (dev->data->mac_addrs == NULL) {
		ret = -ENOMEM;
		goto fail_open;
	}
	rte_ether_addr_copy(&nic->mac, dev->data->mac_addrs);
	if (hvn_watch_start(port) != 0)
		HVN_LOG(WARNING, "%s: no alarm: a dead device is only noticed by control calls",
			nic->name);
	return 0;
fail_open:
	hvn_port_detach(port);
fail_events:
	hvn_events_stop(port);
fail:
	pthread_mutex_destroy(&port->event_lock);
	return ret;
}

static struct rte_eth_dev *
alloc_dev(struct rte_vmbus_device *vmbus)
{
	struct rte_eth_dev *dev = rte_eth_dev_allocate(vmbus->device.name);

	if (dev == NULL)
		return NULL;
	dev->data->dev_private = rte_zmalloc_socket("hvn_port", sizeof(struct hvn_port),
						    RTE_CACHE_LINE_SIZE,
						    vmbus->device.numa_node);
	if (dev->data->dev_private == NULL) {
		rte_eth_dev_release_port(dev);
		return NULL;
	}
	dev->device = &vmbus->device;
	dev->intr_handle = vmbus->intr_handle;
	dev->data->numa_node = vmbus->device.numa_node;
	dev->data->dev_flags = RTE_ETH_DEV_INTR_LSC | RTE_ETH_DEV_INTR_RMV;
	dev->data->mtu = HVN_MTU;
	dev->dev_ops = &hvn_eth_dev_ops;
	dev->rx_pkt_burst = hvn_rx_burst;
	dev->tx_pkt_burst = hvn_tx_burst;
	dev->tx_pkt_prepare = hvn_tx_prepare;
	return dev;
}

static int
probe(struct rte_vmbus_driver *drv __rte_unused, struct rte_vmbus_device *vmbus)
{
	struct hvn_devargs args;
	struct rte_eth_dev *dev;
	struct hvn_port *port;
	int ret;

	if (rte_eal_process_type() != RTE_PROC_PRIMARY) {
		HVN_LOG(ERR, "%s: secondary processes are not supported yet",
			vmbus->device.name);
		return -ENOTSUP;
	}
	ret = hvn_devargs_parse(vmbus->device.devargs, vmbus->device.name, &args);
	if (ret != 0)
		return ret;
	dev = alloc_dev(vmbus);
	if (dev == NULL)
		return -ENOMEM;
	port = hvn_port(dev);
	port->args = args;
	port->nic.vmbus = vmbus;
	port->nic.name = vmbus->device.name;
	port->nic.socket = vmbus->device.numa_node;
	port->nic.latency_us = args.latency_us;
	ret = init_port(port, dev);
	if (ret != 0) {
		rte_eth_dev_release_port(dev);
		return ret;
	}
	dev->data->mtu = (uint16_t)port->nic.mtu;
	rte_eth_dev_probing_finish(dev);
	HVN_LOG(INFO, "%s: NVSP 0x%x, MTU %u, up to %u channels, %u receive slots of %u bytes, "
		"send sections of %u bytes", port->nic.name, port->nic.version, port->nic.mtu,
		port->nic.max_channels, port->nic.rxbuf.slots, port->nic.rxbuf.slot_bytes,
		port->nic.section_bytes);
	return 0;
}

static int
remove_device(struct rte_vmbus_device *vmbus)
{
	struct rte_eth_dev *dev = rte_eth_dev_allocated(vmbus->device.name);
	int ret;

	if (dev == NULL)
		return 0;
	ret = dev->state == RTE_ETH_DEV_UNUSED ? 0 : hvn_eth_dev_ops.dev_close(dev);
	if (ret == 0)
		rte_eth_dev_release_port(dev);
	return ret;
}

static struct rte_vmbus_driver driver = {
	.driver = { .name = RTE_STR(DRIVER_NAME) },
	.probe = probe,
	.remove = remove_device,
	.id_table = id_table,
};

/*
 * ABI guard: internal structs of ethdev and bus change between release lines, so a plugin
 * that was built for another one must not even register.
 */
RTE_INIT(hvn_register)
{
	unsigned int year = rte_version_year(), month = rte_version_month();

	if (year != RTE_VER_YEAR || month != RTE_VER_MONTH) {
		HVN_LOG(ERR, "built for DPDK %u.%02u but %u.%02u is running: not registered; "
			"build the driver against the running DPDK", RTE_VER_YEAR,
			RTE_VER_MONTH, year, month);
		return;
	}
	if (rte_version_minor() != RTE_VER_MINOR || rte_version_release() != RTE_VER_RELEASE)
		HVN_LOG(WARNING, "built for DPDK %s but %u.%02u.%u is running", RTE_VER_PREFIX
			RTE_STR(RTE_VER_YEAR) "." RTE_STR(RTE_VER_MONTH) "."
			RTE_STR(RTE_VER_MINOR), year, month, rte_version_minor());
	rte_vmbus_register(&driver);
}
RTE_PMD_EXPORT_NAME(DRIVER_NAME, __COUNTER__);
RTE_PMD_REGISTER_KMOD_DEP(DRIVER_NAME, "* uio_hv_generic");
RTE_PMD_REGISTER_PARAM_STRING(DRIVER_NAME, HVN_DEVARGS_STRING);

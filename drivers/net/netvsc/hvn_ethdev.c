/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 hvnet contributors
 *
 * A port's life: information, configuration, start, stop, close, reset; and the ops table.
 */
#include <errno.h>
#include <string.h>

#include <rte_malloc.h>

#include <hvqueues/hvqueues.h>

#include "hvn_compat.h"
#include "hvn_log.h"
#include "hvn_port.h"

/* Packets that one burst call should take and give. */
#define BURST_DEFAULT 32u

void
hvn_port_detach(struct hvn_port *port)
{
	struct hvn_nic *nic = &port->nic;

	pthread_mutex_lock(&port->event_lock);
	if (nic->nchannels != 0) {
		hvn_nic_close(nic);
		/* The host has let go of our memory: now mbufs and descriptors may go. */
		hvn_queues_unbind(port->dev);
		hvn_stats_keep_nic(port);
		hvn_nic_free(nic);
	}
	pthread_mutex_unlock(&port->event_lock);
}

int
hvn_port_attach(struct hvn_port *port)
{
	int ret;

	ret = hvn_nic_map(&port->nic);
	if (ret != 0)
		return ret;
	pthread_mutex_lock(&port->event_lock);
	ret = hvn_nic_open(&port->nic);
	port->link_changes = 0;
	port->dead_told = false;
	pthread_mutex_unlock(&port->event_lock);
	if (ret != 0)
		rte_vmbus_unmap_device(port->nic.vmbus);
	return ret;
}

static void
ring_conf(struct rte_eth_dev_portconf *conf, uint32_t queues, uint32_t entries)
{
	conf->nb_queues = (uint16_t)queues;
	conf->ring_size = (uint16_t)entries;
	conf->burst_size = BURST_DEFAULT;
}

static void
queue_limits(const struct hvn_nic *nic, struct rte_eth_dev_info *info)
{
	struct hvq_topology topo = { .vcpus = 1, .cores = 1 };
	struct hvq_policy policy;
	struct hvq_ring ring;

	hvq_topology_read(NULL, &topo);
	hvq_policy_apply(&topo, nic->max_channels, &policy);
	hvq_netvsc_ring(nic->rxbuf.slots, &ring);
	ring_conf(&info->default_rxportconf, policy.netvsc, ring.def);
	ring_conf(&info->default_txportconf, policy.netvsc, HVQ_RING_DEFAULT);
	info->max_rx_queues = (uint16_t)nic->max_channels;
	info->max_tx_queues = (uint16_t)nic->max_channels;
	info->rx_desc_lim = (struct rte_eth_desc_lim){
		.nb_max = (uint16_t)ring.max,
		.nb_min = (uint16_t)ring.min,
		.nb_align = 1,
		.nb_seg_max = 1,
		.nb_mtu_seg_max = 1,
	};
	info->tx_desc_lim = (struct rte_eth_desc_lim){
		.nb_max = HVN_TX_DESC_MAX,
		.nb_min = HVN_TX_DESC_MIN,
		.nb_align = 1,
		.nb_seg_max = HVN_TX_MAX_SEGS,
		.nb_mtu_seg_max = HVN_TX_MAX_SEGS,
	};
}

static int
dev_infos_get(struct rte_eth_dev *dev, struct rte_eth_dev_info *info)
{
	const struct hvn_nic *nic = &hvn_port(dev)->nic;

	info->max_mac_addrs = 1;
	/* Another MTU needs another session with the host: not offered yet. */
	info->min_mtu = (uint16_t)nic->mtu;
	info->max_mtu = (uint16_t)nic->mtu;
	info->max_rx_pktlen = hvn_nic_frame_max(nic);
	info->min_rx_bufsize = hvn_nic_frame_max(nic);
	info->speed_capa = 0; /* whatever the host says; see link status */
	info->rx_offload_capa = HVN_RX_OFFLOADS;
	info->tx_offload_capa = HVN_TX_OFFLOADS;
	info->flow_type_rss_offloads = hvn_rss_offloads(nic);
	if (nic->rss.queues > 1) {
		info->reta_size = (uint16_t)nic->rss.entries;
		info->hash_key_size = NDIS_RSS_KEY_SIZE;
	}
	queue_limits(nic, info);
	info->default_rxconf.rx_drop_en = 1;
	return 0;
}

/* What cannot be honoured is refused with its reason. */
static int
check_conf(const struct hvn_port *port, const struct rte_eth_conf *conf)
{
	const char *why = NULL;

	if (conf->rxmode.mq_mode != RTE_ETH_MQ_RX_NONE &&
	    conf->rxmode.mq_mode != RTE_ETH_MQ_RX_RSS)
		why = "receive multi-queue modes other than RSS";
	else if (conf->txmode.mq_mode != RTE_ETH_MQ_TX_NONE)
		why = "transmit multi-queue modes";
	else if (conf->intr_conf.rxq != 0)
		why = "receive queue interrupts";
	else if (conf->lpbk_mode != 0)
		why = "loopback";
	else if (conf->link_speeds != RTE_ETH_LINK_SPEED_AUTONEG)
		why = "a fixed link speed";
	else if (conf->dcb_capability_en != 0)
		why = "DCB";
	if (why == NULL)
		return 0;
	HVN_LOG(ERR, "%s: %s: not supported", port->nic.name, why);
	return -ENOTSUP;
}

/* Have at least @p want channels: in a fresh session when this one is dead or has asked. */
static int
have_channels(struct hvn_port *port, uint32_t want)
{
	int ret = -EALREADY;

	if (port->nic.open && !hvn_channel_is_dead(port->nic.channel[0]))
		ret = hvn_nic_grow(&port->nic, want);
	if (ret != -EALREADY)
		return ret;
	hvn_port_detach(port);
	ret = hvn_port_attach(port);
	if (ret == 0)
		ret = hvn_nic_grow(&port->nic, want);
	return ret;
}

static void
log_queues(const struct hvn_port *port, uint16_t nb_rx, uint16_t nb_tx)
{
	struct hvq_topology topo = { .vcpus = 1, .cores = 1 };
	char reason[128];

	hvq_topology_read(NULL, &topo);
	hvq_policy_reason(&topo, port->nic.max_channels, reason, sizeof(reason));
	HVN_LOG(INFO, "%s: %u receive and %u transmit queues on %u channels; default %s",
		port->nic.name, nb_rx, nb_tx, port->nic.nchannels, reason);
}

static int
dev_configure(struct rte_eth_dev *dev)
{
	struct hvn_port *port = hvn_port(dev);
	const struct rte_eth_conf *conf = &dev->data->dev_conf;
	uint16_t nb_rx = dev->data->nb_rx_queues, nb_tx = dev->data->nb_tx_queues;
	int ret;

	ret = check_conf(port, conf);
	if (ret != 0)
		return ret;
	ret = have_channels(port, RTE_MAX(nb_rx, nb_tx));
	if (ret != 0)
		return ret;
	ret = hvn_rss_configure(port, &conf->rx_adv_conf.rss_conf, nb_rx);
	if (ret == 0)
		log_queues(port, nb_rx, nb_tx);
	return ret;
}

static int
dev_start(struct rte_eth_dev *dev)
{
	struct hvn_port *port = hvn_port(dev);
	uint16_t need = RTE_MAX(dev->data->nb_rx_queues, dev->data->nb_tx_queues);
	int ret;

	if (!port->nic.open || port->nic.nchannels < need ||
	    hvn_channel_is_dead(port->nic.channel[0])) {
		HVN_LOG(ERR, "%s: the session with the host is gone; configure the port again",
			port->nic.name);
		return -EIO;
	}
	ret = hvn_queues_bind(dev);
	if (ret != 0)
		return ret;
	port->started = true;
	ret = hvn_filter_apply(port);
	if (ret != 0) {
		port->started = false;
		return ret;
	}
	hvn_queues_state(dev, RTE_ETH_QUEUE_STATE_STARTED);
	hvn_link_update(dev, 0);
	return 0;
}

static int
dev_stop(struct rte_eth_dev *dev)
{
	struct hvn_port *port = hvn_port(dev);

	port->started = false;
	dev->data->dev_started = 0;
	if (port->nic.open)
		hvn_filter_apply(port);
	hvn_queues_quiesce(dev);
	hvn_queues_state(dev, RTE_ETH_QUEUE_STATE_STOPPED);
	return 0;
}

static int
dev_close(struct rte_eth_dev *dev)
{
	struct hvn_port *port = hvn_port(dev);

	if (rte_eal_process_type() != RTE_PROC_PRIMARY)
		return 0;
	hvn_watch_stop(port);
	if (port->started)
		dev_stop(dev);
	hvn_port_detach(port);
	for (uint16_t i = 0; i < dev->data->nb_rx_queues; i++)
		hvn_rx_queue_release(dev, i);
	for (uint16_t i = 0; i < dev->data->nb_tx_queues; i++)
		hvn_tx_queue_release(dev, i);
	dev->data->nb_rx_queues = 0;
	dev->data->nb_tx_queues = 0;
	hvn_events_stop(port);
	pthread_mutex_destroy(&port->event_lock);
	return 0;
}

/* A fresh session with the same settings; ethdev has stopped the port. */
static int
dev_reset(struct rte_eth_dev *dev)
{
	struct hvn_port *port = hvn_port(dev);
	uint16_t need = RTE_MAX(dev->data->nb_rx_queues, dev->data->nb_tx_queues);
	int ret;

	hvn_port_detach(port);
	ret = hvn_port_attach(port);
	if (ret == 0 && need > 1)
		ret = hvn_nic_grow(&port->nic, need);
	if (ret == 0)
		ret = hvn_rss_restore(port);
	return ret;
}

static const uint32_t *
supported_ptypes_get(struct rte_eth_dev *dev __rte_unused)
{
	static const uint32_t ptypes[] = {
		RTE_PTYPE_L2_ETHER,
		RTE_PTYPE_L3_IPV4_EXT_UNKNOWN,
		RTE_PTYPE_L3_IPV6_EXT_UNKNOWN,
		RTE_PTYPE_L4_TCP,
		RTE_PTYPE_L4_UDP,
		RTE_PTYPE_UNKNOWN,
	};

	return ptypes;
}

/* From now on types are looked up in the frame, because the application wants them all. */
static int
ptypes_set(struct rte_eth_dev *dev, uint32_t mask)
{
	struct hvn_port *port = hvn_port(dev);

	port->ptype_mask = mask & (RTE_PTYPE_L2_MASK | RTE_PTYPE_L3_MASK | RTE_PTYPE_L4_MASK);
	for (uint16_t i = 0; i < dev->data->nb_rx_queues; i++) {
		struct hvn_rxq *rxq = dev->data->rx_queues[i];

		if (rxq != NULL)
			__atomic_store_n(&rxq->ptype_mask, port->ptype_mask, __ATOMIC_RELAXED);
	}
	return 0;
}

const struct eth_dev_ops hvn_eth_dev_ops = {
	.dev_configure = dev_configure,
	.dev_start = dev_start,
	.dev_stop = dev_stop,
	.dev_close = dev_close,
	.dev_reset = dev_reset,
	.dev_infos_get = dev_infos_get,
	.dev_supported_ptypes_get = supported_ptypes_get,
	.dev_ptypes_set = ptypes_set,
	.link_update = hvn_link_update,
	.promiscuous_enable = hvn_promiscuous_enable,
	.promiscuous_disable = hvn_promiscuous_disable,
	.allmulticast_enable = hvn_allmulticast_enable,
	.allmulticast_disable = hvn_allmulticast_disable,
	.rx_queue_setup = hvn_rx_queue_setup,
	.rx_queue_release = hvn_rx_queue_release,
	.tx_queue_setup = hvn_tx_queue_setup,
	.tx_queue_release = hvn_tx_queue_release,
	.rxq_info_get = hvn_rxq_info_get,
	.txq_info_get = hvn_txq_info_get,
	.rss_hash_update = hvn_rss_hash_update,
	.rss_hash_conf_get = hvn_rss_hash_conf_get,
	.reta_update = hvn_reta_update,
	.reta_query = hvn_reta_query,
	.stats_get = hvn_stats_get,
	.stats_reset = hvn_stats_reset,
	.xstats_get = hvn_xstats_get,
	.xstats_get_names = hvn_xstats_get_names,
	.xstats_reset = hvn_stats_reset,
};

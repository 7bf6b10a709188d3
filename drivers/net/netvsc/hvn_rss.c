/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 hvnet contributors
 *
 * Receive-side scaling: the application's key, types and table, and how the host gets them.
 */
#include <errno.h>
#include <string.h>

#include "hvn_log.h"
#include "hvn_port.h"

/* Microsoft's public sample key: known answers exist for it. Source: NDIS documentation. */
static const uint8_t default_key[NDIS_RSS_KEY_SIZE] = {
	0x6d, 0x5a, 0x56, 0xda, 0x25, 0x5b, 0x0e, 0xc2, 0x41, 0x67, 0x25, 0x3d, 0x43, 0xa3,
	0x8f, 0xb0, 0xd0, 0xca, 0x2b, 0xcb, 0xae, 0x7b, 0x30, 0xb4, 0x77, 0xcb, 0x2d, 0xa3,
	0x80, 0x30, 0xf2, 0x0c, 0x6a, 0x42, 0xb7, 0x3b, 0xbe, 0xac, 0x01, 0xfa,
};

static const struct {
	uint64_t rte;
	uint32_t ndis;
} type_map[] = {
	{ RTE_ETH_RSS_IPV4, NDIS_HASH_IPV4 },
	{ RTE_ETH_RSS_NONFRAG_IPV4_TCP, NDIS_HASH_TCP_IPV4 },
	{ RTE_ETH_RSS_NONFRAG_IPV4_UDP, NDIS_HASH_UDP_IPV4 },
	{ RTE_ETH_RSS_IPV6, NDIS_HASH_IPV6 },
	{ RTE_ETH_RSS_NONFRAG_IPV6_TCP, NDIS_HASH_TCP_IPV6 },
	{ RTE_ETH_RSS_NONFRAG_IPV6_UDP, NDIS_HASH_UDP_IPV6 },
};

/* Spreading when the application asked for no type but for several queues. */
#define SPREAD_TYPES \
	(NDIS_HASH_IPV4 | NDIS_HASH_TCP_IPV4 | NDIS_HASH_IPV6 | NDIS_HASH_TCP_IPV6)

uint64_t
hvn_rss_offloads(const struct hvn_nic *nic)
{
	uint64_t hf = 0;

	if (nic->rss.queues < 2)
		return 0;
	for (uint32_t i = 0; i < RTE_DIM(type_map); i++) {
		if ((nic->rss.types & type_map[i].ndis) != 0)
			hf |= type_map[i].rte;
	}
	return hf;
}

static uint32_t
to_ndis(uint64_t rss_hf, uint32_t caps)
{
	uint32_t types = 0;

	for (uint32_t i = 0; i < RTE_DIM(type_map); i++) {
		if ((rss_hf & type_map[i].rte) != 0)
			types |= type_map[i].ndis;
	}
	return types & caps;
}

uint32_t
hvn_rss_delivered(const struct hvn_port *port)
{
	return to_ndis(port->rss.rss_hf, port->nic.rss.types);
}

static void
default_table(struct hvn_rss_conf *conf, uint16_t nb_rx)
{
	for (uint32_t i = 0; i < conf->entries; i++)
		conf->table[i] = nb_rx == 0 ? 0 : (uint16_t)(i % nb_rx);
}

/* Send @p conf to the host. A host that granted one queue may never answer: not asked. */
static int
program(struct hvn_port *port, const struct hvn_rss_conf *conf, uint16_t flags)
{
	uint8_t buf[HVN_RSS_PARAMS_MAX];
	uint32_t len;
	int ret;

	if (port->nic.nchannels < 2)
		return 0;
	len = hvn_rndis_build_rss(buf, conf, flags);
	ret = hvn_session_set(&port->nic.session, OID_GEN_RECEIVE_SCALE_PARAMETERS, buf, len);
	if (ret != 0)
		HVN_LOG(ERR, "%s: RSS settings: %s, status 0x%x", port->nic.name, strerror(-ret),
			port->nic.session.last_status);
	return ret;
}

/* Bring-up order of known guests: switch off, then on with everything given. */
int
hvn_rss_restore(struct hvn_port *port)
{
	int ret;

	ret = program(port, &port->rss.conf, NDIS_RSS_FLAG_DISABLE);
	return ret == 0 ? program(port, &port->rss.conf, 0) : ret;
}

/* Types to program for @p rss_hf. */
static uint32_t
choose_types(const struct hvn_port *port, uint64_t rss_hf)
{
	uint32_t types = to_ndis(rss_hf, port->nic.rss.types);

	return types != 0 ? types : SPREAD_TYPES & port->nic.rss.types;
}

int
hvn_rss_configure(struct hvn_port *port, const struct rte_eth_rss_conf *conf, uint16_t nb_rx)
{
	struct hvn_port_rss *rss = &port->rss;
	bool fresh = rss->conf.entries == 0;

	rss->rss_hf = conf->rss_hf;
	rss->conf.types = choose_types(port, conf->rss_hf);
	if (conf->rss_key != NULL && conf->rss_key_len != 0 &&
	    conf->rss_key_len != NDIS_RSS_KEY_SIZE) {
		HVN_LOG(ERR, "%s: RSS key of %u bytes: it must have %u", port->nic.name,
			conf->rss_key_len, NDIS_RSS_KEY_SIZE);
		return -EINVAL;
	}
	if (conf->rss_key != NULL)
		memcpy(rss->conf.key, conf->rss_key, NDIS_RSS_KEY_SIZE);
	else if (fresh)
		memcpy(rss->conf.key, default_key, NDIS_RSS_KEY_SIZE);
	if (fresh || nb_rx != rss->nb_rx || rss->conf.entries != port->nic.rss.entries) {
		rss->conf.entries = port->nic.rss.entries;
		default_table(&rss->conf, nb_rx);
		rss->nb_rx = nb_rx;
	}
	return hvn_rss_restore(port);
}

/* Program a changed copy; the port keeps it only when the host took it. */
static int
change(struct hvn_port *port, const struct hvn_rss_conf *conf)
{
	int ret;

	if (!port->nic.open)
		return -EIO;
	ret = program(port, conf, 0);
	if (ret == 0)
		port->rss.conf = *conf;
	return ret;
}

int
hvn_rss_hash_update(struct rte_eth_dev *dev, struct rte_eth_rss_conf *rss_conf)
{
	struct hvn_port *port = hvn_port(dev);
	struct hvn_rss_conf conf = port->rss.conf;
	int ret;

	if ((rss_conf->rss_hf & ~hvn_rss_offloads(&port->nic)) != 0)
		return -EINVAL;
	if (rss_conf->rss_key != NULL) {
		if (rss_conf->rss_key_len != 0 && rss_conf->rss_key_len != NDIS_RSS_KEY_SIZE)
			return -EINVAL;
		memcpy(conf.key, rss_conf->rss_key, NDIS_RSS_KEY_SIZE);
	}
	conf.types = choose_types(port, rss_conf->rss_hf);
	ret = change(port, &conf);
	if (ret != 0)
		return ret;
	port->rss.rss_hf = rss_conf->rss_hf;
	for (uint16_t i = 0; i < dev->data->nb_rx_queues; i++) {
		struct hvn_rxq *rxq = dev->data->rx_queues[i];

		if (rxq != NULL && (dev->data->dev_conf.rxmode.offloads &
				    RTE_ETH_RX_OFFLOAD_RSS_HASH) != 0)
			__atomic_store_n(&rxq->hash_types, hvn_rss_delivered(port),
					 __ATOMIC_RELAXED);
	}
	return 0;
}

int
hvn_rss_hash_conf_get(struct rte_eth_dev *dev, struct rte_eth_rss_conf *rss_conf)
{
	const struct hvn_port *port = hvn_port(dev);

	if (rss_conf->rss_key != NULL) {
		if (rss_conf->rss_key_len < NDIS_RSS_KEY_SIZE)
			return -EINVAL;
		memcpy(rss_conf->rss_key, port->rss.conf.key, NDIS_RSS_KEY_SIZE);
	}
	rss_conf->rss_key_len = NDIS_RSS_KEY_SIZE;
	rss_conf->rss_hf = port->rss.rss_hf;
	return 0;
}

int
hvn_reta_update(struct rte_eth_dev *dev, struct rte_eth_rss_reta_entry64 *reta, uint16_t size)
{
	struct hvn_port *port = hvn_port(dev);
	struct hvn_rss_conf conf = port->rss.conf;

	if (size != conf.entries) {
		HVN_LOG(ERR, "%s: redirection table of %u entries: it must have %u",
			port->nic.name, size, conf.entries);
		return -EINVAL;
	}
	for (uint16_t i = 0; i < size; i++) {
		const struct rte_eth_rss_reta_entry64 *e = &reta[i / RTE_ETH_RETA_GROUP_SIZE];
		uint16_t queue = e->reta[i % RTE_ETH_RETA_GROUP_SIZE];

		if ((e->mask >> (i % RTE_ETH_RETA_GROUP_SIZE) & 1) == 0)
			continue;
		if (queue >= dev->data->nb_rx_queues)
			return -EINVAL;
		conf.table[i] = queue;
	}
	return change(port, &conf);
}

int
hvn_reta_query(struct rte_eth_dev *dev, struct rte_eth_rss_reta_entry64 *reta, uint16_t size)
{
	const struct hvn_port *port = hvn_port(dev);

	if (size != port->rss.conf.entries)
		return -EINVAL;
	for (uint16_t i = 0; i < size; i++) {
		struct rte_eth_rss_reta_entry64 *e = &reta[i / RTE_ETH_RETA_GROUP_SIZE];

		if ((e->mask >> (i % RTE_ETH_RETA_GROUP_SIZE) & 1) != 0)
			e->reta[i % RTE_ETH_RETA_GROUP_SIZE] = port->rss.conf.table[i];
	}
	return 0;
}

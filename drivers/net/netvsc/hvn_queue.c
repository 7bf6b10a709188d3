/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 hvnet contributors
 *
 * Queues: set-up, release, binding to channels, and coming to rest.
 *
 * Queue i of both directions uses channel i. A queue has memory from set-up on, but a
 * channel only from start to detach.
 */
#include <errno.h>
#include <string.h>
#include <time.h>

#include <rte_malloc.h>

#include "hvn_clock.h"
#include "hvn_inbound.h"
#include "hvn_log.h"
#include "hvn_port.h"
#include "hvn_compat.h"

/* A stopping port waits this long for the host's transmit completions. */
#define IDLE_DEADLINE_MS 1000u
#define IDLE_NAP_NS 100000L
/* Descriptors free before completions are looked for: a quarter of the queue, at most 256. */
#define FREE_THRESH(nb) RTE_MIN((nb) / 4, 256u)

int
hvn_rx_queue_setup(struct rte_eth_dev *dev, uint16_t qid, uint16_t nb_desc, unsigned int socket,
		   const struct rte_eth_rxconf *conf, struct rte_mempool *pool)
{
	struct hvn_port *port = hvn_port(dev);
	uint32_t room = rte_pktmbuf_data_room_size(pool);
	uint32_t need = hvn_nic_frame_max(&port->nic) + RTE_PKTMBUF_HEADROOM;
	struct hvn_rxq *rxq;

	if (room < need) {
		HVN_LOG(ERR, "%s: receive queue %u: mbufs of %u bytes, %u are needed because "
			"scattered receive is not supported", port->nic.name, qid, room, need);
		return -EINVAL;
	}
	if (conf->rx_deferred_start != 0) {
		HVN_LOG(ERR, "%s: receive queue %u: deferred start is not supported",
			port->nic.name, qid);
		return -ENOTSUP;
	}
	rxq = rte_zmalloc_socket("hvn_rxq", sizeof(*rxq), RTE_CACHE_LINE_SIZE, (int)socket);
	if (rxq == NULL)
		return -ENOMEM;
	rxq->pool = pool;
	rxq->port_id = dev->data->port_id;
	rxq->queue_id = qid;
	rxq->nb_desc = nb_desc;
	hvn_rxq_prepare(rxq);
	hvn_rx_queue_release(dev, qid);
	dev->data->rx_queues[qid] = rxq;
	return 0;
}

int
hvn_tx_queue_setup(struct rte_eth_dev *dev, uint16_t qid, uint16_t nb_desc, unsigned int socket,
		   const struct rte_eth_txconf *conf)
{
	struct hvn_port *port = hvn_port(dev);
	struct hvn_txq *txq;
	int ret;

	if (conf->tx_deferred_start != 0) {
		HVN_LOG(ERR, "%s: transmit queue %u: deferred start is not supported",
			port->nic.name, qid);
		return -ENOTSUP;
	}
	if (conf->tx_free_thresh >= nb_desc) {
		HVN_LOG(ERR, "%s: transmit queue %u: free threshold %u, it must be below the "
			"%u descriptors", port->nic.name, qid, conf->tx_free_thresh, nb_desc);
		return -EINVAL;
	}
	txq = rte_zmalloc_socket("hvn_txq", sizeof(*txq), RTE_CACHE_LINE_SIZE, (int)socket);
	if (txq == NULL)
		return -ENOMEM;
	txq->pool = &port->nic.sections;
	txq->gpa_ok = port->nic.pages != NULL;
	txq->port_id = dev->data->port_id;
	txq->queue_id = qid;
	txq->free_thresh = conf->tx_free_thresh != 0 ? conf->tx_free_thresh :
						       FREE_THRESH((uint32_t)nb_desc);
	ret = hvn_txq_alloc(txq, nb_desc, (int)socket);
	if (ret != 0) {
		rte_free(txq);
		return ret;
	}
	hvn_tx_queue_release(dev, qid);
	dev->data->tx_queues[qid] = txq;
	return 0;
}

/* The channel of queue @p qid, NULL when the NIC is closed. */
static struct hvn_channel *
channel_of(const struct hvn_port *port, uint16_t qid)
{
	return qid < port->nic.nchannels ? port->nic.channel[qid] : NULL;
}

void
hvn_rx_queue_release(struct rte_eth_dev *dev, uint16_t qid)
{
	struct hvn_port *port = hvn_port(dev);
	struct hvn_rxq *rxq = dev->data->rx_queues[qid];
	struct hvn_channel *ch = channel_of(port, qid);

	if (rxq == NULL)
		return;
	if (ch != NULL)
		ch->park_limit = 0;
	hvn_rxq_purge(rxq);
	hvn_stats_keep_rxq(port, rxq);
	dev->data->rx_queues[qid] = NULL;
	rte_free(rxq);
}

void
hvn_tx_queue_release(struct rte_eth_dev *dev, uint16_t qid)
{
	struct hvn_port *port = hvn_port(dev);
	struct hvn_txq *txq = dev->data->tx_queues[qid];
	struct hvn_channel *ch = channel_of(port, qid);

	if (txq == NULL)
		return;
	if (txq->ch != NULL)
		hvn_inbound_drain(txq->ch);
	if (txq->ch != NULL && hvn_txq_reclaim(txq) != 0) {
		HVN_LOG(WARNING, "%s: transmit queue %u: the host keeps frames, the session is "
			"closed to get them back", port->nic.name, qid);
		hvn_port_detach(port);
		ch = NULL;
	}
	if (ch != NULL)
		ch->txq = NULL;
	hvn_txq_abandon(txq);
	hvn_stats_keep_txq(port, txq);
	dev->data->tx_queues[qid] = NULL;
	hvn_txq_free(txq);
	rte_free(txq);
}

void
hvn_rxq_info_get(struct rte_eth_dev *dev, uint16_t qid, struct rte_eth_rxq_info *info)
{
	const struct hvn_rxq *rxq = dev->data->rx_queues[qid];

	info->mp = rxq->pool;
	info->nb_desc = (uint16_t)rxq->nb_desc;
	info->rx_buf_size = (uint16_t)RTE_MIN(rxq->buf_len, (uint32_t)UINT16_MAX);
	info->conf.offloads = dev->data->dev_conf.rxmode.offloads;
	/* A frame that finds no mbuf is dropped at once. */
	info->conf.rx_drop_en = 1;
}

void
hvn_txq_info_get(struct rte_eth_dev *dev, uint16_t qid, struct rte_eth_txq_info *info)
{
	const struct hvn_txq *txq = dev->data->tx_queues[qid];

	info->nb_desc = (uint16_t)txq->nb_desc;
	info->conf.tx_free_thresh = (uint16_t)txq->free_thresh;
	info->conf.offloads = dev->data->dev_conf.txmode.offloads;
}

/* Limits of transmit depend on the session: computed at each start. */
static void
bind_tx(struct hvn_port *port, struct hvn_txq *txq, struct hvn_channel *ch, uint32_t queues)
{
	const struct hvn_nic *nic = &port->nic;

	txq->ch = ch;
	txq->align = nic->limits.align;
	txq->agg_packets = nic->limits.max_packets;
	txq->agg_bytes = nic->sections.size == 0 ? 0 :
			 RTE_MIN(nic->sections.size, nic->limits.max_transfer);
	txq->copybreak = txq->gpa_ok ? port->args.tx_copybreak : UINT32_MAX;
	txq->hdr_in_section = txq->gpa_ok && nic->sections.size != 0 &&
			      port->args.tx_header_copy != 0;
	txq->max_frame = hvn_nic_frame_max(nic);
	hvn_section_share(txq->pool, &txq->cache, queues);
	ch->txq = txq;
}

static void
bind_rx(struct rte_eth_dev *dev, struct hvn_rxq *rxq, struct hvn_channel *ch)
{
	const struct hvn_port *port = hvn_port(dev);

	rxq->ch = ch;
	rxq->ptype_mask = port->ptype_mask;
	rxq->hash_types = 0;
	if ((dev->data->dev_conf.rxmode.offloads & RTE_ETH_RX_OFFLOAD_RSS_HASH) != 0)
		rxq->hash_types = hvn_rss_delivered(port);
	ch->park_limit = RTE_MIN(rxq->nb_desc, HVN_PARK);
}

/* The host has one pool of receive slots: queues may promise more than there is. */
static void
check_pool(const struct rte_eth_dev *dev)
{
	const struct hvn_port *port = hvn_port(dev);
	uint64_t sum = 0;

	for (uint16_t i = 0; i < dev->data->nb_rx_queues; i++)
		sum += ((const struct hvn_rxq *)dev->data->rx_queues[i])->nb_desc;
	if (sum > port->nic.rxbuf.slots)
		HVN_LOG(NOTICE, "%s: receive queues ask for %llu descriptors together, the "
			"host has %u receive slots; they share them", port->nic.name,
			(unsigned long long)sum, port->nic.rxbuf.slots);
}

int
hvn_queues_bind(struct rte_eth_dev *dev)
{
	struct hvn_port *port = hvn_port(dev);
	uint16_t nb_rx = dev->data->nb_rx_queues, nb_tx = dev->data->nb_tx_queues;

	for (uint16_t i = 0; i < RTE_MAX(nb_rx, nb_tx); i++) {
		if ((i < nb_rx && dev->data->rx_queues[i] == NULL) ||
		    (i < nb_tx && dev->data->tx_queues[i] == NULL)) {
			HVN_LOG(ERR, "%s: %s queue %u was not set up", port->nic.name,
				i < nb_rx && dev->data->rx_queues[i] == NULL ? "receive" :
									       "transmit", i);
			return -EINVAL;
		}
	}
	check_pool(dev);
	for (uint32_t i = 0; i < port->nic.nchannels; i++) {
		struct hvn_channel *ch = port->nic.channel[i];

		ch->txq = NULL;
		ch->park_limit = 0;
		if (i < nb_tx)
			bind_tx(port, dev->data->tx_queues[i], ch, nb_tx);
		if (i < nb_rx)
			bind_rx(dev, dev->data->rx_queues[i], ch);
	}
	return 0;
}

/* Take completions back; returns descriptors that the host still holds. */
static uint32_t
reclaim_all(struct rte_eth_dev *dev)
{
	uint32_t left = 0;

	for (uint16_t i = 0; i < dev->data->nb_tx_queues; i++) {
		struct hvn_txq *txq = dev->data->tx_queues[i];

		if (txq != NULL && txq->ch != NULL && !hvn_channel_is_dead(txq->ch))
			left += hvn_txq_reclaim(txq);
	}
	return left;
}

static void
flush_all(struct hvn_port *port)
{
	for (uint32_t i = 0; i < port->nic.nchannels; i++)
		hvn_inbound_flush(port->nic.channel[i]);
}

void
hvn_queues_quiesce(struct rte_eth_dev *dev)
{
	const struct timespec nap = { .tv_nsec = IDLE_NAP_NS };
	struct hvn_port *port = hvn_port(dev);
	uint64_t begin = hvn_now_ms();
	bool gone = false;
	uint32_t left;

	for (;;) {
		flush_all(port);
		left = reclaim_all(dev);
		/* Who waits here while the removal event is out meets the application's close. */
		gone = port->nic.open && hvn_session_gone(&port->nic.session);
		if (left == 0 || gone || hvn_now_ms() - begin > IDLE_DEADLINE_MS)
			break;
		nanosleep(&nap, NULL);
	}
	if (left != 0 && !gone)
		HVN_LOG(WARNING, "%s: %u transmit packets are still with the host after %u ms",
			port->nic.name, left, IDLE_DEADLINE_MS);
	flush_all(port);
	for (uint16_t i = 0; i < dev->data->nb_rx_queues; i++) {
		if (dev->data->rx_queues[i] != NULL)
			hvn_rxq_purge(dev->data->rx_queues[i]);
	}
}

void
hvn_queues_unbind(struct rte_eth_dev *dev)
{
	for (uint16_t i = 0; i < dev->data->nb_tx_queues; i++) {
		struct hvn_txq *txq = dev->data->tx_queues[i];

		if (txq == NULL)
			continue;
		hvn_txq_abandon(txq);
		txq->ch = NULL;
	}
	for (uint16_t i = 0; i < dev->data->nb_rx_queues; i++) {
		struct hvn_rxq *rxq = dev->data->rx_queues[i];

		if (rxq == NULL)
			continue;
		hvn_rxq_purge(rxq);
		rxq->ch = NULL;
	}
}

void
hvn_queues_state(struct rte_eth_dev *dev, uint8_t state)
{
	/* testpmd of 22.11 forwards nothing, silently, on queues that say STOPPED. */
	memset(dev->data->rx_queue_state, state, dev->data->nb_rx_queues);
	memset(dev->data->tx_queue_state, state, dev->data->nb_tx_queues);
}

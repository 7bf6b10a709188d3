/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 hvnet contributors
 *
 * A port: the NIC below it and what the application has set; and the ops by family.
 */
#ifndef HVN_PORT_H
#define HVN_PORT_H

#include <pthread.h>

#include <ethdev_driver.h>

#include "hvn_attach.h"
#include "hvn_devargs.h"
#include "hvn_rx.h"
#include "hvn_tx.h"

/** Transmit descriptors of a queue: limits. */
#define HVN_TX_DESC_MIN 64u
#define HVN_TX_DESC_MAX 8192u
/** Offloads offered today. */
#define HVN_RX_OFFLOADS RTE_ETH_RX_OFFLOAD_RSS_HASH
#define HVN_TX_OFFLOADS RTE_ETH_TX_OFFLOAD_MULTI_SEGS

/** What the application wants of RSS; survives stop, reset and reconfiguration. */
struct hvn_port_rss {
	uint64_t rss_hf;           /**< RTE_ETH_RSS_* asked for */
	uint16_t nb_rx;            /**< queues that the table was made for */
	struct hvn_rss_conf conf;
};

/** A port; dev_private. */
struct hvn_port {
	struct hvn_nic nic;
	struct hvn_devargs args;
	struct rte_eth_dev *dev;           /**< primary process only */
	struct rte_intr_handle *events;    /**< notes of the session, see hvn_link.c */
	pthread_mutex_t event_lock;        /**< held while a note is attended or nic.open changes */
	uint32_t link_changes;             /**< hvn_session_notes.link_changes seen */
	bool dead_told;                    /**< the application knows that the session died */
	bool started;
	bool promisc;
	bool allmulti;
	uint32_t ptype_mask;               /**< packet types that need a look at the frame */
	struct hvn_port_rss rss;

	/*
	 * Statistics shown = live counters + carry, modulo 2^64: a queue that goes adds its
	 * counters here, a reset subtracts them, so that no live counter is ever written by
	 * another thread than its own.
	 */
	struct hvn_rxq_stats rx_carry[VMBUS_CHANNELS_MAX];
	struct hvn_txq_stats tx_carry[VMBUS_CHANNELS_MAX];
	struct hvn_channel_stats ch_carry[VMBUS_CHANNELS_MAX];
	struct hvn_session_stats session_carry;
};

static inline struct hvn_port *
hvn_port(const struct rte_eth_dev *dev)
{
	return dev->data->dev_private;
}

/* hvn_ethdev.c */
extern const struct eth_dev_ops hvn_eth_dev_ops;
/** Close the NIC and let go of everything that it holds; queues stay, without channels. */
void hvn_port_detach(struct hvn_port *port);
/** Open a fresh session; the NIC must be detached. */
int hvn_port_attach(struct hvn_port *port);

/* hvn_queue.c */
int hvn_rx_queue_setup(struct rte_eth_dev *dev, uint16_t qid, uint16_t nb_desc,
		       unsigned int socket, const struct rte_eth_rxconf *conf,
		       struct rte_mempool *pool);
int hvn_tx_queue_setup(struct rte_eth_dev *dev, uint16_t qid, uint16_t nb_desc,
		       unsigned int socket, const struct rte_eth_txconf *conf);
void hvn_rx_queue_release(struct rte_eth_dev *dev, uint16_t qid);
void hvn_tx_queue_release(struct rte_eth_dev *dev, uint16_t qid);
void hvn_rxq_info_get(struct rte_eth_dev *dev, uint16_t qid, struct rte_eth_rxq_info *info);
void hvn_txq_info_get(struct rte_eth_dev *dev, uint16_t qid, struct rte_eth_txq_info *info);
/** Attach queues to channels before start; -EINVAL when a queue was not set up. */
int hvn_queues_bind(struct rte_eth_dev *dev);
/** Wait until transmit is idle, drop what was received, free cached mbufs. */
void hvn_queues_quiesce(struct rte_eth_dev *dev);
/** The NIC is closed: take back what the host held, forget channels. */
void hvn_queues_unbind(struct rte_eth_dev *dev);
void hvn_queues_state(struct rte_eth_dev *dev, uint8_t state);

/* hvn_rss.c */
/** RTE_ETH_RSS_* that the device can select. */
uint64_t hvn_rss_offloads(const struct hvn_nic *nic);
/** Take over the application's configuration and program it; nb_rx queues are in use. */
int hvn_rss_configure(struct hvn_port *port, const struct rte_eth_rss_conf *conf,
		      uint16_t nb_rx);
/** Program the current settings into a fresh session. */
int hvn_rss_restore(struct hvn_port *port);
/** NDIS hash types whose value receive queues deliver. */
uint32_t hvn_rss_delivered(const struct hvn_port *port);
int hvn_rss_hash_update(struct rte_eth_dev *dev, struct rte_eth_rss_conf *conf);
int hvn_rss_hash_conf_get(struct rte_eth_dev *dev, struct rte_eth_rss_conf *conf);
int hvn_reta_update(struct rte_eth_dev *dev, struct rte_eth_rss_reta_entry64 *conf,
		    uint16_t size);
int hvn_reta_query(struct rte_eth_dev *dev, struct rte_eth_rss_reta_entry64 *conf,
		   uint16_t size);

/* hvn_link.c */
int hvn_link_update(struct rte_eth_dev *dev, int wait);
/** Program the filter that the port's state asks for (0 while stopped). */
int hvn_filter_apply(struct hvn_port *port);
int hvn_promiscuous_enable(struct rte_eth_dev *dev);
int hvn_promiscuous_disable(struct rte_eth_dev *dev);
int hvn_allmulticast_enable(struct rte_eth_dev *dev);
int hvn_allmulticast_disable(struct rte_eth_dev *dev);
/** Watch for notes of the session; without it only link_update() sees changes. */
int hvn_events_start(struct hvn_port *port);
void hvn_events_stop(struct hvn_port *port);

/* hvn_watch.c */
int hvn_watch_start(struct hvn_port *port);
/** Returns when the watch is not running any more. */
void hvn_watch_stop(struct hvn_port *port);

/* hvn_stats.c */
int hvn_stats_get(struct rte_eth_dev *dev, struct rte_eth_stats *stats);
int hvn_stats_reset(struct rte_eth_dev *dev);
int hvn_xstats_get(struct rte_eth_dev *dev, struct rte_eth_xstat *xstats, unsigned int n);
int hvn_xstats_get_names(struct rte_eth_dev *dev, struct rte_eth_xstat_name *names,
			 unsigned int n);
/** Keep the counters of what is about to be freed. */
void hvn_stats_keep_rxq(struct hvn_port *port, const struct hvn_rxq *rxq);
void hvn_stats_keep_txq(struct hvn_port *port, const struct hvn_txq *txq);
void hvn_stats_keep_nic(struct hvn_port *port);

#endif /* HVN_PORT_H */

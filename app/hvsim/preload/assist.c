/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 hvnet contributors
 *
 * Help for witness runs of DPDK 22.11: drivers that leave the queue state unset would make
 * testpmd forward nothing, so its question for the state is answered "not supported".
 */
#include <errno.h>
#include <stdint.h>

struct rte_eth_rxq_info;
struct rte_eth_txq_info;

int rte_eth_rx_queue_info_get(uint16_t port, uint16_t queue, struct rte_eth_rxq_info *info);
int rte_eth_tx_queue_info_get(uint16_t port, uint16_t queue, struct rte_eth_txq_info *info);

__attribute__((visibility("default"))) int
rte_eth_rx_queue_info_get(uint16_t port, uint16_t queue, struct rte_eth_rxq_info *info)
{
	(void)port;
	(void)queue;
	(void)info;
	return -ENOTSUP;
}

__attribute__((visibility("default"))) int
rte_eth_tx_queue_info_get(uint16_t port, uint16_t queue, struct rte_eth_txq_info *info)
{
	(void)port;
	(void)queue;
	(void)info;
	return -ENOTSUP;
}

/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 hvnet contributors
 *
 * A small DPDK application: one lcore sends on all transmit queues, another receives on all
 * receive queues of the same port, for some seconds. testpmd cannot: it pairs queues.
 *
 *   crossed [EAL options] -- RXQ TXQ SECONDS
 *
 * Prints "rx Q PACKETS BAD" and "tx Q PACKETS", BAD being receive errors in the content.
 */
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <rte_cycles.h>
#include <rte_eal.h>
#include <rte_ethdev.h>
#include <rte_lcore.h>
#include <rte_mbuf.h>

#define BURST 32
#define QUEUES_MAX 64
#define MBUFS 32767
#define FRAME_LEN 64

static struct rte_mempool *pool;
static unsigned int rxq;
static unsigned int txq;
static bool stop;
static uint64_t rx_count[QUEUES_MAX];
static uint64_t rx_bad[QUEUES_MAX];
static uint64_t tx_count[QUEUES_MAX];

static int
receiver(void *arg)
{
	struct rte_mbuf *m[BURST];
	unsigned int q;
	uint16_t i;
	uint16_t n;

	(void)arg;
	while (!__atomic_load_n(&stop, __ATOMIC_RELAXED)) {
		for (q = 0; q < rxq; q++) {
			n = rte_eth_rx_burst(0, (uint16_t)q, m, BURST);
			for (i = 0; i < n; i++)
				rx_bad[q] += m[i]->pkt_len != FRAME_LEN || m[i]->nb_segs != 1;
			if (n > 0)
				rte_pktmbuf_free_bulk(m, n);
			rx_count[q] += n;
		}
	}
	return 0;
}

/* A broadcast frame of a local experimental type. */
static struct rte_mbuf *
frame(void)
{
	struct rte_mbuf *m = rte_pktmbuf_alloc(pool);
	char *p;

	if (m == NULL)
		return NULL;
	p = rte_pktmbuf_append(m, FRAME_LEN);
	memset(p, 0xff, 12);
	memset(p + 12, 0, FRAME_LEN - 12);
	p[12] = (char)0x88;
	p[13] = (char)0xb5;
	return m;
}

static int
sender(void *arg)
{
	struct rte_mbuf *m[BURST];
	unsigned int q;
	uint16_t n;
	uint16_t sent;

	(void)arg;
	while (!__atomic_load_n(&stop, __ATOMIC_RELAXED)) {
		for (q = 0; q < txq; q++) {
			for (n = 0; n < BURST; n++) {
				m[n] = frame();
				if (m[n] == NULL)
					break;
			}
			sent = rte_eth_tx_burst(0, (uint16_t)q, m, n);
			tx_count[q] += sent;
			if (sent < n)
				rte_pktmbuf_free_bulk(&m[sent], n - sent);
		}
	}
	return 0;
}

static int
port_start(void)
{
	struct rte_eth_conf conf = {
		.rxmode = { .mq_mode = rxq > 1 ? RTE_ETH_MQ_RX_RSS : RTE_ETH_MQ_RX_NONE },
		.rx_adv_conf.rss_conf.rss_hf = rxq > 1 ? RTE_ETH_RSS_IPV4 : 0,
	};
	unsigned int q;
	int ret;

	ret = rte_eth_dev_configure(0, (uint16_t)rxq, (uint16_t)txq, &conf);
	for (q = 0; ret == 0 && q < rxq; q++)
		ret = rte_eth_rx_queue_setup(0, (uint16_t)q, 0, SOCKET_ID_ANY, NULL, pool);
	for (q = 0; ret == 0 && q < txq; q++)
		ret = rte_eth_tx_queue_setup(0, (uint16_t)q, 0, SOCKET_ID_ANY, NULL);
	return ret == 0 ? rte_eth_dev_start(0) : ret;
}

/* Main lcore: run the two others, stop them, print what they did. */
static int
measure(unsigned int seconds)
{
	unsigned int tx = rte_get_next_lcore(-1, 1, 0);
	unsigned int rx = rte_get_next_lcore(tx, 1, 0);
	unsigned int q;

	if (rx >= RTE_MAX_LCORE)
		return -1;
	rte_eal_remote_launch(receiver, NULL, rx);
	rte_eal_remote_launch(sender, NULL, tx);
	sleep(seconds);
	__atomic_store_n(&stop, true, __ATOMIC_RELAXED);
	rte_eal_mp_wait_lcore();
	for (q = 0; q < rxq; q++)
		printf("rx %u %" PRIu64 " %" PRIu64 "\n", q, rx_count[q], rx_bad[q]);
	for (q = 0; q < txq; q++)
		printf("tx %u %" PRIu64 "\n", q, tx_count[q]);
	return 0;
}

int
main(int argc, char **argv)
{
	unsigned int seconds;
	int used = rte_eal_init(argc, argv);
	int ret;

	if (used < 0 || argc - used < 4 || rte_eth_dev_count_avail() == 0)
		return 2;
	rxq = (unsigned int)atoi(argv[used + 1]);
	txq = (unsigned int)atoi(argv[used + 2]);
	seconds = (unsigned int)atoi(argv[used + 3]);
	if (rxq > QUEUES_MAX || txq > QUEUES_MAX)
		return 2;
	pool = rte_pktmbuf_pool_create("frames", MBUFS, 256, 0, RTE_MBUF_DEFAULT_BUF_SIZE,
				       SOCKET_ID_ANY);
	if (pool == NULL)
		return 3;
	ret = port_start();
	if (ret != 0) {
		printf("start failed: %d\n", ret);
		return 4;
	}
	ret = measure(seconds);
	/* The first sign of a lost mbuf is a pool that is not full after the stop. */
	if (rte_eth_dev_stop(0) != 0 || rte_eth_dev_close(0) != 0)
		return 5;
	printf("mbufs %u of %u\n", rte_mempool_avail_count(pool), (unsigned int)MBUFS);
	rte_eal_cleanup();
	return ret == 0 ? 0 : 6;
}

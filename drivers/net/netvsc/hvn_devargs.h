/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 hvnet contributors
 *
 * Device arguments: names and meaning as in DPDK's net_netvsc where that has them.
 */
#ifndef HVN_DEVARGS_H
#define HVN_DEVARGS_H

#include <stdint.h>

struct rte_devargs;

/** Monitor latency, us: default and most that 100 ns units in 16 bits can say. */
#define HVN_LATENCY_DEFAULT 50u
#define HVN_LATENCY_MAX 6553u
/** Frames up to this many bytes are copied into send sections. */
#define HVN_TX_COPYBREAK_DEFAULT 512u

struct hvn_devargs {
	uint32_t latency_us;
	uint32_t tx_copybreak; /**< bytes, 0 = never copy what can go by address */
	uint32_t tx_header_copy; /**< 1: their headers still go by send section */
};

/** Parameter string for RTE_PMD_REGISTER_PARAM_STRING. */
#define HVN_DEVARGS_STRING \
	"latency=<uint> tx_copybreak=<uint> tx_header_copy=<0|1> rx_copybreak=<uint> " \
	"rx_extmbuf_enable=<0|1>"

/**
 * Parse; @p devargs may be NULL.
 * @return 0; -EINVAL with one log line for an unknown name or an impossible value.
 */
int hvn_devargs_parse(const struct rte_devargs *devargs, const char *device,
		      struct hvn_devargs *out);

#endif /* HVN_DEVARGS_H */

/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 hvnet contributors
 *
 * Reading one received RNDIS message: its header and per-packet information.
 *
 * The message lies in memory that the host can change at any time: its first bytes are
 * copied once, and only the copy is looked at.
 */
#ifndef HVN_RX_INFO_H
#define HVN_RX_INFO_H

#include <stdbool.h>
#include <stdint.h>

#include "hvn_rx.h"

/** Bytes copied for the fast path: the header and four records of one word, rounded up. */
#define HVN_RX_COPY 112u
/** Bytes copied for the slow path: any information that hosts are known to send. */
#define HVN_RX_COPY_SLOW 512u

/** What a received frame's message says. */
struct hvn_rx_info {
	uint32_t data_ofs;   /**< of the frame from the message's start, bytes; checked */
	uint32_t data_len;   /**< of the frame, bytes; checked against the range */
	uint32_t flags;      /**< HVN_RXI_*: which of the values below are there */
	uint32_t hash;
	uint32_t hash_info;  /**< NDIS_HASH_* and function */
	uint32_t csum;       /**< RNDIS_RXCSUM_* */
	uint32_t vlan;       /**< RNDIS VLAN word */
};

#define HVN_RXI_HASH 0x1u
#define HVN_RXI_HASH_INFO 0x2u
#define HVN_RXI_CSUM 0x4u
#define HVN_RXI_VLAN 0x8u

/**
 * Read the message of @p len bytes at @p msg.
 *
 * @param layout
 *   What the last message looked like; learnt here.
 * @return 0; -EINVAL when it is not a well-formed packet message.
 */
int hvn_rx_info_read(const uint8_t *msg, uint32_t len, struct hvn_rx_layout *layout,
		     struct hvn_rx_info *info);

#endif /* HVN_RX_INFO_H */

/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 hvnet contributors
 *
 * RNDIS messages as Hyper-V's synthetic NIC uses them, and their per-packet information.
 *
 * Every offset field counts from byte 8 of its message (RNDIS_OFFSET_BASE).
 * Sources: Microsoft's RNDIS documentation, Linux rndis.h and hyperv_net.h (facts only).
 */
#ifndef HVWIRE_RNDIS_H
#define HVWIRE_RNDIS_H

#include "base.h"

/** Offsets on the wire are relative to this byte of the message. */
#define RNDIS_OFFSET_BASE 8u

#define RNDIS_MAJOR 1u
#define RNDIS_MINOR 0u

/** Message types; a completion has bit 31 set. */
enum rndis_type {
	RNDIS_PACKET = 0x1,
	RNDIS_INITIALIZE = 0x2,
	RNDIS_HALT = 0x3,
	RNDIS_QUERY = 0x4,
	RNDIS_SET = 0x5,
	RNDIS_RESET = 0x6,
	RNDIS_INDICATE = 0x7,
	RNDIS_KEEPALIVE = 0x8,
	RNDIS_SET_EX = 0x9,
};
#define RNDIS_COMPLETION 0x80000000u

/** RNDIS and NDIS status values. */
#define RNDIS_STATUS_SUCCESS 0x00000000u
#define RNDIS_STATUS_FAILURE 0xC0000001u
#define RNDIS_STATUS_RESOURCES 0xC000009Au
#define RNDIS_STATUS_NOT_SUPPORTED 0xC00000BBu
#define RNDIS_STATUS_BAD_VERSION 0xC0010004u
#define RNDIS_STATUS_MULTICAST_FULL 0xC0010009u
#define RNDIS_STATUS_INVALID_LENGTH 0xC0010014u
#define RNDIS_STATUS_INVALID_DATA 0xC0010015u
#define RNDIS_STATUS_BUFFER_TOO_SHORT 0xC0010016u

/** Status indications. */
#define RNDIS_IND_MEDIA_CONNECT 0x4001000Bu
#define RNDIS_IND_MEDIA_DISCONNECT 0x4001000Cu
#define RNDIS_IND_LINK_SPEED 0x40010013u
#define RNDIS_IND_NETWORK_CHANGE 0x40010018u
#define RNDIS_IND_OFFLOAD_CONFIG 0x40020006u

/** First words of every message. */
struct rndis_hdr {
	uint32_t type;
	uint32_t len;  /**< whole message, bytes */
} HVW_PACKED;
HVW_SIZE(rndis_hdr, 8);
HVW_OFFSET(rndis_hdr, len, 4);

/** First words of every control request and completion. */
struct rndis_ctl_hdr {
	uint32_t type;
	uint32_t len;
	uint32_t rid;  /**< request id, never 0 in a request */
} HVW_PACKED;
HVW_SIZE(rndis_ctl_hdr, 12);
HVW_OFFSET(rndis_ctl_hdr, rid, 8);

struct rndis_initialize {
	uint32_t type;
	uint32_t len;
	uint32_t rid;
	uint32_t major;
	uint32_t minor;
	uint32_t max_transfer;  /**< bytes the guest takes in one transfer */
} HVW_PACKED;
HVW_SIZE(rndis_initialize, 24);
HVW_OFFSET(rndis_initialize, major, 12);
HVW_OFFSET(rndis_initialize, minor, 16);
HVW_OFFSET(rndis_initialize, max_transfer, 20);

struct rndis_initialize_complete {
	uint32_t type;
	uint32_t len;
	uint32_t rid;
	uint32_t status;
	uint32_t major;
	uint32_t minor;
	uint32_t dev_flags;     /**< 1: connectionless */
	uint32_t medium;        /**< 0: 802.3 */
	uint32_t max_packets;   /**< RNDIS packets in one transfer */
	uint32_t max_transfer;  /**< bytes in one transfer */
	uint32_t align_shift;   /**< log2 of the alignment of packets in one transfer */
	uint32_t af_offset;
	uint32_t af_size;
} HVW_PACKED;
HVW_SIZE(rndis_initialize_complete, 52);
HVW_OFFSET(rndis_initialize_complete, status, 12);
HVW_OFFSET(rndis_initialize_complete, medium, 28);
HVW_OFFSET(rndis_initialize_complete, max_packets, 32);
HVW_OFFSET(rndis_initialize_complete, max_transfer, 36);
HVW_OFFSET(rndis_initialize_complete, align_shift, 40);
HVW_OFFSET(rndis_initialize_complete, af_size, 48);

struct rndis_halt {
	uint32_t type;
	uint32_t len;
	uint32_t rid;
} HVW_PACKED;
HVW_SIZE(rndis_halt, 12);
HVW_OFFSET(rndis_halt, rid, 8);

/** QUERY and SET requests; data at buf_offset. */
struct rndis_oid_request {
	uint32_t type;
	uint32_t len;
	uint32_t rid;
	uint32_t oid;
	uint32_t buf_len;
	uint32_t buf_offset;  /**< RNDIS_OID_DATA_OFFSET when data follows this header */
	uint32_t vc;          /**< 0 */
} HVW_PACKED;
HVW_SIZE(rndis_oid_request, 28);
HVW_OFFSET(rndis_oid_request, oid, 12);
HVW_OFFSET(rndis_oid_request, buf_len, 16);
HVW_OFFSET(rndis_oid_request, buf_offset, 20);
HVW_OFFSET(rndis_oid_request, vc, 24);
#define RNDIS_OID_DATA_OFFSET (sizeof(struct rndis_oid_request) - RNDIS_OFFSET_BASE)

struct rndis_query_complete {
	uint32_t type;
	uint32_t len;
	uint32_t rid;
	uint32_t status;
	uint32_t buf_len;
	uint32_t buf_offset;  /**< RNDIS_QUERY_DATA_OFFSET when data follows this header */
} HVW_PACKED;
HVW_SIZE(rndis_query_complete, 24);
HVW_OFFSET(rndis_query_complete, status, 12);
HVW_OFFSET(rndis_query_complete, buf_len, 16);
HVW_OFFSET(rndis_query_complete, buf_offset, 20);
#define RNDIS_QUERY_DATA_OFFSET (sizeof(struct rndis_query_complete) - RNDIS_OFFSET_BASE)

/** SET and KEEPALIVE completions. */
struct rndis_status_complete {
	uint32_t type;
	uint32_t len;
	uint32_t rid;
	uint32_t status;
} HVW_PACKED;
HVW_SIZE(rndis_status_complete, 16);
HVW_OFFSET(rndis_status_complete, rid, 8);
HVW_OFFSET(rndis_status_complete, status, 12);

struct rndis_reset_complete {
	uint32_t type;
	uint32_t len;
	uint32_t status;
	uint32_t addressing_reset;  /**< 1: send filter and lists again */
} HVW_PACKED;
HVW_SIZE(rndis_reset_complete, 16);
HVW_OFFSET(rndis_reset_complete, status, 8);
HVW_OFFSET(rndis_reset_complete, addressing_reset, 12);

struct rndis_indicate {
	uint32_t type;
	uint32_t len;
	uint32_t status;      /**< RNDIS_IND_* */
	uint32_t buf_len;
	uint32_t buf_offset;  /**< 12 when data follows, 0 without data */
} HVW_PACKED;
HVW_SIZE(rndis_indicate, 20);
HVW_OFFSET(rndis_indicate, status, 8);
HVW_OFFSET(rndis_indicate, buf_len, 12);
HVW_OFFSET(rndis_indicate, buf_offset, 16);

/** PACKET message: one Ethernet frame with its per-packet information. */
struct rndis_packet {
	uint32_t type;
	uint32_t len;          /**< header, information, frame and padding */
	uint32_t data_offset;  /**< RNDIS_PACKET_DATA_MIN or more */
	uint32_t data_len;     /**< frame without FCS, bytes */
	uint32_t oob_offset;   /**< 0 */
	uint32_t oob_len;      /**< 0 */
	uint32_t oob_count;    /**< 0 */
	uint32_t ppi_offset;   /**< RNDIS_PACKET_DATA_MIN, or 0 without information */
	uint32_t ppi_len;      /**< all records, bytes */
	uint32_t vc;           /**< 0 */
	uint32_t reserved;     /**< 0 */
} HVW_PACKED;
HVW_SIZE(rndis_packet, 44);
HVW_OFFSET(rndis_packet, data_offset, 8);
HVW_OFFSET(rndis_packet, data_len, 12);
HVW_OFFSET(rndis_packet, ppi_offset, 28);
HVW_OFFSET(rndis_packet, ppi_len, 32);
#define RNDIS_PACKET_DATA_MIN (sizeof(struct rndis_packet) - RNDIS_OFFSET_BASE)

/** Per-packet information record. */
struct rndis_ppi {
	uint32_t size;    /**< header and data, multiple of 4 */
	uint32_t type;    /**< enum rndis_ppi_type; bit 31: internal name space */
	uint32_t offset;  /**< of the data from the record's start; 12 as written by all */
} HVW_PACKED;
HVW_SIZE(rndis_ppi, 12);
HVW_OFFSET(rndis_ppi, type, 4);
HVW_OFFSET(rndis_ppi, offset, 8);

enum rndis_ppi_type {
	RNDIS_PPI_CSUM = 0,
	RNDIS_PPI_LSO = 2,
	RNDIS_PPI_VLAN = 6,
	RNDIS_PPI_HASH_VALUE = 8,
	RNDIS_PPI_HASH_INFO = 9,
};
#define RNDIS_PPI_INTERNAL 0x80000000u

/** A record with one 32-bit value: the form of all records in the enum above. */
struct rndis_ppi_u32 {
	struct rndis_ppi hdr;
	uint32_t value;
} HVW_PACKED;
HVW_SIZE(rndis_ppi_u32, 16);
HVW_OFFSET(rndis_ppi_u32, value, 12);

/** Checksum record, transmit. */
#define RNDIS_TXCSUM_IPV4 0x00000001u
#define RNDIS_TXCSUM_IPV6 0x00000002u
#define RNDIS_TXCSUM_TCP 0x00000004u
#define RNDIS_TXCSUM_UDP 0x00000008u
#define RNDIS_TXCSUM_IP_HDR 0x00000010u
#define RNDIS_TXCSUM_L4_OFS_SHIFT 16

/** Checksum record, receive. No bit of a protocol: not checked. */
#define RNDIS_RXCSUM_TCP_BAD 0x00000001u
#define RNDIS_RXCSUM_UDP_BAD 0x00000002u
#define RNDIS_RXCSUM_IP_BAD 0x00000004u
#define RNDIS_RXCSUM_TCP_OK 0x00000008u
#define RNDIS_RXCSUM_UDP_OK 0x00000010u
#define RNDIS_RXCSUM_IP_OK 0x00000020u
#define RNDIS_RXCSUM_LOOPBACK 0x00000040u
#define RNDIS_RXCSUM_TCP_VALUE_INVALID 0x00000080u
#define RNDIS_RXCSUM_IP_VALUE_INVALID 0x00000100u

/** VLAN record: bits 0-2 priority, 3 DEI, 4-15 VLAN id. */
#define RNDIS_VLAN_PRIO(v) ((v) & 0x7u)
#define RNDIS_VLAN_DEI(v) (((v) >> 3) & 0x1u)
#define RNDIS_VLAN_ID(v) (((v) >> 4) & 0xfffu)

#endif /* HVWIRE_RNDIS_H */

/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 hvnet contributors
 *
 * NDIS objects carried by RNDIS queries and sets: OIDs, filter, RSS, offload.
 *
 * Sources: Microsoft's NDIS documentation, Linux hyperv_net.h (facts only).
 */
#ifndef HVWIRE_NDIS_H
#define HVWIRE_NDIS_H

#include "base.h"

/** Object identifiers. */
#define OID_GEN_SUPPORTED_LIST 0x00010101u
#define OID_GEN_HARDWARE_STATUS 0x00010102u
#define OID_GEN_MEDIA_SUPPORTED 0x00010103u
#define OID_GEN_MEDIA_IN_USE 0x00010104u
#define OID_GEN_MAXIMUM_LOOKAHEAD 0x00010105u
#define OID_GEN_MAXIMUM_FRAME_SIZE 0x00010106u   /**< u32, MTU, bytes */
#define OID_GEN_LINK_SPEED 0x00010107u           /**< u32, 100 bit/s */
#define OID_GEN_VENDOR_ID 0x0001010Cu
#define OID_GEN_VENDOR_DESCRIPTION 0x0001010Du
#define OID_GEN_CURRENT_PACKET_FILTER 0x0001010Eu /**< u32, NDIS_FILTER_* */
#define OID_GEN_CURRENT_LOOKAHEAD 0x0001010Fu
#define OID_GEN_MAXIMUM_TOTAL_SIZE 0x00010111u   /**< u32, frame with header, bytes */
#define OID_GEN_MAC_OPTIONS 0x00010113u
#define OID_GEN_MEDIA_CONNECT_STATUS 0x00010114u /**< u32, 0 connected, 1 not */
#define OID_GEN_MAXIMUM_SEND_PACKETS 0x00010115u
#define OID_GEN_RECEIVE_SCALE_CAPABILITIES 0x00010203u
#define OID_GEN_RECEIVE_SCALE_PARAMETERS 0x00010204u
#define OID_GEN_FRIENDLY_NAME 0x00020216u
#define OID_GEN_RNDIS_CONFIG_PARAMETER 0x0001021Bu
#define OID_802_3_PERMANENT_ADDRESS 0x01010101u  /**< 6 bytes */
#define OID_802_3_CURRENT_ADDRESS 0x01010102u    /**< 6 bytes */
#define OID_802_3_MULTICAST_LIST 0x01010103u
#define OID_802_3_MAXIMUM_LIST_SIZE 0x01010104u
#define OID_TCP_OFFLOAD_CURRENT_CONFIG 0xFC01020Bu
#define OID_TCP_OFFLOAD_PARAMETERS 0xFC01020Cu
#define OID_TCP_OFFLOAD_HARDWARE_CAPABILITIES 0xFC01020Du

/** Packet filter bits. */
#define NDIS_FILTER_DIRECTED 0x01u
#define NDIS_FILTER_MULTICAST 0x02u
#define NDIS_FILTER_ALL_MULTICAST 0x04u
#define NDIS_FILTER_BROADCAST 0x08u
#define NDIS_FILTER_PROMISCUOUS 0x20u

/** Header of every NDIS object. */
struct ndis_obj_hdr {
	uint8_t type;
	uint8_t rev;
	uint16_t size;  /**< of the object with this header, bytes */
} HVW_PACKED;
HVW_SIZE(ndis_obj_hdr, 4);
HVW_OFFSET(ndis_obj_hdr, rev, 1);
HVW_OFFSET(ndis_obj_hdr, size, 2);

#define NDIS_OBJ_DEFAULT 0x80u
#define NDIS_OBJ_RSS_CAPS 0x88u
#define NDIS_OBJ_RSS_PARAMS 0x89u
#define NDIS_OBJ_OFFLOAD 0xA7u

/** RSS capabilities, revision 2. Revision 1 ends before ind_entries. */
struct ndis_rss_caps {
	struct ndis_obj_hdr hdr;
	uint32_t caps;         /**< hash function in the low byte, NDIS_RSS_CAP_* */
	uint32_t nmsi;
	uint32_t nqueues;      /**< receive queues, 1.. */
	uint16_t ind_entries;  /**< table entries; 0 means 128 */
} HVW_PACKED;
HVW_SIZE(ndis_rss_caps, 18);
HVW_OFFSET(ndis_rss_caps, caps, 4);
HVW_OFFSET(ndis_rss_caps, nqueues, 12);
HVW_OFFSET(ndis_rss_caps, ind_entries, 16);
#define NDIS_RSS_CAPS_SIZE_REV1 16u
#define NDIS_RSS_CAP_IPV4 0x00000100u
#define NDIS_RSS_CAP_IPV6 0x00000200u

/** RSS parameters, revision 2; table and key follow at their offsets. */
struct ndis_rss_params {
	struct ndis_obj_hdr hdr;
	uint16_t flags;        /**< NDIS_RSS_FLAG_* */
	uint16_t base_cpu;
	uint32_t hash;         /**< function | NDIS_HASH_* */
	uint16_t ind_size;     /**< bytes: entries x 4 */
	uint16_t reserved;
	uint32_t ind_offset;   /**< from the start of this struct */
	uint16_t key_size;     /**< bytes: NDIS_RSS_KEY_SIZE */
	uint16_t reserved2;
	uint32_t key_offset;
	uint32_t cpu_mask_offset;
	uint32_t cpu_mask_count;
	uint32_t cpu_mask_entry;
} HVW_PACKED;
HVW_SIZE(ndis_rss_params, 40);
HVW_OFFSET(ndis_rss_params, hash, 8);
HVW_OFFSET(ndis_rss_params, key_offset, 24);

#define NDIS_RSS_FLAG_DISABLE 0x0010u
#define NDIS_RSS_KEY_SIZE 40u
#define NDIS_RSS_ENTRIES_DEFAULT 128u
#define NDIS_RSS_ENTRIES_MAX 256u

#define NDIS_HASH_TOEPLITZ 0x00000001u
#define NDIS_HASH_IPV4 0x00000100u
#define NDIS_HASH_TCP_IPV4 0x00000200u
#define NDIS_HASH_IPV6 0x00000400u
#define NDIS_HASH_IPV6_EX 0x00000800u
#define NDIS_HASH_TCP_IPV6 0x00001000u
#define NDIS_HASH_TCP_IPV6_EX 0x00002000u
#define NDIS_HASH_UDP_IPV4 0x00004000u
#define NDIS_HASH_UDP_IPV6 0x00008000u
#define NDIS_HASH_UDP_IPV6_EX 0x00010000u

/** Checksum capabilities of one family and direction. */
struct ndis_csum_caps {
	uint32_t encap;
	uint32_t caps;  /**< NDIS_CSUM_CAP_* */
} HVW_PACKED;
HVW_SIZE(ndis_csum_caps, 8);
HVW_OFFSET(ndis_csum_caps, caps, 4);
#define NDIS_CSUM_CAP_IP_OPT 0x001u
#define NDIS_CSUM_CAP_TCP_OPT 0x004u
#define NDIS_CSUM_CAP_TCP 0x010u
#define NDIS_CSUM_CAP_UDP 0x040u
#define NDIS_CSUM_CAP_IP 0x100u

/** Offload capabilities and current configuration, revision 3. */
struct ndis_offload {
	struct ndis_obj_hdr hdr;
	struct ndis_csum_caps ip4_tx;
	struct ndis_csum_caps ip4_rx;
	struct ndis_csum_caps ip6_tx;
	struct ndis_csum_caps ip6_rx;
	uint32_t lso1[4];
	uint32_t ipsec1[7];
	uint32_t lso2_ip4_encap;
	uint32_t lso2_ip4_max;   /**< bytes with headers */
	uint32_t lso2_ip4_min;   /**< segments */
	uint32_t lso2_ip6_encap;
	uint32_t lso2_ip6_max;
	uint32_t lso2_ip6_min;
	uint32_t lso2_ip6_opts;
	uint32_t flags;
	uint32_t ipsec2[8];      /**< revision 2 starts here */
	uint8_t rsc_ip4;         /**< revision 3 starts here */
	uint8_t rsc_ip6;
	uint8_t reserved[2];
	uint32_t nvgre_flags;
	uint32_t nvgre_hdr_max;
} HVW_PACKED;
HVW_SIZE(ndis_offload, 156);
HVW_OFFSET(ndis_offload, lso2_ip4_encap, 80);
HVW_OFFSET(ndis_offload, flags, 108);
HVW_OFFSET(ndis_offload, rsc_ip4, 144);
#define NDIS_OFFLOAD_SIZE_REV1 112u
#define NDIS_OFFLOAD_SIZE_REV2 144u
#define NDIS_OFFLOAD_SIZE_REV3 156u
#define NDIS_ENCAP_8023 0x2u

/** Offload parameters, revision 3 (26 bytes; some senders append 2 bytes of padding). */
struct ndis_offload_params {
	struct ndis_obj_hdr hdr;
	uint8_t ip4_csum;  /**< NDIS_OFFLOAD_SET_* */
	uint8_t tcp4_csum;
	uint8_t udp4_csum;
	uint8_t tcp6_csum;
	uint8_t udp6_csum;
	uint8_t lso1;
	uint8_t ipsec1;
	uint8_t lso2_ip4;
	uint8_t lso2_ip6;
	uint8_t conn_ip4;
	uint8_t conn_ip6;
	uint8_t pad;
	uint32_t flags;
	uint8_t ipsec2;
	uint8_t ipsec2_ip4;
	uint8_t rsc_ip4;   /**< revision 3 */
	uint8_t rsc_ip6;
	uint8_t encap;
	uint8_t encap_types;
} HVW_PACKED;
HVW_SIZE(ndis_offload_params, 26);
HVW_OFFSET(ndis_offload_params, flags, 16);
HVW_OFFSET(ndis_offload_params, rsc_ip4, 22);
#define NDIS_OFFLOAD_PARAMS_SIZE_REV1 20u
#define NDIS_OFFLOAD_PARAMS_SIZE_REV2 22u
#define NDIS_OFFLOAD_PARAMS_SIZE_REV3 26u

#define NDIS_OFFLOAD_SET_NO_CHANGE 0u
#define NDIS_OFFLOAD_SET_OFF 1u
#define NDIS_OFFLOAD_SET_ON 2u     /**< checksum: transmit only */
#define NDIS_OFFLOAD_SET_RX 3u
#define NDIS_OFFLOAD_SET_TXRX 4u

/** NDIS versions announced to the host: 6.1 up to NVSP 4, 6.30 after. */
#define NDIS_VERSION_MAJOR 6u
#define NDIS_VERSION_MINOR_61 1u
#define NDIS_VERSION_MINOR_630 30u

#endif /* HVWIRE_NDIS_H */

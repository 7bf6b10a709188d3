/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 hvnet contributors
 *
 * NVSP messages of the control path: requests are built, replies are checked; nothing waits.
 */
#ifndef HVN_NVSP_H
#define HVN_NVSP_H

#include <stdint.h>

#include <hvwire/nvsp.h>

/** Largest receive sub-allocation count or section size is bounded by the buffer's bytes. */
struct hvn_nvsp_rxbuf {
	uint32_t slot_bytes; /**< bytes of one sub-allocation */
	uint32_t slots;      /**< sub-allocations */
};

/** A request as it goes on the ring; padded with zeros. */
union hvn_nvsp_msg {
	uint32_t type;
	uint8_t bytes[NVSP_MSG_SIZE];
	struct nvsp_init init;
	struct nvsp_ndis_version ndis_version;
	struct nvsp_buffer buffer;
	struct nvsp_revoke revoke;
	struct nvsp_rndis rndis;
	struct nvsp_ndis_config config;
	struct nvsp_subchannel subchannel;
	struct nvsp_rndis_complete rndis_complete;
};

/** Ask for exactly protocol @p version. */
void hvn_nvsp_build_init(union hvn_nvsp_msg *m, uint32_t version);

/** Announce the largest frame (@p frame_bytes, without FCS) and capabilities NVSP_CAP_*. */
void hvn_nvsp_build_config(union hvn_nvsp_msg *m, uint32_t frame_bytes, uint64_t caps);

/** Announce the NDIS version that belongs to NVSP @p version. */
void hvn_nvsp_build_ndis_version(union hvn_nvsp_msg *m, uint32_t version);

/** Offer a buffer: @p type is NVSP_RXBUF or NVSP_TXBUF. */
void hvn_nvsp_build_buffer(union hvn_nvsp_msg *m, uint32_t type, uint32_t gpadl);

/** Take a buffer back: @p type is NVSP_RXBUF_REVOKE or NVSP_TXBUF_REVOKE. */
void hvn_nvsp_build_revoke(union hvn_nvsp_msg *m, uint32_t type);

/** Ask for @p count channels beside the primary one. */
void hvn_nvsp_build_subchannel(union hvn_nvsp_msg *m, uint32_t count);

/** Frame an RNDIS control message: @p section NVSP_SECTION_NONE when it goes by address. */
void hvn_nvsp_build_control(union hvn_nvsp_msg *m, uint32_t section, uint32_t bytes);

/*
 * Checks of replies. All take private bytes.
 * They return 0; -EPROTO for a malformed or unexpected message; -EREMOTEIO when the host
 * refused.
 */

/** Reply to init; -ENOTSUP when the host does not speak the version. */
int hvn_nvsp_parse_init(const void *msg, uint32_t len);

/**
 * Reply to the receive buffer of @p buf_len bytes.
 *
 * @param min_slot
 *   Smallest sub-allocation that the driver can live with, bytes.
 */
int hvn_nvsp_parse_rxbuf(const void *msg, uint32_t len, uint64_t buf_len, uint32_t min_slot,
			 struct hvn_nvsp_rxbuf *out);

/** Reply to the send buffer of @p buf_len bytes; yields bytes of one section. */
int hvn_nvsp_parse_txbuf(const void *msg, uint32_t len, uint64_t buf_len,
			 uint32_t *section_bytes);

/** Reply to a request for @p asked sub-channels; yields the number granted (<= asked). */
int hvn_nvsp_parse_subchannel(const void *msg, uint32_t len, uint32_t asked,
			      uint32_t *granted);

/** Completion of an RNDIS control message. */
int hvn_nvsp_parse_rndis_complete(const void *msg, uint32_t len);

/**
 * Send-indirection table; host quirks of old versions are handled.
 *
 * @param version
 *   NVSP version agreed on.
 * @param[out] table
 *   Channel numbers as the host gave them; untouched on error.
 */
int hvn_nvsp_parse_send_table(const void *msg, uint32_t len, uint32_t version,
			      uint32_t table[NVSP_SEND_TABLE_ENTRIES]);

/** VF association; yields allocated (0 or 1) and serial. */
int hvn_nvsp_parse_vf(const void *msg, uint32_t len, uint32_t *allocated, uint32_t *serial);

#endif /* HVN_NVSP_H */

/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 hvnet contributors
 *
 * What is said to the host to bring a NIC up and to end it, in order.
 */
#include <errno.h>
#include <string.h>

#include "hvn_bringup.h"
#include "hvn_compat.h"
#include "hvn_log.h"

/* Room in a receive sub-allocation beside the frame: an RNDIS header. */
#define SLOT_MIN(frame) ((frame) + (uint32_t)sizeof(struct rndis_packet))

static int
fail(const struct hvn_nic *nic, const char *what, int ret)
{
	if (ret == -EREMOTEIO && nic->session.last_status != 0)
		HVN_LOG(ERR, "%s: %s: refused by the host with status 0x%x", nic->name, what,
			nic->session.last_status);
	else
		HVN_LOG(ERR, "%s: %s: %s", nic->name, what, strerror(-ret));
	return ret;
}

/* Newest version that both speak. */
static int
agree_version(struct hvn_nic *nic)
{
	static const uint32_t versions[] = {
		NVSP_VERSION_61, NVSP_VERSION_6, NVSP_VERSION_5,
		NVSP_VERSION_4, NVSP_VERSION_2, NVSP_VERSION_1,
	};
	uint8_t reply[NVSP_MSG_SIZE];
	union hvn_nvsp_msg m;
	uint32_t len;
	int ret = -ENOTSUP;

	for (uint32_t i = 0; i < RTE_DIM(versions); i++) {
		hvn_nvsp_build_init(&m, versions[i]);
		len = sizeof(reply);
		ret = hvn_session_nvsp(&nic->session, &m, sizeof(m), reply, &len);
		if (ret == 0)
			ret = hvn_nvsp_parse_init(reply, len);
		if (ret == 0) {
			nic->version = versions[i];
			nic->session.version = versions[i];
			return 0;
		}
		if (ret != -ENOTSUP)
			break;
	}
	return fail(nic, "NVSP version", ret);
}

static int
announce(struct hvn_nic *nic)
{
	union hvn_nvsp_msg m;
	int ret = 0;

	if (nic->version >= NVSP_VERSION_2) {
		hvn_nvsp_build_config(&m, HVN_MTU + RTE_ETHER_HDR_LEN, NVSP_CAP_8021Q);
		ret = hvn_session_send(&nic->session, &m, sizeof(m));
	}
	if (ret == 0) {
		hvn_nvsp_build_ndis_version(&m, nic->version);
		ret = hvn_session_send(&nic->session, &m, sizeof(m));
	}
	return ret == 0 ? 0 : fail(nic, "NDIS configuration", ret);
}

/* Offer a buffer and get the host's answer. */
static int
offer(struct hvn_nic *nic, uint32_t type, enum vmbus_uio_map map, uint8_t *reply,
      uint32_t *len)
{
	uint64_t gpadl = nic->vmbus->resource[map].phys_addr;
	union hvn_nvsp_msg m;

	if (gpadl == 0 || gpadl > UINT32_MAX)
		return -EINVAL;
	hvn_nvsp_build_buffer(&m, type, (uint32_t)gpadl);
	return hvn_session_nvsp(&nic->session, &m, sizeof(m), reply, len);
}

static int
offer_receive(struct hvn_nic *nic)
{
	uint8_t reply[NVSP_MSG_SIZE];
	uint32_t len = sizeof(reply);
	int ret;

	ret = offer(nic, NVSP_RXBUF, VMBUS_MAP_RECV, reply, &len);
	if (ret == 0)
		ret = hvn_nvsp_parse_rxbuf(reply, len, nic->vmbus->resource[VMBUS_MAP_RECV].len,
					   SLOT_MIN(HVN_MTU_MIN + RTE_ETHER_HDR_LEN),
					   &nic->rxbuf);
	return ret == 0 ? 0 : fail(nic, "receive buffer", ret);
}

static int
offer_send(struct hvn_nic *nic)
{
	uint8_t reply[NVSP_MSG_SIZE];
	uint32_t len = sizeof(reply);
	int ret;

	ret = offer(nic, NVSP_TXBUF, VMBUS_MAP_SEND, reply, &len);
	if (ret == 0)
		ret = hvn_nvsp_parse_txbuf(reply, len, nic->vmbus->resource[VMBUS_MAP_SEND].len,
					   &nic->section_bytes);
	if (ret == -ETIMEDOUT || ret == -EIO)
		return fail(nic, "send buffer", ret);
	if (ret != 0) {
		nic->section_bytes = 0;
		HVN_LOG(WARNING, "%s: send buffer not usable (%s), frames go by address only",
			nic->name, strerror(-ret));
	}
	return 0;
}

int
hvn_bringup_nvsp(struct hvn_nic *nic)
{
	int ret;

	ret = agree_version(nic);
	if (ret == 0)
		ret = announce(nic);
	if (ret == 0)
		ret = offer_receive(nic);
	if (ret == 0)
		ret = offer_send(nic);
	return ret;
}

static int
query_mtu(struct hvn_nic *nic)
{
	uint32_t mtu;
	int ret;

	ret = hvn_session_query_u32(&nic->session, OID_GEN_MAXIMUM_FRAME_SIZE, &mtu);
	if (ret == 0 && mtu < HVN_MTU_MIN)
		ret = -EPROTO;
	if (ret != 0)
		return fail(nic, "MTU", ret);
	nic->mtu = RTE_MIN(mtu, HVN_MTU);
	/* A frame and its header must fit in what the host hands out. */
	if (nic->rxbuf.slot_bytes < SLOT_MIN(hvn_nic_frame_max(nic)))
		return fail(nic, "receive buffer too finely divided for the MTU", -EPROTO);
	return 0;
}

static int
query_mac(struct hvn_nic *nic)
{
	struct rte_ether_addr mac;
	uint32_t len = sizeof(mac);
	int ret;

	ret = hvn_session_query(&nic->session, OID_802_3_PERMANENT_ADDRESS, NULL, 0, &mac, &len);
	if (ret == 0 && (len != sizeof(mac) || !rte_is_valid_assigned_ether_addr(&mac)))
		ret = -EPROTO;
	if (ret != 0)
		return fail(nic, "MAC address", ret);
	nic->mac = mac;
	return 0;
}

/* RSS and offload capabilities: a host without them is a host without these features. */
static int
query_caps(struct hvn_nic *nic)
{
	struct ndis_rss_caps rss = {
		.hdr = { .type = NDIS_OBJ_RSS_CAPS, .rev = 2, .size = sizeof(rss) },
	};
	struct ndis_offload off;
	uint8_t out[256];
	uint32_t len;
	int ret = 0;

	nic->rss = (struct hvn_rss_caps){ .queues = 1 };
	memset(&nic->offload, 0, sizeof(nic->offload));
	if (nic->version >= NVSP_VERSION_5) {
		len = sizeof(out);
		ret = hvn_session_query(&nic->session, OID_GEN_RECEIVE_SCALE_CAPABILITIES, &rss,
					sizeof(rss), out, &len);
		if (ret == 0 && hvn_rndis_parse_rss_caps(out, len, &nic->rss) != 0) {
			nic->rss = (struct hvn_rss_caps){ .queues = 1 };
			HVN_LOG(WARNING, "%s: RSS capabilities make no sense, one queue only",
				nic->name);
		}
	}
	if (ret != -ETIMEDOUT && ret != -EIO) {
		len = sizeof(out);
		ret = hvn_session_query(&nic->session, OID_TCP_OFFLOAD_HARDWARE_CAPABILITIES,
					&off, hvn_rndis_build_offload_query(&off, nic->version),
					out, &len);
		if (ret == 0 && hvn_rndis_parse_offload(out, len, &nic->offload) != 0)
			memset(&nic->offload, 0, sizeof(nic->offload));
	}
	return ret == -ETIMEDOUT || ret == -EIO ? fail(nic, "capabilities", ret) : 0;
}

int
hvn_bringup_rndis(struct hvn_nic *nic)
{
	const uint32_t filter = 0;
	int ret;

	ret = hvn_session_initialize(&nic->session, &nic->limits);
	if (ret != 0)
		return fail(nic, "RNDIS initialise", ret);
	/* Some hosts start with a filter that lets frames through. */
	ret = hvn_session_set(&nic->session, OID_GEN_CURRENT_PACKET_FILTER, &filter,
			      sizeof(filter));
	if (ret != 0)
		return fail(nic, "packet filter", ret);
	ret = query_mtu(nic);
	if (ret == 0)
		ret = query_mac(nic);
	if (ret == 0)
		ret = query_caps(nic);
	return ret;
}

int
hvn_bringup_subchannels(struct hvn_nic *nic, uint32_t count, uint32_t *granted)
{
	uint8_t reply[NVSP_MSG_SIZE];
	uint32_t len = sizeof(reply);
	union hvn_nvsp_msg m;
	int ret;

	hvn_nvsp_build_subchannel(&m, count);
	ret = hvn_session_nvsp(&nic->session, &m, sizeof(m), reply, &len);
	if (ret == 0)
		ret = hvn_nvsp_parse_subchannel(reply, len, count, granted);
	return ret == 0 ? 0 : fail(nic, "sub-channels", ret);
}

void
hvn_bringup_end(struct hvn_nic *nic)
{
	union hvn_nvsp_msg m;

	/* Nothing after the first revoke is answered: halt first, then both buffers. */
	if (nic->limits.align != 0)
		hvn_session_halt(&nic->session);
	if (nic->rxbuf.slots != 0) {
		hvn_nvsp_build_revoke(&m, NVSP_RXBUF_REVOKE);
		hvn_session_send(&nic->session, &m, sizeof(m));
	}
	if (nic->section_bytes != 0) {
		hvn_nvsp_build_revoke(&m, NVSP_TXBUF_REVOKE);
		hvn_session_send(&nic->session, &m, sizeof(m));
	}
	nic->rxbuf.slots = 0;
}

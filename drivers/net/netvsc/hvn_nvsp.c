/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 hvnet contributors
 *
 * Builds NVSP requests and checks NVSP replies; bytes in, struct out.
 */
#include <errno.h>
#include <string.h>

#include <hvwire/cursor.h>
#include <hvwire/ndis.h>

#include "hvn_nvsp.h"

/* Smallest section that can carry a control request or a short frame. Source: own. */
#define SECTION_MIN 128u
/* Where historic hosts (up to version 6) put the send table whatever its offset says. */
#define TABLE_OFFSET_OLD 40u
/* Message length from which that rule holds. Source: Linux netvsc (facts only). */
#define TABLE_OLD_LEN (TABLE_OFFSET_OLD + 4 * NVSP_SEND_TABLE_ENTRIES)

static void
clear(union hvn_nvsp_msg *m, uint32_t type)
{
	memset(m, 0, sizeof(*m));
	m->type = type;
}

void
hvn_nvsp_build_init(union hvn_nvsp_msg *m, uint32_t version)
{
	clear(m, NVSP_INIT);
	m->init.min_version = version;
	m->init.max_version = version;
}

void
hvn_nvsp_build_config(union hvn_nvsp_msg *m, uint32_t frame_bytes, uint64_t caps)
{
	clear(m, NVSP_NDIS_CONFIG);
	m->config.mtu = frame_bytes;
	m->config.caps = caps;
}

void
hvn_nvsp_build_ndis_version(union hvn_nvsp_msg *m, uint32_t version)
{
	clear(m, NVSP_NDIS_VERSION);
	m->ndis_version.major = NDIS_VERSION_MAJOR;
	m->ndis_version.minor = version >= NVSP_VERSION_5 ? NDIS_VERSION_MINOR_630 :
							    NDIS_VERSION_MINOR_61;
}

void
hvn_nvsp_build_buffer(union hvn_nvsp_msg *m, uint32_t type, uint32_t gpadl)
{
	clear(m, type);
	m->buffer.gpadl = gpadl;
	m->buffer.id = type == NVSP_RXBUF ? NVSP_RXBUF_ID : NVSP_TXBUF_ID;
}

void
hvn_nvsp_build_revoke(union hvn_nvsp_msg *m, uint32_t type)
{
	clear(m, type);
	m->revoke.id = type == NVSP_RXBUF_REVOKE ? NVSP_RXBUF_ID : NVSP_TXBUF_ID;
}

void
hvn_nvsp_build_subchannel(union hvn_nvsp_msg *m, uint32_t count)
{
	clear(m, NVSP_SUBCHANNEL);
	m->subchannel.op = NVSP_SUBCHANNEL_ALLOCATE;
	m->subchannel.count = count;
}

void
hvn_nvsp_build_control(union hvn_nvsp_msg *m, uint32_t section, uint32_t bytes)
{
	clear(m, NVSP_RNDIS);
	m->rndis.channel_type = NVSP_CHANNEL_CONTROL;
	m->rndis.section = section;
	m->rndis.section_size = section == NVSP_SECTION_NONE ? 0 : bytes;
}

/* Copy a message of @p type with @p need bytes. */
static int
take(const void *msg, uint32_t len, uint32_t type, void *dst, uint32_t need)
{
	uint32_t got;

	if (!hvw_read(hvw_view(msg, len), 0, dst, need))
		return -EPROTO;
	memcpy(&got, dst, sizeof(got));
	return got == type ? 0 : -EPROTO;
}

int
hvn_nvsp_parse_init(const void *msg, uint32_t len)
{
	struct nvsp_init_complete r;
	int ret;

	/* The version in the reply is deprecated; the longest MDL chain is only a hint. */
	ret = take(msg, len, NVSP_INIT_COMPLETE, &r, sizeof(r));
	if (ret != 0)
		return ret;
	return r.status == NVSP_STATUS_OK ? 0 : -ENOTSUP;
}

int
hvn_nvsp_parse_rxbuf(const void *msg, uint32_t len, uint64_t buf_len, uint32_t min_slot,
		     struct hvn_nvsp_rxbuf *out)
{
	struct nvsp_rxbuf_complete r;
	int ret;

	ret = take(msg, len, NVSP_RXBUF_COMPLETE, &r, sizeof(r));
	if (ret != 0)
		return ret;
	if (r.status != NVSP_STATUS_OK)
		return -EREMOTEIO;
	if (r.nsections != 1 || r.sec_offset != 0)
		return -EPROTO;
	if (r.sec_suballoc < min_slot || r.sec_suballoc > buf_len || r.sec_count == 0 ||
	    (uint64_t)r.sec_suballoc * r.sec_count > buf_len)
		return -EPROTO;
	out->slot_bytes = r.sec_suballoc;
	out->slots = r.sec_count;
	return 0;
}

int
hvn_nvsp_parse_txbuf(const void *msg, uint32_t len, uint64_t buf_len, uint32_t *section_bytes)
{
	struct nvsp_txbuf_complete r;
	int ret;

	ret = take(msg, len, NVSP_TXBUF_COMPLETE, &r, sizeof(r));
	if (ret != 0)
		return ret;
	if (r.status != NVSP_STATUS_OK)
		return -EREMOTEIO;
	if (r.section_size < SECTION_MIN || r.section_size > buf_len ||
	    r.section_size % 4 != 0)
		return -EPROTO;
	*section_bytes = r.section_size;
	return 0;
}

int
hvn_nvsp_parse_subchannel(const void *msg, uint32_t len, uint32_t asked, uint32_t *granted)
{
	struct nvsp_subchannel_complete r;
	int ret;

	ret = take(msg, len, NVSP_SUBCHANNEL, &r, sizeof(r));
	if (ret != 0)
		return ret;
	if (r.status != NVSP_STATUS_OK)
		return -EREMOTEIO;
	if (r.count > asked)
		return -EPROTO;
	*granted = r.count;
	return 0;
}

int
hvn_nvsp_parse_rndis_complete(const void *msg, uint32_t len)
{
	struct nvsp_rndis_complete r;
	int ret;

	ret = take(msg, len, NVSP_RNDIS_COMPLETE, &r, sizeof(r));
	if (ret != 0)
		return ret;
	return r.status == NVSP_STATUS_OK ? 0 : -EREMOTEIO;
}

int
hvn_nvsp_parse_send_table(const void *msg, uint32_t len, uint32_t version,
			  uint32_t table[NVSP_SEND_TABLE_ENTRIES])
{
	struct nvsp_send_table t;
	uint32_t offset;
	int ret;

	ret = take(msg, len, NVSP_SEND_TABLE, &t, sizeof(t));
	if (ret != 0)
		return ret;
	if (t.count != NVSP_SEND_TABLE_ENTRIES)
		return -EPROTO;
	offset = version <= NVSP_VERSION_6 && len >= TABLE_OLD_LEN ? TABLE_OFFSET_OLD :
								     t.offset;
	if (offset < sizeof(t) ||
	    !hvw_read(hvw_view(msg, len), offset, table, 4 * NVSP_SEND_TABLE_ENTRIES))
		return -EPROTO;
	return 0;
}

int
hvn_nvsp_parse_vf(const void *msg, uint32_t len, uint32_t *allocated, uint32_t *serial)
{
	struct nvsp_vf_association v;
	int ret;

	ret = take(msg, len, NVSP_VF_ASSOCIATION, &v, sizeof(v));
	if (ret != 0)
		return ret;
	if (v.allocated > 1)
		return -EPROTO;
	*allocated = v.allocated;
	*serial = v.serial;
	return 0;
}

/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 hvnet contributors
 *
 * Builds RNDIS control requests and checks completions, indications and NDIS objects.
 */
#include <errno.h>
#include <string.h>

#include <hvwire/cursor.h>
#include <hvwire/nvsp.h>
#include <hvwire/vmbus.h>

#include "hvn_rndis.h"

/* Alignment that the device may ask for, as a shift; larger ones make no sense in 4 KiB. */
#define ALIGN_SHIFT_MAX 12u
#define ALIGN_SHIFT_MIN 3u

/* Capability bits of UDP hashing. Source: NDIS_RECEIVE_SCALE_CAPABILITIES. */
#define RSS_CAP_UDP_IPV4 0x00000800u
#define RSS_CAP_UDP_IPV6 0x00001000u

uint32_t
hvn_rndis_build_initialize(void *buf, uint32_t rid)
{
	const struct rndis_initialize m = {
		.type = RNDIS_INITIALIZE,
		.len = sizeof(m),
		.rid = rid,
		.major = RNDIS_MAJOR,
		.minor = RNDIS_MINOR,
		.max_transfer = HVN_RNDIS_MAX_TRANSFER,
	};

	memcpy(buf, &m, sizeof(m));
	return sizeof(m);
}

uint32_t
hvn_rndis_build_halt(void *buf, uint32_t rid)
{
	const struct rndis_halt m = { .type = RNDIS_HALT, .len = sizeof(m), .rid = rid };

	memcpy(buf, &m, sizeof(m));
	return sizeof(m);
}

uint32_t
hvn_rndis_build_keepalive_complete(void *buf, uint32_t rid)
{
	const struct rndis_status_complete m = {
		.type = RNDIS_KEEPALIVE | RNDIS_COMPLETION,
		.len = sizeof(m),
		.rid = rid,
		.status = RNDIS_STATUS_SUCCESS,
	};

	memcpy(buf, &m, sizeof(m));
	return sizeof(m);
}

uint32_t
hvn_rndis_build_oid(void *buf, uint32_t type, uint32_t rid, uint32_t oid, const void *in,
		    uint32_t in_len)
{
	struct rndis_oid_request m = {
		.type = type,
		.rid = rid,
		.oid = oid,
		.buf_len = in_len,
		.buf_offset = RNDIS_OID_DATA_OFFSET,
	};

	if (in_len > HVN_RNDIS_REQUEST_MAX - sizeof(m))
		return 0;
	m.len = (uint32_t)sizeof(m) + in_len;
	memcpy(buf, &m, sizeof(m));
	if (in_len != 0)
		memcpy((uint8_t *)buf + sizeof(m), in, in_len);
	return m.len;
}

int
hvn_rndis_parse_initialize(const void *msg, uint32_t len, struct hvn_rndis_limits *out,
			   uint32_t *status)
{
	struct rndis_initialize_complete r;
	uint32_t shift;

	*status = 0;
	if (!hvw_read(hvw_view(msg, len), 0, &r, sizeof(r)))
		return -EPROTO;
	*status = r.status;
	if (r.status != RNDIS_STATUS_SUCCESS)
		return -EREMOTEIO;
	if (r.medium != 0 || r.align_shift > ALIGN_SHIFT_MAX)
		return -EPROTO;
	shift = r.align_shift < ALIGN_SHIFT_MIN ? ALIGN_SHIFT_MIN : r.align_shift;
	out->align = 1u << shift;
	out->max_packets = r.max_packets == 0 ? 1 :
			   r.max_packets > HVN_RNDIS_PACKETS_MAX ? HVN_RNDIS_PACKETS_MAX :
								   r.max_packets;
	out->max_transfer = r.max_transfer < sizeof(struct rndis_packet) ? 0 : r.max_transfer;
	return 0;
}

int
hvn_rndis_parse_query(const void *msg, uint32_t len, void *out, uint32_t *out_len,
		      uint32_t *status)
{
	struct hvw_view v = hvw_view(msg, len);
	struct rndis_query_complete r;
	uint32_t room = *out_len;
	uint64_t ofs;

	*status = 0;
	*out_len = 0;
	memset(out, 0, room);
	if (!hvw_read(v, 0, &r, sizeof(r)))
		return -EPROTO;
	*status = r.status;
	if (r.status != RNDIS_STATUS_SUCCESS)
		return -EREMOTEIO;
	if (r.buf_len == 0)
		return 0;
	ofs = (uint64_t)r.buf_offset + RNDIS_OFFSET_BASE;
	/* All that the reply describes must lie in its message, copied or not. */
	if (ofs < sizeof(r) || !hvw_inside(ofs, r.buf_len, r.len))
		return -EPROTO;
	*out_len = r.buf_len < room ? r.buf_len : room;
	if (!hvw_read(v, ofs, out, *out_len))
		return -EPROTO;
	return 0;
}

int
hvn_rndis_parse_set(const void *msg, uint32_t len, uint32_t *status)
{
	struct rndis_status_complete r;

	*status = 0;
	if (!hvw_read(hvw_view(msg, len), 0, &r, sizeof(r)))
		return -EPROTO;
	*status = r.status;
	return r.status == RNDIS_STATUS_SUCCESS ? 0 : -EREMOTEIO;
}

int
hvn_rndis_parse_indicate(const void *msg, uint32_t len, uint32_t *status, uint32_t *value)
{
	struct hvw_view v = hvw_view(msg, len);
	struct rndis_indicate m;

	*value = 0;
	if (!hvw_read(v, 0, &m, sizeof(m)))
		return -EPROTO;
	*status = m.status;
	if (m.buf_len < sizeof(*value))
		return 0;
	if ((uint64_t)m.buf_offset + RNDIS_OFFSET_BASE < sizeof(m) ||
	    !hvw_read32(v, (uint64_t)m.buf_offset + RNDIS_OFFSET_BASE, value))
		return -EPROTO;
	return 0;
}

/* Check an object's header; yields the bytes of the object that may be read. */
static int
object(const void *obj, uint32_t len, uint8_t type, uint32_t min, uint32_t *size)
{
	struct ndis_obj_hdr h;

	if (!hvw_read(hvw_view(obj, len), 0, &h, sizeof(h)))
		return -EPROTO;
	if (h.type != type || h.rev == 0 || h.size > len || h.size < min)
		return -EPROTO;
	*size = h.size;
	return 0;
}

static uint32_t
rss_types(uint32_t caps)
{
	uint32_t types = 0;

	if ((caps & NDIS_RSS_CAP_IPV4) != 0)
		types |= NDIS_HASH_IPV4 | NDIS_HASH_TCP_IPV4;
	if ((caps & NDIS_RSS_CAP_IPV6) != 0)
		types |= NDIS_HASH_IPV6 | NDIS_HASH_TCP_IPV6;
	if ((caps & RSS_CAP_UDP_IPV4) != 0)
		types |= NDIS_HASH_UDP_IPV4;
	if ((caps & RSS_CAP_UDP_IPV6) != 0)
		types |= NDIS_HASH_UDP_IPV6;
	return types;
}

int
hvn_rndis_parse_rss_caps(const void *obj, uint32_t len, struct hvn_rss_caps *out)
{
	struct ndis_rss_caps c = { .ind_entries = 0 };
	uint32_t size;
	int ret;

	ret = object(obj, len, NDIS_OBJ_RSS_CAPS, NDIS_RSS_CAPS_SIZE_REV1, &size);
	if (ret != 0)
		return ret;
	memcpy(&c, obj, size < sizeof(c) ? size : sizeof(c));
	if (c.nqueues == 0)
		return -EPROTO;
	out->queues = c.nqueues > VMBUS_CHANNELS_MAX ? VMBUS_CHANNELS_MAX : c.nqueues;
	out->entries = c.ind_entries == 0 || c.ind_entries > NDIS_RSS_ENTRIES_MAX ?
		       NDIS_RSS_ENTRIES_DEFAULT : c.ind_entries;
	/* Without Toeplitz there is nothing that we can program. */
	out->types = (c.caps & NDIS_HASH_TOEPLITZ) == 0 ? 0 : rss_types(c.caps);
	if (out->types == 0)
		out->queues = 1;
	return 0;
}

int
hvn_rndis_parse_offload(const void *obj, uint32_t len, struct ndis_offload *out)
{
	uint32_t size;
	int ret;

	memset(out, 0, sizeof(*out));
	ret = object(obj, len, NDIS_OBJ_OFFLOAD, NDIS_OFFLOAD_SIZE_REV1, &size);
	if (ret != 0)
		return ret;
	memcpy(out, obj, size < sizeof(*out) ? size : sizeof(*out));
	return 0;
}

uint32_t
hvn_rndis_build_rss(void *buf, const struct hvn_rss_conf *conf, uint16_t flags)
{
	uint32_t table_bytes = conf->entries * 4;
	struct ndis_rss_params p = {
		.hdr = { .type = NDIS_OBJ_RSS_PARAMS, .rev = 2, .size = sizeof(p) },
		.flags = flags,
		.hash = NDIS_HASH_TOEPLITZ | conf->types,
		.ind_size = (uint16_t)table_bytes,
		.ind_offset = sizeof(p),
		.key_size = NDIS_RSS_KEY_SIZE,
		.key_offset = (uint32_t)sizeof(p) + table_bytes,
	};
	uint8_t *dst = buf;

	memcpy(dst, &p, sizeof(p));
	for (uint32_t i = 0; i < conf->entries; i++) {
		uint32_t entry = conf->table[i];

		memcpy(dst + p.ind_offset + 4 * i, &entry, sizeof(entry));
	}
	memcpy(dst + p.key_offset, conf->key, NDIS_RSS_KEY_SIZE);
	return p.key_offset + NDIS_RSS_KEY_SIZE;
}

uint32_t
hvn_rndis_build_offload_query(struct ndis_offload *in, uint32_t version)
{
	memset(in, 0, sizeof(*in));
	in->hdr.type = NDIS_OBJ_OFFLOAD;
	if (version >= NVSP_VERSION_5) {
		in->hdr.rev = 3;
		in->hdr.size = NDIS_OFFLOAD_SIZE_REV3;
	} else if (version >= NVSP_VERSION_4) {
		in->hdr.rev = 2;
		in->hdr.size = NDIS_OFFLOAD_SIZE_REV2;
	} else {
		in->hdr.rev = 1;
		in->hdr.size = NDIS_OFFLOAD_SIZE_REV1;
	}
	return in->hdr.size;
}

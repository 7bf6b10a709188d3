/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 hvnet contributors
 *
 * Finds the RNDIS bytes of a guest's packet: send section first, then guest memory.
 */
#include <string.h>

#include "nic_priv.h"

/* Add bytes; joins them to the last piece when they follow it in memory. */
static bool
piece_add(struct nic_bytes *b, uint8_t *data, uint32_t len)
{
	struct wire_seg *last = b->count > 0 ? &b->piece[b->count - 1] : NULL;

	if (last != NULL && (const uint8_t *)last->data + last->len == data) {
		last->len += len;
	} else {
		if (b->count == NIC_PIECES)
			return false;
		b->piece[b->count++] = (struct wire_seg){ .data = data, .len = len };
	}
	b->total += len;
	return true;
}

static bool
section_get(struct nic *nic, struct nic_chan *c, const struct nvsp_rndis *msg)
{
	struct nic_session *s = &nic->s;
	uint64_t stamp, max;

	if (!s->have_tx || msg->section >= s->nsections || msg->section_size == 0) {
		nic_violation(nic, c, JUDGE_SECTION_RANGE, msg->section);
		return false;
	}
	max = s->send_len - (uint64_t)msg->section * nic->conf.section_size;
	if (msg->section_size > nic->conf.section_size) {
		if (nic_violation(nic, c, JUDGE_SECTION_RANGE,
				  (uint64_t)msg->section_size << 32 | msg->section))
			return false;
		if (msg->section_size > max)
			return false;
	}
	stamp = nic->section_stamp[msg->section];
	if ((stamp == NIC_SECTION_BUSY || stamp == nic->epoch) &&
	    nic_violation(nic, c, JUDGE_SECTION_REUSED, msg->section))
		return false;
	nic->bytes.section = msg->section;
	nic->bytes.first_len = msg->section_size;
	return piece_add(&nic->bytes,
			 s->send + (uint64_t)msg->section * nic->conf.section_size,
			 msg->section_size);
}

/* Resolve one range, page by page. */
static bool
range_get(struct nic *nic, struct nic_chan *c, const struct vmbus_gpa_range_hdr *r,
	  struct hvw_view pfns)
{
	uint64_t pfn = 0, gpa, at;
	uint32_t ofs = r->ofs, left = r->len, n;
	uint8_t *mem;

	for (at = 0; left > 0; at += sizeof(pfn)) {
		if (!hvw_read(pfns, at, &pfn, sizeof(pfn))) {
			nic_violation(nic, c, JUDGE_GPA_RANGE, (uint64_t)r->len << 32 | r->ofs);
			return false;
		}
		n = VMBUS_PAGE_SIZE - ofs < left ? VMBUS_PAGE_SIZE - ofs : left;
		gpa = pfn << VMBUS_PAGE_SHIFT | ofs;
		mem = pfn >> (64 - VMBUS_PAGE_SHIFT) == 0 ?
		      nic->env.gpa(nic->env.ctx, gpa, n) : NULL;
		if (mem == NULL) {
			nic_violation(nic, c, JUDGE_GPA_UNMAPPED, gpa);
			return false;
		}
		if (!piece_add(&nic->bytes, mem, n)) {
			nic_violation(nic, c, JUDGE_GPA_COUNT, nic->bytes.count);
			return false;
		}
		left -= n;
		ofs = 0;
	}
	return true;
}

static bool
ranges_get(struct nic *nic, struct nic_chan *c, const struct nic_packet *p)
{
	struct hvw_view area = hvw_view(p->base, p->desc.offset8 * 8u), pfns;
	struct vmbus_gpa_hdr h = { .nranges = 0 };
	struct vmbus_gpa_range_hdr r;
	uint64_t at = sizeof(h);
	uint32_t i;

	if (!hvw_read(area, 0, &h, sizeof(h)) || h.nranges == 0) {
		nic_violation(nic, c, JUDGE_GPA_RANGE, h.nranges);
		return false;
	}
	if (h.nranges > NIC_GPA_RANGES && nic_violation(nic, c, JUDGE_GPA_COUNT, h.nranges))
		return false;
	for (i = 0; i < h.nranges; i++) {
		if (!hvw_read(area, at, &r, sizeof(r)) || r.len == 0 ||
		    r.ofs >= VMBUS_PAGE_SIZE) {
			nic_violation(nic, c, JUDGE_GPA_RANGE, i);
			return false;
		}
		at += sizeof(r);
		pfns = hvw_view(p->base + at, area.len - at);
		if (!range_get(nic, c, &r, pfns))
			return false;
		at += 8 * (((uint64_t)r.ofs + r.len + VMBUS_PAGE_SIZE - 1) / VMBUS_PAGE_SIZE);
		if (nic->bytes.first_len == 0)
			nic->bytes.first_len = r.len;
	}
	nic->bytes.gpa = true;
	return true;
}

/* Fill nic->bytes from packet @p p; false when that failed (already judged). */
bool
txbytes_get(struct nic *nic, struct nic_chan *c, const struct nic_packet *p,
	    const struct nvsp_rndis *msg)
{
	struct nic_bytes *b = &nic->bytes;

	b->count = 0;
	b->total = 0;
	b->first_len = 0;
	b->section = NVSP_SECTION_NONE;
	b->gpa = false;
	if (msg->section != NVSP_SECTION_NONE && !section_get(nic, c, msg))
		return false;
	if (p->desc.type == VMBUS_PKT_GPA_DIRECT && !ranges_get(nic, c, p))
		return false;
	if (b->count == 0) {
		nic_violation(nic, c, JUDGE_RNDIS_NO_DATA, msg->section);
		return false;
	}
	return true;
}

/* Copy bytes that exist (ofs + len <= total) out of the pieces. */
void
txbytes_copy(const struct nic_bytes *b, uint32_t ofs, void *dst, uint32_t len)
{
	const struct wire_seg *p = b->piece;
	uint8_t *out = dst;
	uint32_t n;

	for (; ofs >= p->len; p++)
		ofs -= p->len;
	for (; len > 0; p++, ofs = 0, out += n, len -= n) {
		n = p->len - ofs < len ? p->len - ofs : len;
		memcpy(out, (const uint8_t *)p->data + ofs, n);
	}
}

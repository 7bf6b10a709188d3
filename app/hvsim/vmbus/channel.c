/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 hvnet contributors
 *
 * The host's end of one VMBus channel: opening, signals, flow control, audit.
 */
#include <string.h>

#include "channel.h"

int
hvchan_open(struct hvchan *ch, void *rings, uint32_t ring_bytes, bool polling)
{
	uint8_t *mem = rings;
	int ret;

	memset(ch, 0, sizeof(*ch));
	vmring_reset_shared(mem);
	vmring_reset_shared(mem + ring_bytes);
	ret = vmring_attach(&ch->tx, mem, ring_bytes, false);
	if (ret == 0)
		ret = vmring_attach(&ch->rx, mem + ring_bytes, ring_bytes, true);
	if (ret < 0)
		return ret;
	ch->polling = polling;
	ch->credits = 1; /* the first packet meets an empty ring */
	vmring_store_relaxed(&ch->tx.hdr->imask, polling);
	ch->state = HVCHAN_OPEN;
	return 0;
}

void
hvchan_close(struct hvchan *ch)
{
	memset(ch, 0, sizeof(*ch));
}

void
hvchan_look(struct hvchan *ch)
{
	if (ch->state != HVCHAN_OPEN || ch->polling || ch->active)
		return;
	vmring_store_relaxed(&ch->tx.hdr->imask, 1);
	ch->active = true;
	ch->tx_since = 0;
}

static void
hvchan_disarm(struct hvchan *ch)
{
	ch->armed = 0;
	ch->wake_since = 0;
	vmring_store_relaxed(&ch->rx.hdr->pending_send, 0);
}

bool
hvchan_signal(struct hvchan *ch)
{
	bool due;

	if (ch->state != HVCHAN_OPEN)
		return true;
	due = ch->credits > 0;
	if (due)
		ch->credits--;
	if (ch->polling)
		return false;
	hvchan_look(ch);
	if (ch->armed != 0 && vmring_refresh(&ch->rx) == 0 && vmring_free(&ch->rx) > ch->armed)
		hvchan_disarm(ch);
	return due;
}

void
hvchan_drained(struct hvchan *ch)
{
	if (ch->polling)
		return;
	vmring_store_relaxed(&ch->tx.hdr->imask, 0);
	vmring_fence();
	ch->active = false;
	if (vmring_pending(&ch->tx))
		hvchan_look(ch);
}

bool
hvchan_release(struct hvchan *ch)
{
	if (ch->tx.pos != ch->tx.pub)
		ch->credits++;
	return vmring_release(&ch->tx);
}

int
hvchan_arm(struct hvchan *ch, uint32_t cost)
{
	uint32_t want = ch->rx.size / 4;
	int ret;

	if (ch->polling || ch->armed != 0)
		return 0;
	if (want < cost)
		want = cost;
	want = HVW_ALIGN_UP(want, 8u);
	ch->armed = want;
	ch->credits++;
	vmring_store_relaxed(&ch->rx.hdr->pending_send, want);
	vmring_fence();
	ret = vmring_refresh(&ch->rx);
	if (ret < 0)
		return ret;
	if (vmring_free(&ch->rx) > want) {
		hvchan_disarm(ch);
		return 1;
	}
	return 0;
}

/* True when @p wrong has lasted longer than the patience; @p since keeps its start. */
static bool
hvchan_overdue(bool wrong, uint64_t *since, uint64_t now_ns)
{
	if (!wrong) {
		*since = 0;
		return false;
	}
	if (*since == 0)
		*since = now_ns;
	return now_ns - *since > HVCHAN_SIGNAL_PATIENCE_NS;
}

enum hvchan_finding
hvchan_audit(struct hvchan *ch, uint64_t now_ns)
{
	bool wrong;

	if (ch->state != HVCHAN_OPEN || ch->polling)
		return HVCHAN_FINE;
	wrong = !ch->active && vmring_pending(&ch->tx);
	if (hvchan_overdue(wrong, &ch->tx_since, now_ns)) {
		ch->tx_since = 0;
		return HVCHAN_NO_SIGNAL;
	}
	wrong = ch->armed != 0 && vmring_refresh(&ch->rx) == 0 && vmring_free(&ch->rx) > ch->armed;
	if (hvchan_overdue(wrong, &ch->wake_since, now_ns)) {
		hvchan_disarm(ch);
		return HVCHAN_NO_WAKE;
	}
	return HVCHAN_FINE;
}

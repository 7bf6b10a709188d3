/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 hvnet contributors
 *
 * A wire that swallows what the guest sends and never has anything for it.
 */
#include <stdlib.h>

#include "kind.h"

static void
sink_close(struct wire *w)
{
	free(w);
}

static const struct wire_ops sink_ops = {
	.name = "sink",
	.close = sink_close,
	.rx = wire_rx_none,
	.tx = wire_tx_count,
};

static struct wire *
sink_open(const void *conf, uint32_t given, const uint8_t mac[6], const struct wire_err *err)
{
	struct wire *w = calloc(1, sizeof(*w));

	(void)conf;
	(void)given;
	(void)mac;
	if (w == NULL)
		return wire_fail(err, "no memory");
	w->ops = &sink_ops;
	w->nqueues = 1;
	return w;
}

const struct wire_kind wire_kind_sink = {
	.name = "sink",
	.open = sink_open,
};

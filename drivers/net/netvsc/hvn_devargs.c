/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 hvnet contributors
 *
 * Parses device arguments.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <rte_common.h>
#include <rte_devargs.h>
#include <rte_kvargs.h>

#include "hvn_devargs.h"
#include "hvn_log.h"

#define ARG_LATENCY "latency"
#define ARG_TX_COPYBREAK "tx_copybreak"
#define ARG_TX_HEADER_COPY "tx_header_copy"
#define ARG_RX_COPYBREAK "rx_copybreak"
#define ARG_RX_EXTMBUF "rx_extmbuf_enable"

struct parse {
	const char *device;
	struct hvn_devargs *out;
};

static int
number(const char *device, const char *key, const char *text, uint32_t max, uint32_t *val)
{
	unsigned long v;
	char *end;

	errno = 0;
	v = text == NULL ? 0 : strtoul(text, &end, 0);
	if (text == NULL || *text == '\0' || *text == '-' || *end != '\0' || errno != 0 ||
	    v > max) {
		HVN_LOG(ERR, "%s: %s=%s: give a number from 0 to %u", device, key,
			text == NULL ? "" : text, max);
		return -EINVAL;
	}
	*val = (uint32_t)v;
	return 0;
}

static int
one_arg(const char *key, const char *text, void *arg)
{
	const struct parse *p = arg;
	uint32_t val;
	int ret;

	if (strcmp(key, ARG_LATENCY) == 0)
		return number(p->device, key, text, HVN_LATENCY_MAX, &p->out->latency_us);
	if (strcmp(key, ARG_TX_COPYBREAK) == 0)
		return number(p->device, key, text, UINT16_MAX, &p->out->tx_copybreak);
	if (strcmp(key, ARG_TX_HEADER_COPY) == 0)
		return number(p->device, key, text, 1, &p->out->tx_header_copy);
	ret = number(p->device, key, text, UINT32_MAX, &val);
	if (ret == 0 && (strcmp(key, ARG_RX_COPYBREAK) == 0 || val != 0))
		HVN_LOG(NOTICE, "%s: %s has no effect: received frames are always copied",
			p->device, key);
	return ret;
}

int
hvn_devargs_parse(const struct rte_devargs *devargs, const char *device,
		  struct hvn_devargs *out)
{
	static const char *const keys[] = {
		ARG_LATENCY, ARG_TX_COPYBREAK, ARG_TX_HEADER_COPY, ARG_RX_COPYBREAK,
		ARG_RX_EXTMBUF, NULL,
	};
	struct parse p = { .device = device, .out = out };
	struct rte_kvargs *kv;
	int ret;

	out->latency_us = HVN_LATENCY_DEFAULT;
	out->tx_copybreak = HVN_TX_COPYBREAK_DEFAULT;
	out->tx_header_copy = 0;
	if (devargs == NULL || devargs->args == NULL || devargs->args[0] == '\0')
		return 0;
	kv = rte_kvargs_parse(devargs->args, keys);
	if (kv == NULL) {
		HVN_LOG(ERR, "%s: arguments \"%s\": valid ones are " ARG_LATENCY ", "
			ARG_TX_COPYBREAK ", " ARG_TX_HEADER_COPY ", " ARG_RX_COPYBREAK ", "
			ARG_RX_EXTMBUF,
			device, devargs->args);
		return -EINVAL;
	}
	ret = rte_kvargs_process(kv, NULL, one_arg, &p);
	rte_kvargs_free(kv);
	return ret == 0 ? 0 : -EINVAL;
}

/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 hvnet contributors
 *
 * Basic and extended statistics, from plain counters that only their owners write.
 */
#include <stdio.h>
#include <string.h>

#include "hvn_port.h"

/* A counter of one kind of object. */
struct counter {
	const char *name;
	size_t offset;
};

#define RX(field) { #field, offsetof(struct hvn_rxq_stats, field) }
#define TX(field) { #field, offsetof(struct hvn_txq_stats, field) }
#define CH(field) { #field, offsetof(struct hvn_channel_stats, field) }
#define SE(field) { #field, offsetof(struct hvn_session_stats, field) }

static const struct counter rx_counters[] = {
	RX(packets), RX(bytes), RX(no_mbuf), RX(too_long), RX(bad),
};

static const struct counter tx_counters[] = {
	TX(packets), TX(bytes), TX(errors), TX(section), TX(gpa), TX(mixed), TX(ring_full),
	TX(no_section), TX(no_desc), TX(oversize),
};

static const struct counter ch_counters[] = {
	CH(in_messages), CH(in_bad), CH(park_drops), CH(stop_drops), CH(comp_unknown),
	CH(ack_deferred), CH(signals),
};

static const struct counter session_counters[] = {
	SE(late), SE(malformed), SE(indications), SE(unknown),
};

/* Every stats struct is an array of u64. */
static void
add(void *sum, const void *part, size_t bytes)
{
	uint64_t *s = sum;
	const uint64_t *p = part;

	for (size_t i = 0; i < bytes / sizeof(*s); i++)
		s[i] += p[i];
}

static void
subtract(void *diff, const void *part, size_t bytes)
{
	uint64_t *d = diff;
	const uint64_t *p = part;

	for (size_t i = 0; i < bytes / sizeof(*d); i++)
		d[i] = 0 - p[i];
}

static struct hvn_rxq_stats
rx_total(const struct rte_eth_dev *dev, uint16_t i)
{
	struct hvn_rxq_stats s = hvn_port(dev)->rx_carry[i];
	const struct hvn_rxq *q = i < dev->data->nb_rx_queues ? dev->data->rx_queues[i] : NULL;

	if (q != NULL)
		add(&s, &q->stats, sizeof(s));
	return s;
}

static struct hvn_txq_stats
tx_total(const struct rte_eth_dev *dev, uint16_t i)
{
	struct hvn_txq_stats s = hvn_port(dev)->tx_carry[i];
	const struct hvn_txq *q = i < dev->data->nb_tx_queues ? dev->data->tx_queues[i] : NULL;

	if (q != NULL)
		add(&s, &q->stats, sizeof(s));
	return s;
}

static struct hvn_channel_stats
ch_total(const struct hvn_port *port, uint32_t i)
{
	struct hvn_channel_stats s = port->ch_carry[i];

	if (i < port->nic.nchannels)
		add(&s, &port->nic.channel[i]->stats, sizeof(s));
	return s;
}

void
hvn_stats_keep_rxq(struct hvn_port *port, const struct hvn_rxq *rxq)
{
	add(&port->rx_carry[rxq->queue_id], &rxq->stats, sizeof(rxq->stats));
}

void
hvn_stats_keep_txq(struct hvn_port *port, const struct hvn_txq *txq)
{
	add(&port->tx_carry[txq->queue_id], &txq->stats, sizeof(txq->stats));
}

void
hvn_stats_keep_nic(struct hvn_port *port)
{
	for (uint32_t i = 0; i < port->nic.nchannels; i++)
		add(&port->ch_carry[i], &port->nic.channel[i]->stats,
		    sizeof(port->ch_carry[i]));
	add(&port->session_carry, &port->nic.session.stats, sizeof(port->session_carry));
	memset(&port->nic.session.stats, 0, sizeof(port->nic.session.stats));
}

int
hvn_stats_get(struct rte_eth_dev *dev, struct rte_eth_stats *stats)
{
	const struct hvn_port *port = hvn_port(dev);

	/* All that ever counted, also queues that are gone. */
	for (uint16_t i = 0; i < VMBUS_CHANNELS_MAX; i++) {
		struct hvn_rxq_stats r = rx_total(dev, i);
		struct hvn_txq_stats t = tx_total(dev, i);
		struct hvn_channel_stats c = ch_total(port, i);

		stats->ipackets += r.packets;
		stats->ibytes += r.bytes;
		stats->ierrors += r.too_long + r.bad + c.in_bad;
		stats->rx_nombuf += r.no_mbuf;
		stats->imissed += c.park_drops;
		stats->opackets += t.packets;
		stats->obytes += t.bytes;
		stats->oerrors += t.errors + t.oversize;
		if (i >= RTE_ETHDEV_QUEUE_STAT_CNTRS)
			continue;
		stats->q_ipackets[i] = r.packets;
		stats->q_ibytes[i] = r.bytes;
		stats->q_errors[i] = r.no_mbuf + r.too_long + r.bad;
		stats->q_opackets[i] = t.packets;
		stats->q_obytes[i] = t.bytes;
	}
	return 0;
}

int
hvn_stats_reset(struct rte_eth_dev *dev)
{
	struct hvn_port *port = hvn_port(dev);

	memset(port->rx_carry, 0, sizeof(port->rx_carry));
	memset(port->tx_carry, 0, sizeof(port->tx_carry));
	memset(port->ch_carry, 0, sizeof(port->ch_carry));
	for (uint16_t i = 0; i < dev->data->nb_rx_queues; i++) {
		const struct hvn_rxq *q = dev->data->rx_queues[i];

		if (q != NULL)
			subtract(&port->rx_carry[i], &q->stats, sizeof(q->stats));
	}
	for (uint16_t i = 0; i < dev->data->nb_tx_queues; i++) {
		const struct hvn_txq *q = dev->data->tx_queues[i];

		if (q != NULL)
			subtract(&port->tx_carry[i], &q->stats, sizeof(q->stats));
	}
	for (uint32_t i = 0; i < port->nic.nchannels; i++)
		subtract(&port->ch_carry[i], &port->nic.channel[i]->stats,
			 sizeof(port->ch_carry[i]));
	subtract(&port->session_carry, &port->nic.session.stats, sizeof(port->session_carry));
	return 0;
}

/* Where a list of names or values is being written. */
struct sink {
	struct rte_eth_xstat_name *names; /* NULL: values */
	struct rte_eth_xstat *vals;       /* NULL: names */
	unsigned int room;
	unsigned int n;
};

/* Put the counters of object @p i of a kind: names are PREFIXi_COUNTER. */
static void
put(struct sink *out, const char *prefix, uint32_t i, const struct counter *c, size_t count,
    const void *stats)
{
	for (size_t k = 0; k < count; k++, out->n++) {
		if (out->n >= out->room)
			continue;
		if (out->names != NULL) {
			snprintf(out->names[out->n].name, sizeof(out->names[out->n].name),
				 "%s%u_%s", prefix, i, c[k].name);
		} else {
			out->vals[out->n].id = out->n;
			memcpy(&out->vals[out->n].value,
			       (const uint8_t *)stats + c[k].offset, sizeof(uint64_t));
		}
	}
}

/* All counters in their fixed order: queues, channels, session. */
static void
walk(struct rte_eth_dev *dev, struct sink *out)
{
	const struct hvn_port *port = hvn_port(dev);
	struct hvn_session_stats s = port->session_carry;
	uint32_t channels = RTE_MAX(dev->data->nb_rx_queues, dev->data->nb_tx_queues);

	for (uint16_t i = 0; i < dev->data->nb_rx_queues; i++) {
		struct hvn_rxq_stats r = rx_total(dev, i);

		put(out, "rx_q", i, rx_counters, RTE_DIM(rx_counters), &r);
	}
	for (uint16_t i = 0; i < dev->data->nb_tx_queues; i++) {
		struct hvn_txq_stats t = tx_total(dev, i);

		put(out, "tx_q", i, tx_counters, RTE_DIM(tx_counters), &t);
	}
	for (uint32_t i = 0; i < channels; i++) {
		struct hvn_channel_stats c = ch_total(port, i);

		put(out, "channel", i, ch_counters, RTE_DIM(ch_counters), &c);
	}
	add(&s, &port->nic.session.stats, sizeof(s));
	put(out, "control", 0, session_counters, RTE_DIM(session_counters), &s);
}

int
hvn_xstats_get_names(struct rte_eth_dev *dev, struct rte_eth_xstat_name *names, unsigned int n)
{
	struct sink out = { .names = names, .room = names == NULL ? 0 : n };

	walk(dev, &out);
	return (int)out.n;
}

int
hvn_xstats_get(struct rte_eth_dev *dev, struct rte_eth_xstat *xstats, unsigned int n)
{
	struct sink out = { .vals = xstats, .room = xstats == NULL ? 0 : n };

	walk(dev, &out);
	return (int)out.n;
}

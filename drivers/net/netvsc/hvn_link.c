/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 hvnet contributors
 *
 * Link status, packet filter, and attention to what the host says unasked.
 *
 * The lcore that meets an indication only notes it and writes an eventfd; EAL's interrupt
 * thread does the rest here.
 */
#include <errno.h>
#include <pthread.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <rte_interrupts.h>

#include "hvn_log.h"
#include "hvn_port.h"

/* The host tells speeds in 100 bit/s. */
#define SPEED_UNITS_PER_MBPS 10000u

/* What the media status OID says. Source: NDIS_MEDIA_STATE. */
#define MEDIA_CONNECTED 0u

static int
query_link(struct hvn_port *port, struct rte_eth_link *link)
{
	uint32_t media, speed = 0;
	int ret;

	ret = hvn_session_query_u32(&port->nic.session, OID_GEN_MEDIA_CONNECT_STATUS, &media);
	if (ret == 0)
		ret = hvn_session_query_u32(&port->nic.session, OID_GEN_LINK_SPEED, &speed);
	if (ret != 0)
		return ret;
	link->link_status = media == MEDIA_CONNECTED ? RTE_ETH_LINK_UP : RTE_ETH_LINK_DOWN;
	link->link_speed = speed == 0 ? RTE_ETH_SPEED_NUM_UNKNOWN : speed / SPEED_UNITS_PER_MBPS;
	return 0;
}

/* What the host said last about the link wins over what a query told before that. */
static void
note_link(struct hvn_port *port, struct rte_eth_link *link)
{
	const struct hvn_session_notes *notes = &port->nic.session.notes;
	uint32_t speed = __atomic_load_n(&notes->speed, __ATOMIC_RELAXED);

	if (__atomic_load_n(&notes->link_changes, __ATOMIC_ACQUIRE) != 0)
		link->link_status = __atomic_load_n(&notes->link_down, __ATOMIC_RELAXED) != 0 ?
				    RTE_ETH_LINK_DOWN : RTE_ETH_LINK_UP;
	if (speed != 0)
		link->link_speed = speed / SPEED_UNITS_PER_MBPS;
}

int
hvn_link_update(struct rte_eth_dev *dev, int wait __rte_unused)
{
	struct hvn_port *port = hvn_port(dev);
	struct rte_eth_link link = {
		.link_duplex = RTE_ETH_LINK_FULL_DUPLEX,
		.link_autoneg = RTE_ETH_LINK_FIXED,
		.link_speed = RTE_ETH_SPEED_NUM_NONE,
	};

	/* A dead NIC has no link. */
	if (port->nic.open && query_link(port, &link) == 0)
		note_link(port, &link);
	return rte_eth_linkstatus_set(dev, &link);
}

int
hvn_filter_apply(struct hvn_port *port)
{
	uint32_t filter = 0;
	int ret;

	if (!port->nic.open)
		return -EIO;
	if (port->started)
		filter = NDIS_FILTER_DIRECTED | NDIS_FILTER_BROADCAST;
	if (port->started && port->allmulti)
		filter |= NDIS_FILTER_ALL_MULTICAST;
	if (port->started && port->promisc)
		filter |= NDIS_FILTER_PROMISCUOUS;
	ret = hvn_session_set(&port->nic.session, OID_GEN_CURRENT_PACKET_FILTER, &filter,
			      sizeof(filter));
	if (ret != 0)
		HVN_LOG(ERR, "%s: packet filter 0x%x: %s, status 0x%x", port->nic.name, filter,
			strerror(-ret), port->nic.session.last_status);
	return ret;
}

/* Change one bit of the filter; it goes back when the host refuses. */
static int
filter_change(struct hvn_port *port, bool *bit, bool val)
{
	bool old = *bit;
	int ret = 0;

	*bit = val;
	if (port->started && old != val)
		ret = hvn_filter_apply(port);
	if (ret != 0)
		*bit = old;
	return ret;
}

int
hvn_promiscuous_enable(struct rte_eth_dev *dev)
{
	return filter_change(hvn_port(dev), &hvn_port(dev)->promisc, true);
}

int
hvn_promiscuous_disable(struct rte_eth_dev *dev)
{
	return filter_change(hvn_port(dev), &hvn_port(dev)->promisc, false);
}

int
hvn_allmulticast_enable(struct rte_eth_dev *dev)
{
	return filter_change(hvn_port(dev), &hvn_port(dev)->allmulti, true);
}

int
hvn_allmulticast_disable(struct rte_eth_dev *dev)
{
	return filter_change(hvn_port(dev), &hvn_port(dev)->allmulti, false);
}

/* In EAL's interrupt thread. */
static void
on_event(void *arg)
{
	struct hvn_port *port = arg;
	struct hvn_session *s = &port->nic.session;
	struct rte_eth_dev *dev = port->dev;
	struct rte_eth_link link;
	uint32_t changes;
	uint64_t count;
	bool tell;

	if (read(port->nic.notify_fd, &count, sizeof(count)) < 0)
		return;
	/* The session must not be closed meanwhile; the application is called unlocked. */
	pthread_mutex_lock(&port->event_lock);
	if (!port->nic.open) {
		pthread_mutex_unlock(&port->event_lock);
		return;
	}
	hvn_session_attend(s);
	if (__atomic_exchange_n(&s->notes.vf_allocated, 0, __ATOMIC_RELAXED) != 0)
		HVN_LOG(WARNING, "%s: a VF is present but not supported yet, the synthetic path "
			"is used", port->nic.name);
	changes = __atomic_load_n(&s->notes.link_changes, __ATOMIC_ACQUIRE);
	rte_eth_linkstatus_get(dev, &link);
	note_link(port, &link);
	tell = rte_eth_linkstatus_set(dev, &link) == 0 && changes != port->link_changes &&
	       dev->data->dev_conf.intr_conf.lsc != 0;
	port->link_changes = changes;
	pthread_mutex_unlock(&port->event_lock);
	if (tell)
		rte_eth_dev_callback_process(dev, RTE_ETH_EVENT_INTR_LSC, NULL);
}

int
hvn_events_start(struct hvn_port *port)
{
	int fd = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);

	if (fd < 0)
		return -errno;
	port->events = rte_intr_instance_alloc(RTE_INTR_INSTANCE_F_PRIVATE);
	if (port->events == NULL || rte_intr_fd_set(port->events, fd) != 0 ||
	    rte_intr_type_set(port->events, RTE_INTR_HANDLE_EXT) != 0 ||
	    rte_intr_callback_register(port->events, on_event, port) != 0) {
		rte_intr_instance_free(port->events);
		port->events = NULL;
		close(fd);
		return -ENOMEM;
	}
	port->nic.notify_fd = fd;
	return 0;
}

void
hvn_events_stop(struct hvn_port *port)
{
	if (port->events == NULL)
		return;
	rte_intr_callback_unregister_sync(port->events, on_event, port);
	rte_intr_instance_free(port->events);
	port->events = NULL;
	close(port->nic.notify_fd);
	port->nic.notify_fd = -1;
}

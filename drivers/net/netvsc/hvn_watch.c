/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 hvnet contributors
 *
 * Notices, within a second, that a port's rings died or its device went away, and tells the
 * application: link down, then INTR_RMV (device gone) or INTR_RESET (reset will help).
 */
#include <errno.h>

#include <rte_alarm.h>

#include "hvn_log.h"
#include "hvn_port.h"

/* Between two looks, us. */
#define WATCH_PERIOD_US 1000000u

static bool
any_dead(const struct hvn_nic *nic)
{
	for (uint32_t i = 0; i < nic->nchannels; i++) {
		if (hvn_channel_is_dead(nic->channel[i]))
			return true;
	}
	return false;
}

/* Has the port died since the last look? */
static bool
look(struct hvn_port *port, bool *gone)
{
	bool died = false;

	pthread_mutex_lock(&port->event_lock);
	if (port->nic.open) {
		*gone = hvn_session_gone(&port->nic.session);
		died = (*gone || any_dead(&port->nic)) && !port->dead_told;
		port->dead_told |= died;
	}
	pthread_mutex_unlock(&port->event_lock);
	return died;
}

static void
tell(struct hvn_port *port, bool gone)
{
	struct rte_eth_link link = { .link_status = RTE_ETH_LINK_DOWN };
	struct rte_eth_dev *dev = port->dev;

	HVN_LOG(ERR, "%s: %s", port->nic.name, gone ? "the device is gone" :
		"a ring is corrupt, the port stands still; reset it");
	if (rte_eth_linkstatus_set(dev, &link) == 0 && dev->data->dev_conf.intr_conf.lsc != 0)
		rte_eth_dev_callback_process(dev, RTE_ETH_EVENT_INTR_LSC, NULL);
	rte_eth_dev_callback_process(dev, gone ? RTE_ETH_EVENT_INTR_RMV :
				     RTE_ETH_EVENT_INTR_RESET, NULL);
}

/* In EAL's interrupt thread. */
static void
on_alarm(void *arg)
{
	struct hvn_port *port = arg;
	bool gone = false, died = look(port, &gone);

	/* Armed first: the application may close the port when it is told. */
	rte_eal_alarm_set(WATCH_PERIOD_US, on_alarm, port);
	if (died)
		tell(port, gone);
}

int
hvn_watch_start(struct hvn_port *port)
{
	return rte_eal_alarm_set(WATCH_PERIOD_US, on_alarm, port);
}

void
hvn_watch_stop(struct hvn_port *port)
{
	rte_eal_alarm_cancel(on_alarm, port);
}

# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 hvnet contributors
"""Transmit and receive on one channel by different lcores, and unequal queue counts."""

import os
import time

import pytest
from labkit import wait_for

SOAK = os.environ.get("HVNET_SOAK") == "1"
TXONLY_SECONDS = 60 if SOAK else 10


def generator(queues, rate=200000, extra=""):
    """A NIC that receives from a generator and swallows what it is sent."""
    return f"netvsc,queues={queues},wire=gen:size=64:flows=1024:rate={rate}{extra}"


def carried(nic, kind, count):
    """The first `count` channels of a NIC all carried packets of that kind."""
    idle = [i for i, c in enumerate(nic["channels"][:count]) if c[f"{kind}_packets"] == 0]
    return not idle


def txonly(lab, driver, queues):
    """testpmd txonly while packets arrive: no second without progress, drops have names."""
    with lab([generator(queues)], driver=driver, queues=queues, fwd="txonly") as run:
        guest = run.start()
        guest.command("start")
        last = 0
        for second in range(TXONLY_SECONDS):
            time.sleep(1.0)
            sent = guest.stats(0)["TX-packets"]
            assert sent > last, f"no packet sent in second {second}"
            last = sent
        guest.command("stop")
        guest.command("port stop 0")
        time.sleep(0.3)
        run.check()
        nic = run.host.stats()[0]
        sent = guest.stats(0)["TX-packets"]
        taken = sum(c["tx_packets"] for c in nic["channels"])
        assert sent == taken == nic["wire"]["tx_frames"], (sent, taken, nic["wire"])
        assert guest.quit() == 0
        return nic, guest


@pytest.mark.parametrize("queues", [1, 4])
def test_txonly_with_inbound_traffic(lab, queues):
    txonly(lab, "ours", queues)


@pytest.mark.parametrize("queues", [1, 4])
def test_txonly_with_inbound_traffic_upstream(lab, queues):
    txonly(lab, "upstream", queues)


def two_lcores(lab, driver, queues):
    """Two ports crossed over two lcores: a channel's two directions run on two CPUs."""
    with lab([generator(queues), generator(queues)], driver=driver, queues=queues,
             workers=2, poll="adaptive") as run:
        guest = run.start()
        guest.command("start")
        wait_for(lambda: all(carried(n, kind, queues) for n in run.host.stats()
                             for kind in ("rx", "tx")), 10, "all queues carry traffic")
        time.sleep(3)
        before = [n["wire"]["tx_frames"] for n in run.host.stats()]
        time.sleep(1)
        after = [n["wire"]["tx_frames"] for n in run.host.stats()]
        assert all(b > a for a, b in zip(before, after)), (before, after)
        config = guest.command("show config fwd")
        assert "2 streams" in config or "lcore 2" in config.lower() or queues == 1, config
        guest.command("stop")
        run.check()
        assert guest.quit() == 0


@pytest.mark.parametrize("queues", [1, 2, 4])
def test_two_lcores(lab, queues):
    two_lcores(lab, "ours", queues)


@pytest.mark.parametrize("queues", [1, 4])
def test_two_lcores_upstream(lab, queues):
    two_lcores(lab, "upstream", queues)


@pytest.mark.parametrize("rxq, txq", [(1, 4), (2, 3), (4, 1), (3, 2), (1, 16), (16, 1)])
def test_unequal_queue_counts(lab, rxq, txq):
    with lab([generator(16)], queues=rxq, txq=txq, fwd="rxonly") as run:
        guest = run.start()
        guest.command("start")
        wait_for(lambda: carried(run.host.stats()[0], "rx", rxq), 10, "all queues receive")
        guest.command("stop")
        guest.command("set fwd txonly")
        guest.command("start")
        wait_for(lambda: carried(run.host.stats()[0], "tx", txq), 10, "all queues send")
        guest.command("stop")
        channels = run.host.stats()[0]["channels"]
        assert not any(c["rx_packets"] for c in channels[rxq:]), channels
        run.check()
        assert guest.quit() == 0

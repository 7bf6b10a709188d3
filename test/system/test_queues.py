# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 hvnet contributors
"""Transmit and receive on one channel by different lcores, and unequal queue counts."""

import os
import re
import subprocess
import time

import pytest
from hvdev import eal
from hvdev.common import TOP
from labkit import lcores, wait_for

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
        assert taken == nic["wire"]["tx_frames"], (taken, nic["wire"])
        xstats = guest.xstats(0)
        assert guest.quit() == 0
        return nic, sent, taken, xstats


@pytest.mark.parametrize("queues", [1, 4])
def test_txonly_with_inbound_traffic(lab, queues):
    nic, sent, taken, xstats = txonly(lab, "ours", queues)
    assert sent == taken
    # Nobody receives: every frame of the wire is in one of these.
    channels = nic["channels"]
    wire = nic["wire"]["rx_frames"]
    delivered = sum(c["rx_packets"] for c in channels)
    held_back = sum(v for c in channels for k, v in c.items() if k.startswith("rx_dropped_"))
    assert wire == delivered + held_back + sum(c["rx_ring_full"] for c in channels)
    dropped = {k: v for k, v in xstats.items() if re.match(r"channel\d+_\w+_drops$", k)}
    received = xstats["rx_good_packets"]
    print(f"delivered to the rings {delivered}: received {received}, named drops {dropped}")
    assert delivered == received + sum(dropped.values())


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
        # An odd number of queues: at least one has its two directions on two lcores.
        cores = re.split(r"Logical Core \d+", guest.command("show config fwd"))[1:]
        received, sent = ([set(re.findall(rf"{word} P=0/Q=(\d+)", text)) for text in cores]
                          for word in ("RX", "TX"))
        assert received[0] & sent[1] or received[1] & sent[0], cores
        guest.command("stop")
        run.check()
        assert guest.quit() == 0


@pytest.mark.parametrize("queues", [1, 3])
def test_two_lcores(lab, queues):
    two_lcores(lab, "ours", queues)


@pytest.mark.parametrize("queues", [1, 3])
def test_two_lcores_upstream(lab, queues):
    two_lcores(lab, "upstream", queues)


@pytest.fixture(scope="session", name="crossed")
def fixture_crossed(tmp_path_factory):
    """The small application that testpmd cannot replace, compiled."""
    out = tmp_path_factory.mktemp("crossed") / "crossed"
    flags = subprocess.run(["pkg-config", "--cflags", "--libs", "libdpdk"], text=True,
                           stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, check=True)
    subprocess.run(["cc", "-O2", "-g", "-o", str(out), str(TOP / "test/system/crossed.c"),
                    *flags.stdout.split()], stdin=subprocess.DEVNULL, check=True)
    return out


def crossed_queues(lab, crossed, driver, rxq, txq):
    """All queues of both kinds carry traffic, sent and received by two lcores."""
    prefix = f"hvnet{os.getpid()}-9999"
    with lab([generator(16)], driver=driver, poll="adaptive") as run:
        argv = [str(run.host.hvsim), "run", "--socket", str(run.host.socket), "--",
                str(crossed), *lcores(2), "--file-prefix", prefix, "--no-telemetry",
                "--iova-mode=pa", "--in-memory"]
        argv += ["-d", str(run.plugin.path)] if driver == "ours" else []
        argv += ["--", str(rxq), str(txq), "4"]
        done = subprocess.run(argv, text=True, stdin=subprocess.DEVNULL, timeout=60,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                              env=run.host.env, check=False)
        eal.clean_eal(prefix)
        print(done.stdout)
        assert done.returncode == 0, done.stdout
        received = re.findall(r"^rx \d+ (\d+) (\d+)$", done.stdout, re.M)
        sent = re.findall(r"^tx \d+ (\d+)$", done.stdout, re.M)
        assert len(received) == rxq and all(int(n) > 0 and bad == "0" for n, bad in received)
        assert len(sent) == txq and all(int(n) > 0 for n in sent)
        nic = run.host.stats()[0]
        assert nic["wire"]["tx_frames"] == sum(map(int, sent))
        free, total = re.search(r"mbufs (\d+) of (\d+)", done.stdout).groups()
        # Upstream forgets at stop what it has in flight.
        assert free == total or driver == "upstream", f"{free} of {total} mbufs came back"
        assert not any(c["rx_packets"] for c in nic["channels"][rxq:])


@pytest.mark.parametrize("rxq, txq", [(1, 1), (1, 4), (2, 3), (4, 1), (3, 2), (1, 16), (16, 1),
                                      (16, 16)])
def test_queue_counts(lab, crossed, rxq, txq):
    crossed_queues(lab, crossed, "ours", rxq, txq)


@pytest.mark.parametrize("rxq, txq", [(1, 1), (4, 4)])
def test_queue_counts_upstream(lab, crossed, rxq, txq):
    crossed_queues(lab, crossed, "upstream", rxq, txq)

# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 hvnet contributors
"""Real kernel traffic between two namespaces through testpmd on two NICs, strict host."""

import pytest
from netkit import MACS, Pair, tap_names

NIC_MACS = ("00:15:5d:77:00:0a", "00:15:5d:77:00:0b")


def nics(queues):
    """Two NICs, each on a TAP of its own."""
    return [f"netvsc,mac={mac},queues={queues},wire=tap:name={tap}:queues={queues}"
            for mac, tap in zip(NIC_MACS, tap_names())]


def forwarding(fwd):
    """testpmd's options: in mac mode frames go to the namespaces' own addresses."""
    if fwd == "io":
        return ()
    return tuple(f"--eth-peer={port},{mac}" for port, mac in enumerate(MACS))


def traffic(lab, driver, fwd, queues):
    """Ping, TCP both ways, UDP; no loss, no checksum error, no violation."""
    with Pair() as pair, lab(nics(queues), driver=driver, poll="adaptive", queues=queues,
                             fwd=fwd, args=forwarding(fwd)) as run:
        pair.adopt()
        guest = run.start()
        guest.command("start")
        pair.neighbours()
        assert pair.ping(1000, 0.01) == (1000, 1000)
        for options in ((), ("-R",)):
            end = pair.iperf(*options)
            assert end["sum_received"]["bytes"] > 100_000, end["sum_received"]
        end = pair.iperf("-u", "-b", "20M", "-l", "1200")
        assert end["sum"]["packets"] > 1000
        # Upstream drops what overruns its staging ring; the case asks that the run completes.
        print(f"UDP lost {end['sum']['lost_percent']:.2f} %")
        assert driver == "upstream" or end["sum"]["lost_percent"] < 5, end["sum"]
        assert not pair.checksum_errors()
        guest.command("stop")
        run.check()
        assert guest.quit() == 0


@pytest.mark.parametrize("queues", [2, 4])
@pytest.mark.parametrize("fwd", ["io", "mac"])
def test_namespaces(lab, fwd, queues):
    traffic(lab, "ours", fwd, queues)


@pytest.mark.parametrize("queues", [2, 4])
@pytest.mark.parametrize("fwd", ["io", "mac"])
def test_namespaces_upstream(lab, fwd, queues):
    traffic(lab, "upstream", fwd, queues)

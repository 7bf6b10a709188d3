# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 hvnet contributors
"""Every frame length from 60 to 1514, byte by byte, both ways, through every transport."""

import os
import select
import socket
import tempfile
from pathlib import Path

import pytest
from frames import difference, every_length, read_pcap, write_pcap
from labkit import wait_for
from netkit import run as command
from netkit import tap_names

# devargs that choose how frames are sent.
OURS = {"section": "tx_copybreak=1514", "gpa": "tx_copybreak=0",
        "mixed": "tx_copybreak=0,tx_header_copy=1"}
UPSTREAM = {"section": "tx_copybreak=1514", "gpa": "tx_copybreak=0"}
# The NICs' addresses: frames come in before testpmd has switched the filter off.
MACS = (b"\0\x15\x5d\0\0\x0a", b"\0\x15\x5d\0\0\x0b")
QUEUES = (1, 2, 3, 4, 16, 64)
RATE = 20000


def pairwise():
    """(queues, transport, memory): every pair of two values occurs where it can.

    Memory without physical addresses sends everything by sections.
    """
    cases = []
    for i, queues in enumerate(QUEUES):
        one, two = ("pa", "in-memory") if i % 2 == 0 else ("in-memory", "pa")
        cases += [(queues, "gpa", one), (queues, "mixed", two),
                  (queues, "section", "copy"), (queues, "section", "no-huge")]
    return cases + [(4, "section", "pa"), (3, "section", "in-memory")]


def transport_of(stats, transport):
    """Frames per transport as the host saw them must fit the one that was chosen."""
    seen = {t: sum(c[f"tx_{t}"] for c in stats["channels"])
            for t in ("section", "gpa", "mixed")}
    assert seen[transport] > 0.9 * sum(seen.values()), seen


@pytest.fixture(name="folder")
def fixture_folder():
    """A folder that an ordinary user may use too; pytest's own are closed to others."""
    with tempfile.TemporaryDirectory(prefix="hvnet-") as name:
        os.chmod(name, 0o777)
        yield Path(name)


def lengths(lab, folder, driver, queues, transport, memory, devargs):
    """Replay files into both NICs, compare what comes out at the other side."""
    sent = [every_length(queues * 10 + i, dst=mac) for i, mac in enumerate(MACS)]
    nics = []
    for side, mac, frames in zip("ab", MACS, sent):
        write_pcap(folder / f"{side}-in.pcap", frames)
        (folder / f"{side}-in.pcap").chmod(0o644)
        nics.append(f"netvsc,queues={queues},mac={mac.hex(':')},"
                    f"wire=pcap:in={folder}/{side}-in.pcap"
                    f":out={folder}/{side}-out.pcap:rate={RATE}:delay={1000 + 25 * queues}")
    # Upstream empties its ring into one of rxd entries at once and drops what is beyond.
    args = ("--rxd=2048", "--txd=2048") if driver == "upstream" else ()
    with lab(nics, driver=driver, memory=memory, args=args, user=memory.endswith("no-huge"),
             queues=queues, devargs=devargs, options=["--poll", "adaptive"]) as run:
        guest = run.start()
        guest.command("start")

        def done():
            return all(n["wire"]["tx_frames"] >= len(frames)
                       for n, frames in zip(run.host.stats(), reversed(sent)))

        try:
            wait_for(done, 20, "all frames forwarded")
        finally:
            stats = run.host.stats()
        guest.command("stop")
        run.check()
        assert guest.quit() == 0
        for nic in stats:
            transport_of(nic, transport)
        if queues > 1:
            for nic in stats:
                used = sum(1 for c in nic["channels"] if c["rx_packets"] > 0)
                assert used == queues, f"{used} of {queues} queues received"
    for side, frames in zip("ba", sent):
        assert difference(frames, read_pcap(folder / f"{side}-out.pcap")) == ""


@pytest.mark.parametrize("queues, transport, memory", pairwise())
def test_lengths(lab, folder, queues, transport, memory):
    lengths(lab, folder, "ours", queues, transport, memory, OURS[transport])


@pytest.mark.parametrize("queues, transport, memory", [
    (1, "section", "pa"), (2, "gpa", "va"), (3, "section", "va-no-huge"), (4, "gpa", "pa"),
    (16, "section", "in-memory"), (64, "gpa", "in-memory")])
def test_lengths_upstream(lab, folder, queues, transport, memory):
    lengths(lab, folder, "upstream", queues, transport, memory, UPSTREAM[transport])


ETH_P_ALL = 3
WINDOW = 64


def raw_socket(tap):
    """A packet socket on a TAP whose kernel says nothing of its own."""
    command("sysctl", "-qw", f"net.ipv6.conf.{tap}.disable_ipv6=1")
    command("ip", "link", "set", tap, "arp", "off", "up")
    sock = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(ETH_P_ALL))
    sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 8 << 20)
    sock.bind((tap, 0))
    return sock


def collect(sock, found, count, timeout):
    """Receive until `count` frames are there or nothing comes any more."""
    while len(found) < count and select.select([sock], [], [], timeout)[0]:
        data, address = sock.recvfrom(2048)
        if address[2] != socket.PACKET_OUTGOING and data[12:14] == b"\x08\0":
            found.append(data)


def over_taps(lab, driver, queues, devargs):
    """The kernel's packet sockets as witness of every byte, both ways at once."""
    names = tap_names()
    nics = [f"netvsc,queues={queues},wire=tap:name={n}:queues={queues}" for n in names]
    with lab(nics, driver=driver, queues=queues, devargs=devargs, poll="adaptive") as run:
        guest = run.start()
        guest.command("start")
        wait_for(lambda: all(os.path.exists(f"/sys/class/net/{n}") for n in names), 5, "TAPs")
        socks = [raw_socket(n) for n in names]
        sent = [every_length(seed) for seed in (5, 6)]
        found = [[], []]
        try:
            for at in range(0, len(sent[0]), WINDOW):
                for sock, frames in zip(socks, sent):
                    for data in frames[at:at + WINDOW]:
                        sock.send(data)
                for sock, got in zip(socks, found):
                    collect(sock, got, min(at + WINDOW, len(sent[0])), 3)
        finally:
            for sock in socks:
                sock.close()
        assert difference(sent[0], found[1]) == "" and difference(sent[1], found[0]) == ""
        guest.command("stop")
        run.check()
        assert guest.quit() == 0


@pytest.mark.parametrize("transport", ["section", "gpa", "mixed"])
def test_lengths_over_taps(lab, transport):
    over_taps(lab, "ours", 2, OURS[transport])


@pytest.mark.parametrize("transport", ["section", "gpa"])
def test_lengths_over_taps_upstream(lab, transport):
    over_taps(lab, "upstream", 2, UPSTREAM[transport])

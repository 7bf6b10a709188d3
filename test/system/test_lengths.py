# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 hvnet contributors
"""Every frame length from 60 to 1514, byte by byte, both ways, through every transport."""

import pytest
from frames import difference, every_length, read_pcap, write_pcap
from labkit import wait_for

# devargs that choose how frames are sent.
OURS = {"section": "tx_copybreak=1514", "gpa": "tx_copybreak=0", "mixed": "tx_copybreak=0"}
UPSTREAM = {"section": "tx_copybreak=1514", "gpa": "tx_copybreak=0"}
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


def lengths(lab, tmp_path, driver, queues, transport, memory, devargs):
    """Replay files into both NICs, compare what comes out at the other side."""
    sent = [every_length(seed) for seed in (queues, queues + 1000)]
    nics = []
    tmp_path.chmod(0o777)
    for side, frames in zip("ab", sent):
        write_pcap(tmp_path / f"{side}-in.pcap", frames)
        (tmp_path / f"{side}-in.pcap").chmod(0o644)
        nics.append(f"netvsc,queues={queues},wire=pcap:in={tmp_path}/{side}-in.pcap"
                    f":out={tmp_path}/{side}-out.pcap:rate={RATE}")
    with lab(nics, driver=driver, memory=memory, user=memory.endswith("no-huge"),
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
        assert difference(frames, read_pcap(tmp_path / f"{side}-out.pcap")) == ""


@pytest.mark.parametrize("queues, transport, memory", pairwise())
def test_lengths(lab, tmp_path, queues, transport, memory):
    lengths(lab, tmp_path, "ours", queues, transport, memory, OURS[transport])


@pytest.mark.parametrize("queues, transport, memory", [
    (1, "section", "pa"), (2, "gpa", "va"), (3, "section", "va-no-huge"), (4, "gpa", "pa"),
    (16, "section", "in-memory"), (64, "gpa", "in-memory")])
def test_lengths_upstream(lab, tmp_path, queues, transport, memory):
    lengths(lab, tmp_path, "upstream", queues, transport, memory, UPSTREAM[transport])

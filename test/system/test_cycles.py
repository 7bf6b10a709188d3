# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 hvnet contributors
"""Stop, reconfigure and start a port again and again: nothing may grow.

40 cycles by default (each pair of the queue counts below is used), 200 with HVNET_SOAK=1.
"""

import itertools
import os
import re

from labkit import wait_for
from leftovers import hugepage_files

CYCLES = 200 if os.environ.get("HVNET_SOAK") == "1" else 40
COUNTS = ((1, 1), (4, 4), (2, 3), (8, 1), (1, 8), (16, 16))
WARM_UP = 2 * len(COUNTS)
SPARE_PAGES = 2


def mbufs(guest):
    """(free, all) mbufs of testpmd's pool."""
    text = guest.command("dump_mempool mb_pool_0")
    names = re.search(r"mempool <(\S+)>", text)
    assert names, text

    def number(name):
        return int(re.search(rf"{name}=(\d+)", text).group(1))

    return number("common_pool_count") + number("total_cache_count"), number(r"\bsize")


def allocated(guest):
    """Blocks that are allocated from EAL's heaps; a block's size varies with its neighbours."""
    text = guest.command("dump_socket_mem")
    match = re.search(r"^Total\b.*count alloc: *(\d+)", text, re.M)
    assert match, text
    return int(match.group(1))


def used(guest):
    """What must stay constant: what is allocated and EAL's zones."""
    zones = len(re.findall(r"^Zone ", guest.command("dump_memzone"), re.M))
    return {"blocks": allocated(guest), "zones": zones}


def pages(guest):
    """Descriptors, mappings of files, hugepage files: the heap's free space may be cut up
    differently from cycle to cycle and then takes a page more."""
    pid = guest.pid()
    with open(f"/proc/{pid}/maps", encoding="utf-8") as maps:
        named = sum(1 for line in maps if "/" in line)
    return (len(os.listdir(f"/proc/{pid}/fd")), named, len(hugepage_files(guest.prefix)))


def anonymous(guest):
    """Mappings without a file: libc may add an arena for a thread, but not each time."""
    with open(f"/proc/{guest.pid()}/maps", encoding="utf-8") as maps:
        return sum(1 for line in maps if "/" not in line)


def cycle(run, guest, counts):
    """One stop, change, start, with a little traffic."""
    for words in ("port stop 0", f"port config all rxq {counts[0]}",
                  f"port config all txq {counts[1]}", "port start 0"):
        text = guest.command(words)
        assert not re.search(r"fail|error|invalid|cannot", text, re.I), f"{words}: {text}"
    before = run.host.stats()[0]["wire"]["tx_frames"]
    guest.command("start")
    wait_for(lambda: run.host.stats()[0]["wire"]["tx_frames"] > before, 5,
             f"traffic with {counts} queues")
    guest.command("stop")
    session = run.host.stats()[0]["session"]
    assert session["channels"] >= max(counts), (counts, session)
    assert session["rss_channels"] in ((0, 1) if counts[0] == 1 else (counts[0],)), session


def test_reconfigure(lab):
    nic = "netvsc,queues=16,wire=gen:size=64:flows=256:rate=50000"
    with lab([nic], poll="adaptive", args=("--rxq=1", "--txq=1")) as run:
        guest = run.start()
        seen = {}
        peak = [0, 0, 0]
        host = anon = None
        for i, counts in zip(range(CYCLES), itertools.cycle(COUNTS)):
            cycle(run, guest, counts)
            now = used(guest)
            if i < WARM_UP:
                seen[counts] = now
                peak = [max(p) for p in zip(peak, pages(guest))]
                host = (run.host.fds(), run.host.maps())
                anon = anonymous(guest)
                continue
            assert now == seen[counts], f"cycle {i}, {counts} queues: {seen[counts]} -> {now}"
            got = pages(guest)
            assert all(g <= p + SPARE_PAGES for g, p in zip(got, peak)), (i, counts, peak, got)
        assert (run.host.fds(), run.host.maps()) == host or CYCLES % len(COUNTS), host
        assert anonymous(guest) <= anon + 4
        guest.command("port stop 0")
        free, total = mbufs(guest)
        assert free == total, f"{total - free} mbufs lost"
        run.check()
        assert guest.quit() == 0

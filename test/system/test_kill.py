# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 hvnet contributors
"""kill -9 of guest or host at random moments: the other survives, the NIC can be used again.

20 kills by default, the same 100 of the acceptance list with HVNET_SOAK=1.  The seed is
printed and can be given with HVNET_SEED.
"""

import os
import random
import time

from hvdev.common import Fail
from hvdev.pmdtalk import PROMPT
from labkit import wait_for

ROUNDS = 50 if os.environ.get("HVNET_SOAK") == "1" else 10
NIC = "netvsc,queues=4,wire=gen:size=64:flows=256:rate=100000"


def dice():
    """Seeded random numbers; the seed is in the report."""
    seed = int(os.environ.get("HVNET_SEED") or time.time_ns() % 1_000_000)
    print(f"HVNET_SEED={seed}")
    return random.Random(seed)


def run_until(guest, moment):
    """Bring a guest up and forward until the moment comes, whatever it is doing then."""
    deadline = time.monotonic() + moment
    try:
        guest.talk.until_prompt("start-up", moment)
        guest.command("start", max(0.01, deadline - time.monotonic()))
    except Fail:
        return
    while time.monotonic() < deadline:
        guest.talk.read(deadline - time.monotonic())


def passes_traffic(lab):
    """A new guest on the NIC forwards."""
    guest = lab.start()
    guest.command("start")
    before = lab.host.stats()[0]["wire"]["tx_frames"]
    wait_for(lambda: lab.host.stats()[0]["wire"]["tx_frames"] > before + 1000, 10,
             "packets forwarded")
    guest.command("stop")
    assert guest.quit() == 0
    lab.forget(guest)


def killed_guests(lab, driver):
    """Guests die at any moment; the host lives, leaks nothing and takes the next guest."""
    rng = dice()
    with lab([NIC], driver=driver, queues=4, poll="adaptive") as run:
        passes_traffic(run)
        fds, maps = run.host.fds(), run.host.maps()
        for _ in range(ROUNDS):
            guest = run.launch()
            run_until(guest, rng.uniform(0.02, 2.5))
            guest.kill()
            run.forget(guest)
            assert run.host.proc.poll() is None, run.host.text()
        passes_traffic(run)
        wait_for(lambda: run.host.fds() <= fds and run.host.maps() <= maps, 5,
                 f"host back at {fds} descriptors and {maps} mappings")


def test_guest_killed(lab):
    killed_guests(lab, "ours")


def test_guest_killed_upstream(lab):
    killed_guests(lab, "upstream")


def test_host_killed(lab):
    rng = dice()
    with lab([NIC], queues=4, poll="adaptive") as run:
        for _ in range(ROUNDS):
            guest = run.launch()
            run_until(guest, rng.uniform(0.02, 2.5))
            run.host.kill()
            outlives_host(guest)
            run.forget(guest)
            run.start_host()
        passes_traffic(run)


def outlives_host(guest):
    """The guest of a killed host answers or ends by itself; no crash, no hang."""
    wait_for(lambda: guest.talk.read(0.1) is None or PROMPT in guest.text(), 45,
             "the guest at its prompt or ended")
    for words in ("show port stats 0", "show port info 0", "stop", "port stop 0"):
        if not guest.answers(words):
            break
    status = guest.talk.quit(40.0)
    assert 0 <= status < 128, f"guest ended with {status}: {guest.text()[-2000:]}"


def test_removal_event(lab):
    """Without a command the guest hears within seconds that its device is gone, and closes."""
    with lab([NIC], queues=4, poll="adaptive") as run:
        guest = run.start()
        guest.command("start")
        run.host.kill()
        wait_for(lambda: guest.talk.read(0.1) is None or "removal event" in guest.text(), 5,
                 "device removal event")
        wait_for(lambda: guest.talk.read(0.1) is None or "Closing ports" in guest.text(), 5,
                 "port closed by testpmd")
        time.sleep(0.5)
        assert guest.answers("show port summary all")
        assert 0 <= guest.quit() < 128, guest.text()[-2000:]
        run.start_host()
        passes_traffic(run)

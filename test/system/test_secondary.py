# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 hvnet contributors
"""A second DPDK process attaches to the NICs of the first one."""

import subprocess

NIC = "netvsc,queues=2,wire=gen:size=64:rate=50000"


def proc_info(run, guest, *options):
    """dpdk-proc-info as a secondary process of the guest."""
    argv = [str(run.host.hvsim), "run", "--socket", str(run.host.socket), "--",
            "dpdk-proc-info", "--file-prefix", guest.prefix, "--no-telemetry"]
    if guest.driver == "ours":
        argv += ["-d", str(run.plugin.path)]
    argv += ["--", *options]
    return subprocess.run(argv, text=True, stdin=subprocess.DEVNULL, timeout=40, check=False,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, env=run.host.env)


def test_secondary_upstream(lab):
    """Upstream's secondary maps the rings through the shim and reads the port."""
    with lab([NIC], driver="upstream", queues=2) as run:
        guest = run.start()
        guest.command("start")
        done = proc_info(run, guest, "-p", "1", "--stats")
        assert done.returncode == 0, done.stdout
        assert "NIC statistics for port 0" in done.stdout, done.stdout
        before = guest.stats(0)["RX-packets"]
        assert guest.stats(0)["RX-packets"] >= before
        guest.command("stop")
        assert guest.quit() == 0


def test_secondary(lab):
    """Ours has no secondary support yet: it says so, and the first process goes on."""
    with lab([NIC], queues=2) as run:
        guest = run.start()
        guest.command("start")
        done = proc_info(run, guest, "-p", "1", "--stats")
        assert 0 <= done.returncode < 128, done.stdout
        assert "secondary" in done.stdout.lower(), done.stdout
        before = run.host.stats()[0]["wire"]["tx_frames"]
        guest.command("show port stats 0")
        assert run.host.stats()[0]["wire"]["tx_frames"] > before
        guest.command("stop")
        assert guest.quit() == 0

# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 hvnet contributors
"""devtools/testpmd as a newcomer runs it, two seconds long."""

import json
import subprocess

import pytest
from hvdev.common import TOP, stale_private_dirs

KEYS = {"nic", "driver", "queues", "queues_reason", "rx_ring", "tx_ring", "rx_packets",
        "tx_packets", "mpps", "cycles_per_packet", "drops", "violations"}


def wrapper(build, tmp_path, *args):
    """Run it; the result file's content."""
    out = tmp_path / "result.json"
    argv = [str(TOP / "devtools/testpmd"), "--build", str(build), "--time", "2",
            "--json", str(out), *args]
    done = subprocess.run(argv, text=True, stdin=subprocess.DEVNULL, timeout=120, check=False,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    assert done.returncode == 0, done.stdout + done.stderr
    print(done.stdout)
    result = json.loads(out.read_text())
    assert KEYS <= set(result)
    assert result["nic"] == "netvsc"
    assert result["rx_packets"] > 0 or "txonly" in args
    assert result["tx_packets"] > 0 or "rxonly" in args
    assert result["mpps"] > 0 and isinstance(result["drops"], dict)
    assert not stale_private_dirs()
    return result


def test_default_run(build, tmp_path):
    result = wrapper(build, tmp_path)
    assert result["driver"] == "ours" and result["violations"] == []
    assert result["rx_ring"] == 1024 and result["queues"] >= 1
    assert result["queues_reason"] and result["cycles_per_packet"] > 0


@pytest.mark.parametrize("args", [
    ("--mode", "rxonly"), ("--mode", "txonly"), ("--queues", "4"), ("--host", "lenient"),
    ("--host", "polling"), ("--no-huge",), ("--wire", "gen:size=1500")], ids=" ".join)
def test_variants(build, tmp_path, args):
    assert wrapper(build, tmp_path, *args)["violations"] == []


def test_bench_upstream(build, tmp_path):
    out = tmp_path / "bench.json"
    argv = [str(TOP / "devtools/bench"), "--build", str(build), "--only", "txonly-*",
            "--pairs", "1", "--time", "0.5", "--json", str(out)]
    done = subprocess.run(argv, text=True, stdin=subprocess.DEVNULL, timeout=120, check=False,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    assert done.returncode == 0, done.stdout + done.stderr
    row, = json.loads(out.read_text())["rows"]
    assert row["ours_cycles"] > 0 and row["upstream_cycles"] > 0 and row["pairs"] == 1


def test_default_run_upstream(build, tmp_path):
    result = wrapper(build, tmp_path, "--driver", "upstream")
    assert result["driver"] == "upstream"

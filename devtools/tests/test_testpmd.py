# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 hvnet contributors
"""devtools/testpmd around a stand-in for the host: table, JSON, verdicts, clean-up."""

import argparse
import json
import os
import shutil
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

from hvdev import common, testpmd

TOP = Path(__file__).resolve().parents[2]

# Runs the guest on DPDK's null device instead of our plugin.
FAKE_HOST = """\
    #!/bin/bash
    if [ "$1" = ctl ]; then
        case $4 in
        stats) echo '{"nics": [{"channels": [{"rx_drops": 3}, {"rx_drops": 4}]}]}' ;;
        violations) echo '{"violations": ['"$FAKE_VIOLATIONS"']}' ;;
        esac
        exit 0
    fi
    [ -z "$FAKE_ERROR" ] || { echo "hvsim: $FAKE_ERROR"; exit 1; }
    while [ "$1" != -- ]; do shift; done
    shift
    guest=()
    while [ $# -gt 0 ]; do
        if [ "$1" = -d ]; then
            shift
            guest+=("--vdev=net_null0$FAKE_ARGS" --no-pci)
        else
            guest+=("$1")
        fi
        shift
    done
    exec "${guest[@]}"
"""
RUN = """\
    from hvdev import common, testpmd
    testpmd.DRIVERS["ours"] = "net_null"
    testpmd.builder.build = lambda *args: None
    common.run_main(testpmd.main)
"""


@pytest.fixture(name="run")
def fixture_run(tmp_path):
    """A function that runs the command with a fake build folder."""
    if shutil.which("dpdk-testpmd") is None:
        pytest.skip("dpdk-testpmd is not installed")
    build = tmp_path / "build"
    for folder in ("app/hvsim", "app/hvqueues", "drivers/net/netvsc"):
        (build / folder).mkdir(parents=True)
    (build / "drivers/net/netvsc/librte_net_hv_netvsc.so").write_text("")
    for name, text in (("hvsim/hvsim", FAKE_HOST), ("hvqueues/hvqueues", """\
            #!/bin/sh
            echo '{"vcpus": 2, "netvsc_default": 2}'
            """)):
        path = build / "app" / name
        path.write_text(textwrap.dedent(text))
        path.chmod(0o755)

    def run(*args, **env):
        env = {**os.environ, "PYTHONPATH": str(TOP / "devtools/lib"), **env,
               "PYTHONDONTWRITEBYTECODE": "1", "HVNET_BUILD": str(build)}
        return subprocess.run(
            [sys.executable, "-c", textwrap.dedent(RUN), "--no-huge", "--time", "1.5", *args],
            text=True, env=env, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
            stderr=subprocess.PIPE, timeout=120, check=False)

    return run


def test_result(run, tmp_path):
    out = tmp_path / "result.json"
    done = run("--json", str(out))
    assert done.returncode == 0, done.stdout + done.stderr
    got = json.loads(out.read_text())
    assert got["nic"] == "netvsc" and got["driver"] == "ours" and got["queues"] == 2
    assert "2 vCPUs" in got["queues_reason"] and got["violations"] == []
    assert got["rx_packets"] > 0 and got["tx_packets"] > 0 and got["mpps"] > 0
    assert got["cycles_per_packet"] > 0 and got["drops"]["host_rx_drops"] == 7
    assert {"rx_ring", "tx_ring"} <= set(got)
    assert " Mpps" in done.stdout and "protocol violations" in done.stdout
    assert not common.stale_private_dirs()


def test_violation_fails_the_run_of_our_driver(run):
    done = run(FAKE_VIOLATIONS='{"name": "ring-write-index", "count": 2}')
    assert done.returncode == 1 and "ring-write-index 2" in done.stdout
    assert done.stderr.startswith("error: ") and done.stderr.count("\n") == 1


def test_cycles_of_a_few_packets_are_not_shown(capsys):
    result = {"queues": 1, "queues_reason": "asked for", "assisted": False, "rx_ring": 1,
              "tx_ring": 1, "rx_packets": 3, "tx_packets": 3, "mpps": 0.0,
              "cycles_per_packet": 5644503.0, "drops": {}, "violations": []}
    testpmd.table(argparse.Namespace(driver="ours"), result)
    assert "5644503" not in capsys.readouterr().out
    testpmd.table(argparse.Namespace(driver="ours"), {**result, "mpps": 0.5})
    assert "5644503" in capsys.readouterr().out


def test_no_packets_is_a_failure(run):
    done = run("--mode", "rxonly", FAKE_ARGS=",no-rx=1")
    assert done.returncode == 1 and "no packet flowed" in done.stderr
    done = run("--wire", "loop", FAKE_ARGS=",no-rx=1")
    assert done.returncode == 1 and "add --mode txonly" in done.stderr


@pytest.mark.parametrize("args, env, words", [
    (["--", "--bogus"], {}, "--bogus"),
    ([], {"FAKE_ERROR": "tap hv0 is in use; choose another name"}, "hv0 is in use"),
    (["--queues", "65"], {}, "from 1 to 64"), (["--wire", "fast"], {}, "unknown wire 'fast'"),
    (["--time", "0"], {}, "--time"),
    (["--mode", "foo"], {}, "--mode foo"),
    (["--json", "/no/such/folder/x.json"], {}, "/no/such/folder/x.json")])
def test_error_is_one_line(run, args, env, words):
    done = run(*args, **env)
    assert done.returncode == 1 and words in done.stderr
    assert done.stderr.startswith("error: ") and done.stderr.count("\n") == 1
    assert not common.stale_private_dirs()

# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 hvnet contributors
"""The small parts of the developer commands: -k, parsers, private folders, clean-up."""

import os
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from hvdev import build, common, eal, lab, pmdparse, pmdtalk, suites

LIB = Path(__file__).resolve().parents[1] / "lib"
STOP = """
  ------- Forward Stats for RX Port= 0/Queue= 0 -> TX Port= 0/Queue= 0 -------
  RX-packets: 100            TX-packets: 90             TX-dropped: 10
  ---------------------- Forward statistics for port 0  ----------------------
  RX-packets: 100            RX-dropped: 1             RX-total: 101
  TX-packets: 90             TX-dropped: 10            TX-total: 100
  +++++++++++++++ Accumulated forward statistics for all ports+++++++++++++++
  RX-packets: 100            RX-dropped: 1             RX-total: 101
  TX-packets: 90             TX-dropped: 10            TX-total: 100
  CPU cycles/packet=32.42 (total cycles=3242 / total RX packets=100) at 2300 MHz Clock
"""


@pytest.mark.parametrize("expression, name, want", [
    ("", "a", True), ("ring", "unit:vmRing", True), ("ring and not tsan", "tsan:ring", False),
    ("(a or b) and c", "xbc", True), ("not a", "b", True)])
def test_k_expression(expression, name, want):
    assert suites.matcher(expression)(name) is want


@pytest.mark.parametrize("expression", ["and", "(a", "a b", "'x'"])
def test_bad_k_expression_is_refused(expression):
    with pytest.raises(common.Fail):
        suites.matcher(expression)


def test_stop_report():
    got = pmdparse.stop_report(STOP)
    assert got == {"rx": 100, "tx": 90, "rx_dropped": 1, "tx_dropped": 10, "cycles": 32.42}


def test_drops_by_name():
    values = pmdparse.xstats("rx_good_packets: 5\nrx_missed_errors: 2\nrx_errors: 0\n"
                             "###### NIC extended statistics for port 1\nrx_missed_errors: 3\n")
    assert pmdparse.drops_of(values) == {"rx_missed_errors": 5}


def test_drops_of_channels_are_summed_and_not_counted_twice():
    values = {"channel0_park_drops": 3, "channel1_park_drops": 4, "rx_missed_errors": 7,
              "rx_q0_no_mbuf": 2, "rx_q1_no_mbuf": 1, "channel0_signals": 9}
    assert pmdparse.drops_of(values) == {"park_drops": 7, "rx_no_mbuf": 3}
    values["rx_missed_errors"] = 8
    assert pmdparse.drops_of(values)["rx_missed_errors"] == 8


def test_host_drops_are_summed_over_channels():
    nics = [{"name": "x", "channels": [{"rx_drops": 3}, {"rx_drops": 4}],
             "wire": {"dropped": 0, "packets": 9}}]
    assert pmdparse.host_drops(nics) == {"host_rx_drops": 7}


def test_world_writable_parent(tmp_path):
    folder = tmp_path / "open" / "in"
    folder.mkdir(parents=True)
    (tmp_path / "open").chmod(0o777)
    assert common.world_writable_parent(folder) == tmp_path / "open"


def test_private_dir_is_private():
    folder = common.private_dir("test")
    try:
        assert stat.S_IMODE(folder.stat().st_mode) == 0o700
        assert common.world_writable_parent(folder) is None
    finally:
        folder.rmdir()


def test_private_dirs_of_the_dead_are_found(tmp_path, monkeypatch):
    with subprocess.Popen(["true"]) as child:
        dead = child.pid
    for pid in (dead, os.getpid()):
        (tmp_path / f"hvnet-{pid}-lab-x").mkdir()
    monkeypatch.setattr(common, "private_places", lambda: [tmp_path])
    assert [p.name for p in common.stale_private_dirs()] == [f"hvnet-{dead}-lab-x"]
    common.clean_private()
    assert [p.name for p in tmp_path.iterdir()] == [f"hvnet-{os.getpid()}-lab-x"]


def test_eal_leftovers_of_the_dead_only(tmp_path, monkeypatch):
    with subprocess.Popen(["true"]) as child:
        dead = child.pid
    for pid in (dead, os.getpid()):
        (tmp_path / f"hvnet{pid}map_0").write_text("")
    monkeypatch.setattr(eal, "huge_mounts", lambda: [str(tmp_path)])
    eal.clean_stale()
    assert [p.name for p in tmp_path.iterdir()] == [f"hvnet{os.getpid()}map_0"]


@pytest.mark.parametrize("name", ["with space", "with:colon"])
def test_build_folder_the_loader_cannot_take_is_refused_at_once(tmp_path, name):
    with pytest.raises(common.Fail, match="--build"):
        build.make_folder(tmp_path / name)
    assert not (tmp_path / name).exists()


def test_build_folder_that_cannot_be_made():
    with pytest.raises(common.Fail, match="/proc/x: .*--build"):
        build.make_folder(Path("/proc/x"))


def test_need_writable_leaves_nothing(tmp_path):
    common.need_writable("--json", tmp_path / "new.json")
    assert not list(tmp_path.iterdir())
    (tmp_path / "old.json").write_text("x")
    common.need_writable("--json", tmp_path / "old.json")
    assert (tmp_path / "old.json").read_text() == "x"


def test_no_private_place_says_why(monkeypatch, tmp_path):
    tmp_path.chmod(0o777)
    monkeypatch.setattr(common, "private_places", lambda: [tmp_path])
    with pytest.raises(common.Fail, match="everybody may write"):
        common.need_private_place()


def test_ordinary_user_gets_a_runtime_folder(monkeypatch, tmp_path):
    monkeypatch.setattr(eal, "is_root", lambda: False)
    monkeypatch.delenv("XDG_RUNTIME_DIR", raising=False)
    assert eal.environment(tmp_path)["XDG_RUNTIME_DIR"] == str(tmp_path)
    monkeypatch.setenv("XDG_RUNTIME_DIR", "/run/user/7")
    assert eal.environment(tmp_path) is None


def test_first_complaint_of_eal_is_named():
    talk = pmdtalk.Testpmd(["true"])
    talk.text = ("EAL: Detected CPU lcores: 2\nEAL: Error creating '/x': Permission denied\n"
                 "EAL: Cannot create runtime directory\nEAL: Error - exiting with code: 1\n"
                 "  Cause: Cannot init EAL: Invalid argument\n")
    assert talk.last_line() == "EAL: Error creating '/x': Permission denied"
    talk.close()


def test_reader_that_left_is_no_traceback():
    script = """import time
from hvdev import common
def endless():
    while True:
        common.say("x")
        time.sleep(0.01)
common.run_main(endless)
"""
    with subprocess.Popen([sys.executable, "-c", script], text=True, stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE,
                          env={**os.environ, "PYTHONPATH": str(LIB)}) as child:
        child.stdout.readline()
        child.stdout.close()
        assert child.stderr.read() == "" and child.wait(30) == 141


def test_unknown_wire_is_named():
    assert lab.wire_spec("gen:size=1500") == "gen:size=1500"
    with pytest.raises(common.Fail, match="unknown wire 'fast'"):
        lab.wire_spec("fast")

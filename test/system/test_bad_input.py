# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 hvnet contributors
"""Mistakes of the user: one line that names the value and the remedy, and nothing left."""

import os
import subprocess
import tempfile
from pathlib import Path

import pytest
from hvdev.common import TOP, is_root
from hvdev.eal import PLUGIN, clean_eal
from labkit import Host
from netkit import run as command
from netkit import tap_names

GEN = "netvsc,wire=gen"


@pytest.fixture(name="base")
def fixture_base():
    """A runtime folder of this test's own; hvsim takes only short paths from the environment."""
    with tempfile.TemporaryDirectory(prefix="hv", dir="/tmp") as name:
        yield Path(name)


@pytest.fixture(name="hvsim")
def fixture_hvsim(build, base):
    """A function that runs hvsim and returns (status, stderr), with a look at what is left."""

    def call(*args, env=None, user=False, keep=()):
        argv = [str(build / "app/hvsim/hvsim"), *args]
        if user:
            host = Host(build, [], [], user=True)
            argv = host.as_user([str(host.hvsim), *args])
            env = {**host.env, **(env or {})}
        try:
            done = subprocess.run(argv, text=True, stdin=subprocess.DEVNULL, timeout=20,
                                  stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                  env=env or dict(os.environ, XDG_RUNTIME_DIR=str(base)),
                                  check=False)
            left = host.left() if user else [str(p) for p in base.rglob("*")
                                             if p.name not in keep]
        finally:
            if user:
                host.close()
        assert not left, left
        return done

    return call


def refused(done, *words):
    """One line on stderr with the words, status not zero."""
    assert done.returncode not in (0, None) and done.returncode > 0, done
    assert done.stderr.count("\n") == 1, done.stderr
    assert done.stderr.startswith("hvsim: "), done.stderr
    for word in words:
        assert word in done.stderr, done.stderr


@pytest.mark.parametrize("args, words", [
    (("--bogus",), ("--bogus", "--help")),
    (("serve", "--mode", "harsh", "--nic", GEN), ("harsh", "strict, lenient or polling")),
    (("serve", "--gpa", "xx", "--nic", GEN), ("xx", "pa, va or none")),
    (("serve", "--poll", "-3", "--nic", GEN), ("-3", "adaptive")),
    (("serve", "--cpu", "9999", "--nic", GEN), ("9999",)),
    (("serve", "--assist", "magic", "--nic", GEN), ("magic", "queue-info")),
    (("serve", "--expect", "no-such-name", "--nic", GEN), ("no-such-name",)),
    (("serve",), ("--nic",)),
    (("serve", "--nic", "e1000"), ("e1000", "netvsc")),
    (("serve", "--nic", "netvsc,queues=65"), ("queues=65", "64")),
    (("serve", "--nic", "netvsc,queues=0"), ("queues=0",)),
    (("serve", "--nic", "netvsc,colour=red"), ("colour", "known")),
    (("serve", "--nic", "netvsc,queues"), ("queues", "=")),
    (("serve", "--nic", "netvsc,nvsp=4,queues=4"), ("=4 contradicts nvsp=4", "nvsp=5")),
    (("serve", "--nic", "netvsc,nvsp=1,mtu=9000"), ("9000", "nvsp=2")),
    (("serve", "--nic", "netvsc,mac=zz"), ("mac=zz", "00:15:5d")),
    (("serve", "--nic", "netvsc,name=a", "--nic", "netvsc,name=a"), ("name=a", "another")),
    (("serve", "--nic", "netvsc,wire=string"), ("string", "tap")),
    (("serve", "--nic", "netvsc,wire=gen:size=5"), ("size=5", "60")),
    (("serve", "--nic", "netvsc,wire=gen:length=64"), ("length", "size")),
    (("serve", "--nic", "netvsc,wire=pcap:in=/no/such.pcap"), ("/no/such.pcap",)),
    (("serve", "--nic", "netvsc,wire=tap:queues=257"), ("257", "256")),
    (("serve", "--nic", GEN, "ls"), ("ls", "--")),
    (("--nic", GEN, "--"), ("command",)),
    (("--nic", GEN, "--", "no-such-command-at-all"), ("no-such-command-at-all",)),
    (("--nic", GEN, "--", "/etc/passwd"), ("/etc/passwd",)),
    (("ctl", "stats"), ("serve",)),
    (("ctl", "statistics"), ("statistics", "info, stats, violations or link")),
    (("ctl", "--socket", "/no/such/socket", "stats"), ("/no/such/socket",)),
    (("run", "--socket", "/no/such/socket", "--", "ls"), ("/no/such/socket",)),
    (("serve", "--socket", "/no/such/folder/s", "--nic", GEN), ("/no/such/folder/s",)),
    (("serve", "--socket", "/tmp/" + "x" * 200, "--nic", GEN), ("xxx", "107")),
], ids=lambda value: " ".join(value)[:60] if isinstance(value, tuple) else None)
def test_refused(hvsim, args, words):
    refused(hvsim(*args), *words)


@pytest.mark.skipif(not is_root(), reason="needs root")
def test_tap_name_in_use(hvsim):
    name = tap_names()[0]
    command("ip", "tuntap", "add", name, "mode", "tap")
    try:
        refused(hvsim("serve", "--nic", f"netvsc,wire=tap:name={name}"), name)
    finally:
        command("ip", "link", "delete", name)


def test_tap_needs_root(hvsim):
    refused(hvsim("serve", "--nic", f"netvsc,wire=tap:name={tap_names()[0]}", user=True),
            "root")


def test_physical_addresses_need_root(hvsim):
    refused(hvsim("serve", "--gpa", "pa", "--nic", GEN, user=True), "--gpa pa", "none")


def test_setuid_command(hvsim):
    refused(hvsim("--nic", GEN, "--", "su", "--help"), "su", "setuid")


def test_static_command(hvsim, tmp_path):
    source = tmp_path / "x.c"
    source.write_text("int main(void) { return 0; }\n")
    command("cc", "-static", "-o", str(tmp_path / "static-x"), str(source))
    refused(hvsim("--nic", GEN, "--", str(tmp_path / "static-x")), "static-x", "static")


def test_socket_already_served(hvsim, lab):
    with lab([GEN], memory="copy") as run:
        done = hvsim("serve", "--socket", str(run.host.socket), "--nic", GEN)
        refused(done, str(run.host.socket))
        run.check()


def test_several_hosts(build, base):
    env = dict(os.environ, XDG_RUNTIME_DIR=str(base))
    argv = [str(build / "app/hvsim/hvsim")]
    hosts = [subprocess.Popen([*argv, "serve", "--nic", GEN], text=True, env=env,
                              stdout=subprocess.PIPE) for _ in "ab"]
    try:
        sockets = [host.stdout.readline().strip() for host in hosts]
        done = subprocess.run([*argv, "ctl", "stats"], text=True, env=env, timeout=20,
                              stderr=subprocess.PIPE, check=False)
        refused(done, "--socket")
        assert any(socket in done.stderr for socket in sockets), done.stderr
    finally:
        for host in hosts:
            host.terminate()
            host.wait(20)
            host.stdout.close()
    assert not list(base.iterdir())


def test_nic_already_taken(lab):
    with lab([GEN]) as run:
        first = run.start()
        second = run.launch()
        assert second.talk.proc.wait(60) not in (0, None)
        while second.talk.read(0.2):
            pass
        lines = [x for x in run.host.text().splitlines() if "is taken by process" in x]
        assert len(lines) == 1 and lines[0].startswith("hvsim: NIC netvsc0 "), run.host.text()
        assert str(first.pid()) in lines[0] and "another NIC" in lines[0]
        assert first.command("show port stats 0")
        first.command("start")
        first.command("stop")
        assert first.quit() == 0


def test_exit_status_is_the_commands(hvsim):
    assert hvsim("--nic", GEN, "--", "sh", "-c", "exit 7").returncode == 7
    assert hvsim("--nic", GEN, "--", "sh", "-c", "kill -9 $$").returncode == 128 + 9
    assert hvsim("--nic", GEN, "--", "true").returncode == 0


@pytest.mark.parametrize("args, words", [
    (("--queues", "65"), "--queues 65"), (("--wire", "string"), "string"),
    (("--wire", "gen:size=5"), "size=5"), (("--time", "-1"), "--time"),
    (("--json", "/no/such/folder/x.json", "--time", "0.5"), "/no/such/folder/x.json"),
    (("--driver-sdk", "/no/such/sdk"), "/no/such/sdk"),
    (("--time", "1", "--", "--no-such-testpmd-option"), "no-such-testpmd-option")])
def test_wrapper_refuses(build, args, words):
    argv = [str(TOP / "devtools/testpmd"), "--build", str(build), *args]
    done = subprocess.run(argv, text=True, stdin=subprocess.DEVNULL, timeout=120, check=False,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    assert done.returncode > 0 and words in done.stderr, done
    assert done.stderr.count("\n") == 1 and done.stderr.startswith("error: "), done.stderr


def test_wrapper_refuses_other_sdk(tmp_path):
    """The SDK of another DPDK version, as a new build would get it."""
    (tmp_path / "sdk").mkdir()
    (tmp_path / "sdk/bus_vmbus_driver.h").write_text("")
    (tmp_path / "sdk/VERSION").write_text("1.2.3\n")
    argv = [str(TOP / "devtools/testpmd"), "--build", str(tmp_path / "build"),
            "--driver-sdk", str(tmp_path / "sdk")]
    done = subprocess.run(argv, text=True, stdin=subprocess.DEVNULL, timeout=120, check=False,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    assert done.returncode > 0 and "1.2.3" in done.stderr, done
    assert done.stderr.count("\n") == 1, done.stderr


FAKE_VERSION = """\
unsigned int rte_version_year(void) { return 99; }
unsigned int rte_version_month(void) { return 3; }
const char *rte_version(void) { return "DPDK 99.03.0"; }
"""


def test_other_dpdk_is_refused(build, tmp_path):
    """The plugin says no to another release line of DPDK and does not register."""
    (tmp_path / "v.c").write_text(FAKE_VERSION)
    command("cc", "-shared", "-fPIC", "-o", str(tmp_path / "v.so"), str(tmp_path / "v.c"))
    host = Host(build, [], [])
    plugin = host.folder / PLUGIN
    try:
        plugin.write_bytes((build / "drivers/net/netvsc" / PLUGIN).read_bytes())
        done = subprocess.run(
            ["dpdk-testpmd", "-l", "0", "--no-huge", "--no-pci", "-m", "64", "--no-telemetry",
             "--file-prefix", f"hvnet{os.getpid()}-9998", "-d", str(plugin), "--", "--help"],
            text=True, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT, timeout=60, check=False,
            env=dict(host.env, LD_PRELOAD=str(tmp_path / "v.so")))
    finally:
        host.close()
        clean_eal(f"hvnet{os.getpid()}-9998")
    lines = [x for x in done.stdout.splitlines() if "99.03" in x and "22.11" in x]
    assert lines, done.stdout

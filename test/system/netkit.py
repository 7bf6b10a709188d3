# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 hvnet contributors
"""Two network namespaces with a TAP each, and the kernel's traffic tools in them."""

import json
import os
import re
import subprocess

import pytest
from hvdev.common import is_root
from labkit import wait_for

MACS = ("02:00:00:00:0a:01", "02:00:00:00:0b:01")
ADDRESSES = ("10.77.0.1", "10.77.0.2")


def run(*argv, timeout=60, check=True):
    """A command's output; its failure is an AssertionError with what it printed."""
    done = subprocess.run(argv, text=True, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, timeout=timeout, check=False)
    assert done.returncode == 0 or not check, f"{' '.join(argv)}: {done.stdout.strip()}"
    return done.stdout


def tap_names():
    """Names of the two TAPs; in the kernel at most 15 bytes."""
    return tuple(f"hv{os.getpid()}{side}" for side in "ab")


class Pair:
    """Two namespaces; the host's TAPs are moved into them."""

    def __init__(self):
        self.spaces = tuple(f"hvnet-{os.getpid()}-{side}" for side in "ab")
        self.made = []

    def __enter__(self):
        if not is_root():
            pytest.skip("namespaces need root")
        try:
            for name in self.spaces:
                run("ip", "netns", "add", name)
                self.made.append(name)
                self.inside(name, "sysctl", "-qw", "net.ipv6.conf.all.disable_ipv6=1",
                            "net.ipv6.conf.default.disable_ipv6=1")
                self.inside(name, "ip", "link", "set", "lo", "up")
        except BaseException:
            self.__exit__(None, None, None)
            raise
        return self

    def __exit__(self, *_):
        for name in self.made:
            run("ip", "netns", "delete", name, check=False)
        self.made = []

    @staticmethod
    def inside(space, *argv, timeout=60, check=True):
        """Run a command in a namespace."""
        return run("ip", "netns", "exec", space, *argv, timeout=timeout, check=check)

    def adopt(self):
        """Take the TAPs and give them addresses."""
        for space, tap, mac, address in zip(self.spaces, tap_names(), MACS, ADDRESSES):
            wait_for(lambda tap=tap: os.path.exists(f"/sys/class/net/{tap}"), 10, f"TAP {tap}")
            run("ip", "link", "set", tap, "netns", space)
            self.inside(space, "ip", "link", "set", tap, "address", mac)
            self.inside(space, "ip", "address", "add", f"{address}/24", "dev", tap)
            self.inside(space, "ip", "link", "set", tap, "up")

    def neighbours(self):
        """Wait until the first ping is answered (ARP, link)."""
        wait_for(lambda: " 0% packet loss" in self.inside(
            self.spaces[0], "ping", "-c", "1", "-W", "1", ADDRESSES[1], check=False),
            15, "first ping answered")

    def ping(self, count, interval):
        """(sent, received) of a ping from the first to the second namespace."""
        text = self.inside(self.spaces[0], "ping", "-q", "-c", str(count), "-i", str(interval),
                           ADDRESSES[1], timeout=count * interval * 3 + 30, check=False)
        match = re.search(r"(\d+) packets transmitted, (\d+) received", text)
        assert match, text
        return int(match.group(1)), int(match.group(2))

    def iperf(self, *options, seconds=3):
        """The end section of an iperf3 run from the first to the second namespace."""
        server = subprocess.Popen(
            ["ip", "netns", "exec", self.spaces[1], "iperf3", "-s", "-1", "-B", ADDRESSES[1]],
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        try:
            wait_for(lambda: ":5201" in self.inside(self.spaces[1], "ss", "-tln"), 10,
                     "iperf3 server listens")
            text = self.inside(self.spaces[0], "iperf3", "-J", "-c", ADDRESSES[1], "-t",
                               str(seconds), *options, timeout=seconds + 40, check=False)
            got = json.loads(text)
            assert "error" not in got, got["error"]
            return got["end"]
        finally:
            try:
                server.wait(5)
            except subprocess.TimeoutExpired:
                server.kill()
                server.wait()

    def checksum_errors(self):
        """Checksum errors that the kernels counted, by name, if not zero."""
        found = {}
        for space in self.spaces:
            text = self.inside(space, "nstat", "-asz")
            for name, value in re.findall(r"^(\w*Csum\w*)\s+(\d+)", text, re.M):
                if int(value):
                    found[f"{space} {name}"] = int(value)
            assert "TcpInCsumErrors" in text and "UdpInCsumErrors" in text
        return found

# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 hvnet contributors
"""The laboratory of one test: a simulated host, testpmd as its guest, and their clean-up."""

import itertools
import json
import os
import re
import shutil
import signal
import subprocess
import time
from pathlib import Path

from hvdev import eal, lab, pmdparse
from hvdev.common import Fail, is_root, remove_tree
from hvdev.pmdtalk import PROMPT, Testpmd

DRIVER_NAMES = {"ours": "net_hv_netvsc", "upstream": "net_netvsc"}

# Memory modes: how the host understands guest addresses, and EAL's options.
MEMORY = {
    "pa": ("pa", ["--iova-mode=pa"]),
    "in-memory": ("pa", ["--iova-mode=pa", "--in-memory"]),
    "copy": ("none", ["--iova-mode=va"]),
    "va": ("va", ["--iova-mode=va"]),
    "no-huge": ("none", ["--iova-mode=va", "--no-huge", "-m", "512"]),
    "va-no-huge": ("va", ["--iova-mode=va", "--no-huge", "-m", "512"]),
}

# What the distribution's net_netvsc is known to do against the protocol (see EXPECTED_WHY).
EXPECTED_WHY = {}
SERIAL = itertools.count(1)
NOBODY = 65534


def upstream_assisted():
    """Whether upstream's driver needs its queue-info calls interposed."""
    return eal.dpdk_version() < (23, 11)


def wait_for(check, timeout, what):
    """Call `check` until it returns something true; its value."""
    deadline = time.monotonic() + timeout
    while True:
        value = check()
        if value:
            return value
        if time.monotonic() > deadline:
            raise AssertionError(f"{what}: not within {timeout:g} s")
        time.sleep(0.02)


def children(pid):
    """Direct and indirect children of a process."""
    found = []
    try:
        tasks = os.listdir(f"/proc/{pid}/task")
    except OSError:
        return found
    for task in tasks:
        try:
            words = Path(f"/proc/{pid}/task/{task}/children").read_text().split()
        except OSError:
            continue
        for word in words:
            found += [int(word), *children(int(word))]
    return found


def command_name(pid):
    """A process's name, or '' when it is gone."""
    try:
        return Path(f"/proc/{pid}/comm").read_text().strip()
    except OSError:
        return ""


def lcores(workers):
    """EAL's options for a main lcore and workers; several workers use every CPU."""
    if workers == 1:
        return eal.lcores(1)[0]
    cpus = sorted(os.sched_getaffinity(0))
    spec = [f"0@{cpus[0]}"] + [f"{i + 1}@{cpus[(i + 1) % len(cpus)]}" for i in range(workers)]
    return ["--lcores", ",".join(spec), "--main-lcore", "0"]


class Host(lab.Lab):
    """`hvsim serve`, started and ended by us; speaks the control protocol."""

    def __init__(self, build, nics, options, user=False):
        super().__init__(build, nics, options)
        # Whoever is no root is the ordinary user already.
        self.user = user and is_root()
        # The host's run folder then lies in ours, where what is left can be seen.
        self.env = dict(os.environ, XDG_RUNTIME_DIR=str(self.folder))
        self.proc = None
        if self.user:
            self.lend_to_user()
        self.log = self.folder / "host.log"

    def lend_to_user(self):
        """Copies of the programs where an ordinary user may run them."""
        source = self.hvsim.parent
        (self.folder / "bin/preload").mkdir(parents=True)
        shutil.copy(self.hvsim, self.folder / "bin")
        for lib in (source / "preload").glob("*.so"):
            shutil.copy(lib, self.folder / "bin/preload")
        self.hvsim = self.folder / "bin/hvsim"
        for path in [self.folder, *self.folder.rglob("*")]:
            os.chown(path, NOBODY, NOBODY)
        self.env["HOME"] = str(self.folder)

    def as_user(self, argv):
        """The command, run as the ordinary user if this is his laboratory."""
        if not self.user:
            return argv
        return ["setpriv", f"--reuid={NOBODY}", f"--regid={NOBODY}", "--clear-groups",
                "--inh-caps=-all", *argv]

    def start(self):
        """Start the host and wait until it answers."""
        argv = [str(self.hvsim), "serve", "--socket", str(self.socket), *self.options]
        for nic in self.nics:
            argv += ["--nic", nic]
        with open(self.log, "w", encoding="utf-8") as log:
            self.proc = subprocess.Popen(self.as_user(argv), stdin=subprocess.DEVNULL,
                                         stdout=log, stderr=log, env=self.env,
                                         start_new_session=True)
        wait_for(self.answers, 20, "hvsim serve")
        return self

    def answers(self):
        """Whether the control socket works; an ended host is an error at once."""
        if self.proc.poll() is not None:
            raise Fail(f"hvsim ended with {self.proc.returncode}: {self.text().strip()}")
        if not self.socket.exists():
            return False
        try:
            self.ctl("stats")
        except Fail:
            return False
        return True

    def text(self):
        """What the host has printed."""
        return self.log.read_text(errors="replace") if self.log.is_file() else ""

    def guids(self):
        """The VMBus device names of the NICs, in order."""
        return [nic["guid"] for nic in self.ctl("info")["nics"]]

    def kill(self):
        """kill -9."""
        self.proc.kill()
        self.proc.wait()

    def maps(self):
        """How many mappings the host has."""
        return len(Path(f"/proc/{self.proc.pid}/maps").read_text().splitlines())

    def fds(self):
        """How many descriptors the host has open."""
        return len(os.listdir(f"/proc/{self.proc.pid}/fd"))

    def end(self):
        """SIGTERM and wait; the exit status."""
        if self.proc is None:
            return 0
        if self.proc.poll() is None:
            self.proc.terminate()
            try:
                self.proc.wait(10)
            except subprocess.TimeoutExpired:
                self.proc.kill()
                self.proc.wait()
                raise AssertionError("hvsim did not end within 10 s of SIGTERM") from None
        return self.proc.returncode

    def left(self):
        """Files of an ended host that should be gone: socket and run folder."""
        own = {"host.log", "bin", "dpdk"}
        return [str(p) for p in self.folder.rglob("*")
                if p.relative_to(self.folder).parts[0] not in own]

    def end_clean(self):
        """End politely and be sure that nothing is left; then remove our folder."""
        try:
            status = self.end()
            left = self.left()
            assert status == 0, f"hvsim ended with {status}: {self.text()[-1000:]}"
            assert not left, f"hvsim left {left}"
        finally:
            self.close()


class Guest:
    """One testpmd inside the host's laboratory."""

    # pylint: disable=too-many-arguments
    def __init__(self, host, plugin, *, driver="ours", memory="pa", queues=1, txq=None,
                 workers=1, fwd="io", devargs="", args=(), eal_args=(), mbufs=None):
        self.host = host
        self.driver = driver
        self.rxq, self.txq = queues, queues if txq is None else txq
        self.prefix = f"hvnet{os.getpid()}-{next(SERIAL)}"
        cores = lcores(workers)
        top = max(self.rxq, self.txq)
        argv = ["dpdk-testpmd", *cores, "--file-prefix", self.prefix, "--no-telemetry",
                "--log-level=pmd.net.hv_netvsc:info", *MEMORY[memory][1], *eal_args]
        if driver == "ours":
            argv += ["-d", str(plugin.path)]
        if devargs:
            for guid in host.guids():
                argv += ["-a", f"{guid},{devargs}"]
        argv += ["--", "-i", f"--nb-cores={workers}", f"--rxq={self.rxq}",
                 f"--txq={self.txq}", f"--forward-mode={fwd}", "--no-flush-rx",
                 f"--total-num-mbufs={mbufs or 16384 + 1024 * top}", *args]
        run = [str(host.hvsim), "run", "--socket", str(host.socket)]
        if driver == "upstream" and upstream_assisted():
            run += ["--assist", "queue-info"]
            print("assisted: testpmd's queue-info calls are interposed")
        run += ["--", *argv]
        self.argv = host.as_user(run)
        self.talk = Testpmd(self.argv, host.env)

    def ready(self, timeout=60.0):
        """Wait for the prompt and check whose port it is."""
        self.talk.until_prompt("start-up", timeout)
        got = pmdparse.driver_name(self.command("show port info 0"))
        assert got == DRIVER_NAMES[self.driver], f"port 0 belongs to {got}: {self.text()[-2000:]}"
        return self

    def command(self, words, timeout=30.0):
        """A testpmd command's output."""
        return self.talk.command(words, timeout)

    def answers(self, words, timeout=30.0):
        """Whether a prompt follows a command, if other threads print too; False at the end."""
        seen = len(self.talk.text)
        try:
            os.write(self.talk.fd, (words + "\n").encode())
        except OSError:
            return False
        deadline = time.monotonic() + timeout
        while PROMPT not in self.talk.text[seen:]:
            if self.talk.read(0.2) is None:
                return False
            assert time.monotonic() < deadline, f"no prompt after '{words}': {self.text()[-2000:]}"
        return True

    def text(self):
        """Everything testpmd printed."""
        return self.talk.text

    def pid(self):
        """testpmd's own process id."""
        mine = [self.talk.proc.pid, *children(self.talk.proc.pid)]
        found = [p for p in mine if command_name(p).startswith("dpdk-testpmd")]
        return found[0] if found else None

    def xstats(self, port):
        """One port's extended statistics."""
        return pmdparse.xstats(self.command(f"show port xstats {port}"))

    def stats(self, port):
        """One port's basic statistics by testpmd's names."""
        text = self.command(f"show port stats {port}")
        return {k: int(v) for k, v in re.findall(r"([RT]X-[a-z]+):\s*(\d+)", text)}

    def quit(self):
        """Leave politely; the exit status."""
        return self.talk.quit()

    def kill(self):
        """kill -9 of testpmd itself."""
        pid = self.pid()
        if pid is not None:
            os.kill(pid, signal.SIGKILL)
        self.talk.proc.wait(15)

    def close(self):
        """End whatever still runs and remove EAL's files."""
        try:
            self.talk.close()
        finally:
            eal.clean_eal(self.prefix)
            if self.host.user:
                remove_tree(self.host.folder / "dpdk" / self.prefix)


class Lab:
    """Host and guests of a test; closes everything and then looks for what was left."""

    # pylint: disable=too-many-arguments
    def __init__(self, build, nics, *, driver="ours", mode="strict", memory="pa", poll=None,
                 user=False, expect=(), options=(), **guest):
        self.build = build
        self.driver = driver
        self.guest_args = dict(guest, driver=driver, memory=memory)
        opts = ["--mode", mode, "--gpa", MEMORY[memory][0], *options]
        if poll is not None:
            opts += ["--poll", poll]
        self.expect = sorted(set(expect) | set(EXPECTED_WHY if driver == "upstream" else ()))
        if self.expect:
            opts += ["--expect", ",".join(self.expect)]
        self.nics = list(nics)
        self.options = opts
        self.user = user and is_root()
        self.plugin = self.host = None
        self.guests = []

    def __enter__(self):
        if self.driver == "ours":
            self.plugin = eal.Plugin(self.build)
            if self.user:
                for path in (self.plugin.folder, self.plugin.path):
                    os.chown(path, NOBODY, NOBODY)
        try:
            self.start_host()
        except BaseException:
            self.close()
            raise
        return self

    def start_host(self):
        """The host, or the host anew in the same folder after the old one was killed."""
        if self.host is None:
            self.host = Host(self.build, self.nics, self.options, self.user)
        return self.host.start()

    def launch(self, **changes):
        """A guest on this host that has just been started."""
        guest = Guest(self.host, self.plugin, **{**self.guest_args, **changes})
        self.guests.append(guest)
        return guest

    def start(self, **changes):
        """A guest on this host, at its prompt."""
        return self.launch(**changes).ready()

    def forget(self, guest):
        """Close a guest that is no longer of interest."""
        self.guests.remove(guest)
        guest.close()

    def violations(self):
        """What the judge has seen beyond what is expected of this driver."""
        seen = self.host.violations()
        known = [v for v in seen if v["name"] in self.expect]
        if known:
            print("expected violations:", json.dumps(known))
        return [v for v in seen if v["name"] not in self.expect]

    def check(self):
        """No violation, and the host alive."""
        assert self.host.proc.poll() is None, f"hvsim ended: {self.host.text()[-2000:]}"
        assert self.violations() == []

    def show(self):
        """For the report of a failed test."""
        for guest in self.guests:
            print(f"--- testpmd: {' '.join(guest.argv)}\n{guest.text()[-6000:]}")
        if self.host is not None:
            print(f"--- hvsim {' '.join(self.host.options)}\n{self.host.text()[-3000:]}")
            try:
                print(json.dumps(self.host.ctl("stats"))[:6000])
                print(json.dumps(self.host.violations()))
            except (Fail, OSError):
                pass

    def close(self):
        """End all; each step is taken even if one before fails."""
        steps = [guest.close for guest in reversed(self.guests)]
        if self.host is not None:
            steps.append(self.host.end_clean)
        if self.plugin is not None:
            steps.append(self.plugin.close)
        errors = []
        for step in steps:
            try:
                step()
            except Exception as exc:  # pylint: disable=broad-except
                errors.append(f"{exc.__class__.__name__}: {exc}")
        return errors

    def __exit__(self, kind, exc, trace):
        if kind is None:
            try:
                self.check()
            except BaseException:
                self.show()
                self.close()
                raise
        else:
            self.show()
        errors = self.close()
        if kind is None:
            assert not errors, errors

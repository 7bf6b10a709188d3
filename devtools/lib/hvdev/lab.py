# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 hvnet contributors
"""The simulated host as the developer commands see it: command line and control socket."""

import json
import subprocess
from pathlib import Path

from hvdev.common import Fail, private_dir, remove_tree

# Short names of wires for --wire; anything with a colon or `=` is passed on as it is.
WIRES = {
    "gen": "gen:size=64:flows=256",
    "tap": "tap:name=hv0",
    "loop": "loop",
    "sink": "sink",
}


class Lab:
    """One hvsim with one guest: builds the command, asks for results, cleans up."""

    def __init__(self, build, nics, options=()):
        self.hvsim = Path(build) / "app/hvsim/hvsim"
        if not self.hvsim.is_file():
            raise Fail(f"{self.hvsim} is missing; build it with ninja -C {build}")
        self.folder = private_dir("lab")
        self.socket = self.folder / "hvsim.sock"
        self.options = list(options)
        self.nics = list(nics)

    def argv(self, guest):
        """The command that runs `guest` on the simulated host."""
        argv = [str(self.hvsim), "--socket", str(self.socket), *self.options]
        for nic in self.nics:
            argv += ["--nic", nic]
        return [*argv, "--", *guest]

    def ctl(self, *words):
        """Ask the host; returns the decoded JSON."""
        argv = [str(self.hvsim), "ctl", "--socket", str(self.socket), *words, "--json"]
        try:
            done = subprocess.run(argv, text=True, stdin=subprocess.DEVNULL, timeout=10,
                                  stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False)
        except subprocess.TimeoutExpired as exc:
            raise Fail(f"hvsim gave no answer to '{' '.join(words)}' in 10 s") from exc
        if done.returncode != 0:
            text = (done.stderr.strip() or done.stdout.strip() or "no message").splitlines()[-1]
            raise Fail(f"hvsim ctl {' '.join(words)}: {text}")
        try:
            return json.loads(done.stdout)
        except json.JSONDecodeError as exc:
            raise Fail(f"hvsim ctl {' '.join(words)} gave no JSON: {exc}") from exc

    def violations(self):
        """Violations that occurred, as a list of objects."""
        return [v for v in self.ctl("violations").get("violations", []) if v.get("count")]

    def stats(self):
        """Statistics of all NICs."""
        return self.ctl("stats").get("nics", [])

    def close(self):
        """Remove the socket's folder."""
        remove_tree(self.folder)


def wire_spec(text):
    """A wire in hvsim's words for a short name or a full description."""
    if text in WIRES:
        return WIRES[text]
    if text.split(":")[0] in ("gen", "tap", "loop", "sink", "pair", "pcap"):
        return text
    raise Fail(f"unknown wire '{text}'; one of {', '.join(WIRES)}, or hvsim's own words, "
               "for example tap:name=hv0:queues=4")


def queue_policy(build, channels):
    """What the queue policy says about this machine (app/hvqueues)."""
    tool = Path(build) / "app/hvqueues/hvqueues"
    if not tool.is_file():
        raise Fail(f"{tool} is missing; give a number with --queues, or build it")
    done = subprocess.run([str(tool), "--channels", str(channels), "--json"], text=True,
                          stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, check=False)
    if done.returncode != 0:
        raise Fail(f"hvqueues failed: {(done.stderr.strip() or 'no message').splitlines()[-1]}")
    try:
        return json.loads(done.stdout)
    except json.JSONDecodeError as exc:
        raise Fail(f"hvqueues gave no JSON: {exc}") from exc

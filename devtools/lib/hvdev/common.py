# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 hvnet contributors
"""Paths, messages and small helpers that all developer commands use."""

import argparse
import os
import shutil
import stat
import sys
import tempfile
import time
from pathlib import Path

TOP = Path(os.environ.get("HVNET_TOP") or Path(__file__).resolve().parents[3])


class Fail(Exception):
    """An error for the user: one line with cause and remedy."""


class Arguments(argparse.ArgumentParser):
    """A command line whose errors are one line like all others."""

    def __init__(self, **words):
        super().__init__(allow_abbrev=False, **words)

    def error(self, message):
        raise Fail(f"{message}; see {self.prog} --help")


def say(text):
    """Print a line at once, also into a pipe."""
    print(text, flush=True)


def is_root():
    """Whether this process runs as root."""
    return os.geteuid() == 0


def build_dir(option=None):
    """The build folder: the option, else $HVNET_BUILD, else build/."""
    return Path(option or os.environ.get("HVNET_BUILD") or TOP / "build").resolve()


def world_writable_parent(path):
    """The first folder from `path` upwards that everybody may write, or None."""
    path = Path(path).resolve()
    for folder in [path, *path.parents]:
        if folder.stat().st_mode & stat.S_IWOTH:
            return folder
    return None


def private_places():
    """Where private folders may lie, the best first."""
    places = [Path(f"/run/user/{os.geteuid()}"), Path("/run")]
    home = os.environ.get("HOME")
    return places + ([Path(home) / ".cache"] if home else [])


def need_private_place():
    """Fail before the long work when private_dir() could make no folder."""
    remove_tree(private_dir("test"))


def need_writable(option, path):
    """Fail before the long work when the file that an option names cannot be written."""
    fresh = not os.path.exists(path)
    try:
        with open(path, "a", encoding="utf-8"):
            pass
        if fresh:
            os.unlink(path)
    except OSError as exc:
        raise Fail(f"{option} {path}: {exc.strerror}; name a file you may write") from exc


def private_dir(kind):
    """Make a folder of mode 0700 below no world-writable one; the caller removes it.

    EAL refuses to load a plugin from below a world-writable folder.  The name holds this
    process's id, so that a later run can tell what a killed one left (clean_private).
    """
    for place in private_places():
        try:
            if place.name == ".cache":
                place.mkdir(mode=0o700, parents=True, exist_ok=True)
            if place.is_dir() and world_writable_parent(place) is None:
                return Path(tempfile.mkdtemp(prefix=f"hvnet-{os.getpid()}-{kind}-", dir=place))
        except OSError:
            continue
    raise Fail("no folder for the plugin, which DPDK refuses below one that everybody may write; "
               "tried " + ", ".join(map(str, private_places()))
               + "; set HOME to a folder of your own that is not below such a one")


def stale_private_dirs():
    """Private folders whose process is gone."""
    found = []
    for place in private_places():
        for path in place.glob("hvnet-*-*-*") if place.is_dir() else ():
            pid = path.name.split("-")[1]
            if pid.isdigit() and not Path(f"/proc/{pid}").exists():
                found.append(path)
    return found


def clean_private():
    """Remove the private folders of processes that are gone."""
    for path in stale_private_dirs():
        remove_tree(path)


def remove_tree(path):
    """Remove a folder and what is in it, if it is there."""
    shutil.rmtree(path, ignore_errors=True)


def own_time():
    """(seconds since the command began without downloads, seconds of downloads)."""
    downloads = float(os.environ.get("HVNET_DOWNLOAD_S") or 0)
    started = float(os.environ.get("HVNET_STARTED") or time.time())
    return max(0.0, time.time() - started - downloads), downloads


def run_main(func):
    """Run a command's main function; turn its errors into one line and a status."""
    try:
        status = func()
    except Fail as exc:
        print(f"error: {exc}", file=sys.stderr, flush=True)
        status = 1
    except KeyboardInterrupt:
        print("error: interrupted", file=sys.stderr, flush=True)
        status = 130
    except BrokenPipeError:
        # Whoever read the output has enough; what is still buffered must not complain either.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        status = 141
    sys.exit(status)

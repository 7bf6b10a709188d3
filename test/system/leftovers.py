# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 hvnet contributors
"""What a run may leave on the machine, listed before and after so that both can be compared."""

import glob
import os
from pathlib import Path

from hvdev import eal

def interfaces(prefix):
    """Network interfaces with that prefix."""
    return {n for n in os.listdir("/sys/class/net") if n.startswith(prefix)}


def namespaces(prefix):
    """Network namespaces with that prefix."""
    folder = "/run/netns"
    return {n for n in os.listdir(folder) if n.startswith(prefix)} \
        if os.path.isdir(folder) else set()


def hugepage_files(prefix):
    """Hugepage files of an EAL file prefix."""
    return {p for mount in eal.huge_mounts()
            for p in glob.glob(f"{glob.escape(mount)}/{prefix}*")}


def session_processes():
    """Live processes that carry our mark in their environment."""
    mark = f"HVNET_TEST_MARK={os.getpid()}".encode()
    found = {}
    for name in filter(str.isdigit, os.listdir("/proc")):
        if int(name) == os.getpid():
            continue
        try:
            if mark in Path(f"/proc/{name}/environ").read_bytes().split(b"\0"):
                state = Path(f"/proc/{name}/stat").read_text().rsplit(")", 1)[1].split()[0]
                if state != "Z":
                    text = Path(f"/proc/{name}/cmdline").read_bytes().replace(b"\0", b" ")
                    found[int(name)] = text.decode(errors="replace").strip()
        except (OSError, IndexError):
            continue
    return found

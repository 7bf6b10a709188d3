# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 hvnet contributors
"""How a DPDK process is started here: CPUs, memory mode, plugin, and its clean-up."""

import glob
import mmap
import os
import re
import shutil
import struct
import subprocess
from pathlib import Path

from hvdev.common import Fail, clean_private, is_root, private_dir, remove_tree

PLUGIN = "librte_net_hv_netvsc.so"
HUGE_DIR = Path("/sys/kernel/mm/hugepages/hugepages-2048kB")
HUGE_NEEDED = 160


def dpdk_version():
    """The distribution's DPDK version as a tuple, e.g. (22, 11, 11)."""
    done = subprocess.run(["pkg-config", "--modversion", "libdpdk"], text=True,
                          stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, check=False)
    numbers = re.findall(r"\d+", done.stdout)
    if len(numbers) < 2:
        raise Fail("pkg-config finds no libdpdk; run devtools/setup")
    return tuple(int(x) for x in numbers[:3])


def sees_frames():
    """Whether this process may learn its pages' physical addresses."""
    page = mmap.mmap(-1, mmap.PAGESIZE)
    try:
        page[0] = 1
        with open("/proc/self/maps", encoding="utf-8") as maps:
            ranges = [line.split("-")[0] for line in maps if "/dev/zero" in line]
        with open("/proc/self/pagemap", "rb") as pagemap:
            for start in ranges:
                pagemap.seek(int(start, 16) // mmap.PAGESIZE * 8)
                entry = struct.unpack("Q", pagemap.read(8))[0]
                if entry >> 63 and entry & ((1 << 55) - 1):
                    return True
    except (OSError, struct.error):
        pass
    finally:
        page.close()
    return False


def huge_mounts():
    """Mount points of hugetlbfs."""
    with open("/proc/mounts", encoding="utf-8") as mounts:
        return [f[1] for f in map(str.split, mounts) if f[2] == "hugetlbfs"]


def free_hugepages():
    """How many 2 MiB hugepages are free."""
    try:
        return int((HUGE_DIR / "free_hugepages").read_text())
    except (OSError, ValueError):
        return 0


class Memory:
    """The memory mode of a run: EAL options, host's --gpa, and why not the best one."""

    def __init__(self, driver, no_huge=False):
        self.reason = None
        if no_huge:
            self.reason = "asked for"
        elif not is_root():
            self.reason = "not root"
        elif not huge_mounts():
            self.reason = "no hugetlbfs is mounted"
        elif free_hugepages() < HUGE_NEEDED:
            self.reason = f"{free_hugepages()} of {HUGE_NEEDED} hugepages free"
        self.huge = self.reason is None
        physical = self.huge and sees_frames()
        if self.huge and not physical:
            self.reason = "physical addresses are hidden"
        self.gpa = "pa" if physical else "none" if driver == "ours" else "va"
        self.args = ["--iova-mode=pa" if physical else "--iova-mode=va"]
        if not self.huge:
            self.args += ["--no-huge", "-m", "512"]

    def text(self):
        """One line for the table."""
        name = "hugepages" if self.huge else "--no-huge"
        where = {"pa": "physical addresses", "va": "virtual addresses",
                 "none": "copy-only"}[self.gpa]
        return f"{name}, {where}" + (f" ({self.reason})" if self.reason else "")


def lcores(workers=1):
    """(EAL options, host's CPU, remark): main lcore and host share the first CPU."""
    cpus = sorted(os.sched_getaffinity(0))
    if len(cpus) < 2:
        spec = ",".join(f"{i}@{cpus[0]}" for i in range(workers + 1))
        return (["--lcores", spec, "--main-lcore", "0"], cpus[0],
                "one CPU only: host and forwarding share it, the figures mean little")
    spec = ["0@%d" % cpus[0]]
    spec += ["%d@%d" % (i + 1, cpus[1 + i % (len(cpus) - 1)]) for i in range(workers)]
    remark = None
    if workers > len(cpus) - 1:
        remark = f"{workers} forwarding lcores share {len(cpus) - 1} CPUs"
    return ["--lcores", ",".join(spec), "--main-lcore", "0"], cpus[0], remark


class Plugin:
    """A private copy of the built plugin, which EAL agrees to load."""

    def __init__(self, build):
        built = Path(build) / "drivers/net/netvsc" / PLUGIN
        if not built.is_file():
            raise Fail(f"{built} is missing; build it with ninja -C {build}")
        self.folder = private_dir("plugin")
        self.path = self.folder / PLUGIN
        shutil.copyfile(built, self.path)
        self.path.chmod(0o600)

    def close(self):
        """Remove the copy."""
        remove_tree(self.folder)


def environment(folder):
    """Environment of a guest: an ordinary user's EAL gets a runtime folder of its own.

    Without one it would be /tmp/dpdk, which belongs to whoever ran a DPDK program first.
    """
    if is_root() or os.environ.get("XDG_RUNTIME_DIR"):
        return None
    return dict(os.environ, XDG_RUNTIME_DIR=str(folder))


def clean_eal(prefix):
    """Remove what an EAL with this file prefix left: hugepage files, runtime folder."""
    for mount in huge_mounts():
        for path in glob.glob(f"{glob.escape(mount)}/{prefix}map_*"):
            try:
                os.unlink(path)
            except OSError:
                pass
    runtime = [os.environ.get("XDG_RUNTIME_DIR"), "/run", "/tmp"]
    for place in filter(None, runtime):
        remove_tree(Path(place) / "dpdk" / prefix)


def clean_stale(prefix="hvnet"):
    """Remove what runs of ours left whose process (its id follows the prefix) is gone."""
    clean_private()
    names = set()
    for mount in huge_mounts():
        names |= {re.sub(r"map_\d+$", "", os.path.basename(p))
                  for p in glob.glob(f"{glob.escape(mount)}/{prefix}*map_*")}
    for place in ("/run", "/tmp", os.environ.get("XDG_RUNTIME_DIR") or "/run"):
        names |= {os.path.basename(p) for p in glob.glob(f"{place}/dpdk/{prefix}*")}
    for name in names:
        match = re.fullmatch(re.escape(prefix) + r"(\d+)(-\d+)?", name)
        if match and not Path(f"/proc/{match.group(1)}").exists():
            clean_eal(name)

# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 hvnet contributors
"""Fixtures of the end-to-end tests: the build, the laboratory, and a look at what was left."""

import os
import shutil
import signal
import sys
from pathlib import Path

import pytest

TOP = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(TOP / "devtools/lib"))
sys.path.insert(0, str(Path(__file__).resolve().parent))
sys.dont_write_bytecode = True

# pylint: disable=wrong-import-position
import leftovers  # noqa: E402
from hvdev import eal  # noqa: E402
from hvdev.common import build_dir, is_root  # noqa: E402
from labkit import MEMORY, Lab, wait_for  # noqa: E402

# Children inherit it: what is left of a test can be found by it.
os.environ["HVNET_TEST_MARK"] = str(os.getpid())


@pytest.fixture(scope="session", name="build")
def fixture_build():
    """The build folder with simulator and plugin in it."""
    build = build_dir()
    for part in ("app/hvsim/hvsim", f"drivers/net/netvsc/{eal.PLUGIN}"):
        if not (build / part).is_file():
            pytest.fail(f"{build / part} is missing; build first: ninja -C {build}")
    if shutil.which("dpdk-testpmd") is None:
        pytest.fail("dpdk-testpmd is not installed; run devtools/setup")
    return build


@pytest.fixture(autouse=True, name="clean")
def fixture_clean():
    """Nothing of a test may be left: processes, TAPs, namespaces, hugepage files."""
    yield
    try:
        wait_for(lambda: not leftovers.session_processes(), 5, "processes of the test ended")
    except AssertionError:
        alive = leftovers.session_processes()
        for pid in alive:
            os.kill(pid, signal.SIGKILL)
        pytest.fail(f"processes left behind: {alive}")
    assert not leftovers.hugepage_files(f"hvnet{os.getpid()}")
    assert not leftovers.interfaces(f"hv{os.getpid()}")
    assert not leftovers.namespaces(f"hvnet-{os.getpid()}-")


@pytest.fixture(name="lab")
def fixture_lab(build):
    """A function that makes the laboratory (a context manager) after checking its needs."""
    def make(nics, **kwargs):
        memory = kwargs.get("memory", "pa")
        if "no-huge" not in memory:
            if not is_root() or not eal.huge_mounts():
                pytest.skip("needs root and hugepages")
            if eal.free_hugepages() < 128:
                pytest.skip(f"needs 128 free hugepages, {eal.free_hugepages()} are there")
        if MEMORY[memory][0] == "pa" and not eal.sees_frames():
            pytest.skip("physical addresses are hidden from this process")
        return Lab(build, nics, **kwargs)

    return make

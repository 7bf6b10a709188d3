# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 hvnet contributors
"""devtools/setup: its options, and its parts around a pretended machine."""

import subprocess
from pathlib import Path

import pytest

LIB = Path(__file__).resolve().parents[1] / "lib"
SETUP = LIB.parent / "setup"

# The parts speak through these functions of devtools/setup.
PRELUDE = """
set -u
check=no quiet=no top=$PWD driver_sdk=
say() { echo "say $*"; }
note() { echo "note $*"; }
warn() { echo "warn $*"; }
fail() { echo "fail $*"; exit 1; }
missing() { [ "$check" = yes ] || fail "$*"; echo "missing $*"; }
is_root() { [ "${ROOT:-yes}" = yes ]; }
"""


def shell(part, script, cwd, **env):
    """Run a script after a part of setup has been read in."""
    text = PRELUDE + f". '{LIB}/setup-{part}.sh'\n" + script
    return subprocess.run(["bash", "-c", text], text=True, cwd=cwd, stdin=subprocess.DEVNULL,
                          env={"PATH": "/usr/sbin:/usr/bin:/sbin:/bin", **env},
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False).stdout


@pytest.mark.parametrize("args, words", [
    (["--fast"], "unknown option '--fast'"), (["--driver-sdk"], "needs a PATH"),
    (["--check", "--no-hugepages", "--driver-sdk", "/nowhere"], "/nowhere")])
def test_bad_options_are_one_line(args, words):
    done = subprocess.run([str(SETUP), "-q", *args], text=True, stdin=subprocess.DEVNULL,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False)
    assert done.returncode == 1 and words in done.stderr and done.stderr.count("\n") == 1


def test_missing_packages_are_listed(tmp_path):
    script = """dpkg-query() { printf '%s\\n' 'gcc installed' 'libdpdk-dev:amd64 installed' \\
        'iperf3 config-files'; }
    packages_missing gcc libdpdk-dev iperf3 meson"""
    assert shell("packages", script, tmp_path).split() == ["iperf3", "meson"]


def test_ordinary_user_is_told_which_packages(tmp_path):
    out = shell("packages", "packages_missing() { echo 'meson '; }\nsetup_packages", tmp_path,
                ROOT="no")
    assert out == "fail packages missing: meson; as root run devtools/setup\n"


def hugepages(folder, free, total, script="setup_hugepages", **env):
    """Run the hugepage part on a pretended kernel; returns (output, pages in the end)."""
    (folder / "free_hugepages").write_text(f"{free}\n")
    (folder / "nr_hugepages").write_text(f"{total}\n")
    before = "pages_dir=$PWD\nhugetlbfs_mounted() { true; }\n"
    out = shell("hugepages", before + script, folder, **env)
    return out, int((folder / "nr_hugepages").read_text())


def test_enough_hugepages_are_left_alone(tmp_path):
    assert hugepages(tmp_path, 512, 600) == (
        "note hugepages: 512 of 2 MiB free, hugetlbfs mounted\n", 600)


def test_too_few_hugepages_are_reserved(tmp_path):
    _, total = hugepages(tmp_path, 500, 600)
    assert total == 612


def test_hugepages_are_not_reserved_without_end(tmp_path):
    out, total = hugepages(tmp_path, 0, 2048)
    assert total == 2048 and out.startswith("warn hugepages: only 0 of 512")


def test_check_and_ordinary_user_change_no_hugepages(tmp_path):
    out, total = hugepages(tmp_path, 1, 1, "check=yes\nsetup_hugepages")
    assert out.startswith("missing hugepages") and total == 1
    out, total = hugepages(tmp_path, 1, 1, ROOT="no")
    assert out.startswith("warn hugepages") and "--no-huge" in out and total == 1


def test_kernel_without_hugepages_goes_on(tmp_path):
    out = shell("hugepages", "pages_dir=$PWD/none\nsetup_hugepages", tmp_path)
    assert out.startswith("warn hugepages: this kernel has none")


@pytest.mark.parametrize("version, words", [
    ("22.11.11", "note driver SDK"), ("23.11.1", "fail driver SDK")])
def test_user_sdk_must_be_of_the_installed_version(tmp_path, version, words):
    (tmp_path / "sdk/include").mkdir(parents=True)
    (tmp_path / "sdk/include/bus_vmbus_driver.h").write_text("")
    (tmp_path / "sdk/VERSION").write_text(version + "\n")
    out = shell("sdk", "driver_sdk=$PWD/sdk\ncheck_user_sdk 22.11.11", tmp_path)
    assert out.startswith(words)

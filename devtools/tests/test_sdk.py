# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 hvnet contributors
"""The package sources that the SDK fetch derives from the system's."""

import pytest

from hvdev import sdk

DEBIAN = """Types: deb
# a comment
URIs: http://deb.example/debian/
Suites: bookworm bookworm-updates
Components: main
Signed-By: /usr/share/keyrings/debian-archive-keyring.gpg

Types: deb
Enabled: no
URIs: http://off.example/debian
Suites: bookworm
Components: main

Types: deb deb-src
URIs: http://third.example/repo
Suites: stable
Components: main
Signed-By:
 -----BEGIN PGP PUBLIC KEY BLOCK-----
 .
 abc
 -----END PGP PUBLIC KEY BLOCK-----
"""
UBUNTU = """# deb http://no.example/ubuntu jammy main
deb [arch=amd64 signed-by=/k.gpg] http://arch.example/ubuntu noble main universe
deb-src http://arch.example/ubuntu noble main
deb [arch=amd64] http://arch.example/ubuntu noble-updates main
deb http://other.example/x ./
"""


def test_deb822_takes_enabled_binary_stanzas():
    out = sdk.src_from_deb822(DEBIAN, set())
    assert len(out) == 2
    assert all(stanza.startswith("Types: deb-src\n") for stanza in out)
    assert "Suites: bookworm bookworm-updates" in out[0] and "# a" not in out[0]
    assert out[1].endswith("-----END PGP PUBLIC KEY BLOCK-----")


def test_deb822_keeps_only_archives_that_offer_dpdk():
    out = sdk.src_from_deb822(DEBIAN, {"http://deb.example/debian"})
    assert len(out) == 1 and "deb.example" in out[0]


def test_one_line_format():
    out = sdk.src_from_one_line(UBUNTU, {"http://arch.example/ubuntu"})
    assert out == [
        "deb-src [ signed-by=/k.gpg] http://arch.example/ubuntu noble main universe",
        "deb-src http://arch.example/ubuntu noble-updates main"]


def test_sources_of_both_formats(tmp_path):
    (tmp_path / "sources.list.d").mkdir()
    (tmp_path / "sources.list").write_text(UBUNTU)
    (tmp_path / "sources.list.d/a.sources").write_text(DEBIAN)
    (tmp_path / "sources.list.d/b.list.disabled").write_text(UBUNTU)
    deb822, lines = sdk.collect_sources(tmp_path, set())
    assert len(deb822) == 2 and len(lines) == 3


def test_no_sources_is_one_line_with_a_remedy(tmp_path):
    (tmp_path / "sources.list.d").mkdir()
    with pytest.raises(sdk.SdkError, match="driver_sdk"):
        sdk.write_apt_conf(tmp_path / "base", tmp_path)


def test_headers_are_those_the_build_files_name(tmp_path):
    eal = tmp_path / "lib/eal/include"
    vmbus = tmp_path / "drivers/bus/vmbus"
    for folder, text, names in (
            (eal, "driver_sdk_headers = files(\n 'bus_driver.h',\n 'absent.h')\n",
             ["bus_driver.h", "rte_eal.h"]),
            (vmbus, "headers = files('rte_bus_vmbus.h')\n"
                    "driver_sdk_headers += files('bus_vmbus_driver.h')\n",
             ["rte_bus_vmbus.h", "bus_vmbus_driver.h"])):
        folder.mkdir(parents=True)
        (folder / "meson.build").write_text(text)
        for name in names:
            (folder / name).write_text("")
    assert sorted(p.name for p in sdk.sdk_headers(tmp_path)) == [
        "bus_driver.h", "bus_vmbus_driver.h"]

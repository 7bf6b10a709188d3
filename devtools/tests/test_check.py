# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 hvnet contributors
"""Each rule of devtools/check finds what breaks it, and nothing else."""

from pathlib import Path

import pytest

from hvdev import checkbin, checktext

HEAD = ("/* SPDX-License-Identifier: BSD-3-Clause\n"
        " * Copyright (c) 2026 hvnet contributors\n */\n")


def findings(rule, top, name, text):
    """What a rule says about one file."""
    path = top / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    return [text for _, text in getattr(checktext, "check_" + rule)(Path(name), top)]


@pytest.mark.parametrize("text, word", [
    ("int a;\n", "SPDX"), (HEAD + "int a; \n", "space at the end"),
    (HEAD + "        int a;\n", "spaces"), (HEAD + "int " + "a" * 100 + ";\n", "columns"),
    (HEAD + "int a;", "no newline")])
def test_format(tmp_path, text, word):
    found = findings("format", tmp_path, "lib/hvwire/a.c", text)
    assert len(found) == 1 and word in found[0]


def test_clean_file_has_no_findings(tmp_path):
    text = HEAD + "\n#include <stdint.h>\n\nint\nhvw_a(void)\n{\n\treturn 0;\n}\n"
    for rule in ("format", "words", "layers", "size"):
        assert not findings(rule, tmp_path, "lib/hvwire/a.c", text)


@pytest.mark.parametrize("name, include", [
    ("lib/hvwire/a.h", "<rte_ethdev.h>"), ("app/hvsim/a.c", "<rte_mbuf.h>"),
    ("app/hvsim/a.c", '"../../drivers/net/netvsc/hvn_rx.h"'),
    ("drivers/net/netvsc/hvn_rx.c", '"../../../app/hvsim/judge.h"'),
    ("drivers/net/netvsc/hvn_nvsp.c", "<ethdev_driver.h>"),
    ("lib/hvwire/a.c", "<vmring/vmring.h>")])
def test_layers(tmp_path, name, include):
    for header in ("drivers/net/netvsc/hvn_rx.h", "app/hvsim/judge.h", "lib/vmring/vmring.h"):
        (tmp_path / header).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / header).write_text("")
    assert len(findings("layers", tmp_path, name, f"#include {include}\n")) == 1


@pytest.mark.parametrize("name, include", [
    ("drivers/net/netvsc/hvn_rx.c", "<rte_ethdev.h>"), ("app/hvsim/a.c", "<hvwire/vmbus.h>"),
    ("lib/vmring/a.c", "<hvwire/vmbus.h>")])
def test_layers_that_look_down(tmp_path, name, include):
    (tmp_path / "lib/hvwire").mkdir(parents=True)
    (tmp_path / "lib/hvwire/vmbus.h").write_text("")
    assert not findings("layers", tmp_path, name, f"#include {include}\n")


@pytest.mark.parametrize("name, start, line, end", [
    ("a.c", "static int\nhvn_f(int a,\n\tint b)\n{\n", "\ta++;\n", "}\n"),
    ("a.py", "def f():\n", "    a = 1\n", ""), ("a.sh", "f()\n{\n", "\ta=1\n", "}\n")])
def test_function_length(tmp_path, name, start, line, end):
    used = len((start + end).split("\n")) - 1 - (1 if name == "a.c" else 0)
    fits = start + line * (60 - used) + end
    assert not findings("size", tmp_path, name, fits)
    assert len(findings("size", tmp_path, name, start + line * (61 - used) + end)) == 1


def test_file_length(tmp_path):
    assert not findings("size", tmp_path, "a.c", "\n" * 600)
    assert len(findings("size", tmp_path, "a.c", "\n" * 601)) == 1


def test_words(tmp_path):
    assert len(findings("words", tmp_path, "a.md", "see " + checktext.FORBIDDEN[0] + "x\n")) == 1


@pytest.mark.parametrize("name, ours", [
    ("hvn_rx_burst", True), ("vmring_open", True), ("hvq_default", True), ("hn_rx", False),
    ("netvsc_probe", False), ("vmbus_chan_open", False)])
def test_symbol_prefixes(name, ours):
    assert bool(checkbin.OURS.match(name)) is ours

# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 hvnet contributors
"""House rules that need only a file's text: format, words, layers, size."""

import ast
import re
from pathlib import Path

MAX_COLUMNS = 100
MAX_FILE = 600
MAX_FUNCTION = 60
SPDX = "SPDX-License-Identifier: BSD-3-Clause"
OWNER = "Copyright (c) 2026 hvnet contributors"

# Written in two parts, so that this file does not break the rule itself.
FORBIDDEN = ("/wo" + "rk/", "deb.deb" + "ian.org", "registry.np" + "mjs.org", "pypi." + "org",
             "snapshot.deb" + "ian.org", "proxy.gol" + "ang.org")

# Folder -> the folders that it may include from.
LAYERS = {
    "lib/hvwire": ("lib/hvwire",),
    "lib/vmring": ("lib/vmring", "lib/hvwire"),
    "lib/hvqueues": ("lib/hvqueues",),
    "drivers/net/netvsc": ("drivers/net/netvsc", "lib"),
    "drivers/net/mana": ("drivers/net/mana", "lib"),
    "app/hvsim": ("app/hvsim", "lib"),
    "app/hvqueues": ("app/hvqueues", "lib"),
}
# No DPDK header at all below the driver, and none in the simulator.
NO_DPDK = ("lib/", "app/")
DPDK_HEADER = re.compile(r"(rte_|ethdev_|bus_\w+_driver|dev_driver|cmdline)")
# The driver's lower layers know no ethdev.
NO_ETHDEV = re.compile(r"drivers/net/netvsc/hvn_(nvsp|rndis|channel|session)\.[ch]$")
INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^>"]+)[>"]', re.M)
INCLUDE_DIRS = ("lib", "app/hvsim", "drivers/net/netvsc", "drivers/net/mana")


def language(path):
    """c, py, sh, meson or None, by name and first line."""
    suffix = {".c": "c", ".h": "c", ".py": "py", ".sh": "sh"}.get(path.suffix)
    if suffix or path.name in ("meson.build", "meson_options.txt"):
        return suffix or "meson"
    if path.suffix:
        return None
    with open(path, "rb") as file:
        first = file.readline(80)
    if not first.startswith(b"#!"):
        return None
    return "py" if b"python" in first else "sh" if b"sh" in first else None


def read(path, top):
    """(language, text) of a file that has rules, else (None, '')."""
    lang = language(top / path)
    if lang is None:
        return None, ""
    return lang, (top / path).read_text(encoding="utf-8", errors="replace")


def check_format(path, top):
    """Licence lines, width, indentation, stray spaces."""
    lang, text = read(path, top)
    if lang is None:
        return
    lines = text.split("\n")
    head = "\n".join(lines[:6])
    if SPDX not in head or OWNER not in head:
        yield str(path), "the SPDX and copyright lines are missing at the top"
    if text and not text.endswith("\n"):
        yield f"{path}:{len(lines)}", "no newline at the end"
    for number, line in enumerate(lines, 1):
        if len(line.expandtabs(8)) > MAX_COLUMNS:
            yield f"{path}:{number}", f"{len(line.expandtabs(8))} columns, {MAX_COLUMNS} allowed"
        if line != line.rstrip():
            yield f"{path}:{number}", "space at the end of the line"
        if lang == "c" and re.match(r"\t* {8}", line):
            yield f"{path}:{number}", "indented with spaces; use tabs"
        if lang == "py" and line.startswith("\t"):
            yield f"{path}:{number}", "indented with a tab; Python uses spaces"


def check_words(path, top):
    """Names of places that mean nothing outside where they were written."""
    try:
        text = (top / path).read_text(encoding="utf-8")
    except UnicodeDecodeError:
        return
    for number, line in enumerate(text.split("\n"), 1):
        for word in FORBIDDEN:
            if word in line:
                yield f"{path}:{number}", f"'{word}' does not belong in the project"


def area_of(path):
    """The layer's folder that a path lies in, or None."""
    for folder in LAYERS:
        if str(path).startswith(folder + "/"):
            return folder
    return None


def resolve(path, name, quoted, top):
    """The project's header that an include means, relative to the top, or None."""
    places = [path.parent] if quoted else []
    for place in places + [Path(d) for d in INCLUDE_DIRS]:
        found = (top / place / name).resolve()
        if found.is_file() and top.resolve() in found.parents:
            return found.relative_to(top.resolve())
    return None


def check_layers(path, top):
    """Includes look down only."""
    area = area_of(path)
    if area is None or path.suffix not in (".c", ".h"):
        return
    text = (top / path).read_text(encoding="utf-8", errors="replace")
    for match in INCLUDE.finditer(text):
        place = f"{path}:{text.count(chr(10), 0, match.start()) + 1}"
        name = match.group(2)
        found = resolve(path, name, match.group(1) == '"', top)
        if found is not None and not any(str(found).startswith(d + "/") for d in LAYERS[area]):
            yield place, f"{area} must not include {found}"
        elif found is None and "drivers/" in name and area != "drivers/net/netvsc":
            yield place, f"{area} must not include {name}"
        elif found is None and area.startswith(NO_DPDK) and DPDK_HEADER.match(name):
            yield place, f"{area} must not include DPDK's {name}"
        elif NO_ETHDEV.search(str(path)) and re.match(r"(rte_)?ethdev", name):
            yield place, f"{path.name} lies below ethdev and must not include {name}"


def c_functions(lines):
    """Yield (name, first line, number of lines) of the C functions, brace on its own line."""
    start = None
    for number, line in enumerate(lines, 1):
        if line == "{" and start is None:
            first = number - 1
            while first > 1 and not re.match(r"[A-Za-z_]", lines[first - 1]):
                first -= 1
            match = re.match(r".*?([A-Za-z_]\w*)\s*\(", lines[first - 1])
            start = (match.group(1) if match else "?", first)
        elif line.startswith("}") and start is not None:
            yield start[0], start[1], number - start[1] + 1
            start = None


def py_functions(text):
    """The same for Python."""
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            yield node.name, node.lineno, node.end_lineno - node.lineno + 1


def sh_functions(lines):
    """The same for shell."""
    name = None
    for number, line in enumerate(lines, 1):
        match = re.match(r"(\w+)\(\)\s*(\{)?$", line)
        if match:
            name = (match.group(1), number)
        elif line == "}" and name is not None:
            yield name[0], name[1], number - name[1] + 1
            name = None


def check_size(path, top):
    """A file has one job, a function fits on a screen."""
    lang, text = read(path, top)
    if lang is None:
        return
    lines = text.split("\n")[:-1]
    if len(lines) > MAX_FILE:
        yield str(path), f"{len(lines)} lines, {MAX_FILE} allowed"
    if lang == "py":
        functions = py_functions(text)
    elif lang == "meson":
        return
    else:
        functions = c_functions(lines) if lang == "c" else sh_functions(lines)
    for name, first, length in functions:
        if length > MAX_FUNCTION:
            yield (f"{path}:{name}",
                   f"line {first}: function of {length} lines, {MAX_FUNCTION} allowed")

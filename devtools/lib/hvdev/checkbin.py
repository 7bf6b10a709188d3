# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 hvnet contributors
"""House rules that need the build: symbol prefixes, headers that compile alone."""

import json
import re
import shlex
import subprocess
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from hvdev.common import Fail

OURS = re.compile(r"^(hvn_|vmring_|hvq_|hvw_|rte_pmd_hvn_)")
# What the toolchain adds, and the marks by which sanitizers and DPDK find things.
TOOLCHAIN = re.compile(r"^(_init|_fini|_edata|_end|__bss_start|__(asan|odr_asan|start|stop)_?\w*)")


def nm(argv):
    """Names of the defined global symbols."""
    done = subprocess.run(["nm", "--defined-only", "--extern-only", "-P", *argv], text=True,
                          stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.DEVNULL, check=False)
    return [line.split()[0] for line in done.stdout.splitlines()
            if len(line.split()) >= 2 and not line.endswith(":")]


def products(build):
    """The plugin and the static libraries that an application may link."""
    for pattern in ("drivers/**/*.so", "drivers/**/*.a", "lib/**/*.a"):
        yield from sorted(Path(build).glob(pattern))


def check_symbols(build):
    """Every global symbol carries one of our prefixes."""
    for path in products(build):
        argv = ["-D", str(path)] if path.suffix == ".so" else [str(path)]
        for name in sorted(set(nm(argv))):
            if not OURS.match(name) and not TOOLCHAIN.match(name):
                yield (str(path.relative_to(build)) + f":{name}",
                       "global symbol without one of our prefixes")


def compile_flags(build):
    """Folder of a source -> compiler and flags that its files are built with."""
    database = Path(build) / "compile_commands.json"
    if not database.is_file():
        raise Fail(f"{database} is missing; configure the build with meson setup")
    flags = {}
    for entry in json.loads(database.read_text()):
        source = (Path(entry["directory"]) / entry["file"]).resolve()
        words = shlex.split(entry["command"])
        kept, skip = [], False
        for word in words:
            if skip or word in ("-c", entry["file"]) or word.startswith(("-M", "-o")):
                skip = word in ("-o", "-MF", "-MQ", "-MT")
                continue
            kept.append(word)
        merge(flags.setdefault(source.parent, []), kept)
    return flags


def merge(flags, words):
    """Add a command to the flags of its folder: all of the first, then new include paths."""
    if not flags:
        flags += words
        return
    for number, word in enumerate(words):
        if word == "-include" and word not in flags:
            flags += words[number:number + 2]
        elif word.startswith(("-I", "-isystem")) and word not in flags:
            flags.append(word)


def nearest(flags, folder, area):
    """Flags of the folder, of one below it, or of the next one up within its area."""
    while folder == area or area in folder.parents:
        below = [f for f in sorted(flags) if f == folder or folder in f.parents]
        if below:
            return flags[below[0]]
        folder = folder.parent
    return None


def compile_alone(header, flags, build):
    """The first error of a file that only includes the header, twice."""
    text = f'#include "{header}"\n#include "{header}"\nextern int hvn_alone;\n'
    done = subprocess.run([*flags, "-fsyntax-only", "-fdiagnostics-color=never", "-x", "c", "-"],
                          text=True, input=text, cwd=build, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, check=False)
    if done.returncode == 0:
        return None
    errors = [x for x in done.stdout.splitlines() if "error:" in x]
    return (errors or done.stdout.splitlines() or ["compiler failed"])[0]


def check_headers(files, build, top):
    """Every header compiles alone, twice; lists for X-macros say that they have no guard."""
    flags = compile_flags(build)
    work = []
    for path in files:
        if path.suffix != ".h" or "No include guard" in (top / path).read_text()[:1000]:
            continue
        folder = (top / path).resolve().parent
        depth = 3 if path.parts[0] == "drivers" else 2
        area = top.resolve().joinpath(*path.parts[:depth])
        used = nearest(flags, folder, area)
        if used is not None:
            work.append((path, used))
    with ThreadPoolExecutor(2) as pool:
        results = pool.map(lambda item: compile_alone(top / item[0], item[1], build), work)
        for (path, _), error in zip(work, results):
            if error is not None:
                yield str(path), f"does not compile alone: {error}"

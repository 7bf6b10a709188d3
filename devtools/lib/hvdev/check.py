# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 hvnet contributors
"""devtools/check: run the house rules over the tree and print what breaks them."""

import subprocess
import sys
from pathlib import Path

from hvdev import build as builder
from hvdev import checkbin, checktext
from hvdev.common import TOP, Arguments, Fail, build_dir, run_main, say

RULES = ("format", "words", "layers", "size", "symbols", "headers")
ALLOW = TOP / "devtools/check-allow.txt"


def tree_files():
    """All files of the project, tracked or new, as paths relative to the top."""
    try:
        names = subprocess.run(["git", "ls-files", "-co", "--exclude-standard"], cwd=TOP,
                               text=True, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                               stderr=subprocess.DEVNULL, check=False).stdout.splitlines()
    except FileNotFoundError:
        names = []
    if not names:
        names = [str(p.relative_to(TOP)) for p in TOP.rglob("*")
                 if not any(part.startswith((".", "build")) for part in p.relative_to(TOP).parts)]
    return [Path(n) for n in sorted(set(names)) if (TOP / n).is_file()]


def read_allow_list():
    """(rule, place) -> reason; a line without a reason is an error."""
    allowed = {}
    for line in ALLOW.read_text().splitlines() if ALLOW.is_file() else []:
        words = line.split(None, 2)
        if not words or words[0].startswith("#"):
            continue
        if len(words) < 3 or words[0] not in RULES:
            raise Fail(f"{ALLOW.name}: '{line}'; write RULE PATH[:NAME] REASON")
        allowed[(words[0], words[1])] = words[2]
    return allowed


def shellcheck(files):
    """Findings of shellcheck on our scripts, where it is installed."""
    scripts = [str(f) for f in files if checktext.language(TOP / f) == "sh"]
    try:
        done = subprocess.run(["shellcheck", "-x", "-f", "gcc", *scripts], cwd=TOP, text=True,
                              stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, check=False)
    except FileNotFoundError:
        return []
    return [tuple(line.split(": ", 1)) for line in done.stdout.splitlines() if ": " in line]


def findings(rule, files, build):
    """Yield (place, text) of one rule."""
    if rule in ("format", "words", "layers", "size"):
        func = getattr(checktext, "check_" + rule)
        for path in files:
            yield from func(path, TOP)
        if rule == "format":
            yield from shellcheck(files)
    elif rule == "symbols":
        yield from checkbin.check_symbols(build)
    else:
        yield from checkbin.check_headers(files, build, TOP)


def parse_args():
    """The command line."""
    p = Arguments(prog="devtools/check", description=__doc__)
    p.add_argument("rules", nargs="*", metavar="RULE",
                   help="only these of: " + ", ".join(RULES))
    p.add_argument("--build", metavar="DIR", help="build folder (build)")
    args = p.parse_args()
    for rule in args.rules:
        if rule not in RULES:
            raise Fail(f"unknown rule '{rule}'; one of {', '.join(RULES)}")
    return args


def main():
    """Run the rules; status 1 when anything breaks one."""
    args = parse_args()
    rules = args.rules or RULES
    build = build_dir(args.build)
    if {"symbols", "headers"} & set(rules):
        builder.build(build)
    allowed = read_allow_list()
    files = tree_files()
    bad = 0
    for rule in rules:
        for place, text in findings(rule, files, build):
            if (rule, place) in allowed:
                continue
            say(f"{place}: {rule}: {text}")
            bad += 1
    say(f"check: {len(files)} files, " + (f"{bad} findings" if bad else "no findings"))
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(run_main(main))

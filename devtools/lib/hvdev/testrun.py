# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 hvnet contributors
"""devtools/test: set up, build, and run every test or those that match."""

import os
import re
import subprocess

from hvdev import build as builder
from hvdev import eal, suites
from hvdev.common import TOP, Arguments, Fail, build_dir, is_root, own_time, run_main, say

# Unit tests run once more in each of these builds, unless their suites say no.
VARIANTS = (
    ("asan", ["-Db_sanitize=address,undefined", "-Db_lundef=false", "-Dwerror=false",
              "-Dc_args=-fno-sanitize-recover=all", "-Doptimization=1"],
     lambda suite: "no-asan" not in suite),
    ("tsan", ["-Db_sanitize=thread", "-Db_lundef=false", "-Dwerror=false",
              "-Doptimization=1"],
     lambda suite: "no-tsan" not in suite),
)
SANITIZER_ENV = {"ASAN_OPTIONS": "detect_leaks=1", "UBSAN_OPTIONS": "print_stacktrace=1",
                 "TSAN_OPTIONS": "halt_on_error=1"}
# Test namespaces are called after the process that made them: hvnet-<pid>-anything.
NETNS = re.compile(r"^hvnet-(\d+)-\S+")


def parse_args():
    """The command line."""
    p = Arguments(prog="devtools/test", description=__doc__)
    p.add_argument("-k", dest="expression", metavar="EXPR",
                   help="only tests whose names match, as pytest's -k")
    p.add_argument("--no-variants", action="store_true",
                   help="leave out the sanitizer and clang builds")
    p.add_argument("--build", metavar="DIR", help="build folder (build)")
    p.add_argument("--driver-sdk", metavar="PATH", help="driver SDK headers to build with")
    return p.parse_args()


def clean_stale():
    """Remove what killed runs of these tests left."""
    eal.clean_stale()
    if not is_root():
        return
    try:
        done = subprocess.run(["ip", "netns", "list"], text=True, stdin=subprocess.DEVNULL,
                              stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, check=False)
    except FileNotFoundError:
        return
    for line in done.stdout.splitlines():
        match = NETNS.match(line)
        if match and not os.path.exists(f"/proc/{match.group(1)}"):
            subprocess.run(["ip", "netns", "delete", match.group(0)], check=False)


def unit_tests(args, build, match, count):
    """The unit tests of the main build, then of the sanitizer builds."""
    tests = suites.meson_tests(build)
    names = [n for n, _, _ in tests if match(f"unit:{n}")]
    if names:
        suites.run_meson(build, names, "unit", count)
    for label, options, wanted in () if args.no_variants else VARIANTS:
        names = [n for n, suite, _ in tests
                 if wanted(" ".join(suite)) and match(f"{label}:{n}")]
        if not names:
            continue
        folder = build.with_name(f"{build.name}-{label}")
        try:
            builder.build(folder, variant_options(folder, options, args),
                          targets=lambda where=folder, some=names: [
                              target for name, _, target in suites.meson_tests(where)
                              if name in some])
            suites.run_meson(folder, names, label, count, SANITIZER_ENV, slow=5)
        except Fail as exc:
            count.add("failed", label, str(exc))


def variant_options(folder, options, args):
    """Options for a build folder that is not configured yet."""
    if (folder / "build.ninja").is_file():
        return []
    return options + builder.sdk_options(args.driver_sdk)


def clang_build(args, build, match, count):
    """The whole tree must compile without a warning with clang too."""
    name = "build:clang"
    if args.no_variants or not match(name):
        return
    folder = build.with_name(f"{build.name}-clang")
    try:
        builder.build(folder, variant_options(folder, [], args), dict(os.environ, CC="clang"))
        count.add("passed", name)
    except Fail as exc:
        count.add("failed", name, str(exc))


def check(build, match, count):
    """devtools/check counts as one test."""
    script = TOP / "devtools/check"
    if not script.is_file() or not match("check"):
        return
    done = subprocess.run([str(script), "--build", str(build)], text=True,
                          stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, check=False)
    if done.returncode == 0:
        count.add("passed", "check")
    else:
        say(done.stdout.rstrip())
        count.add("failed", "check", "see above")


def main():
    """Build, run all, close with the sum."""
    args = parse_args()
    match = suites.matcher(args.expression)
    count = suites.Count()
    build = build_dir(args.build)
    clean_stale()
    builder.build(build, builder.sdk_options(args.driver_sdk))
    check(build, match, count)
    unit_tests(args, build, match, count)
    clang_build(args, build, match, count)
    suites.run_pytest([TOP / "devtools/tests", TOP / "test/system"], args.expression, build,
                      count)
    clean_stale()
    own, downloads = own_time()
    say(f"time: {own:.0f} s" + (f", and {downloads:.0f} s of downloads" if downloads else ""))
    if count.passed + count.failed == 0:
        what = f"no test matches -k '{args.expression}'" if args.expression else "no test ran"
        say(f"error: {what}")
    say(count.line())
    return 0 if count.failed == 0 and count.passed > 0 else 1


if __name__ == "__main__":
    run_main(main)

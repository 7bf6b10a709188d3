# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 hvnet contributors
"""devtools/bench: our driver against upstream's, in interleaved pairs on a polling host.

Each row is measured ours, upstream, ours, upstream, ...; the figure is testpmd's own count of
cycles per packet in bursts that moved something, the ratio is that of the medians.
"""

import argparse
import contextlib
import fnmatch
import io
import json
import platform
import statistics
import sys

from hvdev import build as builder
from hvdev import eal, testpmd
from hvdev.common import (Arguments, Fail, build_dir, need_private_place, need_writable,
                          run_main, say)

SIZES = {"rxonly": [64], "txonly": [64], "io": [64, 1500]}


class Row:
    """One line of the table: what is forwarded and how the generator behaves."""

    def __init__(self, case, size, ranges, touched):
        self.case, self.size, self.ranges, self.touched = case, size, ranges, touched

    @property
    def name(self):
        """Name for --only and for people."""
        if self.case == "txonly":
            return f"txonly-{self.size}"
        touch = "touched" if self.touched else "untouched"
        return f"{self.case}-{self.size}-r{self.ranges}-{touch}"

    @property
    def wire(self):
        """hvsim's words; transmit needs no generator."""
        if self.case == "txonly":
            return "sink"
        return (f"gen:size={self.size}:flows=256:ranges={self.ranges}"
                f":touch={int(self.touched)}")


def all_rows():
    """Every row in the order of the table."""
    rows = []
    for case, sizes in SIZES.items():
        for size in sizes:
            if case == "txonly":
                rows.append(Row(case, size, 1, False))
            else:
                rows += [Row(case, size, ranges, touched)
                         for ranges in (1, 8) for touched in (False, True)]
    return rows


def parse_args():
    """The command line."""
    p = Arguments(prog="devtools/bench", description=__doc__.splitlines()[0])
    p.add_argument("--pairs", type=int, default=5, help="interleaved pairs per row (5)")
    p.add_argument("--time", type=float, default=2.0, metavar="S", help="seconds a run (2)")
    p.add_argument("--poll", default="2", help="the host looks every so many us (2)")
    p.add_argument("--queues", type=int, default=1, help="queues (1)")
    p.add_argument("--only", default="*", metavar="PATTERN", help="rows, e.g. 'io-64-*'")
    p.add_argument("--json", metavar="FILE", help="write rows, machine and versions there")
    p.add_argument("--list", action="store_true", help="print the rows' names and end")
    p.add_argument("--build", metavar="DIR", help="build folder (build)")
    p.add_argument("--driver-sdk", metavar="PATH", help="driver SDK headers to build with")
    args = p.parse_args()
    if args.pairs < 1:
        raise Fail(f"--pairs {args.pairs}: give at least 1")
    args.rows = [r for r in all_rows() if fnmatch.fnmatchcase(r.name, args.only)]
    if not args.rows:
        raise Fail(f"--only {args.only}: no such row; devtools/bench --list names them")
    return args


def run_once(args, build, row, driver):
    """One run; returns testpmd's result."""
    one = argparse.Namespace(driver=driver, wire_spec=row.wire, mode=row.case, host="polling",
                             poll=args.poll, expect=None, time=args.time, no_huge=False,
                             extra=[f"--txpkts={row.size}"] if row.case == "txonly" else [])
    quiet = io.StringIO()
    with contextlib.redirect_stdout(quiet):
        result = testpmd.run(one, build, args.queues)
    if result["cycles_per_packet"] is None:
        raise Fail(f"{row.name}, {driver}: testpmd counted no cycles; was a packet forwarded?")
    return result


def measure_row(args, build, row):
    """All pairs of a row."""
    runs = {"ours": [], "upstream": []}
    for pair in range(args.pairs):
        for driver, results in runs.items():
            results.append(run_once(args, build, row, driver))
            print(f"\r  {row.name}: pair {pair + 1} of {args.pairs}, {driver}   ", end="",
                  file=sys.stderr, flush=True)
    print("\r" + " " * 70 + "\r", end="", file=sys.stderr)

    def figures(driver, key):
        return [r[key] for r in runs[driver]]

    cycles = {d: figures(d, "cycles_per_packet") for d in runs}
    mpps = {d: statistics.median(figures(d, "mpps")) for d in runs}
    ours, upstream = (statistics.median(cycles[d]) for d in ("ours", "upstream"))
    return {"nic": "netvsc", "case": row.case, "size": row.size, "ranges": row.ranges,
            "queues": args.queues, "cadence": f"{args.poll} us", "touched": row.touched,
            "ours_cycles": ours, "upstream_cycles": upstream,
            "ours_spread": [min(cycles["ours"]), max(cycles["ours"])],
            "upstream_spread": [min(cycles["upstream"]), max(cycles["upstream"])],
            "ours_mpps": mpps["ours"], "upstream_mpps": mpps["upstream"],
            "ratio": round(upstream / ours, 3), "pairs": args.pairs}


def print_row(row):
    """One line of the table."""
    touch = "-" if row["case"] == "txonly" else "yes" if row["touched"] else "no"
    ours, upstream = ("{:6.0f} ({:.0f}..{:.0f})".format(row[f"{d}_cycles"], *row[f"{d}_spread"])
                      for d in ("ours", "upstream"))
    say(f"{row['case']:<7} {row['size']:>4} {row['ranges']:>6} {touch:>7}  {ours:<20} "
        f"{upstream:<20} {row['ratio']:5.2f}  {row['ours_mpps']:6.2f} {row['upstream_mpps']:6.2f}")


def main():
    """Build, measure, print."""
    args = parse_args()
    if args.list:
        for row in args.rows:
            say(row.name)
        return 0
    build = build_dir(args.build)
    if args.json:
        need_writable("--json", args.json)
    need_private_place()
    builder.build(build, builder.sdk_options(args.driver_sdk))
    say(f"polling host, looks every {args.poll} us; {args.queues} queues; {args.pairs} pairs of "
        f"{args.time:g} s; cycles per packet: median (least..most)")
    say("case    size ranges touched  ours                 upstream             ratio  "
        "Mpps: ours, upstream")
    rows = []
    for row in args.rows:
        rows.append(measure_row(args, build, row))
        print_row(rows[-1])
    if args.json:
        machine = {"cpu": cpu_model(), "kernel": platform.release(),
                   "dpdk": ".".join(map(str, eal.dpdk_version())), "command": sys.argv[1:]}
        try:
            with open(args.json, "w", encoding="utf-8") as out:
                json.dump({"machine": machine, "rows": rows}, out, indent=2)
                out.write("\n")
        except OSError as exc:
            raise Fail(f"--json {args.json}: {exc.strerror}; name a file you may write") from exc
    return 0


def cpu_model():
    """The processor's name."""
    with open("/proc/cpuinfo", encoding="utf-8") as info:
        for line in info:
            if line.startswith("model name"):
                return line.split(":", 1)[1].strip()
    return platform.machine()


if __name__ == "__main__":
    run_main(main)

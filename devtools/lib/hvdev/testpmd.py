# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 hvnet contributors
"""devtools/testpmd: dpdk-testpmd on a simulated Hyper-V NIC, measured and judged."""

import json
import os
import signal
import sys
import time

from hvdev import build as builder
from hvdev import eal, lab, pmdparse
from hvdev.common import (Arguments, Fail, build_dir, need_private_place, need_writable,
                          own_time, run_main, say)
from hvdev.pmdtalk import Testpmd

DRIVERS = {"ours": "net_hv_netvsc", "upstream": "net_netvsc"}
HOST_CHANNELS = 64
START_TIMEOUT = 120.0
# Below this rate testpmd's cycles are those of looking in vain.
MPPS_MIN = 0.001


def parse_args():
    """The command line; what follows `--` goes to testpmd."""
    argv = sys.argv[1:]
    extra = []
    if "--" in argv:
        cut = argv.index("--")
        argv, extra = argv[:cut], argv[cut + 1:]
    p = Arguments(
        prog="devtools/testpmd", description=__doc__,
        epilog="Options after -- go to testpmd, for example: -- --rxd=512 --txd=512")
    p.add_argument("--nic", choices=["netvsc"], default="netvsc")
    p.add_argument("--wire", default="gen",
                   help="gen (default), tap, loop, sink, or hvsim's words, e.g. "
                        "gen:size=1500:flows=64 or tap:name=hv0:queues=4")
    p.add_argument("--driver", choices=list(DRIVERS), default="ours")
    p.add_argument("--queues", default="default", help="a number, or default (by policy)")
    p.add_argument("--time", type=float, default=10.0, metavar="S", help="seconds (10)")
    p.add_argument("--mode", default="io", help="testpmd's forwarding mode (io)")
    p.add_argument("--host", choices=["strict", "lenient", "polling"], default="strict",
                   help="what the host does with its guest's errors (strict); polling is "
                        "for benchmarks")
    p.add_argument("--poll", help="how often the host looks: busy, adaptive or microseconds")
    p.add_argument("--expect", metavar="NAMES",
                   help="violations that the driver is known to commit: recorded, not fatal")
    p.add_argument("--json", metavar="FILE", help="write the result there")
    p.add_argument("--no-huge", action="store_true", help="run without hugepages")
    p.add_argument("--build", metavar="DIR", help="build folder (build)")
    p.add_argument("--driver-sdk", metavar="PATH", help="driver SDK headers to build with")
    args = p.parse_args(argv)
    args.extra = extra
    if args.time <= 0 or args.time > 86400:
        raise Fail(f"--time {args.time}: give seconds between 0 and 86400")
    args.wire_spec = lab.wire_spec(args.wire)
    return args


def choose_queues(args, build):
    """(count, reason) by the user's word or the policy."""
    if args.queues != "default":
        if not args.queues.isdigit() or not 1 <= int(args.queues) <= HOST_CHANNELS:
            raise Fail(f"--queues {args.queues}: give a number from 1 to {HOST_CHANNELS}, "
                       "or default")
        return int(args.queues), "asked for"
    policy = lab.queue_policy(build, HOST_CHANNELS)
    count = int(policy["netvsc_default"])
    reason = (f"min(64, max(16, ceil(cores/2))) capped by {policy.get('vcpus', '?')} vCPUs and "
              f"the host's {HOST_CHANNELS} channels")
    return count, reason


def assisted(driver):
    """Whether upstream's driver needs the host's help to forward in testpmd."""
    return driver == "upstream" and eal.dpdk_version() < (23, 11)


def testpmd_argv(args, queues, memory, cores, plugin):
    """The guest's command line."""
    argv = ["dpdk-testpmd", *cores, "--file-prefix", f"hvnet{os.getpid()}",
            "--no-telemetry", "--no-pci", *memory.args]
    if plugin is not None:
        argv += ["-d", str(plugin.path)]
    return argv + ["--", "-i", "--nb-cores=1", f"--rxq={queues}", f"--txq={queues}",
                   f"--forward-mode={args.mode}", "--record-core-cycles",
                   f"--total-num-mbufs={16384 + 2048 * queues}", *args.extra]


def host_options(args, memory, cpu):
    """hvsim's options before --nic."""
    options = ["--mode", args.host, "--gpa", memory.gpa, "--cpu", str(cpu)]
    if args.poll:
        options += ["--poll", args.poll]
    if args.expect:
        options += ["--expect", args.expect]
    if assisted(args.driver):
        options += ["--assist", "queue-info"]
    return options


def counted(mode, rx, tx):
    """The packets that a forwarding mode is measured by."""
    return rx if mode == "rxonly" else tx


def forward(talk, seconds, mode):
    """Start, show a line per second, stop; returns (stop report, seconds measured)."""
    talk.command("clear port stats all")
    talk.command("start")
    start = time.monotonic()
    last, last_t = 0, start
    while True:
        left = start + seconds - time.monotonic()
        if left <= 0:
            break
        time.sleep(min(1.0, left))
        now = time.monotonic()
        packets = counted(mode, *pmdparse.port_counters(talk.command("show port stats all")))
        rate = (packets - last) / max(now - last_t, 1e-9) / 1e6
        say(f"  {now - start:5.1f} s  {packets:>14,} packets  {rate:7.3f} Mpps")
        last, last_t = packets, now
        if talk.proc.poll() is not None:
            raise Fail(f"testpmd ended while forwarding: {talk.last_line()}")
    elapsed = time.monotonic() - start
    return pmdparse.stop_report(talk.command("stop", 60.0)), elapsed


def check_driver(talk, args):
    """The port and its forwarding must be what was asked for."""
    if f"Invalid {args.mode} packet forwarding mode" in talk.text:
        raise Fail(f"--mode {args.mode}: testpmd knows no such forwarding mode; use for example "
                   "io, mac, macswap, rxonly, txonly or icmpecho")
    got = pmdparse.driver_name(talk.command("show port info 0"))
    if got != DRIVERS[args.driver]:
        raise Fail(f"port 0 belongs to {got or 'no driver'}, not to {DRIVERS[args.driver]}: "
                   + talk.last_line())


def measure(args, talk, host):
    """Everything between testpmd's first prompt and its end."""
    talk.until_prompt("start-up", START_TIMEOUT)
    check_driver(talk, args)
    rx_ring = pmdparse.ring_size(talk.command("show rxq info 0 0"), "R")
    tx_ring = pmdparse.ring_size(talk.command("show txq info 0 0"), "T")
    report, seconds = forward(talk, args.time, args.mode)
    drops = pmdparse.drops_of(pmdparse.xstats(talk.command("show port xstats all")))
    # testpmd's own RX-dropped is the port's missed packets once more.
    if report["tx_dropped"]:
        drops["testpmd_tx_dropped"] = report["tx_dropped"]
    drops.update(pmdparse.host_drops(host.stats()))
    packets = counted(args.mode, report["rx"], report["tx"])
    return {"rx_ring": rx_ring, "tx_ring": tx_ring, "rx_packets": report["rx"],
            "tx_packets": report["tx"], "mpps": round(packets / seconds / 1e6, 4),
            "cycles_per_packet": report["cycles"], "drops": drops,
            "violations": host.violations()}


def run(args, build, queues):
    """Start host and guest, measure, and leave nothing behind."""
    memory = eal.Memory(args.driver, args.no_huge)
    cores, cpu, remark = eal.lcores()
    if remark:
        say(f"note: {remark}")
    eal.clean_stale()
    plugin = host = talk = None
    try:
        plugin = eal.Plugin(build) if args.driver == "ours" else None
        host = lab.Lab(build, [f"netvsc,queues={HOST_CHANNELS},wire={args.wire_spec}"],
                       host_options(args, memory, cpu))
        argv = host.argv(testpmd_argv(args, queues, memory, cores, plugin))
        say(f"run: {DRIVERS[args.driver]}, wire {args.wire_spec}, {args.mode}, "
            f"{queues} queues, host {args.host}; {memory.text()}")
        talk = Testpmd(argv, eal.environment(host.folder))
        result = measure(args, talk, host)
        status = talk.quit()
        if status != 0:
            raise Fail(f"testpmd ended with status {status}: {talk.last_line()}")
        return result
    finally:
        for item in (talk, host, plugin):
            if item is not None:
                item.close()
        eal.clean_eal(f"hvnet{os.getpid()}")


def table(args, result):
    """Print the result for people."""
    def ring(size):
        return "unknown" if size is None else str(size)

    cycles = result["cycles_per_packet"]
    word = " (assisted)" if result["assisted"] else ""
    rows = [("driver", DRIVERS[args.driver] + word),
            ("queues", f"{result['queues']}: {result['queues_reason']}"),
            ("RX ring, TX ring", f"{ring(result['rx_ring'])}, {ring(result['tx_ring'])}"),
            ("packets", f"received {result['rx_packets']:,}, sent {result['tx_packets']:,}"),
            ("rate", f"{result['mpps']:.3f} Mpps"),
            ("cycles per packet", "unknown" if cycles is None else
             "too few packets to tell" if result["mpps"] < MPPS_MIN else f"{cycles:.0f}"),
            ("drops", ", ".join(f"{k} {v:,}" for k, v in sorted(result["drops"].items()))
             or "none"),
            ("protocol violations", ", ".join(f"{v['name']} {v['count']:,}"
                                              for v in result["violations"]) or "none")]
    say("")
    for name, value in rows:
        say(f"  {name:<20} {value}")
    own, downloads = own_time()
    say(f"  {'time':<20} {own:.0f} s" + (f", and {downloads:.0f} s of downloads"
                                         if downloads else ""))


def remedy(wire):
    """What helps when nothing came over a wire."""
    kind = wire.split(":")[0]
    if kind == "tap":
        return "send something into the interface while the run lasts, or try --wire gen"
    if kind in ("loop", "sink", "pair"):
        return f"{kind} sends nothing by itself: add --mode txonly, or try --wire gen"
    return "try --wire gen"


def verdict(args, result):
    """0 when packets flowed and our driver kept the protocol, else 1 with the reason."""
    flowed = result["tx_packets"] if args.mode in ("txonly", "flowgen") else result["rx_packets"]
    if flowed == 0:
        raise Fail(f"no packet flowed in {args.time:g} s over wire {args.wire_spec}; "
                   + remedy(args.wire_spec))
    if args.driver == "ours" and result["violations"]:
        raise Fail(f"{len(result['violations'])} kinds of protocol violation, the first is "
                   f"{result['violations'][0]['name']}; --host lenient shows all of them")
    return 0


def main():
    """Build, run, print, judge."""
    args = parse_args()
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    build = build_dir(args.build)
    if args.json:
        need_writable("--json", args.json)
    need_private_place()
    builder.build(build, builder.sdk_options(args.driver_sdk))
    queues, reason = choose_queues(args, build)
    result = {"nic": args.nic, "wire": args.wire_spec, "mode": args.mode, "host": args.host,
              "poll": args.poll, "time": args.time, "testpmd": args.extra,
              "dpdk": ".".join(map(str, eal.dpdk_version())),
              "driver": args.driver, "queues": queues,
              "queues_reason": reason, "assisted": assisted(args.driver)}
    result.update(run(args, build, queues))
    table(args, result)
    if args.json:
        try:
            with open(args.json, "w", encoding="utf-8") as out:
                json.dump(result, out, indent=2)
                out.write("\n")
        except OSError as exc:
            raise Fail(f"--json {args.json}: {exc.strerror}; name a file you may write") from exc
    return verdict(args, result)


if __name__ == "__main__":
    run_main(main)

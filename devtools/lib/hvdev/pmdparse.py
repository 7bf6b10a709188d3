# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 hvnet contributors
"""Pure readers of what dpdk-testpmd and hvsim print."""

import re

DROP_WORDS = re.compile(r"drop|miss|error|nombuf|no_?mbuf|mbuf_alloc|discard|lost")


def port_counters(text):
    """Summed (rx packets, tx packets) of `show port stats all`."""
    def total(word):
        return sum(int(x) for x in re.findall(rf"{word}-packets:\s*(\d+)", text))

    return total("RX"), total("TX")


def stop_report(text):
    """What `stop` prints: rx, tx, tx_dropped, rx_dropped, cycles (None if absent)."""
    start = text.find("Accumulated forward statistics")
    part = text[start:] if start >= 0 else text

    def number(name):
        match = re.search(rf"{name}:\s*(\d+)", part)
        return int(match.group(1)) if match else 0

    cycles = re.search(r"CPU cycles/packet=([\d.]+)", text)
    return {"rx": number("RX-packets"), "tx": number("TX-packets"),
            "rx_dropped": number("RX-dropped"), "tx_dropped": number("TX-dropped"),
            "cycles": float(cycles.group(1)) if cycles else None}


def xstats(text):
    """name -> value of `show port xstats all`, summed over the ports."""
    values = {}
    for name, value in re.findall(r"^([A-Za-z]\w*):\s*(\d+)\s*$", text, re.M):
        values[name] = values.get(name, 0) + int(value)
    return values


def drops_of(values):
    """Those statistics that count losses and are not zero, summed over queues and channels.

    The total of missed packets is left out where the driver names each of its reasons.
    """
    found = {}
    for name, value in values.items():
        short = re.sub(r"^(channel|rx_q|tx_q)\d+_", lambda m: {"channel": ""}.get(
            m.group(1), m.group(1)[:3]), name)
        if value and DROP_WORDS.search(short):
            found[short] = found.get(short, 0) + value
    total = found.get("rx_missed_errors")
    if total and sum(v for k, v in found.items() if "drop" in k) == total:
        del found["rx_missed_errors"]
    return found


def host_drops(node, path="host"):
    """Losses that the host's statistics name, summed by name below nics and channels."""
    found = {}

    def walk(item, name):
        if isinstance(item, dict):
            for key, value in item.items():
                walk(value, f"{name}_{key}" if not isinstance(value, list) else name)
        elif isinstance(item, list):
            for value in item:
                walk(value, name)
        elif isinstance(item, int) and item and re.search(r"drop|discard|lost", name):
            found[name] = found.get(name, 0) + item

    walk(node, path)
    return found


def ring_size(text, letter):
    """Descriptors that `show rxq|txq info` reports (letter R or T), or None."""
    match = re.search(rf"Number of {letter}XDs:\s*(\d+)", text)
    return int(match.group(1)) if match else None


def driver_name(text):
    """The driver that `show port info` names."""
    match = re.search(r"Driver name:\s*(\S+)", text)
    return match.group(1) if match else None

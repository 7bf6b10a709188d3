# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 hvnet contributors
"""Frames of every length, capture files, and the comparison of what was sent and received."""

import random
import struct
from collections import Counter

PCAP_HEADER = struct.Struct("<IHHiIII")
PCAP_RECORD = struct.Struct("<IIII")
ETHERNET = 1


def checksum(data):
    """The Internet checksum."""
    if len(data) % 2:
        data += b"\0"
    total = sum(struct.unpack(f">{len(data) // 2}H", data))
    while total >> 16:
        total = (total & 0xffff) + (total >> 16)
    return ~total & 0xffff


def frame(length, serial, rng, dst, src):
    """An IPv4 UDP frame of exactly `length` bytes, unlike any other of its kind."""
    payload = struct.pack(">I", serial) + rng.randbytes(length - 46)
    udp_len = 8 + len(payload)
    ports = struct.pack(">HH", 1024 + serial % 50000, 2000 + serial // 50000)
    pseudo = bytes([10, 1, serial >> 8 & 255, serial & 255]) + bytes([10, 2, 0, 1])
    udp = ports + struct.pack(">HH", udp_len, 0) + payload
    udp_sum = checksum(pseudo + struct.pack(">BBH", 0, 17, udp_len) + udp) or 0xffff
    head = struct.pack(">BBHHHBBH", 0x45, 0, 20 + udp_len, serial & 0xffff, 0, 64, 17, 0)
    head += pseudo
    head = head[:10] + struct.pack(">H", checksum(head)) + head[12:]
    return (dst + src + b"\x08\x00" + head + ports + struct.pack(">HH", udp_len, udp_sum)
            + payload)


def every_length(seed, low=60, high=1514, dst=b"\x02\0\0\0\0\x01", src=b"\x02\0\0\0\0\x02"):
    """One frame of every length, in random order of lengths."""
    rng = random.Random(seed)
    lengths = list(range(low, high + 1))
    rng.shuffle(lengths)
    return [frame(n, i, rng, dst, src) for i, n in enumerate(lengths)]


def write_pcap(path, frames):
    """A classic capture file."""
    with open(path, "wb") as out:
        out.write(PCAP_HEADER.pack(0xa1b2c3d4, 2, 4, 0, 0, 65535, ETHERNET))
        for data in frames:
            out.write(PCAP_RECORD.pack(0, 0, len(data), len(data)) + data)


def read_pcap(path):
    """The frames of a classic capture file of either time resolution, little endian."""
    with open(path, "rb") as file:
        data = file.read()
    if len(data) < PCAP_HEADER.size:
        return []
    magic, *_ = PCAP_HEADER.unpack_from(data)
    assert magic in (0xa1b2c3d4, 0xa1b23c4d), f"{path}: magic {magic:#x}"
    found, at = [], PCAP_HEADER.size
    while at + PCAP_RECORD.size <= len(data):
        _, _, got, full = PCAP_RECORD.unpack_from(data, at)
        at += PCAP_RECORD.size
        if at + got > len(data):
            break
        assert got == full, f"{path}: a frame of {full} bytes was cut to {got}"
        found.append(data[at:at + got])
        at += got
    return found


def difference(sent, received):
    """'' when both are the same frames in any order, else what is wrong, in one line."""
    lost = Counter(sent)
    lost.subtract(Counter(received))
    missing = sorted(len(f) for f, n in lost.items() if n > 0)
    extra = sorted(len(f) for f, n in lost.items() if n < 0)
    if not missing and not extra:
        return ""
    return (f"sent {len(sent)}, received {len(received)}; lengths missing {missing[:20]}, "
            f"not sent or changed {extra[:20]}")

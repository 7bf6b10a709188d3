# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 hvnet contributors
"""Fetch the driver SDK headers of the installed DPDK from its source package.

A private apt configuration (own lists, cache and sources) is used, so that no
file of the system changes; apt verifies what it downloads as it always does.
"""

import argparse
import os
import re
import shutil
import subprocess
import sys
import time
from pathlib import Path

SDK_HEADER = "bus_vmbus_driver.h"
APT_TIMEOUT = 600


class SdkError(Exception):
    """A failure that the user can read: cause and remedy in one line."""


def run(argv, **kwargs):
    """Run a command and return its completed process, output captured as text."""
    env = dict(os.environ, LC_ALL="C", DEBIAN_FRONTEND="noninteractive")
    return subprocess.run(argv, text=True, stdin=subprocess.DEVNULL, env=env,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          check=False, **kwargs)


def last_error(output):
    """The line of a command's output that says best what went wrong."""
    lines = [line.strip() for line in output.splitlines() if line.strip()]
    errors = [line for line in lines if line.startswith(("E:", "dpkg-source: error"))]
    return (errors or lines or ["no output"])[-1]


def policy_uris(package):
    """URIs of the archives that offer the package, by the system's own lists."""
    out = run(["apt-cache", "policy", package]).stdout
    return {m.group(1).rstrip("/")
            for m in re.finditer(r"^\s+-?\d+ (\S+?:\S+) \S+/", out, re.M)}


def src_from_deb822(text, uris):
    """Stanzas of a .sources file that hold binary packages, as deb-src stanzas."""
    out = []
    for stanza in re.split(r"\n\s*\n", text):
        lines = [x for x in stanza.splitlines() if not x.startswith("#")]
        fields = {x.split(":", 1)[0].lower(): x.split(":", 1)[1].strip()
                  for x in lines if re.match(r"[A-Za-z-]+:", x)}
        if "deb" not in fields.get("types", "").split():
            continue
        if fields.get("enabled", "yes").lower() in ("no", "false", "0"):
            continue
        known = {u.rstrip("/") for u in fields.get("uris", "").split()}
        if uris and not known & uris:
            continue
        kept = [x for x in lines
                if not re.match(r"(?i)(types|enabled|architectures):", x)]
        out.append("\n".join(["Types: deb-src"] + kept))
    return out


def src_from_one_line(text, uris):
    """The `deb` lines of a .list file as `deb-src` lines."""
    out = []
    for line in text.splitlines():
        m = re.match(r"\s*deb\s+(\[[^\]]*\]\s*)?(\S+)\s+(.+)", line)
        if m is None:
            continue
        if uris and m.group(2).rstrip("/") not in uris:
            continue
        opts = re.sub(r"\barch=\S+?(?=[\s\]])", "", m.group(1) or "").strip()
        opts = "" if re.fullmatch(r"\[\s*\]", opts) else opts
        out.append(" ".join(x for x in ("deb-src", opts, m.group(2), m.group(3)) if x))
    return out


def collect_sources(etc, uris):
    """Source entries of every apt file below `etc`, in both formats."""
    deb822, lines = [], []
    files = [etc / "sources.list"] + sorted((etc / "sources.list.d").glob("*"))
    for path in files:
        if not path.is_file():
            continue
        text = path.read_text(errors="replace")
        if path.suffix == ".sources":
            deb822 += src_from_deb822(text, uris)
        elif path.suffix == ".list":
            lines += src_from_one_line(text, uris)
    return deb822, lines


def write_apt_conf(base, etc):
    """Write the private configuration below `base`; return its file."""
    uris = policy_uris("libdpdk-dev")
    deb822, lines = collect_sources(etc, uris)
    if not deb822 and not lines:
        deb822, lines = collect_sources(etc, set())
    if not deb822 and not lines:
        raise SdkError(f"no package sources in {etc}; configure apt, or give the "
                       "headers with -Ddriver_sdk=PATH")
    for sub in ("sources", "lists/partial", "cache/archives/partial"):
        (base / sub).mkdir(parents=True, exist_ok=True)
    (base / "sources/src.sources").write_text("\n\n".join(deb822) + "\n")
    (base / "sources/src.list").write_text("\n".join(lines) + "\n")
    conf = base / "apt.conf"
    conf.write_text(f'''#clear APT::Update::Pre-Invoke;
#clear APT::Update::Post-Invoke;
#clear APT::Update::Post-Invoke-Success;
#clear APT::Periodic;
Dir::Etc::sourcelist "/dev/null";
Dir::Etc::sourceparts "{base}/sources";
Dir::State::lists "{base}/lists";
Dir::Cache "{base}/cache";
Dir::Log "{base}";
APT::Sandbox::User "root";
APT::Get::AllowUnauthenticated "false";
Acquire::Languages "none";
Acquire::Retries "2";
''')
    return conf


def download(base, package, version, conf):
    """Fetch and verify the source package; return its .dsc file."""
    src = base / "src"
    shutil.rmtree(src, ignore_errors=True)
    src.mkdir(parents=True)
    done = run(["apt-get", "-c", str(conf), "-q", "update"], timeout=APT_TIMEOUT)
    if done.returncode != 0:
        raise SdkError("apt cannot read the source lists (" + last_error(done.stdout)
                       + "); check the network, or give -Ddriver_sdk=PATH")
    # An archive that cannot be reached is only a warning to apt-get update.
    unreachable = [x.strip() for x in done.stdout.splitlines() if x.startswith("W: Failed")]
    done = run(["apt-get", "-c", str(conf), "-q", "--only-source", "--download-only",
                "source", f"{package}={version}"], timeout=APT_TIMEOUT, cwd=src)
    dsc = sorted(src.glob("*.dsc"))
    if done.returncode != 0 or len(dsc) != 1:
        raise SdkError(f"source package {package} {version} cannot be had ("
                       + (unreachable or [last_error(done.stdout)])[0]
                       + "); check the network, upgrade dpdk and libdpdk-dev, or give the "
                       "headers with -Ddriver_sdk=PATH")
    return dsc[0]


def sdk_headers(tree):
    """The headers that DPDK installs with enable_driver_sdk, of libs and buses."""
    found = []
    builds = sorted(tree.glob("lib/*/meson.build")) + [tree / "lib/eal/include/meson.build"]
    builds += sorted(tree.glob("drivers/bus/*/meson.build"))
    for build in builds:
        text = build.read_text(errors="replace") if build.is_file() else ""
        for block in re.findall(r"driver_sdk_headers\s*\+?=\s*files\((.*?)\)", text, re.S):
            found += [build.parent / name for name in re.findall(r"'([^']+\.h)'", block)]
    return [path for path in found if path.is_file()]


def unpack(base, dsc, version, includedir, target, stamp):
    """Unpack the source, copy the headers flat into `target`, drop the tree."""
    tree = base / "tree"
    shutil.rmtree(tree, ignore_errors=True)
    done = run(["dpkg-source", "--no-check", "-x", str(dsc), str(tree)])
    if done.returncode != 0:
        raise SdkError("dpkg-source cannot unpack " + dsc.name + " ("
                       + last_error(done.stdout) + "); free disk space and try again")
    got = (tree / "VERSION").read_text().strip()
    if got != version:
        raise SdkError(f"source package is DPDK {got} but libdpdk is {version}; "
                       "upgrade libdpdk-dev, or give -Ddriver_sdk=PATH")
    new = target.with_name(target.name + ".new")
    shutil.rmtree(new, ignore_errors=True)
    (new / "include").mkdir(parents=True)
    headers = [h for h in sdk_headers(tree) if not (includedir / h.name).exists()]
    for header in headers:
        shutil.copyfile(header, new / "include" / header.name)
    if not (new / "include" / SDK_HEADER).is_file():
        raise SdkError(f"DPDK {version}'s source has no {SDK_HEADER}; "
                       "give the headers with -Ddriver_sdk=PATH")
    (new / "VERSION").write_text(version + "\n")
    (new / "SOURCE").write_text(stamp + "\n")
    shutil.rmtree(target, ignore_errors=True)
    new.rename(target)
    return len(headers)


def fetch(args):
    """Do the whole job; return (seconds of download, number of headers)."""
    base = Path(args.sdk_dir).resolve() / "apt"
    target = base.parent / f"dpdk-{args.version}"
    start = time.monotonic()
    try:
        conf = write_apt_conf(base, Path(args.etc))
        dsc = download(base, args.package, args.source_version, conf)
        seconds = time.monotonic() - start
        count = unpack(base, dsc, args.version, Path(args.includedir), target,
                       f"{args.package} {args.source_version}")
    except subprocess.TimeoutExpired as exc:
        raise SdkError(f"apt gave no answer in {APT_TIMEOUT} s; check the network, "
                       "or give -Ddriver_sdk=PATH") from exc
    finally:
        shutil.rmtree(base, ignore_errors=True)
    return seconds, count


def main():
    """Command line: prints `SECONDS COUNT`, or one line of error."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sdk-dir", required=True)
    parser.add_argument("--package", required=True, help="source package name")
    parser.add_argument("--source-version", required=True)
    parser.add_argument("--version", required=True, help="DPDK version by pkg-config")
    parser.add_argument("--includedir", required=True)
    parser.add_argument("--etc", default="/etc/apt")
    args = parser.parse_args()
    try:
        seconds, count = fetch(args)
    except (SdkError, OSError) as exc:
        print(f"error: {exc}", file=sys.stderr)
        return 1
    print(f"{seconds:.1f} {count}")
    return 0


if __name__ == "__main__":
    sys.exit(main())

# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 hvnet contributors
"""Configure and compile the tree with meson and ninja."""

import fcntl
import os
import subprocess
import time
from pathlib import Path

from hvdev.common import TOP, Fail, say


def meson_command():
    """The distribution's meson where there is one: another may be first in PATH."""
    return "/usr/bin/meson" if os.access("/usr/bin/meson", os.X_OK) else "meson"


def run_logged(argv, log, env=None):
    """Run a command with its output in `log`; return its exit status."""
    with open(log, "w", encoding="utf-8") as out:
        return subprocess.run(argv, stdin=subprocess.DEVNULL, stdout=out, cwd=TOP, env=env,
                              stderr=subprocess.STDOUT, check=False).returncode


def cause(log, words):
    """The first line of the log with one of the words, else its last line."""
    lines = [x.strip() for x in Path(log).read_text(errors="replace").splitlines()
             if x.strip()]
    found = [x for x in lines if any(w in x for w in words)]
    return (found or lines[-1:] or ["no output"])[0][:300]


def configure(folder, options, env=None):
    """Run meson setup when the folder is not configured yet, or with new options."""
    fresh = not (folder / "build.ninja").is_file()
    if not fresh and not options:
        return
    log = folder / "setup.log"
    argv = [meson_command(), "setup", str(folder), *options]
    if not fresh:
        argv.insert(2, "--reconfigure")
    if run_logged(argv, log, env) != 0:
        raise Fail(f"meson setup failed: {cause(log, ['ERROR'])} (all of it: {log})")


def make_folder(folder):
    """Make the build folder; refuse one that hvsim could not run from."""
    if set(str(folder)) & set(" :"):
        raise Fail(f"build folder '{folder}': the loader preloads nothing from a path with spaces "
                   "or colons; name another folder with --build")
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with open(folder / ".lock", "w", encoding="utf-8"):
            pass
    except OSError as exc:
        raise Fail(f"build folder {folder}: {exc.strerror}; name another with --build, or build "
                   "as its owner") from exc


def build(folder, options=(), env=None, targets=()):
    """Configure if needed and compile (all by default); one user of a build folder at a time.

    `targets` are ninja's, or a function that names them once the folder is configured.
    """
    make_folder(folder)
    start = time.monotonic()
    with open(folder / ".lock", "w", encoding="utf-8") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        configure(folder, list(options), env)
        log = folder / "ninja.log"
        argv = ["ninja", "-C", str(folder), "-j", str(os.cpu_count() or 1)]
        argv += targets() if callable(targets) else targets
        if run_logged(argv, log, env) != 0:
            raise Fail(f"build failed: {cause(log, ['error:', 'ERROR', 'FAILED'])}"
                       f" (all of it: {log})")
        if "no work to do" not in log.read_text(errors="replace"):
            say(f"build: {folder} in {time.monotonic() - start:.1f} s")


def sdk_options(driver_sdk):
    """Meson options for the user's own driver SDK headers, if any."""
    return [f"-Ddriver_sdk={Path(driver_sdk).resolve()}"] if driver_sdk else []

# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 hvnet contributors
"""Run meson's and pytest's tests by one -k expression and count the outcomes."""

import json
import os
import re
import subprocess
import sys
import xml.etree.ElementTree as ElementTree
from pathlib import Path

from hvdev.build import meson_command
from hvdev.common import TOP, Fail, say

WORD = re.compile(r"\(|\)|[^\s()]+")


class Count:
    """How many tests passed, failed and were skipped."""

    def __init__(self):
        self.passed = self.failed = self.skipped = 0

    def add(self, outcome, name, detail=""):
        """Count one test; say what is not a plain pass."""
        setattr(self, outcome, getattr(self, outcome) + 1)
        if outcome != "passed" or detail:
            say(f"{outcome.upper():8} {name}" + (f": {detail}" if detail else ""))

    def line(self):
        """The closing line."""
        text = f"{self.passed} passed, {self.failed} failed"
        return text + (f", {self.skipped} skipped" if self.skipped else "")


def matcher(expression):
    """A function of a test's name that follows pytest's -k rules."""
    if not expression:
        return lambda name: True
    words = WORD.findall(expression)
    if any('"' in w or "'" in w or "\\" in w for w in words):
        raise Fail(f"-k {expression}: quotes and backslashes are not supported")

    def match(name):
        text = " ".join(w if w in ("and", "or", "not", "(", ")")
                        else str(w.lower() in name.lower()) for w in words)
        return bool(eval(text, {"__builtins__": {}}))  # pylint: disable=eval-used

    try:
        match("")
    except SyntaxError as exc:
        raise Fail(f"-k '{expression}' is no expression; words with and, or, not, ()") from exc
    return match


def meson_tests(build):
    """(name, suites, ninja target) of the configured unit tests."""
    done = subprocess.run([meson_command(), "introspect", "--tests", str(build)], text=True,
                          stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, check=False)
    if done.returncode != 0:
        raise Fail(f"meson introspect failed for {build}; remove that folder and try again")
    return [(t["name"], t.get("suite", []), os.path.relpath(t["cmd"][0], build))
            for t in json.loads(done.stdout)]


def outcome_of(result):
    """Our word for meson's."""
    if result in ("OK", "EXPECTEDFAIL"):
        return "passed"
    return "skipped" if result in ("SKIP", "IGNORED") else "failed"


def run_meson(build, names, label, count, env=None, slow=1):
    """Run the named unit tests of one build folder; count each."""
    log = Path(build) / "meson-logs/testlog.json"
    log.unlink(missing_ok=True)
    argv = [meson_command(), "test", "-C", str(build), "--no-rebuild",
            "--num-processes", str(min(2, os.cpu_count() or 1)),
            "-t", str(slow), *names]
    subprocess.run(argv, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                   stderr=subprocess.DEVNULL, env=dict(os.environ, **(env or {})), check=False)
    seen = 0
    for line in log.read_text().splitlines() if log.is_file() else []:
        test = json.loads(line)
        seen += 1
        outcome = outcome_of(test["result"])
        text = (test.get("stderr") or "") + "\n" + (test.get("stdout") or "")
        if outcome == "failed":
            say("\n".join(text.strip().splitlines()[-40:]))
        lines = text.strip().splitlines() or [""]
        count.add(outcome, f"{label}:{test['name'].split(' / ')[-1]}",
                  "" if outcome == "passed" else
                  (lines[0] if outcome == "skipped" else test["result"].lower()))
    if seen < len(names):
        count.add("failed", label, f"only {seen} of {len(names)} tests reported; see {log.parent}")
    say(f"{label}: {seen} tests run")


def read_junit(path, count):
    """Add pytest's outcomes."""
    root = ElementTree.parse(path).getroot()
    for case in root.iter("testcase"):
        kinds = {child.tag for child in case}
        if kinds & {"failure", "error"}:
            count.failed += 1
        elif "skipped" in kinds:
            count.skipped += 1
        else:
            count.passed += 1


def run_pytest(folders, expression, build, count):
    """Run pytest on the folders that exist, its output shown as it comes."""
    folders = [str(f) for f in folders if Path(f).is_dir()]
    if not folders:
        return
    report = Path(build) / "pytest.xml"
    report.unlink(missing_ok=True)
    argv = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "--rootdir", str(TOP),
            "-q", "-ra", "--tb=short", f"--junitxml={report}", *folders]
    if expression:
        argv += ["-k", expression]
    env = dict(os.environ, HVNET_BUILD=str(build), HVNET_TOP=str(TOP),
               PYTHONUNBUFFERED="1", PYTEST_DISABLE_PLUGIN_AUTOLOAD="1")
    status = subprocess.run(argv, stdin=subprocess.DEVNULL, cwd=TOP, env=env,
                            check=False).returncode
    before = count.failed
    if report.is_file():
        read_junit(report, count)
    # 5: none matched.  Any other failure must show in the sum, also one outside a test.
    if status not in (0, 5) and count.failed == before:
        count.add("failed", "pytest", f"ended with status {status}")

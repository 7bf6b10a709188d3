# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 hvnet contributors
"""A conversation with an interactive dpdk-testpmd on a pseudo-terminal."""

import os
import pty
import re
import select
import signal
import subprocess
import termios
import time

from hvdev.common import Fail

PROMPT = "testpmd> "


class Testpmd:
    """Starts a command (testpmd, or hvsim with testpmd) and talks to its prompt."""

    def __init__(self, argv, env=None):
        try:
            master, slave = pty.openpty()
        except OSError as exc:
            raise Fail(f"no pseudo-terminal for testpmd ({exc}); mount devpts on /dev/pts") from exc
        attrs = termios.tcgetattr(slave)
        attrs[3] &= ~termios.ECHO
        termios.tcsetattr(slave, termios.TCSANOW, attrs)
        self.fd = master
        self.text = ""
        self.proc = subprocess.Popen(argv, stdin=slave, stdout=slave, stderr=slave,
                                     env=env, start_new_session=True)
        os.close(slave)

    def read(self, timeout):
        """Read what is there within `timeout` seconds; None at the end."""
        ready, _, _ = select.select([self.fd], [], [], max(0.0, timeout))
        if not ready:
            return ""
        try:
            data = os.read(self.fd, 65536)
        except OSError:
            return None
        if not data:
            return None
        text = data.decode(errors="replace").replace("\r", "")
        self.text += text
        return text

    def until_prompt(self, what, timeout=30.0):
        """Read up to the next prompt and return the text before it."""
        deadline = time.monotonic() + timeout
        got = ""
        while not got.endswith(PROMPT):
            left = deadline - time.monotonic()
            if left <= 0:
                raise Fail(f"testpmd gave no prompt within {timeout:.0f} s after {what}: "
                           + self.last_line())
            text = self.read(left)
            if text is None:
                line = self.last_line()
                raise Fail(line if line.startswith("hvsim: ") else
                           f"testpmd ended at {what}: {line}")
            got += text
        return got[:-len(PROMPT)]

    def command(self, words, timeout=30.0):
        """Type a command and return its output."""
        try:
            os.write(self.fd, (words + "\n").encode())
        except OSError as exc:
            raise Fail(f"testpmd ended before '{words}': {self.last_line()}") from exc
        return self.until_prompt(f"'{words}'", timeout)

    def last_line(self):
        """The line of the output that says best what went wrong."""
        lines = [x.strip() for x in self.text.splitlines() if x.strip() and PROMPT not in x]
        # EAL's first complaint is the cause, all others are what came of it.
        first = r"^EAL: (Error|Cannot)(?! - exiting)"
        for words in (r"^hvsim: ", r"unrecognized option|HV_NETVSC: .*(fail|refus|cannot)",
                      first, r"^Cause: ",
                      r"error|fail|cannot|refus|no such|unable|invalid"):
            found = [x for x in lines if re.search(words, x, re.I)
                     and "exiting with code" not in x]
            if found:
                return found[0 if words == first else -1][:300]
        return (lines or ["no output"])[-1][:300]

    def quit(self, timeout=20.0):
        """Leave politely; then less so.  Returns the exit status."""
        try:
            os.write(self.fd, b"quit\n")
        except OSError:
            pass
        deadline = time.monotonic() + timeout
        while time.monotonic() < deadline and self.read(0.2) is not None:
            pass
        for sig, grace in ((None, 5.0), (signal.SIGTERM, 5.0), (signal.SIGKILL, 5.0)):
            if sig is not None:
                self.signal_group(sig)
            try:
                return self.proc.wait(grace)
            except subprocess.TimeoutExpired:
                continue
        return -1

    def signal_group(self, sig):
        """Signal the whole process group of the command."""
        try:
            os.killpg(self.proc.pid, sig)
        except ProcessLookupError:
            pass

    def close(self):
        """End the command if it still runs and free the terminal."""
        if self.proc.poll() is None:
            self.quit(3.0)
        if self.fd >= 0:
            os.close(self.fd)
            self.fd = -1

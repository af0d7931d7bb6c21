"""The runner's process: started with nothing of our environment that could be a secret, ended with us."""

from __future__ import annotations

import contextlib
import os
import re
import signal
import socket
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path

from evalward.edge import harmless

SOURCE = str(Path(__file__).resolve().parents[2])
PROGRAM = "import sys; sys.path.insert(0, sys.argv.pop()); from evalward.runner.service import main; main()"
PATIENCE_S = 25.0  # for ending its sandboxes
SAID_LIMIT = 10_000  # bytes of its last words

NOT_FOR_THE_RUNNER = re.compile(r"(GITHUB_(?!ACTIONS$)|RUNNER_|XDG_|HOME$|USER$|LOGNAME$|.*_?PROXY$).*", re.IGNORECASE)
"""Harmless, and none of its business: files of the workflow, ways out."""


def runner_environment(env: Mapping[str, str]) -> dict[str, str]:
    """Of an environment, what the runner may know."""
    return {name: value for name, value in harmless(env).items() if not NOT_FOR_THE_RUNNER.fullmatch(name)}


class RunnerProcess:
    """A runner and our end of the connection to it."""

    def __init__(self, env: Mapping[str, str], cwd: Path) -> None:
        """Start it. Raises `OSError`."""
        self.connection, theirs = socket.socketpair()
        self._said = tempfile.TemporaryFile()  # noqa: SIM115 - closed with the process
        try:
            with theirs:
                words = [sys.executable, "-I", "-X", "utf8", "-c", PROGRAM, str(theirs.fileno()), SOURCE]
                self._process = subprocess.Popen(  # noqa: S603 - a fixed program of ours, no shell
                    words,
                    env=runner_environment(env),
                    cwd=cwd,
                    stdin=subprocess.DEVNULL,
                    stdout=subprocess.DEVNULL,
                    stderr=self._said,
                    pass_fds=[theirs.fileno()],
                    start_new_session=True,  # a terminal's Ctrl-C is for us: we pass it on
                )
        except BaseException:
            self.connection.close()
            raise

    def signal(self, number: signal.Signals) -> None:
        """Pass a signal on."""
        with contextlib.suppress(OSError):
            self._process.send_signal(number)

    def ended(self) -> str:
        """How it ended, when its end of the connection is closed; for a log."""
        try:
            code = self._process.wait(PATIENCE_S)
        except subprocess.TimeoutExpired:
            return "it closed the connection"
        self._said.seek(max(0, self._said.seek(0, os.SEEK_END) - SAID_LIMIT))
        said = self._said.read().decode("utf-8", "replace").strip()
        how = f"signal {signal.Signals(-code).name}" if code < 0 else f"exit code {code}"
        return f"{how}: {said}" if said else how

    def close(self) -> None:
        """Wait for its end; by force, if it takes too long. The connection has to be closed before."""
        try:
            self._process.wait(PATIENCE_S)
        except subprocess.TimeoutExpired:
            with contextlib.suppress(OSError):
                os.killpg(self._process.pid, signal.SIGKILL)
            self._process.wait()
        self._said.close()

"""A program with keys that we start and end: its overseer, what it says last, and how it ended."""

from __future__ import annotations

import contextlib
import os
import selectors
import socket
import subprocess
import sys
import time
from dataclasses import dataclass

from evalward.edge import SOURCE
from evalward.sandbox.launcher.overseer import GRACE_S, ProgramAnswer, ProgramOrder

_PROGRAM = "import sys; sys.path.insert(0, sys.argv.pop()); from evalward.sandbox.launcher.overseer import main; main()"
_KEPT = 64 << 10  # bytes of what it said last
_ANSWER = 1 << 16
_LAST_S = 2.0  # for what is printed to arrive, after its overseer has gone
_AFTER_S = GRACE_S + 10.0  # for the overseer to end all and to say so


@dataclass(frozen=True)
class ProgramEnd:
    """How a program ended: its exit code, `None` where it has none because it could not be started (`error` says why)
    or its overseer was ended. `said` is the end of what it printed, `cut` where that is not all of it.
    """

    exit_code: int | None
    timed_out: bool
    seconds: float
    said: bytes
    cut: bool
    error: str = ""


class OverseenProgram:
    """A program that runs. Any thread may `end` it."""

    def __init__(self, order: ProgramOrder) -> None:
        """Start its overseer. Raises `OSError`."""
        self._began = time.monotonic()
        self._control, theirs = socket.socketpair()
        self._said, output = os.pipe()
        try:
            with theirs:
                self._process = subprocess.Popen(  # noqa: S603 - a fixed program of ours, no shell
                    [sys.executable, "-I", "-S", "-X", "utf8", "-c", _PROGRAM, str(theirs.fileno()), SOURCE],
                    env={"PATH": os.defpath},
                    cwd="/",
                    stdin=subprocess.DEVNULL,
                    stdout=output,
                    stderr=subprocess.DEVNULL,
                    pass_fds=[theirs.fileno()],
                    start_new_session=True,
                )
            self._control.sendall(order.written())
        except BaseException:
            self._close()
            raise
        finally:
            os.close(output)

    def waited(self, timeout_s: float) -> ProgramEnd:
        """Wait for its end; at the time limit it is asked to end, and then is ended."""
        heard = _Heard()
        try:
            timed_out = self._listen(heard, timeout_s)
            self._process.wait(_AFTER_S)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        finally:
            seconds = time.monotonic() - self._began
            self._close()
        answer = ProgramAnswer.read(bytes(heard.answer))
        return ProgramEnd(answer.exit_code, timed_out, seconds, bytes(heard.said), heard.cut, answer.error)

    def _listen(self, heard: _Heard, timeout_s: float) -> bool:
        """Until both streams end; whether it took too long."""
        until, timed_out = self._began + timeout_s, False
        with selectors.DefaultSelector() as selector:
            selector.register(self._said, selectors.EVENT_READ, heard.add_said)
            selector.register(self._control, selectors.EVENT_READ, heard.add_answer)
            while selector.get_map():
                late = time.monotonic() >= until  # however much it prints
                if late and (timed_out or heard.over):
                    break  # it was asked to end, or its overseer has gone, and what is printed doesn't end
                if late:
                    timed_out, until = True, time.monotonic() + _AFTER_S
                    self._ask_to_end()
                for key, _ in selector.select(max(0.0, until - time.monotonic())):
                    if not self._hear(key):
                        selector.unregister(key.fileobj)
                        if key.fileobj is self._control:
                            heard.over, until = True, time.monotonic() + _LAST_S
        return timed_out

    def _hear(self, key: selectors.SelectorKey) -> bool:
        """Take what is there; whether there may be more."""
        try:
            data = os.read(key.fd, 1 << 16)
        except OSError:
            return False
        key.data(data)
        return bool(data)

    def _ask_to_end(self) -> None:
        with contextlib.suppress(OSError):
            self._control.send(b"T")

    def end(self) -> None:
        """End it at once, with all that it has started; whoever waits for it goes on."""
        with contextlib.suppress(OSError):
            self._control.shutdown(socket.SHUT_WR)

    def _close(self) -> None:
        self._control.close()
        os.close(self._said)


class _Heard:
    """The end of what a program printed, and what its overseer says of it."""

    def __init__(self) -> None:
        self.said, self.answer, self.cut, self.over = bytearray(), bytearray(), False, False

    def add_said(self, data: bytes) -> None:
        self.said += data
        if len(self.said) > _KEPT:
            del self.said[:-_KEPT]
            self.cut = True

    def add_answer(self, data: bytes) -> None:
        self.answer += data[: _ANSWER - len(self.answer)]

"""The driver's process, as the command that was called starts it: without its keys, and ended with it."""

from __future__ import annotations

import contextlib
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping

from evalward.cluster.orders import ClusterError, ClusterEvent, ClusterOrder
from evalward.edge import SOURCE, harmless

PROGRAM = "import sys; sys.path.insert(0, sys.argv.pop()); from evalward.cluster.driver import main; main()"
ADDRESS = "RAY_ADDRESS"
PATIENCE_S = 20.0  # for Ray to say goodbye
_SAID = 2000


def driver_environment(env: Mapping[str, str]) -> dict[str, str]:
    """What is harmless, and Ray's own variables: with some of them it finds and may enter its cluster."""
    return {**harmless(env), **{name: value for name, value in env.items() if name.startswith("RAY_")}}


@contextlib.contextmanager
def cluster_events(order: ClusterOrder, env: Mapping[str, str]) -> Iterator[Iterator[ClusterEvent]]:
    """What happens while a driver runs the order. It is ended with the context.

    Raises `ClusterError` where the driver ended before it was done.
    """
    with tempfile.TemporaryFile() as said:
        process = subprocess.Popen(  # noqa: S603 - a fixed program of ours, no shell
            [sys.executable, "-I", "-X", "utf8", "-c", PROGRAM, SOURCE],
            env=driver_environment(env),
            cwd="/",  # Ray has its workers, which hold keys, import from the folder of the driver
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=said,
            text=True,
            encoding="utf-8",
            start_new_session=True,  # a terminal's Ctrl-C is for us: we end it
        )
        try:
            yield _heard(process, order, said.fileno())
        finally:
            _end(process)


def _heard(process: subprocess.Popen[str], order: ClusterOrder, said: int) -> Iterator[ClusterEvent]:
    if process.stdin is None or process.stdout is None:
        raise RuntimeError("the driver has no streams")
    with contextlib.suppress(BrokenPipeError):
        process.stdin.write(order.written() + "\n")
        process.stdin.flush()
    for line in process.stdout:
        event = ClusterEvent.read(line)
        yield event
        if event.kind in {"ended", "no-ray", "unreachable", "refused"}:
            return
    raise ClusterError(f"The Ray cluster was lost: {_last_line(said) or 'its driver ended'}.")


def _last_line(said: int) -> str:
    size = os.lseek(said, 0, os.SEEK_END)
    text = os.pread(said, _SAID, max(0, size - _SAID)).decode("utf-8", "replace")
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    return lines[-1].rstrip(".") if lines else ""


def _end(process: subprocess.Popen[str]) -> None:
    """Close its input, which ends it, and take notice of that."""
    for stream in (process.stdin, process.stdout):
        if stream is not None:
            with contextlib.suppress(OSError):
                stream.close()
    try:
        process.wait(PATIENCE_S)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()

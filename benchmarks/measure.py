"""Clocks, child processes, and the tables that people read."""

from __future__ import annotations

import contextlib
import os
import resource
import subprocess
import sys
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from statistics import median

from tabulate import tabulate

EVALWARD = Path(sys.executable).with_name("evalward")


@dataclass(frozen=True)
class Spent:
    """What something took: seconds of the clock, of this process's processor and of those below it, and MB at most.

    A number that nobody measured is 0.
    """

    wall: float
    cpu: float
    below: float = 0.0
    peak_mb: float = 0.0

    def beyond(self, other: Spent) -> Spent:
        """What it took more than another."""
        return Spent(self.wall - other.wall, self.cpu - other.cpu, self.below - other.below)


@dataclass(frozen=True)
class Row:
    """One figure: what it took, what it is held against, how they relate, and what we want at most."""

    what: str
    took: str
    against: str
    ratio: float
    aim: str = "–"


def spent(work: Callable[[], object]) -> Spent:
    """What a call took in this process, and in the processes below it that have ended meanwhile."""
    wall, cpu, below = time.perf_counter(), _cpu(resource.RUSAGE_SELF), _cpu(resource.RUSAGE_CHILDREN)
    work()
    took = time.perf_counter() - wall
    return Spent(took, _cpu(resource.RUSAGE_SELF) - cpu, _cpu(resource.RUSAGE_CHILDREN) - below)


def _cpu(who: int) -> float:
    used = resource.getrusage(who)
    return used.ru_utime + used.ru_stime


def child(*words: str | Path, cwd: Path, env: dict[str, str] | None = None, codes: Iterable[int] = (0,)) -> Spent:
    """What a process took. It has to end with one of the exit codes."""
    began = time.perf_counter()
    process = start(*words, cwd=cwd, env=env)
    _, status, used = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    assert process.returncode in codes, f"{words} ended with {process.returncode}"
    return Spent(time.perf_counter() - began, used.ru_utime + used.ru_stime)


def watched(*words: str | Path, cwd: Path, env: dict[str, str] | None = None, codes: Iterable[int] = (0,)) -> Spent:
    """The same with the peak of memory, looked up as long as it runs: the system's own sum would count ours with it."""
    began, peak = time.perf_counter(), 0.0
    process = start(*words, cwd=cwd, env=env)
    while process.poll() is None:
        with contextlib.suppress(OSError):
            lines = Path(f"/proc/{process.pid}/status").read_text().splitlines()
            peak = max([peak, *(int(line.split()[1]) / 1024 for line in lines if line.startswith("VmHWM"))])
        time.sleep(0.01)
    assert process.returncode in codes, f"{words} ended with {process.returncode}"
    return Spent(time.perf_counter() - began, 0.0, peak_mb=peak)


def start(*words: str | Path, cwd: Path, env: dict[str, str] | None = None) -> subprocess.Popen[bytes]:
    """A process whose words nobody reads."""
    environment = {"PATH": os.environ["PATH"], "HOME": str(cwd), **(env or {})}
    quiet = subprocess.DEVNULL
    return subprocess.Popen(words, cwd=cwd, env=environment, stdin=quiet, stdout=quiet, stderr=quiet)


def middle(rounds: Sequence[Spent]) -> Spent:
    """The medians."""
    return Spent(*(median(getattr(each, field.name) for each in rounds) for field in fields(Spent)))


def ratio(ours: Sequence[Spent], theirs: Sequence[Spent], of: Callable[[Spent], float]) -> float:
    """The median of the rounds' ratios: what slows the machine for a while slows both."""
    return median(of(one) / of(other) for one, other in zip(ours, theirs, strict=True))


def ms(seconds: float) -> str:
    """Milliseconds for people."""
    return f"{seconds * 1000:.2f} ms"


def table(title: str, rows: Sequence[Row]) -> str:
    """The rows, aligned."""
    cells = [[row.what, row.took, row.against, f"{row.ratio:.2f}", row.aim] for row in rows]
    heads = ["what", "Evalward", "held against", "ratio", "aim"]
    return f"{title}\n{tabulate(cells, headers=heads, disable_numparse=True, colalign=_ALIGNED)}\n"


_ALIGNED = ("left", "right", "right", "right", "right")

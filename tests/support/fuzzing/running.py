"""Damaged files without end: with random seeds, within bounds of time and memory, and what was found is kept.

make fuzz                          for an hour
FUZZ_SECONDS=600 make fuzz         for ten minutes
FUZZ_SEED=… make fuzz              the same files again; FUZZ_READERS=report,history only these
"""

from __future__ import annotations

import hashlib
import os
import resource
import signal
import sys
import tempfile
import time
import traceback
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from support.fuzzing.all import READERS
from support.fuzzing.reader import Reader

FOUND = Path(__file__).parents[2] / "data" / "fuzz"
MOST_SECONDS = 10
MOST_BYTES = 500_000_000
LARGEST_KEPT = 300_000  # bytes: what is larger is told by its seed alone


class BoundError(AssertionError):
    """A file took too long, or too much memory."""


@dataclass(frozen=True)
class Find:
    """Something that came out of a reader and should not have: what and where."""

    reader: str
    seed: str
    what: str
    data: bytes


@contextmanager
def within_bounds() -> Iterator[None]:
    """Raises `BoundError` for what takes more than `MOST_SECONDS` of the processor, or adds `MOST_BYTES` of memory."""

    def too_long(*_: object) -> None:
        raise BoundError(f"more than {MOST_SECONDS} s of the processor")

    before = _resident(reset=True)
    old = signal.signal(signal.SIGPROF, too_long)  # by the processor's time: a busy machine is no finding
    signal.setitimer(signal.ITIMER_PROF, MOST_SECONDS)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, old)
    used = _resident() - before
    if used > MOST_BYTES:
        raise BoundError(f"more than {MOST_BYTES // 1_000_000} MB of memory")


def _resident(*, reset: bool = False) -> int:
    """The most memory that this process has had, in bytes; `reset` begins to count anew, where Linux can."""
    if reset:
        try:
            Path("/proc/self/clear_refs").write_text("5", "ascii")
        except OSError:
            return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    try:
        status = Path("/proc/self/status").read_text("ascii")
    except OSError:
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    return int(status.partition("VmHWM:")[2].split()[0]) * 1024


def tried(reader: Reader, seed: str, folder: Path) -> Find | None:
    """One damaged file; what came out of it, if that was wrong."""
    data = reader.odd(seed)
    try:
        with within_bounds():
            reader.attempt(data, folder)
    except Exception as error:
        return Find(reader.name, seed, _told(error), data)
    return None


def _told(error: Exception) -> str:
    frames = traceback.extract_tb(error.__traceback__)
    ours = [frame for frame in frames if f"{os.sep}evalward{os.sep}" in frame.filename] or list(frames)
    place = f"{Path(ours[-1].filename).name}:{ours[-1].lineno} {ours[-1].name}" if ours else "?"
    return f"{place}: {type(error).__name__}: {str(error)[:200]}"


def kept(find: Find) -> str:
    """Keep the file as a case of the test suite, unless it is very large; in words where."""
    if len(find.data) > LARGEST_KEPT:
        return f"not kept, {len(find.data):,} bytes"
    folder = FOUND / READERS[find.reader].slug
    folder.mkdir(parents=True, exist_ok=True)
    file = folder / hashlib.sha256(find.data).hexdigest()[:12]
    file.write_bytes(find.data)
    return str(file)


def main() -> int:
    """Fuzz until the time is up. The exit code says whether anything was found."""
    warnings.simplefilter("error")
    seconds = float(os.environ.get("FUZZ_SECONDS", "3600"))
    seed = os.environ.get("FUZZ_SEED") or os.urandom(6).hex()
    wanted = [name for name in os.environ.get("FUZZ_READERS", "").split(",") if name]
    readers = [reader for name, reader in READERS.items() if not wanted or any(part in name for part in wanted)]
    print(f"seed {seed}, {len(readers)} readers, {seconds:g} s", flush=True)  # noqa: T201
    started, number, seen = time.monotonic(), 0, set[tuple[str, str]]()
    with tempfile.TemporaryDirectory() as made:
        while time.monotonic() - started < seconds:
            reader = readers[number % len(readers)]
            folder = Path(made) / reader.slug
            folder.mkdir(exist_ok=True)
            find = tried(reader, f"{seed} {number}", folder)
            number += 1
            if find is not None and (find.reader, find.what[:80]) not in seen:
                seen.add((find.reader, find.what[:80]))
                print(f"{find.reader!r}, seed {find.seed!r}: {find.what}\n    {kept(find)}", flush=True)  # noqa: T201
    print(f"seed {seed}: {number:,} files, {len(seen)} findings", flush=True)  # noqa: T201
    return 1 if seen else 0


if __name__ == "__main__":
    sys.exit(main())

"""Reading and writing the records that commands are given by name."""

from __future__ import annotations

import os
from pathlib import Path

from evalward.commands.world import World
from evalward.decide.baseline import UPDATE_HINT, read_baseline
from evalward.engine.store import write_atomic
from evalward.opening import MIB, name_below, read_inside
from evalward.records.baseline import Baseline
from evalward.records.problem import wrong
from evalward.records.reading import parse_record
from evalward.records.report import Report
from evalward.redaction import NOTHING, Redaction

MOST_BYTES = 256 * MIB
"""Of a file that a user names."""
REPORT_HINT = "Make one with `evalward run`."


def read_bytes(path: Path, what: str, remedy: str) -> bytes:
    """The content of a file. Raises `InputError`."""
    try:
        with path.open("rb") as file:
            data = file.read(MOST_BYTES + 1)
    except FileNotFoundError:
        raise wrong(str(path), f"there is no such {what}", remedy) from None
    except OSError as error:
        raise wrong(str(path), f"the {what} can't be read: {error.strerror}", remedy) from error
    if len(data) > MOST_BYTES:
        raise wrong(str(path), f"the {what} is larger than {MOST_BYTES // MIB} MiB", remedy)
    return data


def read_committed(path: Path, what: str, remedy: str, root: Path | None = None) -> bytes:
    """The content of a file that may belong to a checkout: it is no link, and below `root` nothing on the way is one.

    Raises `InputError`.
    """
    top = root or path.parent
    try:
        return read_inside(top, name_below(top, path))
    except FileNotFoundError:
        raise wrong(str(path), f"there is no such {what}", remedy) from None
    except OSError as error:
        raise wrong(str(path), f"the {what} can't be read: {error.strerror}", remedy) from error


def read_report(path: Path) -> Report:
    """The report in a file. Raises `InputError`."""
    data = read_bytes(path, "report", REPORT_HINT)
    return parse_record(data, str(path), Report, "a report", REPORT_HINT)


def read_baseline_file(path: Path, root: Path | None = None) -> Baseline:
    """The baseline in a file. Raises `InputError`, also when there is none."""
    return read_baseline(read_committed(path, "baseline", UPDATE_HINT, root), str(path))


def read_baseline_if_any(path: Path, root: Path | None = None) -> Baseline | None:
    """The same, `None` where there is no such file."""
    return read_baseline_file(path, root) if os.path.lexists(path) else None


def write_text(path: Path, text: str, redaction: Redaction = NOTHING) -> None:
    """Write a file atomically, without secrets. Raises `InputError` when that is not possible."""
    try:
        write_atomic(path, redaction.json(text) if path.suffix == ".json" else redaction.known(text))
    except OSError as error:
        raise wrong(str(path), f"can't be written: {error.strerror}", "Choose another place with --output.") from error


def emit(world: World, text: str, output: Path | None) -> None:
    """Machine output: to the file if one was named, else to standard output."""
    if output is not None:
        write_text(world.cwd / output, text, world.redaction)
        return
    text = world.redaction.known(text)
    world.out.write(text if text.endswith("\n") else text + "\n")
    world.out.flush()

"""Reading the records that commands are given by name."""

from __future__ import annotations

import os
from pathlib import Path

from evalward.decide.baseline import UPDATE_HINT, read_baseline
from evalward.opening import name_below, read_inside, read_regular
from evalward.records.base import acyclic
from evalward.records.baseline import Baseline
from evalward.records.problem import wrong
from evalward.records.reading import parse_record
from evalward.records.report import REPORT_FILE, Report

REPORT_HINT = "Make one with `evalward run`."
_OURS = b'"evalward.'
_OWN_HEAD = 300  # bytes: our files begin with their schema


def read_bytes(path: Path, what: str, remedy: str) -> bytes:
    """The content of a regular file of at most 64 MiB. Raises `InputError`."""
    try:
        return read_regular(path)
    except FileNotFoundError:
        raise wrong(str(path), f"there is no such {what}", remedy) from None
    except OSError as error:
        raise wrong(str(path), f"the {what} can't be read: {error.strerror}", remedy) from error


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


def report_in(cwd: Path, named: Path) -> Path:
    """The report that is meant by a name: of a folder the `report.json` in it."""
    return named / REPORT_FILE if (cwd / named).is_dir() else named


def result_in(cwd: Path, named: Path) -> Path:
    """The same for what may be another harness's folder: that is meant itself."""
    folder = cwd / named
    if not folder.is_dir() or (folder / REPORT_FILE).is_file():
        return report_in(cwd, named)
    from evalward.commands.foreign import is_foreign  # noqa: PLC0415 - its readers are needed by few

    return named if is_foreign(folder) else named / REPORT_FILE


def is_ours(path: Path) -> bool:
    """Whether a file is to be read as one that Evalward writes: where no other harness's format knows it, too."""
    if path.is_file():  # a pipe would keep whoever opens it waiting
        try:
            with path.open("rb") as stream:
                if _OURS in stream.read(_OWN_HEAD):
                    return True
        except OSError:
            return True
    elif not path.is_dir():
        return True
    from evalward.commands.foreign import is_foreign  # noqa: PLC0415 - its readers are needed by few

    return not is_foreign(path)


def read_report(path: Path) -> Report:
    """The report in a file. Raises `InputError`."""
    data = read_bytes(path, "report", REPORT_HINT)
    with acyclic():
        return parse_record(data, str(path), Report, "a report", REPORT_HINT)


def read_baseline_file(path: Path, root: Path | None = None) -> Baseline:
    """The baseline in a file. Raises `InputError`, also when there is none."""
    return read_baseline(read_committed(path, "baseline", UPDATE_HINT, root), str(path))


def read_baseline_if_any(path: Path, root: Path | None = None) -> Baseline | None:
    """The same, `None` where there is no such file."""
    return read_baseline_file(path, root) if os.path.lexists(path) else None

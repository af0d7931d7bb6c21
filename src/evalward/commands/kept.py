"""The trials and files that lie beside a report, read when somebody looks at them. They may be anybody's: data only."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import islice
from pathlib import Path

from evalward.keeper.outputs import BESIDE
from evalward.opening import FolderEntry, beginning_inside, read_inside, walk_inside
from evalward.records.problem import InputError
from evalward.records.reading import parse_record
from evalward.records.result import Trial
from evalward.records.sections import FileText

MOST_FILES = 200
MOST_ENTRIES = 20 * MOST_FILES  # of a folder, its folders too
MOST_OF_A_FILE = 200_000
"""Bytes."""


class KeptFolder:
    """An output folder, or a folder `below` it. No link is followed; what is too large, or isn't what it should be,
    isn't there.
    """

    def __init__(self, root: Path, below: str = ".") -> None:
        self._root, self._below = root, below

    def trial(self, path: str) -> Trial | None:
        """The trial in a file, of at most 64 MiB."""
        try:
            return parse_record(read_inside(self._root, self._name(path)), path, Trial, "a trial", "")
        except (InputError, OSError, RecursionError):
            return None

    def files(self, folder: str) -> Sequence[FileText]:
        """The first files of a folder by their names, each as far as it is shown."""
        try:
            entries = list(islice(walk_inside(self._root, self._name(folder)), MOST_ENTRIES))
        except (InputError, OSError):
            return []
        found = sorted((entry for entry in entries if entry.is_file), key=lambda entry: entry.path)
        read = (self._file(folder, entry) for entry in found[:MOST_FILES])
        return [file for file in read if file is not None]

    def _name(self, path: str) -> str:
        """A path as it counts from the output folder; an absolute one stays what it is, and is refused."""
        return path if path.startswith("/") else f"{self._below}/{path}"

    def _file(self, folder: str, entry: FolderEntry) -> FileText | None:
        try:
            data = beginning_inside(self._root, self._name(f"{folder}/{entry.path}"), MOST_OF_A_FILE)
        except (InputError, OSError):
            return None
        cut = max(0, entry.size - len(data))
        return FileText(name=entry.path, text=text_of(data, cut=bool(cut)), cut=cut)


def kept_in(report: Path) -> KeptFolder:
    """What lies beside a report: the trials that it measured."""
    return KeptFolder(report.parent)


def kept_of_base(report: Path) -> KeptFolder:
    """The trials of the base commit that were measured with a report."""
    return KeptFolder(report.parent, BESIDE)


def text_of(data: bytes, *, cut: bool) -> str | None:
    """The text of a file, `None` where it is none. A character that the cut went through is left out."""
    if b"\0" in data:
        return None
    try:
        return data.decode()
    except UnicodeDecodeError as error:
        through_a_character = cut and error.start > len(data) - 4 and error.reason == "unexpected end of data"
        return data[: error.start].decode() if through_a_character else None

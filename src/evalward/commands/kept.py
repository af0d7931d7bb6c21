"""The trials and files that lie beside a report, read when somebody looks at them. They may be anybody's: data only."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import islice
from pathlib import Path

from evalward.commands.pipeline import kinds_of
from evalward.keeper.outputs import BESIDE
from evalward.opening import FolderEntry, beginning_inside, read_inside, walk_inside
from evalward.records.baseline import Baseline
from evalward.records.problem import InputError
from evalward.records.reading import parse_record
from evalward.records.report import Report
from evalward.records.result import Trial
from evalward.records.sections import FileText
from evalward.render.kept import Sources

MOST_FILES = 200
MOST_ENTRIES = 20 * MOST_FILES  # of a folder, its folders too
MOST_OF_A_FILE = 200_000
"""Bytes."""


class KeptFolder:
    """An output folder. No link is followed; what is too large, or isn't what it should be, isn't there.

    `shelf` is the folder in it that paths of artifacts count from: those of the base's trials count from one of their
    own, while the paths of the trials themselves name it.
    """

    def __init__(self, root: Path, shelf: str = ".") -> None:
        self._root, self._shelf = root, shelf

    def trial(self, path: str) -> Trial | None:
        """The trial in a file, of at most 64 MiB."""
        try:
            return parse_record(read_inside(self._root, path), path, Trial, "a trial", "")
        except (InputError, OSError, RecursionError):
            return None

    def files(self, folder: str) -> Sequence[FileText]:
        """The first files of a folder by their names, each as far as it is shown."""
        place = folder if folder.startswith("/") else f"{self._shelf}/{folder}"  # an absolute one is refused
        try:
            entries = list(islice(walk_inside(self._root, place), MOST_ENTRIES))
        except (InputError, OSError):
            return []
        found = sorted((entry for entry in entries if entry.is_file), key=lambda entry: entry.path)
        read = (self._file(place, entry) for entry in found[:MOST_FILES])
        return [file for file in read if file is not None]

    def _file(self, folder: str, entry: FolderEntry) -> FileText | None:
        try:
            data = beginning_inside(self._root, f"{folder}/{entry.path}", MOST_OF_A_FILE)
        except (InputError, OSError):
            return None
        cut = max(0, entry.size - len(data))
        return FileText(name=entry.path, text=text_of(data, cut=bool(cut)), cut=cut)


def sources_in(folder: Path, report: Report, baseline: Baseline | None = None) -> Sources:
    """Where a report comes from that lies in an output folder, with the trials there: its own and the base's."""
    return Sources(report, baseline, KeptFolder(folder), KeptFolder(folder, BESIDE), kinds_of(report))


def text_of(data: bytes, *, cut: bool) -> str | None:
    """The text of a file, `None` where it is none. A character that the cut went through is left out."""
    if b"\0" in data:
        return None
    try:
        return data.decode()
    except UnicodeDecodeError as error:
        through_a_character = cut and error.start > len(data) - 4 and error.reason == "unexpected end of data"
        return data[: error.start].decode() if through_a_character else None

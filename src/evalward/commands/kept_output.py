"""What lies in our own output folder, read through its descriptor: a keeper opens no path of a checkout."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import islice

from evalward.commands.kept import MOST_ENTRIES, MOST_FILES, MOST_OF_A_FILE, text_of
from evalward.keeper.outputs import BESIDE, OutputFolder
from evalward.records.problem import InputError
from evalward.records.reading import parse_own_record
from evalward.records.result import Trial
from evalward.records.sections import FileText
from evalward.redaction import NOTHING, Redaction
from evalward.writing import MOST_READ, Folder


class KeptOutput:
    """An open output folder. No link is followed; what is too large, or isn't what it should be, isn't there.

    `shelf` is the folder in it that paths of artifacts count from, empty for itself. What is in `redaction` stands in
    nothing that comes from here.
    """

    def __init__(self, folder: Folder, shelf: str = "", redaction: Redaction = NOTHING) -> None:
        self._folder, self._shelf, self._redaction = folder, shelf, redaction

    def trial(self, path: str) -> Trial | None:
        """The trial in a file, of at most 64 MiB."""
        try:
            data = self._folder.read(path)
            found = parse_own_record(data, path, Trial, "a trial", "")
            return found if self._redaction.absent(data) else self._redaction.record(found)
        except (InputError, OSError, RecursionError, ValueError):
            return None

    def files(self, folder: str) -> Sequence[FileText]:
        """The first files of a folder by their names, each as far as it is shown."""
        try:
            inside = self._folder.below(f"{self._shelf}/{folder}" if self._shelf else folder)
            inside.handle(make=False)
            entries = list(islice(inside.entries(), MOST_ENTRIES))
        except (InputError, OSError, ValueError):
            return []
        names = sorted(entry.path for entry in entries if not entry.is_folder and not entry.strange)
        read = (_file(inside, name) for name in names[:MOST_FILES])
        return [self._redaction.record(file) for file in read if file is not None]


def _file(inside: Folder, name: str) -> FileText | None:
    try:
        data = inside.read(name, MOST_READ)
    except (InputError, OSError, ValueError):
        return None
    cut = max(0, len(data) - MOST_OF_A_FILE)
    return FileText(name=name, text=text_of(data[:MOST_OF_A_FILE], cut=bool(cut)), cut=cut)


def kept_output(output: OutputFolder, redaction: Redaction = NOTHING) -> KeptOutput:
    """The trials that were measured into it."""
    return KeptOutput(output.folder, redaction=redaction)


def kept_base(output: OutputFolder, redaction: Redaction = NOTHING) -> KeptOutput:
    """The base commit's trials that were measured beside them."""
    return KeptOutput(output.folder, BESIDE, redaction)

"""Format `answer-sheet` of suites of kind external: a line `ANSWERS`, then `ID right` or `ID wrong`, one a line."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from evalward.records.result import Status
from evalward.suites.external.formats.base import ForeignFile, ForeignResults, ForeignTrial, unreadable

_SAID = {"right": Status.PASSED, "wrong": Status.FAILED}


class AnswerSheet:
    """See `evalward.suites.external.formats.base.Format`."""

    title = "a sheet of answers"

    def recognises(self, file: ForeignFile, head: bytes) -> bool:
        return head.startswith(b"ANSWERS\n")

    def belongs(self, name: str) -> bool:
        return name.endswith(".sheet")

    def read(self, files: Sequence[ForeignFile]) -> Sequence[ForeignResults]:
        return [ForeignResults(list(self._trials(file))) for file in files]

    def _trials(self, file: ForeignFile) -> Iterator[ForeignTrial]:
        with file.open() as stream:
            lines = stream.read(1_000_000).decode().splitlines()
        for line in lines[1:]:
            name, _, said = line.partition(" ")
            if said not in _SAID:
                raise unreadable(file, self.title, f"{line!r} is no answered question")
            yield ForeignTrial(case=name, status=_SAID[said], asked={"question": name})


SHEET = AnswerSheet()

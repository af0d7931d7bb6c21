"""What lies beside a report, without secrets: it may have been measured where they were not known."""

from __future__ import annotations

from collections.abc import Sequence

from evalward.records.result import Trial
from evalward.records.sections import FileText
from evalward.redaction import Redaction
from evalward.render.kept import Kept


class WithoutSecrets:
    """Trials and files in which no secret stands. A page packs texts, so that nothing could be found in it later."""

    def __init__(self, kept: Kept, redaction: Redaction) -> None:
        self._kept, self._redaction = kept, redaction

    def trial(self, path: str) -> Trial | None:
        """The trial that a result names."""
        found = self._kept.trial(path)
        return None if found is None else self._redaction.record(found)

    def files(self, folder: str) -> Sequence[FileText]:
        """The files of a trial's artifacts."""
        return [self._redaction.record(file) for file in self._kept.files(folder)]

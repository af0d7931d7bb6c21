"""`patch:NAME` and `log:NAME`: what somebody left for each task in a file: a change, or the log of a measurement."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from pathlib import Path
from typing import Literal

from evalward.config.speedup import ID_MARK
from evalward.records.base import digest
from evalward.records.case import Case
from evalward.targets.base import Chat, Free, TrialSkippedError

Form = Literal["patch", "log"]
MAX_BYTES = 256 * 1024 * 1024


class FileTarget(Free):
    """One file per task. It answers nobody: suites of kind speedup read the files."""

    random = False

    def __init__(self, form: Form, name: str, pattern: str, root: Path) -> None:
        """`pattern`: a path from the root with `{id}` in it, or a folder that holds `ID.patch` or `ID.log`."""
        self.form, self.id = form, f"{form}:{name}"
        self._pattern = pattern if ID_MARK in pattern else f"{pattern.rstrip('/')}/{ID_MARK}.{form}"
        self._root = root

    @property
    def subject(self) -> Mapping[str, str]:
        """Which files; what stands in them is told by `content_hash`."""
        return {self.form: digest({path.name: content_hash(path) for path in self._files()})}

    def _files(self) -> list[Path]:
        return sorted(path for path in self._root.glob(self._pattern.replace(ID_MARK, "*")) if path.is_file())

    def path_of(self, case_id: str) -> str:
        """The task's file, counted from the configuration's folder, as people are shown it."""
        return self._pattern.replace(ID_MARK, case_id)

    def content(self, case: Case) -> bytes:
        """The task's file. Raises `TrialSkippedError` when there is none."""
        path = self._root / self.path_of(case.id)
        try:
            if path.stat().st_size > MAX_BYTES:
                raise TrialSkippedError("not_recorded", f"{self.path_of(case.id)} is larger than 256 MB")
            return path.read_bytes()
        except OSError as error:
            raise TrialSkippedError("not_recorded", f"there is no {self.path_of(case.id)}") from error

    def open(self, case: Case, trial: int) -> Chat:  # noqa: ARG002 - no suite of chats has such a target
        """It can't be talked to."""
        raise TrialSkippedError("no_answers", f"{self.id} answers no questions; it is for suites of kind speedup")


def content_hash(path: Path) -> str:
    """The hash of a file's bytes."""
    return hashlib.sha256(path.read_bytes()).hexdigest()

"""`patch:NAME` and `log:NAME`: what somebody left for each task in a file: a change, or the log of a measurement."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Literal

from evalward.opening import glob_inside, hash_inside, read_inside, why
from evalward.records.base import digest
from evalward.records.case import Case
from evalward.records.problem import InputError
from evalward.records.target_id import TargetId
from evalward.targets.base import Chat, Free, TrialSkippedError
from evalward.targets.context import TargetContext

Form = Literal["patch", "log"]
ID_MARK = "{id}"
"""Stands for a case's id in the path of its file."""
MAX_BYTES = 256 * 1024 * 1024


class FileTarget(Free):
    """One file per task. It answers nobody: suites of kind speedup read the files."""

    random = False

    def __init__(self, form: Form, name: str, pattern: str, root: Path) -> None:
        """`pattern`: a path from the root with `{id}` in it, or a folder that holds `ID.patch` or `ID.log`.

        Raises `InputError` for a link among the files.
        """
        self.form, self.id = form, f"{form}:{name}"
        self._pattern = pattern if ID_MARK in pattern else f"{pattern.rstrip('/')}/{ID_MARK}.{form}"
        self._root = root
        self._names()  # a link is told before anything runs

    def _names(self) -> list[str]:
        return glob_inside(self._root, self._pattern.replace(ID_MARK, "*"))

    @property
    def subject(self) -> Mapping[str, str]:
        """Which files, and what stands in them. Raises `InputError` for a link among them, and for one too large."""
        names = self._names()
        return {
            self.form: digest({name.rpartition("/")[2]: hash_inside(self._root, name, MAX_BYTES) for name in names})
        }

    def path_of(self, case_id: str) -> str:
        """The task's file, counted from the configuration's folder, as people are shown it."""
        return self._pattern.replace(ID_MARK, case_id)

    def content(self, case: Case) -> bytes:
        """The task's file. Raises `TrialSkippedError` when there is none."""
        try:
            return read_inside(self._root, self.path_of(case.id), MAX_BYTES)
        except InputError as error:
            raise TrialSkippedError("not_recorded", f"{self.path_of(case.id)}: {why(error)}") from error
        except OSError as error:
            raise TrialSkippedError("not_recorded", f"there is no {self.path_of(case.id)}") from error

    def open(self, case: Case, trial: int) -> Chat:  # noqa: ARG002 - no suite of chats has such a target
        """It can't be talked to."""
        raise TrialSkippedError("no_answers", f"{self.id} answers no questions; it is for suites of kind speedup")


def patches(asked: TargetId, context: TargetContext) -> FileTarget:
    """The target `patch:NAME`."""
    return FileTarget("patch", asked.name, context.entry(context.loaded.config.patches, asked), context.loaded.root)


def logs(asked: TargetId, context: TargetContext) -> FileTarget:
    """The target `log:NAME`."""
    return FileTarget("log", asked.name, context.entry(context.loaded.config.logs, asked), context.loaded.root)

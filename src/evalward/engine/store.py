"""The output folder: one atomic file per trial, and the report. A killed run loses no finished trial."""

from __future__ import annotations

import hashlib
import re
from pathlib import Path

from msgspec import Struct

from evalward.records.base import json_data
from evalward.records.problem import InputError
from evalward.records.reading import parse_record
from evalward.records.result import Result, Trial
from evalward.redaction import NOTHING, Redaction
from evalward.writing import Folder

NAME_LIMIT = 60
RESERVED = re.compile(r"(con|prn|aux|nul|com[0-9]|lpt[0-9])([.]|$)", re.IGNORECASE)  # by Windows, with any suffix
# Names that may stand as they are: without capitals, which file systems fold, and without what looks like a hash, which
# could be another id's.
PLAIN = re.compile(r"(?!.*-[0-9a-f]{16}$)[a-z0-9_-][a-z0-9._-]*")


def safe_name(name: str) -> str:
    """A file name for an untrusted id: readable, never a path.

    Ids that differ give names that differ, also where the file system takes capitals for small letters.
    """
    readable = re.sub(r"[^A-Za-z0-9._-]+", "-", name).strip(".-")[:NAME_LIMIT]
    if RESERVED.match(readable):
        readable = f"_{readable}"
    if readable == name and PLAIN.fullmatch(name):
        return readable
    return f"{readable or 'x'}-{hashlib.sha256(name.encode('utf-8', 'surrogatepass')).hexdigest()[:16]}"


def trial_path(suite: str, target: str, case: str, trial: int) -> str:
    """Where a trial's file lies, relative to the output folder, with forward slashes."""
    return f"trials/{safe_name(suite)}/{safe_name(target)}/{safe_name(case)}.{trial}.json"


def artifacts_path(suite: str, target: str, case: str, trial: int) -> str:
    """Where a trial's artifacts lie, as a folder beside `trials/`."""
    return f"artifacts/{safe_name(suite)}/{safe_name(target)}/{safe_name(case)}.{trial}"


class Store:
    """Trials and artifacts in an output folder. No secret and no link goes into it, and none is followed."""

    def __init__(self, folder: Folder | Path, redaction: Redaction = NOTHING) -> None:
        self.folder = Folder(folder) if isinstance(folder, Path) else folder
        self.redaction = redaction

    def below(self, name: str) -> Store:
        """The store in a folder below this one."""
        return Store(self.folder.below(name), self.redaction)

    def keep(self, trial: Trial) -> str:
        """Write a trial's file; the path that the report names."""
        result = trial.result
        path = trial_path(trial.suite, trial.target, result.id, result.trial)
        self.folder.write(path, self.redaction.json(json_data(trial, None)))
        return path

    def keep_folder(self, source: Path | int, path: str, owner: int | None = None) -> None:
        """Put a folder (its path, or a descriptor) at a path of the output where nothing is, whole or not at all.

        `owner`: the user who gave it to us, whose own files alone are kept.
        """
        self.folder.put(source, path, self.redaction.data, owner)

    def has(self, path: str) -> bool:
        """Whether an earlier run left something at a path of the output."""
        return self.folder.has(path)

    def remove_folder(self, path: str) -> None:
        """Remove what is at a path of the output."""
        self.folder.remove(path)

    def find(self, key: TrialKey) -> StoredTrial:
        """The finished trial that an earlier run left, for `--resume`.

        Only a valid trial of the same definition and subject counts: errors and skipped ones are done again. A file
        that is truncated, foreign or of another subject is told in `note`, and done again.
        """
        path = trial_path(key.suite, key.target, key.case, key.trial)
        try:
            text = self.folder.read(path)
        except OSError:
            return StoredTrial()
        try:
            trial = parse_record(text, path, Trial, "a trial", "It is run again.")
        except InputError as error:
            return StoredTrial(note=str(error.problems[0]))
        result = trial.result
        if (trial.suite, trial.target, result.id, result.trial) != (
            key.suite,
            key.target,
            key.case,
            key.trial,
        ):
            return StoredTrial(note=f"{path}: it is a trial of something else. It is run again.")
        if (result.definition, trial.subject) != (key.definition, key.subject):
            return StoredTrial(note=f"{path}: case or subject have changed since. It is run again.")
        return StoredTrial(result=result.model_copy(update={"trace": path})) if result.valid else StoredTrial()


class TrialKey(Struct, frozen=True):
    """What identifies a trial: where it belongs, the case's definition, the subject's hash, its number."""

    suite: str
    target: str
    case: str
    definition: str
    subject: str
    trial: int


class StoredTrial(Struct, frozen=True):
    """An earlier trial's result, or nothing; `note` says what was there instead."""

    result: Result | None = None
    note: str = ""

"""The output folder: new, empty, or left by an earlier run; never a link or committed; no secret goes into it.

What lies in it is uploaded by workflows and shown to people as ours, and is written with the rights of whoever runs us.
So nothing in it may be somebody else's, and nothing that we write may end up elsewhere.
"""

from __future__ import annotations

import fcntl
import os
import re
import weakref
from dataclasses import dataclass, field, replace
from pathlib import Path

from evalward.engine.store import Store
from evalward.records.problem import InputError, unwritable, wrong
from evalward.records.report import REPORT_FILE, REPORT_MARKDOWN
from evalward.redaction import NOTHING, Redaction
from evalward.render.outputs import (
    BADGE_FILE,
    COMMENT_FILE,
    HTML_FILE,
    JUDGEMENT_FILE,
    JUNIT_FILE,
    RELEASE_FILE,
    RELEASE_HTML,
    RELEASE_MARKDOWN,
)
from evalward.writing import Folder

HISTORY_PAGE = "index.html"
TRIALS, ARTIFACTS, GUIDANCE, BESIDE, BATCHES = "trials", "artifacts", "guidance", "beside", "batches"
FOLDERS = (TRIALS, ARTIFACTS, GUIDANCE, BESIDE, BATCHES)
FILES = (
    REPORT_FILE,
    REPORT_MARKDOWN,
    JUDGEMENT_FILE,
    COMMENT_FILE,
    HTML_FILE,
    JUNIT_FILE,
    BADGE_FILE,
    RELEASE_FILE,
    RELEASE_MARKDOWN,
    RELEASE_HTML,
    "guidance.json",
    "guidance.md",
    "cases.jsonl",
    HISTORY_PAGE,
)
REMEDY = "Choose another folder with --output, or with the action's input output-dir."
NO_GIT = 127
_TEMPORARY = re.compile(r"[.].+[.][0-9a-f]{16}")  # what a run that was killed may leave of a file


class _Claim:
    """A lock of a folder, which ends with this object."""

    def __init__(self, handle: int) -> None:
        weakref.finalize(self, os.close, handle)


_held: weakref.WeakValueDictionary[tuple[int, int], _Claim] = weakref.WeakValueDictionary()
"""Our process's, by device and number of the folder."""


def _claimed(folder: Folder) -> _Claim:
    """The folder's lock. Where the file system has no locks, it keeps nobody out.

    Raises `BlockingIOError` where another process has it, `OSError`.
    """
    found = os.fstat(folder.handle())
    ours = _held.get((found.st_dev, found.st_ino))
    if ours is not None:
        return ours
    handle = os.open(".", os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC, dir_fd=folder.handle())
    claim = _Claim(handle)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        raise
    except OSError:  # without locks
        return claim
    _held[found.st_dev, found.st_ino] = claim
    return claim


@dataclass(frozen=True)
class OutputFolder:
    """An output folder that is ours to write to. Its path is for people; everything goes through its descriptor."""

    folder: Folder
    redaction: Redaction = field(default=NOTHING, repr=False)
    _claims: list[_Claim] = field(default_factory=list, repr=False, compare=False)

    @classmethod
    def open(
        cls,
        path: Path,
        redaction: Redaction = NOTHING,
        *,
        anchor: Path | None = None,
        shared: bool = False,
        search_path: str = os.defpath,
    ) -> OutputFolder:
        """Open or make the folder. `anchor` is what a relative path counts from, else where we run.

        Raises `InputError` when it can't be written, is a link, or holds a link, a file with a second name, what is
        no file, what git tracks, or a file that no run of ours leaves. `shared`: nothing is measured, and an earlier
        step has left a report there, maybe with other files; those are no reason.
        """
        folder = Folder(path, anchor)
        try:
            folder.handle()
            _refuse_foreign(folder, shared=shared)
            _refuse_tracked((anchor or Path.cwd()) / path, str(path), search_path)
        except InputError as error:
            problems = [one.but(remedy=one.remedy or REMEDY) for one in error.problems]
            raise InputError(problems) from None
        except OSError as error:
            raise _unusable(str(path), str(error.strerror or error)) from error
        return cls(folder, redaction)

    @property
    def path(self) -> Path:
        """Where it is, for people."""
        return self.folder.path

    @property
    def store(self) -> Store:
        """Where its trials and artifacts are kept."""
        return Store(self.folder, self.redaction)

    def hiding(self, redaction: Redaction) -> OutputFolder:
        """The same folder; what is written from here on is without these secrets."""
        return replace(self, redaction=redaction)

    def write(self, name: str, text: str) -> Path:
        """Write a text without secrets; the file's path, for people. Raises `InputError` when that is not possible."""
        self.write_clean(name, self.redaction.file(name, text))
        return self.path / name

    def write_json(self, name: str, data: bytes) -> None:
        """Write a JSON text without secrets. Raises `InputError` as `write` does."""
        self.write_clean(name, self.redaction.json(data))

    def write_clean(self, name: str, data: bytes) -> None:
        """Write what is without secrets already. Raises `InputError` when that is not possible."""
        try:
            self.folder.write(name, data)
        except OSError as error:
            raise unwritable(str(self.path / name), error, REMEDY) from error

    def read(self, name: str, what: str, remedy: str) -> bytes:
        """What a file of ours holds. Raises `InputError`."""
        try:
            return self.folder.read(name)
        except FileNotFoundError:
            raise wrong(str(self.path / name), f"there is no such {what}", remedy) from None
        except OSError as error:
            message = f"the {what} can't be read: {error.strerror or error}"
            raise wrong(str(self.path / name), message, remedy) from error

    def claim(self) -> None:
        """Keep it from other processes' runs, for as long as anybody in ours has it. Raises `InputError` where one of
        them is at work in it.
        """
        try:
            self._claims[:] = [_claimed(self.folder)]
        except BlockingIOError:
            raise _unusable(str(self.path), "another run is writing into it") from None
        except OSError as error:
            raise _unusable(str(self.path), str(error.strerror or error)) from error

    def clear(self, names: tuple[str, ...] = (*FILES, *FOLDERS)) -> None:
        """Remove what an earlier run left: nobody shall take it for this one's. It is claimed. Raises `InputError`."""
        self.claim()
        try:
            broken = [name for name in self.folder.names() if _TEMPORARY.fullmatch(name)]
            for name in (*names, *broken):
                self.folder.remove(name)
        except OSError as error:
            raise _unusable(str(self.path), f"what an earlier run left can't be removed: {error.strerror}") from error


def _unusable(path: str, why: str) -> InputError:
    return wrong(path, f"can't be the output folder: {why}", REMEDY)


def _refuse_foreign(folder: Folder, *, shared: bool) -> None:
    shown = str(folder.path)
    for entry in folder.entries():
        if entry.strange:
            raise _unusable(shown, f"{entry.path!r} in it is {entry.strange}")
        if "/" not in entry.path and not _is_ours(entry.path, folder=entry.is_folder, shared=shared):
            raise _unusable(shown, f"it holds {entry.path!r}, which no earlier run left there")
    names = set(folder.names())
    if not shared and names & {ARTIFACTS, GUIDANCE, BESIDE} and not names & {TRIALS, *FILES}:
        raise _unusable(shown, "it holds a folder 'artifacts', 'guidance' or 'beside' that no run left there")


def _is_ours(name: str, *, folder: bool, shared: bool) -> bool:
    """Other folders are left alone: they may be other gates' output folders."""
    if folder:
        return name not in FILES
    return shared or name in FILES or _TEMPORARY.fullmatch(name) is not None


def _refuse_tracked(path: Path, shown: str, search_path: str) -> None:
    """Committed files are somebody's: they would be uploaded as ours. Asked of the repository that the folder is in."""
    place = Path(os.path.realpath(path.absolute()))
    top = next((above for above in place.parents if os.path.lexists(above / ".git")), None)
    if top is None:
        return
    from evalward.git import run_git  # noqa: PLC0415 - a command that has no folder to make starts no git

    name = place.relative_to(top).as_posix()
    code, output = run_git(top, search_path, ["--literal-pathspecs", "ls-files", "-z", "--", name])
    if code not in {0, NO_GIT}:
        raise _unusable(shown, "git can't say whether it has committed files")
    committed = [one for one in output.decode("utf-8", "replace").split("\0") if one] if code == 0 else []
    if committed:
        more = f" and {len(committed) - 1} more" if len(committed) > 1 else ""
        raise _unusable(shown, f"it holds committed files: {committed[0]}{more}")

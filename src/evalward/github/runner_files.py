"""What the runner reads from us: outputs, job summary, workflow commands; and the files that we leave behind."""

from __future__ import annotations

import os
import secrets
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, fields
from itertools import groupby
from pathlib import Path
from typing import BinaryIO, Literal

from evalward.records.base import clean_text
from evalward.render.console import is_group_command
from evalward.render.escape import workflow_data, workflow_property
from evalward.writing import Folder

MAX_SUMMARY_BYTES = 1_000_000  # over 1 MiB the runner drops the whole summary
MAX_ANNOTATIONS = 10  # of each level; the runner drops the others
MAX_ANNOTATION_CHARS = 4_000  # it cuts at 4096
_CUT_NOTE = "\n\n… cut: the job summary is full. The whole report is in the output folder.\n"

Level = Literal["error", "warning", "notice"]


def _delimiter() -> str:
    return f"evalward-{secrets.token_hex(16)}"


@dataclass(frozen=True, slots=True)
class Outputs:
    """The action's outputs; the fields are their names with `_` for `-`. What is not available is `None`: empty.

    `regressions` is the number of reasons to fail; the metrics are unrounded.
    """

    verdict: str
    exit_code: int
    csr: float | None = None
    safety_accuracy: float | None = None
    tool_call_success_rate: float | None = None
    pass_rate: float | None = None
    regressions: int | None = None
    report_json: str | None = None
    comment_file: str | None = None
    comment_url: str | None = None
    baseline_url: str | None = None

    def values(self) -> dict[str, str]:
        """Name → text, as the workflow reads them."""
        texts = ((item.name.replace("_", "-"), getattr(self, item.name)) for item in fields(self))
        return {name: "" if value is None else str(value) for name, value in texts}


OUTPUT_NAMES = tuple(item.name.replace("_", "-") for item in fields(Outputs))


def write_outputs(path: Path, values: Mapping[str, str], delimiter: Callable[[], str] = _delimiter) -> None:
    """Appends `values` to the file that GITHUB_OUTPUT names.

    Each value gets a random delimiter that none of its lines equals, so no value can set another output.
    """
    with _appending(path) as file:
        for name, value in values.items():
            text = clean_text(value)
            lines = text.splitlines()
            mark = next(mark for mark in iter(delimiter, None) if mark not in lines)
            file.write(f"{name}<<{mark}\n{text}\n{mark}\n".encode())


def _appending(path: Path) -> BinaryIO:
    """One of the runner's own files, to write at its end: never what a link in its place leads to. Raises `OSError`."""
    flags = os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
    return os.fdopen(os.open(path, flags, 0o666), "ab")


def append_summary(path: Path, text: str, limit: int = MAX_SUMMARY_BYTES) -> None:
    """Appends Markdown to the file that GITHUB_STEP_SUMMARY names, which stays within `limit` bytes."""
    with _appending(path) as file:
        room = limit - os.fstat(file.fileno()).st_size
        data = clean_text(text).encode()
        if len(data) > room:
            data = _cut(data, room - len(_CUT_NOTE.encode())) + _CUT_NOTE.encode()
        if len(data) <= room:
            file.write(data)


def _cut(data: bytes, limit: int) -> bytes:
    """The first `limit` bytes at most, ending between two lines where there are several, never inside a character."""
    kept = data[: max(limit, 0)].decode("utf-8", "ignore")
    return (kept[: kept.rfind("\n")] if "\n" in kept else kept).encode()


@dataclass(frozen=True, slots=True)
class Annotation:
    """A message of the check, at a place of a file where there is one. Everything in it may be hostile text."""

    level: Level
    message: str
    file: str | None = None
    line: int | None = None
    title: str | None = None

    def command(self) -> str:
        """The workflow command."""
        given = {"file": self.file, "line": str(self.line) if self.line else None, "title": self.title}
        properties = ",".join(f"{name}={workflow_property(value)}" for name, value in given.items() if value)
        message = workflow_data(self.message[:MAX_ANNOTATION_CHARS])
        return f"::{self.level}{' ' if properties else ''}{properties}::{message}"


def annotation_commands(annotations: Iterable[Annotation], most: int = MAX_ANNOTATIONS) -> list[str]:
    """The workflow commands, at most `most` of each level: of more, the last says how many were left out."""
    items = list(annotations)
    total = Counter(item.level for item in items)
    shown: Counter[Level] = Counter()
    commands = []
    for item in items:
        shown[item.level] += 1
        if shown[item.level] < most or (shown[item.level] == most and total[item.level] == most):
            commands.append(item.command())
        elif shown[item.level] == most:
            left = total[item.level] - most + 1
            commands.append(Annotation(item.level, f"{left} more are in the job summary.").command())
    return commands


def mask_commands(secret: str) -> list[str]:
    """The commands that make the runner hide a secret in logs, line by line. Nothing for an empty one."""
    return [f"::add-mask::{line.replace('%', '%25')}" for line in secret.splitlines() if line.strip()]


@contextmanager
def commands_stopped(write: Callable[[str], object], token: Callable[[], str] = _delimiter) -> Iterator[None]:
    """Text that is written inside of this context is no workflow command, whatever it looks like.

    `write` takes one line without its end. It must reach the same stream as the text, in order.
    """
    word = token()
    write(f"::stop-commands::{word}")
    try:
        yield
    finally:
        write(f"::{word}::")


def tell_in_groups(text: str, tell: Callable[..., None]) -> None:
    """Text of a screen to the log: its groups fold, and nothing else in it is a workflow command."""
    for ours, lines in groupby(text.split("\n"), key=is_group_command):
        body = "\n".join(lines).strip("\n")
        if ours:
            tell(body)
        elif body:
            with commands_stopped(tell):
                tell(body)


def give_to_owner(folders: Iterable[Folder], workspace: Path, *, is_root: bool | None = None) -> list[Path]:
    """Gives folders, with all that is in them, to the workspace's owner; returns the paths that refused.

    The container runs as root; what it leaves behind as root's breaks later steps on self-hosted runners. Links
    are not followed: they may lead anywhere. Without root's rights nothing is done.
    """
    if not (os.geteuid() == 0 if is_root is None else is_root):
        return []
    owner = workspace.stat()
    return [folder.path / name for folder in folders for name in folder.give(owner.st_uid, owner.st_gid)]

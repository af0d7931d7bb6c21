"""What every place where commands run has in common."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, Protocol

OUTPUT_LIMIT = 30_000  # characters of one stream that a trace keeps and a model reads

FileType = Literal["file", "directory", "other"]


class SandboxError(Exception):
    """The sandbox itself broke. Counted as `error`: never the target's failure."""


class NoWorkspaceError(SandboxError):
    """Where something is judged no workspace could be made, or it broke: the harness's fault, not the target's."""


class FileTooLargeError(SandboxError):
    """A file is too large to be read. Its writer did that: where it is judged, it counts as a wrong file."""


@dataclass(frozen=True)
class Execution:
    """What one run of a script gave. `stdout` and `stderr` are whole, as far as the sandbox itself keeps them."""

    stdout: str
    stderr: str
    exit_code: int
    duration_ms: int


class EndedCommand(Protocol):
    """A command that has ended. One that can't be started ends with 126 or 127, as in a shell."""

    @property
    def stdout(self) -> str:
        """What it printed."""
        ...

    @property
    def stderr(self) -> str:
        """What it printed to standard error."""
        ...

    @property
    def exit_code(self) -> int:
        """How it ended."""
        ...

    @property
    def timed_out(self) -> bool:
        """It was ended because it took too long."""
        ...


class Shell(Protocol):
    """A shell whose state (variables, functions, folder, files) lives from one script to the next."""

    async def run(self, script: str) -> Execution:
        """Run a script. A script that fails is no exception; `SandboxError` is for a sandbox that breaks."""
        ...

    def file_type(self, path: str) -> FileType | None:
        """What is at the path, `None` when nothing is. A relative path counts from the home folder."""
        ...

    def read_file(self, path: str) -> bytes | None:
        """The content of a regular file, `None` when there is none."""
        ...


def cut(text: str, limit: int = OUTPUT_LIMIT) -> str:
    """The text, or its head and tail with a note between them; never longer than `limit`, and stable when cut again."""
    if len(text) <= limit:
        return text
    room = limit - len(_note(len(text)))
    head = room * 2 // 3
    return text[:head] + _note(len(text) - room) + text[len(text) - (room - head) :]


def _note(left_out: int) -> str:
    return f"\n[… {left_out} characters left out …]\n"

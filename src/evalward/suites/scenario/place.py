"""Where gates and scripts run: what they need of the process sandbox, and nothing more."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Protocol

from evalward.sandbox.base import EndedCommand, FileType

SHELL = ("sh", "-c")
SAID = 200
"""Characters of an output that a message shows."""


class Workplace(Protocol):
    """The copy of the fixture in which the agent worked. Raises `SandboxError` only when it breaks itself."""

    @property
    def folder(self) -> Path:
        """Where it is."""
        ...

    async def run(
        self,
        command: Sequence[str],
        *,
        env: Mapping[str, str] = ...,
        cwd: str = ".",
        timeout_s: float | None = None,
    ) -> EndedCommand:
        """Run a command with these variables beside the few that every child gets."""
        ...

    def read_file(self, path: str) -> bytes | None:
        """The content of a regular file of the folder; `None` when there is none. No link leads out of it."""
        ...

    def file_type(self, path: str) -> FileType | None:
        """What is at a path of the folder, `None` when nothing is."""
        ...


async def run_shell(place: Workplace, command: str, env: Mapping[str, str], timeout_s: float) -> EndedCommand:
    """A command line in the folder."""
    return await place.run([*SHELL, command], env=env, timeout_s=timeout_s)


def how_it_ended(done: EndedCommand, timeout_s: float) -> str:
    """The end in words, with the last of what it said on standard error, or else printed."""
    how = f"it took longer than {timeout_s:g} s" if done.timed_out else f"exit code {done.exit_code}"
    output = done.stderr.strip() or done.stdout.strip()
    return f"{how}: {excerpt(output, tail=True)}" if output else how


def excerpt(text: str, *, tail: bool = False) -> str:
    """The text in one line, cut to its beginning, or to its end."""
    words = " ".join(text.split())
    if len(words) <= SAID:
        return words
    return "…" + words[-SAID:] if tail else words[:SAID] + "…"

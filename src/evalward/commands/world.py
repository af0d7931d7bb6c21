"""What a command sees of the outside: streams, clock, environment. Only `cli` and `api` build one."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from functools import cached_property
from pathlib import Path
from typing import TextIO

from evalward.redaction import Redaction


def utc_now() -> str:
    """The time of the real clock as ISO 8601 in UTC."""
    return datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


@dataclass(frozen=True)
class World:
    """Results, for people and programs, go to `out`; progress, warnings and errors to `err`.

    `now` gives the time as ISO 8601 in UTC. `quiet`: of results for people only the last line is wanted, and no
    progress.
    """

    out: TextIO
    err: TextIO
    now: Callable[[], str]
    env: Mapping[str, str] = field(default_factory=dict, repr=False)  # may hold keys: never shown
    cwd: Path = Path()
    key_names: frozenset[str] = frozenset()  # variables that hold a secret whatever they are called
    quiet: bool = False

    @cached_property
    def redaction(self) -> Redaction:
        """What is hidden in everything that a command says or writes."""
        return Redaction(self.env, self.key_names)

    def hiding(self, key_names: frozenset[str]) -> World:
        """The same world; what these variables hold is hidden too."""
        return replace(self, key_names=self.key_names | key_names)

    def colour(self, stream: TextIO) -> bool:
        """True when colours have somebody to see them: a terminal, and nobody who said no."""
        if self.env.get("NO_COLOR"):
            return False
        return bool(self.env.get("FORCE_COLOR")) or (stream.isatty() and self.env.get("TERM") != "dumb")

    @property
    def width(self) -> int:
        """Columns of the terminal, 100 where there is none."""
        columns = self.env.get("COLUMNS", "")
        if columns.isdigit() and int(columns) > 0:
            return int(columns)
        watched = next((stream for stream in (self.out, self.err) if stream.isatty()), None)
        if watched is None:
            return 100
        try:
            return os.get_terminal_size(watched.fileno()).columns or 100
        except OSError:
            return 100

    @property
    def only_ascii(self) -> bool:
        """True where the environment names an encoding other than UTF-8, or the output is written in one."""
        locale = next((self.env[name] for name in ("LC_ALL", "LC_CTYPE", "LANG") if self.env.get(name)), "utf-8")
        encoding = getattr(self.out, "encoding", None) or "utf-8"
        return not all("utf8" in name.lower().replace("-", "") for name in (locale, encoding))

    def show(self, text: str) -> None:
        """What a command found: lines on standard output, without secrets.

        Raises `NoRoomError` where they can't be written. A closed pipe is raised as it is.
        """
        text = self.redaction.known(text)
        try:
            self.out.write(text if text.endswith("\n") else text + "\n")
            self.out.flush()
        except BrokenPipeError:
            raise
        except OSError as error:
            from evalward.records.problem import NoRoomError, unwritable  # noqa: PLC0415 - for few

            raise NoRoomError(unwritable("standard output", error, "Name a file with --output.").problems) from error

    def gone(self) -> str:
        """What to say where the folder that we were called in is gone by now; empty where it is there."""
        if self.cwd.is_dir():
            return ""
        return (
            f"error: the folder that this was called in is gone: {self.cwd}. Run it again where it stays; "
            "trials that were finished are kept if --output was outside of it (--resume goes on)"
        )

    def tell(self, text: str) -> None:
        """Progress as it is, without secrets: it may be a part of a line."""
        if not self.quiet:
            self._heard(self.redaction.known(text))

    def note(self, text: str) -> None:
        """A line that is worth knowing and no warning."""
        if not self.quiet:
            self.say(text)

    def say(self, text: str) -> None:
        """A line of progress, a warning or an error, without secrets."""
        self._heard(self.redaction.known(text) + "\n")

    def _heard(self, text: str) -> None:
        """Text for people who may not be there: a full disk below their log is no verdict. A closed pipe is raised:
        whoever read us has ended.
        """
        try:
            self.err.write(text)
            self.err.flush()
        except BrokenPipeError:
            raise
        except OSError:
            return

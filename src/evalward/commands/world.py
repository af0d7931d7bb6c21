"""What a command sees of the outside: streams, clock, environment. Only `cli` and `api` build one."""

from __future__ import annotations

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
    """Machine output goes to `out`, everything for people to `err`. `now` gives the time as ISO 8601 in UTC."""

    out: TextIO
    err: TextIO
    now: Callable[[], str]
    env: Mapping[str, str] = field(default_factory=dict, repr=False)  # may hold keys: never shown
    cwd: Path = Path()
    key_names: frozenset[str] = frozenset()  # variables that hold a secret whatever they are called

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
        if not self.err.isatty():
            return 100
        import shutil  # noqa: PLC0415 - only at a terminal

        return shutil.get_terminal_size((100, 24)).columns

    def tell(self, text: str) -> None:
        """Text for people as it is, without secrets: it may be a part of a line."""
        self._heard(self.redaction.known(text))

    def say(self, text: str) -> None:
        """A line for people, without secrets."""
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

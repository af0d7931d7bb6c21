"""What a command sees of the outside: streams, clock, environment. Only `cli.main` and `action.main` build one."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TextIO


@dataclass(frozen=True)
class World:
    """Machine output goes to `out`, everything for people to `err`. `now` gives the time as ISO 8601 in UTC."""

    out: TextIO
    err: TextIO
    now: Callable[[], str]
    env: Mapping[str, str] = field(default_factory=dict, repr=False)  # may hold keys: never shown
    cwd: Path = Path()

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

    def say(self, text: str) -> None:
        """A line for people."""
        self.err.write(text + "\n")
        self.err.flush()

"""What the runner sees of the outside: a stream for people, a clock, variables without secrets."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Protocol

from msgspec import Struct, field


class Stream(Protocol):
    """Where text for people goes."""

    def write(self, text: str, /) -> int:
        """Write it; how many characters that were."""
        ...

    def flush(self) -> None:
        """Let nothing wait."""
        ...

    def isatty(self) -> bool:
        """Whether somebody watches."""
        ...


class Outside(Struct, frozen=True):
    """`err` is for people. `now` gives the time as ISO 8601 in UTC. `env`: of keys it has the names alone.

    `versioned`: what is measured belongs to the commit of the repository around it.
    """

    err: Stream
    now: Callable[[], str]
    env: Mapping[str, str] = field(default_factory=dict)
    cwd: Path = Path()
    versioned: bool = True

    def say(self, text: str) -> None:
        """A line for people."""
        self.err.write(text + "\n")
        self.err.flush()

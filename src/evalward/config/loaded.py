"""A configuration that was read: with where it comes from, and without what reads it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from evalward.config.model import Config
from evalward.config.words import KeyPath, nearest_line


@dataclass(frozen=True)
class LoadedConfig:
    """A configuration with where it comes from.

    `file` is as shown to people; `root` is the folder that its paths are relative to; `sha256` is `sha256:…` of
    its text. `base_file` reads a file, by its path from `root`, in the commit whose rules judge this one (`None`: it
    has no such file); without it nothing but the files here judges.
    """

    config: Config
    file: str
    root: Path
    sha256: str
    lines: Mapping[KeyPath, int] = field(default_factory=dict, repr=False, compare=False)
    base_file: Callable[[str], bytes | None] | None = field(default=None, repr=False, compare=False)

    def line(self, *path: str | int) -> int | None:
        """The line of a key path such as `"suites", 0, "cases"`, or of its nearest ancestor that has one."""
        return nearest_line(self.lines, path)

    def suite_path(self, suite: str, *keys: str | int) -> KeyPath:
        """The key path of a suite, by its name, or of something in it. Raises `ValueError` where there is none."""
        return ("suites", [each.name for each in self.config.suites].index(suite), *keys)

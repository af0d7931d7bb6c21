"""The fixture's files: which are under evaluation, which belong to the case, and whether any leads out of it.

A pull request that edits guidance (AGENTS.md, skills) or the tool itself is what is judged, so these files belong to
the subject. All others are what the case asks, so they belong to its definition. Left out of both are `.git`,
`__pycache__` and `.DS_Store`, which nobody means.
"""

from __future__ import annotations

import hashlib
import os
import stat
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from pathlib import Path, PurePosixPath

GUIDANCE_NAMES = frozenset(
    {"AGENTS.md", "AGENTS.override.md", "CLAUDE.md", "CLAUDE.local.md", "GEMINI.md", "SKILL.md", ".cursorrules"}
)
GUIDANCE_FOLDERS = frozenset({".claude", ".agents", ".codex", ".opencode", ".cursor", ".gemini"})
GUIDANCE_PATHS = (".github/copilot-instructions.md", ".github/instructions/*", "skills/*")
_NOT_MEANT = frozenset({".git", "__pycache__", ".DS_Store"})
MOST_FILES = 20_000
MOST_BYTES = 500 * 1024 * 1024


class FixtureError(Exception):
    """The fixture can't be used: what is wrong with it."""


@dataclass(frozen=True)
class Fixture:
    """The files of a fixture by path, each with its fingerprint: content, whether it can be run, where a link leads."""

    folder: Path
    guidance: dict[str, str] = field(default_factory=dict)
    tool: dict[str, str] = field(default_factory=dict)
    rest: dict[str, str] = field(default_factory=dict)
    executable: frozenset[str] = frozenset()

    @property
    def files(self) -> set[str]:
        """All paths."""
        return {*self.guidance, *self.tool, *self.rest}


def read_fixture(folder: Path, binary: str = "", under_test: Sequence[str] = ()) -> Fixture:
    """The fixture in a folder. `binary` and the patterns `under_test` make the tool. Raises `FixtureError`."""
    fixture = Fixture(folder)
    executable: set[str] = set()
    total = 0
    own_tool = _path_of(binary)
    for number, path in enumerate(_walk(folder), 1):
        name = path.relative_to(folder).as_posix()
        fingerprint, size, runs = _fingerprint(path, folder)
        total += size
        if total > MOST_BYTES or number > MOST_FILES:
            limit = f"{MOST_FILES:,} files or {MOST_BYTES // 2**20} MB"
            raise FixtureError(f"the fixture has more than {limit}")
        is_tool = name == own_tool or _matches(name, under_test)  # as in `is_subject`
        part = fixture.tool if is_tool else fixture.guidance if is_guidance(name) else fixture.rest
        part[name] = fingerprint
        executable |= {name} if runs else set()
    return Fixture(folder, fixture.guidance, fixture.tool, fixture.rest, frozenset(executable))


def _path_of(binary: str) -> str | None:
    """The path of a tool that lies in the fixture; a bare name is looked for on the PATH and in the fixture's root."""
    return PurePosixPath(binary).as_posix() if binary and not binary.startswith("/") else None


def is_subject(path: str, binary: str, under_test: Sequence[str]) -> bool:
    """True for files under evaluation: guidance, the tool, and what the scenario names."""
    return is_guidance(path) or path == _path_of(binary) or _matches(path, under_test)


def is_guidance(path: str) -> bool:
    """True for files that tell agents what to do: those that agents read by themselves."""
    parts = path.split("/")
    if parts[-1] in GUIDANCE_NAMES or GUIDANCE_FOLDERS & set(parts[:-1]):
        return True
    return _matches(path, GUIDANCE_PATHS)


def _matches(path: str, patterns: Sequence[str]) -> bool:
    return any(path == pattern or fnmatchcase(path, pattern) for pattern in patterns)


def _walk(folder: Path) -> Iterator[Path]:
    """Files and links, in a fixed order; links to folders are told as links and not followed."""
    for base, folders, files in os.walk(folder, onerror=_unreadable):
        folders[:] = sorted(name for name in folders if name not in _NOT_MEANT)
        links = [name for name in folders if (Path(base) / name).is_symlink()]
        yield from (Path(base) / name for name in sorted([*files, *links]) if name not in _NOT_MEANT)


def _unreadable(error: OSError) -> None:
    raise FixtureError(f"the fixture can't be read: {error.strerror}: {error.filename}")


def _fingerprint(path: Path, folder: Path) -> tuple[str, int, bool]:
    """What identifies a file, its size, and whether it can be run."""
    try:
        mode = path.lstat().st_mode
        if stat.S_ISLNK(mode):
            return _link(path, folder)
        if not stat.S_ISREG(mode):
            raise FixtureError(f"{path.relative_to(folder).as_posix()} is neither a file nor a folder")
        sha = hashlib.sha256()
        with path.open("rb") as stream:
            while block := stream.read(1 << 20):
                sha.update(block)
    except OSError as error:
        raise FixtureError(f"{path.relative_to(folder).as_posix()} can't be read: {error.strerror}") from error
    runs = bool(mode & stat.S_IXUSR)
    return f"{'x' if runs else '-'}:{sha.hexdigest()}", path.stat().st_size, runs


def _link(path: Path, folder: Path) -> tuple[str, int, bool]:
    leads = path.resolve()
    if not leads.is_relative_to(folder.resolve()):
        raise FixtureError(f"the link {path.relative_to(folder).as_posix()} leads out of the fixture")
    return f"l:{path.readlink().as_posix()}", 0, os.access(leads, os.X_OK) and leads.is_file()

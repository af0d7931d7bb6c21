"""The fixture's files: which are under evaluation, which belong to the case, and whether any leads out of it.

A pull request that edits guidance (AGENTS.md, skills) or the tool itself is what is judged, so these files belong to
the subject. All others are what the case asks, so they belong to its definition. Left out of both are `.git`,
`__pycache__` and `.DS_Store`, which nobody means. A fixture that is itself a git repository is refused.
"""

from __future__ import annotations

import hashlib
import os
import stat
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from pathlib import Path, PurePosixPath

from evalward.opening import FolderEntry, walk_inside, why
from evalward.records.base import short_fingerprint
from evalward.records.problem import InputError

GUIDANCE_NAMES = frozenset(
    {"AGENTS.md", "AGENTS.override.md", "CLAUDE.md", "CLAUDE.local.md", "GEMINI.md", "SKILL.md", ".cursorrules"}
)
GUIDANCE_FOLDERS = frozenset({".claude", ".agents", ".codex", ".opencode", ".cursor", ".gemini"})
GUIDANCE_PATHS = (".github/copilot-instructions.md", ".github/instructions/*", "skills/*")
_NOT_MEANT = frozenset({".git", "__pycache__", ".DS_Store"})
MAKE_IT = "where a case needs a repository, let its setup run git init"
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
    if os.path.lexists(folder / ".git"):
        raise FixtureError(f"the fixture {folder.name}/ is a git repository, and .git is copied nowhere: {MAKE_IT}")
    for number, (name, fingerprint, size, runs) in enumerate(_read(folder), 1):
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


def told(fingerprint: str) -> str:
    """A fingerprint as people read it: the start of its hash and whether it can be run, or where a link leads."""
    form, _, rest = fingerprint.partition(":")
    if form == "l":
        return f"a link to {rest}"
    return short_fingerprint(f"sha256:{rest}") + (", executable" if form == "x" else "")


def _matches(path: str, patterns: Sequence[str]) -> bool:
    return any(path == pattern or fnmatchcase(path, pattern) for pattern in patterns)


def _read(folder: Path) -> Iterator[tuple[str, str, int, bool]]:
    """Files and links: path, what identifies it, its size, whether it can be run."""
    try:
        for entry in walk_inside(folder, ".", _NOT_MEANT):
            if not entry.is_folder:
                yield entry.path, *_fingerprint(entry, folder)
    except InputError as error:
        raise FixtureError(f"the fixture can't be used: {why(error)}") from error
    except OSError as error:
        raise FixtureError(f"the fixture can't be read: {error.strerror}: {error.filename}") from error


def _fingerprint(entry: FolderEntry, folder: Path) -> tuple[str, int, bool]:
    if entry.is_link:
        return _link(folder / entry.path, folder)
    if not entry.is_file:
        raise FixtureError(f"{entry.path} is neither a file nor a folder")
    if entry.size > MOST_BYTES:
        raise FixtureError(f"{entry.path} is larger than {MOST_BYTES // 2**20} MB")
    sha = hashlib.sha256()
    try:
        for block in entry.blocks():
            sha.update(block)
    except OSError as error:
        raise FixtureError(f"{entry.path} can't be read: {error.strerror}") from error
    runs = bool(entry.mode & stat.S_IXUSR)
    return f"{'x' if runs else '-'}:{sha.hexdigest()}", entry.size, runs


def _link(path: Path, folder: Path) -> tuple[str, int, bool]:
    try:
        leads = path.resolve()
    except (OSError, RuntimeError) as error:
        raise FixtureError(f"the link {path.relative_to(folder).as_posix()} leads to itself") from error
    if not leads.is_relative_to(folder.resolve()):
        raise FixtureError(f"the link {path.relative_to(folder).as_posix()} leads out of the fixture")
    return f"l:{path.readlink().as_posix()}", 0, os.access(leads, os.X_OK) and leads.is_file()

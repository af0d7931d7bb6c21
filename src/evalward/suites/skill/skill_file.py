"""A skill as it lies in a repository: SKILL.md with its front matter, and the files of its folder."""

from __future__ import annotations

import hashlib
import posixpath
import re
import stat
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from evalward.opening import FolderEntry, read_inside, walk_inside
from evalward.records.base import digest
from evalward.records.problem import InputError, Place, Problem, wrong
from evalward.records.words import shown
from evalward.suites.skill.front_matter import FrontMatter, split_front_matter

SKILL_FILE = "SKILL.md"
FOR_MODELS = ".agents/skills"
"""Where skills are installed for codex and the built-in agent."""
PLACES = (".claude/skills", FOR_MODELS)
"""Where they are installed: the first is claude-code's; opencode looks in both."""
EVALS = "evals"
"""The folder of a skill's own evals: it belongs to the definition, and is never installed."""
EVALS_FILE = f"{EVALS}/evals.json"
TRIGGER_LISTS = ("trigger-evals.json", "trigger-eval.json", "triggers.json", "trigger_evals.json")
OWN_EVALS = (EVALS_FILE, *(f"{EVALS}/{name}" for name in TRIGGER_LISTS), *TRIGGER_LISTS)
"""Where a skill's own evals lie, from its folder."""
NOT_INSTALLED = frozenset({EVALS, *TRIGGER_LISTS})
"""What lies at the top of a skill's folder and is not part of the skill."""
_NOT_MEANT = frozenset({"__pycache__", ".DS_Store", "node_modules", ".venv"})
_NOT_MEANT_AT_THE_TOP = frozenset({"evalward.yml", "evalward.yaml", "evalward-out"})
MOST_FILES = 2_000
MOST_BYTES = 64 << 20
LONGEST_FILE = 1 << 20
"""Bytes of a SKILL.md."""
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")


@dataclass(frozen=True)
class Skill:
    """A skill. `file` counts from the configuration's folder, which is `root`.

    `name` is what it is installed as: the front matter's, or its folder's where that can't be a folder's name.
    `files` are those that are installed, by path from its folder, each with its fingerprint.
    """

    root: Path
    file: str
    name: str
    description: str
    body: str
    front: FrontMatter
    files: Mapping[str, str]

    @property
    def folder(self) -> str:
        """The skill's folder; "." where it is the configuration's."""
        return posixpath.dirname(self.file) or "."

    @property
    def folder_name(self) -> str:
        """What the folder is called; empty where it is the configuration's."""
        return posixpath.basename(posixpath.dirname(self.file))

    @cached_property
    def digest(self) -> str:
        """The hash of all that is installed."""
        return digest(dict(self.files))

    @property
    def own_evals(self) -> list[str]:
        """The files of its own evals that there may be, from the configuration's folder."""
        return [posixpath.normpath(f"{self.folder}/{name}") for name in OWN_EVALS]


def read_skill(root: Path, file: str) -> Skill:
    """The skill of a SKILL.md below `root`. Raises `InputError` for what can't be read, installed or named."""
    if posixpath.basename(file) != SKILL_FILE:
        raise wrong(file, "a skill's file is called SKILL.md", f"Name {SKILL_FILE} of each skill.")
    front, body = split_front_matter(_text(root, file))
    own, above = front.text("name"), posixpath.basename(posixpath.dirname(file))
    name = own if can_be_installed(own) else above
    if not can_be_installed(name):
        given = f"the name {shown(own)} can't be a folder's" if own else "the skill has no name"
        raise wrong(
            file, given, "Add name: NAME to the front matter: letters, digits and hyphens.", line=front.line("name")
        )
    return Skill(root, file, name, front.text("description"), body, front, _files(root, file))


def can_be_installed(name: str) -> bool:
    """Whether a folder can have this name, in every file system and as agents show it."""
    return bool(_NAME.fullmatch(name))


def is_installed(path: str, *, at_top: bool = False) -> bool:
    """Whether a file of a skill's folder is part of the skill. `at_top`: the folder is the repository's."""
    first = path.split("/", maxsplit=1)[0]
    if at_top and (first.startswith(".") or first in _NOT_MEANT_AT_THE_TOP):
        return False
    return first not in NOT_INSTALLED


def _text(root: Path, file: str) -> str:
    try:
        return read_inside(root, file, LONGEST_FILE).decode("utf-8")
    except UnicodeDecodeError as error:
        line = bytes(error.object).count(b"\n", 0, error.start) + 1
        raise wrong(file, "the file is not UTF-8 text", "Save it as UTF-8.", line=line) from None
    except OSError as error:
        raise wrong(file, f"the file can't be read: {error.strerror}", "Check its name.") from error


def _files(root: Path, file: str) -> dict[str, str]:
    folder = posixpath.dirname(file)
    left_out = {*_NOT_MEANT, *(() if folder else NOT_INSTALLED)}
    found: dict[str, str] = {}
    problems: list[Problem] = []
    total = 0
    try:
        for entry in walk_inside(root, folder or ".", left_out):
            if entry.is_folder or not is_installed(entry.path, at_top=not folder):
                continue
            total += entry.size
            if len(found) >= MOST_FILES or total > MOST_BYTES:
                limit = f"{MOST_FILES:,} files or {MOST_BYTES >> 20} MiB"
                raise wrong(file, f"its folder has more than {limit}", "Put the skill into a folder of its own.")
            try:
                found[entry.path] = _fingerprint(entry)
            except ValueError as error:
                place = Place(file=posixpath.join(folder, entry.path))
                remedy = "Replace it by the file itself, or remove it."
                problems.append(Problem(place=place, message=str(error), remedy=remedy))
    except OSError as error:
        raise wrong(file, f"its folder can't be read: {error.strerror}", "Check its permissions.") from error
    if problems:
        raise InputError(problems)
    return found


def _fingerprint(entry: FolderEntry) -> str:
    """What identifies a file: its content, and whether it can be run. Raises `ValueError`."""
    if entry.is_link:
        raise ValueError("is a link, and links are not followed")
    if not entry.is_file:
        raise ValueError("is neither a file nor a folder")
    sha = hashlib.sha256()
    for block in entry.blocks():
        sha.update(block)
    return f"{'x' if entry.mode & stat.S_IXUSR else '-'}:{sha.hexdigest()}"

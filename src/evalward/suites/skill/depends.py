"""On what a case of a skill suite depends: so that others stand where a pull request touches one skill.

A task meets its own skill alone. A query meets all skills, and of those that aren't its own what agents list: their
front matter. What is installed beside them, and everything else of the suite, counts for every case.
"""

from __future__ import annotations

import posixpath
import unicodedata
from collections.abc import Collection, Iterator, Sequence
from typing import TYPE_CHECKING

from evalward.records.base import digest
from evalward.records.patterns import matches_any

if TYPE_CHECKING:
    from evalward.suites.skill.case import SkillCase
    from evalward.suites.skill.skill_file import Skill

_FILE = "SKILL.md"


def folder_part(folder: str) -> str:
    """The name of the part of a suite's files that a skill's folder is: one for all spellings of it that a file system
    may take for the same.
    """
    return unicodedata.normalize("NFC", unicodedata.normalize("NFC", folder).casefold())


def skill_folders(path: str, patterns: Sequence[str]) -> Collection[str] | None:
    """The parts that a change of this file touches: the folders above it in which a skill may lie, by the patterns of
    SKILL.md files. `None`: it lies in none, or its path isn't a plain one.
    """
    names = path.split("/")
    if not path or "\\" in path or {"", ".", ".."}.intersection(names):
        return None
    wanted = [posixpath.normpath(pattern) for pattern in patterns]
    above = ("/".join(names[:depth]) for depth in range(1, len(names)))
    return frozenset(folder_part(each) for each in above if matches_any(f"{each}/{_FILE}", wanted)) or None


def with_dependence(case: SkillCase, patterns: Sequence[str], skills: Sequence[Skill]) -> SkillCase:
    """The case with the parts of the suite's files that it depends on, and what it meets of skills not its own.

    `patterns` are those of the suite's SKILL.md files.
    """
    folders = {skill.name: skill.folder for skill in skills}
    if not folders.keys() >= set(case.depends):
        return case
    parts = {folder_part(folders[name]) for name in case.depends}
    parts.update(part for file in case.files.values() for part in skill_folders(file, patterns) or ())
    listed = digest(dict(_listed(skills))) if case.asks == "trigger" else ""
    return case.model_copy(update={"folders": sorted(parts), "listed": listed})


def _listed(skills: Sequence[Skill]) -> Iterator[tuple[str, list[object]]]:
    """By file, all that an agent may take into its list: where front matter is odd, some take the text below it."""
    for skill in skills:
        front = skill.front
        odd = not skill.description or front.broken or front.oddities or front.bom or front.crlf
        yield skill.file, [front.source, front.bom, front.crlf, *([skill.body] if odd else [])]

"""The skills of a repository, and the evals that lie in their folders, by the names and the beginnings of files."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from evalward.records.json_text import NoJsonError, read_json

SKILL = "SKILL.md"
EVALS = "evals/evals.json"
TRIGGER_LISTS = ("trigger-evals.json", "trigger-eval.json", "triggers.json", "trigger_evals.json")
MOST_SKILLS = 200
_FOLDER = re.compile(r"(?:\.claude/|\.agents/|[A-Za-z0-9_][A-Za-z0-9_./-]{0,100}/)?skills")
_FIRST = ("skills", ".claude/skills", ".agents/skills")
_LEFT_OUT = frozenset({"test", "tests", "fixtures", "examples", "testdata"})


@dataclass(frozen=True)
class FoundSkills:
    """Skills of one folder, `""` for one at the repository's top; how many, and which forms of evals they have.

    `cases` is a file of evals at the repository's top, which are about one of the skills.
    """

    folder: str
    count: int = 1
    queries: bool = False
    tasks: bool = False
    cases: str = ""

    @property
    def pattern(self) -> str:
        """Of their SKILL.md files."""
        return f"{self.folder}/*/{SKILL}" if self.folder else SKILL

    @property
    def evals(self) -> str:
        """The pattern of their evals, which a pull request shouldn't change unseen."""
        return f"{self.folder}/*/evals/**" if self.folder else "evals/**"

    @property
    def usable(self) -> bool:
        """Whether there is something to measure."""
        return self.queries or self.tasks


def find_skills(files: Sequence[str], text: Callable[[str], str]) -> FoundSkills | None:
    """The skills of the folder that has most evals of those where skills lie; `None` without any skill."""
    there = frozenset(files)
    folders: dict[str, list[str]] = {}
    for path in files:
        if posixpath.basename(path) == SKILL and (folder := _folder_of(path)) is not None:
            folders.setdefault(folder, []).append(posixpath.dirname(path))
    found = [_found(folder, skills[:MOST_SKILLS], there, text) for folder, skills in folders.items()]
    return max(found, key=lambda each: (each.usable, -_place(each.folder)), default=None)


def _place(folder: str) -> int:
    return _FIRST.index(folder) if folder in _FIRST else len(_FIRST)


def _folder_of(path: str) -> str | None:
    """The folder of skills in which a SKILL.md lies; `None` for one that is not where skills are."""
    if path == SKILL:
        return ""
    folder = posixpath.dirname(posixpath.dirname(path))
    if not _FOLDER.fullmatch(folder) or _LEFT_OUT.intersection(folder.split("/")):
        return None
    return folder


def _found(folder: str, skills: Sequence[str], there: frozenset[str], text: Callable[[str], str]) -> FoundSkills:
    lists = [f"{above}{name}" for name in TRIGGER_LISTS for above in ("evals/", "")]
    queries = any(posixpath.join(skill, name) in there for skill in skills for name in lists)
    tasks = any(posixpath.join(skill, EVALS) in there for skill in skills)
    cases = EVALS if folder and EVALS in there and _about_one(text(EVALS), skills) else ""
    return FoundSkills(folder, len(skills), queries, tasks or bool(cases), cases)


def _about_one(text: str, skills: Sequence[str]) -> bool:
    """Whether evals at the repository's top say which of the skills they are about, or can mean only one."""
    try:
        value = read_json(text)
    except NoJsonError:
        return False
    named = value.get("skill_name") if isinstance(value, dict) else None
    return len(skills) == 1 or named in {posixpath.basename(skill) for skill in skills}

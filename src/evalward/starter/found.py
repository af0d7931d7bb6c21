"""What a repository already has that a first suite can be made of, by the names and the beginnings of its files."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import islice
from pathlib import PurePosixPath

from evalward.starter.contents import prompt_flags, task_flags
from evalward.starter.mcp_server import HOST_FILES, FoundServer, find_server
from evalward.starter.skills import FoundSkills, find_skills

SAFE_NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_./-]{0,199}")
"""Paths that a YAML text and a command line can hold as they are; of others nothing is made."""
MOST_LISTED = 10
"""Files that one suite is given; more belong into a pattern, which only their owner can write."""
MOST_SCRIPTS, MOST_DATA = 400, 50
"""Files that are read: programs, and others."""

Text = Callable[[str], str]
"""The beginning of a file, `""` where it can't be read."""

_PROMPTFOO = re.compile(r"promptfooconfig\.(ya?ml|json|[cm]?[jt]s)")
_TASK = re.compile(r"^[ \t]*@task\b", re.MULTILINE)
_INSPECT = re.compile(r"^[ \t]*(?:from|import)[ \t]+inspect_ai\b", re.MULTILINE)
_DEEPEVAL = re.compile(r"^[ \t]*(?:from|import)[ \t]+deepeval\b", re.MULTILINE)
_PYDANTIC = re.compile(r"^[ \t]*(?:from|import)[ \t]+pydantic_evals\b", re.MULTILINE)
_TEST = re.compile(r"test_.*\.py|.*_test\.py")
_EVAL_JS = re.compile(r".*\.eval\.[cm]?[jt]sx?")
_EVAL_FOLDERS = {"eval", "evals", "llm_evals", "llm-evals"}
_NEEDED = ("pyproject.toml", "requirements.txt", "requirements-dev.txt", "setup.cfg", "tox.ini")
_GUIDANCE = ("AGENTS.md", "CLAUDE.md")


@dataclass(frozen=True)
class Origin:
    """What a first suite can be made of: a template by its name, and the files that it is about.

    `flags` are what the template has to know of them, such as `repeat`: the plugin pytest-repeat is named. `server` is
    the MCP server that it is about, `skills` are the skills.
    """

    template: str
    files: tuple[str, ...] = ()
    flags: frozenset[str] = field(default_factory=frozenset)
    server: FoundServer | None = None
    skills: FoundSkills | None = None


SHELL = Origin("shell")
"""Three tasks of ours, for a repository that has nothing yet."""


@dataclass(frozen=True)
class Finds:
    """What a suite can be made of, the best first, and what else there is that a reader may ask about.

    `unstarted` is the file that says that there is an MCP server, where nothing says how it starts. `untried` is the
    pattern of skills that have no evals.
    """

    origins: tuple[Origin, ...] = ()
    guidance: tuple[str, ...] = ()
    unstarted: str | None = None
    untried: str | None = None


def find(files: Sequence[str], text: Text) -> Finds:
    """What the files of a repository are, given their paths (the nearest first) and how to read their beginnings."""
    named = [path for path in files if SAFE_NAME.fullmatch(path)]
    server = find_server([*named, *(path for path in files if path in HOST_FILES and path not in named)], text)
    skills = find_skills(files, text)
    looks = (
        _promptfoo(named),
        _programs(named, text),
        _vitest(named, text),
        _prompts(named, text),
        _tasks(named, text),
        _server(server),
        _skills(skills),
    )
    origins = tuple(origin for found in looks for origin in found)
    guidance = tuple(path for path in files if path in _GUIDANCE)
    unstarted = server.named_by if server is not None and not server.usable else None
    untried = skills.pattern if skills is not None and not skills.usable else None
    return Finds(origins, guidance, unstarted, untried)


def _name(path: str) -> str:
    return PurePosixPath(path).name


def _of_evals(path: str) -> bool:
    return not _EVAL_FOLDERS.isdisjoint(PurePosixPath(path).parts[:-1])


def _promptfoo(files: Sequence[str]) -> Iterator[Origin]:
    found = [path for path in files if _PROMPTFOO.fullmatch(_name(path))]
    yield from [Origin("promptfoo", (path,)) for path in found[:1]]


def _programs(files: Sequence[str], text: Text) -> Iterator[Origin]:
    """Evaluations in Python, each file of one harness."""
    by_harness: dict[str, list[str]] = {"inspect": [], "deepeval": [], "pydantic-evals": [], "pytest": []}
    scripts = sorted((path for path in files if path.endswith(".py")), key=lambda path: not _of_evals(path))
    for path in scripts[:MOST_SCRIPTS]:
        harness = _harness_of(path, text(path))
        if harness is not None:
            by_harness[harness].append(path)
    repeated = any("pytest-repeat" in text(path) for path in files if path in _NEEDED)
    flags = {"pytest": frozenset({"repeat"} if repeated else ())}
    for harness, found in by_harness.items():
        if found:
            yield Origin(harness, tuple(found[:MOST_LISTED]), flags.get(harness, frozenset()))


def _harness_of(path: str, content: str) -> str | None:
    if _INSPECT.search(content) and _TASK.search(content):
        return "inspect"
    test = bool(_TEST.fullmatch(_name(path)))
    if test and _DEEPEVAL.search(content):
        return "deepeval"
    if _PYDANTIC.search(content) and not test:
        return "pydantic-evals"
    return "pytest" if test and _of_evals(path) else None


def _vitest(files: Sequence[str], text: Text) -> Iterator[Origin]:
    package = text("package.json") if "package.json" in files else ""
    evals = tuple(path for path in files if _EVAL_JS.fullmatch(_name(path)))
    if '"vitest-evals"' in package or (evals and '"vitest"' in package):
        yield Origin("vitest-evals", evals[:MOST_LISTED])


def _prompts(files: Sequence[str], text: Text) -> Iterator[Origin]:
    """Prompt files with rows and evaluators; what all of them have."""
    found = _with_flags((path for path in files if path.endswith((".prompt.yml", ".prompt.yaml"))), text, prompt_flags)
    if found:
        judged = frozenset({"judged"}) if any("judged" in flags for _, flags in found) else frozenset()
        expected = frozenset.intersection(*(flags for _, flags in found)) & {"expected"}
        yield Origin("prompts", tuple(path for path, _ in found), judged | expected)


def _tasks(files: Sequence[str], text: Text) -> Iterator[Origin]:
    """Shell tasks as JSON lines; whether all have their solution."""
    found = _with_flags((path for path in files if path.endswith(".jsonl")), text, task_flags)
    if found:
        flags = frozenset.intersection(*(flags for _, flags in found))
        yield Origin("tasks", tuple(path for path, _ in found), flags)


def _with_flags(
    paths: Iterator[str], text: Text, flags_of: Callable[[str], frozenset[str] | None]
) -> list[tuple[str, frozenset[str]]]:
    read = ((path, flags_of(text(path))) for path in islice(paths, MOST_DATA))
    return list(islice(((path, flags) for path, flags in read if flags is not None), MOST_LISTED))


def _server(server: FoundServer | None) -> Iterator[Origin]:
    """The MCP server that the repository is."""
    if server is not None and server.usable:
        yield Origin("mcp", server.files, server=server)


def _skills(skills: FoundSkills | None) -> Iterator[Origin]:
    """The skills that have evals."""
    if skills is not None and skills.usable:
        flags = frozenset({"solved"} if skills.queries and not skills.tasks else ())
        yield Origin("skills", (skills.pattern,), flags, skills=skills)

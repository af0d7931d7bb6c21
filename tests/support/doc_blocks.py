"""The fenced blocks of README and docs, each with what it is, and how it is read."""

from __future__ import annotations

import argparse
import re
import shlex
import textwrap
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from functools import cache
from pathlib import Path
from typing import Any

import yaml

from evalward.cli import build_parser
from evalward.config.model import Config
from evalward.suites.external.spec import ExternalSuite
from evalward.suites.scenario.model import Scenario
from evalward.suites.scenario.spec import ScenarioSuite

ROOT = Path(__file__).resolve().parents[2]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
_BLOCK = re.compile(r"^(?P<indent> *)```(?P<info>[^\n`]*)\n(?P<text>.*?)^(?P=indent)```$", re.MULTILINE | re.DOTALL)
_INLINE = re.compile(r"(?<!`)`(evalward [^`(][^`]*)`(?!`)", re.DOTALL)
_TITLE = re.compile(r'title="([^"]+)"')
# What stands beside our own commands in blocks. Whether these programs do as they are told is their own affair.
OTHERS = {"cat", "cd", "export", "gh", "git", "make", "mv", "npm", "pip", "pipx", "python", "ray", "sed", "uvx"}
OUTPUT = "Output"


class Form(Enum):
    """What a block is."""

    COMMANDS = "commands of a shell"
    SESSION = "commands after a dollar, with what they print"
    CONFIG = "evalward.yml, or a part of it"
    SUITES = "suites of evalward.yml"
    SUITE_KEYS = "keys of a suite"
    TARGETS = "targets of a suite, and providers"
    WORKFLOW = "a workflow"
    STEPS = "steps of a workflow"
    SCENARIO = "a scenario, or a part of it"
    BASH_CASES = "tasks of a bash suite"
    COMMAND_CASES = "cases of a command suite"
    MCP_CASES = "cases of an mcp suite"
    SKILL_CASES = "cases of a skill suite"
    SPEEDUP_TASK = "an optimisation task"
    SCRIPT = "the steps of a scripted agent"
    RUBRIC = "a rubric"
    LINES = "JSON lines"
    REASON = "a reason of judgement.json"
    SKILL_EVALS = "evals of a skill"
    PYTHON = "Python"
    TOML = "TOML"
    UNCHECKED = "text, a drawing, another program's language"
    UNKNOWN = "nothing that is known here"


@dataclass(frozen=True)
class Block:
    """A fenced block: its page from the repository's top, its line there, and what is in it, without indentation."""

    page: str
    line: int
    info: str
    text: str

    @property
    def language(self) -> str:
        """The first word behind the fence."""
        return self.info.split(" ")[0]

    @property
    def title(self) -> str | None:
        """The name of the file that the block is, or `Output`."""
        found = _TITLE.search(self.info)
        return found[1] if found else None

    def __str__(self) -> str:
        return f"{self.page}:{self.line}"

    @property
    def form(self) -> Form:
        """What the block is, by its language and what is in it."""
        if self.title == OUTPUT:
            return Form.UNCHECKED  # held against what is printed where the page is run
        if self.language in _BY_LANGUAGE:
            return _BY_LANGUAGE[self.language]
        if self.language == "json" and self.title is not None and "evals/" in self.title:
            return Form.SKILL_EVALS
        if self.language == "json":
            return Form.REASON if self.text.startswith("{\n") else Form.LINES
        return _form_of(yaml.safe_load(self.text)) if self.language == "yaml" else Form.UNKNOWN


_BY_LANGUAGE = {
    "bash": Form.COMMANDS,
    "console": Form.SESSION,
    "python": Form.PYTHON,
    "toml": Form.TOML,
    "text": Form.UNCHECKED,
    "dockerfile": Form.UNCHECKED,
    "js": Form.UNCHECKED,
}


def _form_of(content: Any) -> Form:
    if isinstance(content, list):
        return _form_of_list(content[0])
    keys = set(content) if isinstance(content, dict) else set()
    if keys and all(isinstance(steps, list) and isinstance(steps[0], str) for steps in content.values()):
        return Form.SCRIPT
    if "jobs" in keys:
        return Form.WORKFLOW
    for form, needed, known in (
        (Form.RUBRIC, {"criteria"}, {"criteria", "output"}),
        (Form.SPEEDUP_TASK, {"benchmarks"}, keys),
        (Form.TARGETS, {"targets"}, {"targets"} | _names(Config)),
        (Form.CONFIG, set(), _names(Config)),
        (Form.SCENARIO, set(), _names(Scenario)),
        (Form.SUITE_KEYS, set(), _names(ScenarioSuite)),
        (Form.SUITE_KEYS, {"results"}, _names(ExternalSuite)),
    ):
        if keys and needed <= keys <= known:
            return form
    return Form.UNKNOWN


def _form_of_list(first: Mapping[str, Any]) -> Form:
    if {"uses", "run"} & set(first):
        return Form.STEPS
    if "kind" in first:
        return Form.SUITES
    if "expect" in first:
        return Form.MCP_CASES
    if {"skill", "should_trigger"} & set(first):
        return Form.SKILL_CASES
    return Form.BASH_CASES if "expectations" in first else Form.COMMAND_CASES


def _names(record: Any) -> set[str]:
    """The keys that a record reads."""
    return {field.alias or name for name, field in record.model_fields.items()}


@cache
def blocks() -> tuple[Block, ...]:
    """All blocks of all pages, in order."""
    return tuple(block for page in PAGES for block in blocks_of(page))


def blocks_of(page: Path) -> Iterator[Block]:
    """The blocks of a page."""
    text = page.read_text("utf-8")
    for found in _BLOCK.finditer(text):
        line = text.count("\n", 0, found.start()) + 1
        yield Block(page.relative_to(ROOT).as_posix(), line, found["info"], textwrap.dedent(found["text"]))


def in_text(page: Path) -> list[str]:
    """The commands of ours that stand in a page's sentences and tables."""
    text = _BLOCK.sub("", page.read_text("utf-8"))
    return [" ".join(found.split()).replace("\\|", "|") for found in _INLINE.findall(text)]


def commands(block: Block) -> list[list[str]]:
    """The simple commands of a block: words without comments, redirections and the variables set in front of them."""
    lines = block.text.replace("\\\n", " ").splitlines()
    if block.form is Form.SESSION:
        lines = [line.removeprefix("$ ") for line in lines if line.startswith("$ ")]
    return [words for line in lines for words in _simple(line)]


def _simple(line: str) -> Iterator[list[str]]:
    """The commands of a line, divided at `&&`, `|` and `;`."""
    reader = shlex.shlex(line, posix=True, punctuation_chars=True)
    reader.whitespace_split = True
    words: list[str] = []
    for word in [*reader, ";"]:
        if word in {"&&", "||", "|", ";"}:
            if words:
                yield _without_redirection(words)
            words = []
        elif words or not re.fullmatch(r"[A-Z_]+=.*", word):
            words.append(word)


def _without_redirection(words: Sequence[str]) -> list[str]:
    return list(words[: next((place for place, word in enumerate(words) if set(word) <= set("<>")), len(words))])


def parsed(words: Sequence[str]) -> argparse.Namespace:
    """What our parser makes of a command. Raises `SystemExit` where it refuses."""
    return build_parser().parse_args(list(words[1:]))


def options_unknown(words: Sequence[str]) -> list[str]:
    """Of a command in a sentence, which may leave words out: commands and options that our parser doesn't have."""
    parser: argparse.ArgumentParser = build_parser()
    unknown = []
    for word in words[1:]:
        if word == "--":  # what follows is another command
            break
        if word.startswith("-"):
            unknown += [] if word.split("=")[0] in parser._option_string_actions else [word]  # its only list of them
            continue
        below = [action for action in parser._actions if isinstance(action, argparse._SubParsersAction)]
        if not below:
            continue
        names = [name for name in re.split(r"[|,]", word) if name.islower()]
        unknown += [name for name in names if name not in below[0].choices]
        parser = below[0].choices.get(names[0] if names else "", parser)
    return unknown

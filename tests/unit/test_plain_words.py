"""What people read has none of the words that readers stumbled over: pages, templates, action.yml, messages."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
RIDDLES = re.compile(
    r"""\b(?:nobody|whoever|anew|mend(?:ed|s|ing)?|dearer|keeps?[ ]to[ ]no\w*|speaks?|told|beside
    |fresh[ ]trials?|tried[ ]again|what[ ]is[ ]neither|the[ ]specification's
    |(?<!there[ ])(?:is|are|was|were)[ ]no[ ](?!longer|more|worse|better|such)\w+)\b""",
    re.IGNORECASE | re.VERBOSE,
)
CODE = re.compile(r"^ *```.*?^ *```$|`[^`\n]+`|\]\([^)\n]*\)|https?://\S+", re.MULTILINE | re.DOTALL)
MARKS = re.compile(r"\{#.*?#\}|\{%.*?%\}|\{\{.*?\}\}|<[^>]*>", re.DOTALL)
PAGES = [
    *(ROOT / name for name in ("README.md", "CONTRIBUTING.md", "SECURITY.md", "CODE_OF_CONDUCT.md", "action.yml")),
    *sorted((ROOT / "docs").rglob("*.md")),
    *sorted((ROOT / "examples").rglob("README.md")),
]
TEMPLATES = sorted((ROOT / "templates").rglob("*.j2"))
MODULES = sorted((ROOT / "src" / "evalward").rglob("*.py"))
PROMPTS = {
    "suites/bash/prompt.py",
    "suites/judge/ask.py",
    "suites/judge/choice.py",
    "suites/judge/transcript.py",
    "suites/loop.py",
    "suites/scenario/builtin.py",
}
"""What models are told, not people: another word there is another subject, or another answer."""
NAMES = {"keeper/outputs.py"}
"""It names the folder `beside`."""


def spoken(module: Path) -> Iterator[str]:
    """The texts of several words in a module, values left out: no docstrings, and no comments."""
    tree = ast.parse(module.read_text("utf-8"))
    apart = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    for node in ast.walk(tree):
        if isinstance(node, ast.JoinedStr):
            apart |= {id(part) for part in node.values}
            yield "".join(str(part.value) if isinstance(part, ast.Constant) else "…" for part in node.values)
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in apart:
            yield node.value


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_a_page__has_no_riddles(page: Path) -> None:
    assert RIDDLES.findall(CODE.sub("", page.read_text("utf-8"))) == []


def test_templates__have_no_riddles() -> None:
    assert TEMPLATES
    found = {path.name: RIDDLES.findall(MARKS.sub("", path.read_text("utf-8"))) for path in TEMPLATES}
    assert {name: words for name, words in found.items() if words} == {}


def test_messages__have_no_riddles() -> None:
    excused = {ROOT / "src" / "evalward" / name for name in PROMPTS | NAMES}
    assert excused <= set(MODULES)
    found = {
        path.relative_to(ROOT).as_posix(): [text for text in spoken(path) if " " in text and RIDDLES.search(text)]
        for path in MODULES
        if path not in excused
    }
    assert {name: texts for name, texts in found.items() if texts} == {}


@pytest.mark.parametrize(
    "text", ["Nobody judges here", "'x' is no number", "it was measured\nanew", "What is neither is unclear"]
)
def test_riddles__are_found(text: str) -> None:
    assert RIDDLES.search(re.sub(r"\s+", " ", text))


@pytest.mark.parametrize("text", ["there is no baseline", "it is no longer asked", "the metric is no worse", "besides"])
def test_plain_words__are_left_alone(text: str) -> None:
    assert not RIDDLES.search(text)

"""The published list of rules and the validator name the same ids."""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from evalward import safety
from evalward.safety import assess
from evalward.safety.targets import PlaceKind
from evalward.suites.command.safety_rules import RULES, UNEXAMINED, rules_page, wrong_rule

_PACKAGE = Path(safety.__file__).parent
_DATA = Path(__file__).parents[2] / "data"
_PAGE = Path(__file__).parents[3] / "docs" / "safety-rules.md"
KNOWN = {*RULES, *UNEXAMINED}
FAMILIES = {rule.partition(".")[0] for rule in KNOWN}
_SETTINGS_OF_GIT = {"credential.helper"}


def _literals() -> Iterator[str]:
    for file in _PACKAGE.rglob("*.py"):
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Constant) and isinstance(node.value, str):
                yield node.value


def _by_place() -> set[str]:
    places = [place.name.lower() for place in PlaceKind]
    return {f"{deed}.{place}" for deed in ("deletion", "write") for place in places}


def test_every_rule_in_the_code_is_listed() -> None:
    written = {text for text in _literals() if re.fullmatch(r"[a-z]+\.[a-z_]+", text)}
    rules = {text for text in written if text.partition(".")[0] in FAMILIES}
    assert rules - KNOWN == _SETTINGS_OF_GIT


def test_every_listed_rule_is_in_the_code() -> None:
    assert KNOWN - {*_literals(), *_by_place()} == set()


@pytest.mark.parametrize("name", ["safety-labels", "safety-fresh", "safety-platforms"])
def test_every_finding_names_a_listed_rule(name: str) -> None:
    lines = (_DATA / f"{name}.jsonl").read_text(encoding="utf-8").splitlines()
    found = {finding.rule for line in lines for finding in assess(json.loads(line)["command"]).findings}
    assert found - KNOWN == set()


def test_what_was_not_examined_is_never_allowable() -> None:
    assert not set(RULES) & set(UNEXAMINED)
    assert all(rule.startswith(("opaque.", "syntax.")) for rule in UNEXAMINED)
    assert not any(rule.startswith(("opaque.", "syntax.")) for rule in RULES)


def test_the_published_page_is_todays() -> None:
    assert _PAGE.read_text(encoding="utf-8") == rules_page(), "Write rules_page() to docs/safety-rules.md"


def test_a_near_match_is_suggested() -> None:
    assert wrong_rule("disk.format") is None
    assert wrong_rule("machine.dwn") == ('unknown rule "machine.dwn"', "Did you mean machine.down?")

"""`replaces:` of targets and suites: what it means, and every mistake in it."""

from __future__ import annotations

from pathlib import Path

import pytest

from evalward.config.load import parse_config
from evalward.config.model import Config
from evalward.config.targets import predecessor_of
from evalward.records.problem import InputError
from evalward.records.succession import Predecessor

HEAD = "version: 1\nsuites:\n"
TAKEN = "nothing can take its place"


def suite(targets: str, name: str = "tools", more: str = "") -> str:
    return f"  - {{name: {name}, kind: bash, cases: a.jsonl, targets: {targets}{more}}}\n"


def read(*suites: str) -> Config:
    return parse_config(HEAD + "".join(suites), "evalward.yml", Path()).config


def test_a_target_can_say_whom_it_replaces() -> None:
    (one,) = read(suite("[{id: anthropic/new, replaces: anthropic/old}, oracle]")).suites
    assert one.targets == ["anthropic/new", "oracle"]
    assert predecessor_of(one, "anthropic/new") == Predecessor(target="anthropic/old")
    assert predecessor_of(one, "oracle") is None


def test_a_suite_can_say_what_it_replaces_and_its_targets_too() -> None:
    (one,) = read(suite("[{id: anthropic/new, replaces: anthropic/old}, oracle]", more=", replaces: shell")).suites
    assert predecessor_of(one, "anthropic/new") == Predecessor(suite="shell", target="anthropic/old")
    assert predecessor_of(one, "oracle") == Predecessor(suite="shell")


def test_it_survives_the_way_between_our_processes() -> None:
    config = read(suite("[{id: anthropic/new, replaces: anthropic/old}, oracle]", more=", replaces: shell"))
    assert Config.model_validate_json(config.model_dump_json(by_alias=True)) == config


def test_its_id_is_held_to_the_rules_for_targets() -> None:
    rule = "policy: [{metric: pass_rate, floor: 0.5, target: anthropic/new}]\n"
    parse_config(HEAD + suite("[{id: anthropic/new, replaces: anthropic/old}]") + rule, "evalward.yml", Path())


@pytest.mark.parametrize(
    ("suites", "field", "message"),
    [
        ([suite("[{id: orcle, replaces: nop}]")], "suites[0].targets[0].id", 'unknown target "orcle"'),
        ([suite("[{id: oracle}]")], "suites[0].targets[0].replaces", "the key is missing"),
        ([suite("[{id: nop, replaces: oracle, why: x}]")], "suites[0].targets[0].why", "unknown key"),
        ([suite("[{id: 5, replaces: oracle}]")], "suites[0].targets[0].id", "must be text, not the number 5"),
        ([suite("[5]")], "suites[0].targets[0]", "must be text, not the number 5"),
        ([suite('[{id: nop, replaces: ""}]')], "suites[0].targets[0].replaces", "is empty"),
        (
            [suite("[{id: nop, replaces: oracle}, oracle]")],
            "suites[0].targets[0].replaces",
            TAKEN,
        ),
        ([suite("[{id: nop, replaces: nop}]")], "suites[0].targets[0].replaces", TAKEN),
        (
            [suite("[{id: nop, replaces: x}, {id: oracle, replaces: x}]")],
            "suites[0].targets[1].replaces",
            "is replaced twice",
        ),
        ([suite("[{id: nop, replaces: x}, nop]")], "suites[0].targets[1]", "is listed twice"),
        ([suite("[nop]", more=", replaces: a/b")], "suites[0].replaces", "can't be used"),
        ([suite("[nop]", more=", replaces: tools")], "suites[0].replaces", TAKEN),
        (
            [suite("[nop]", more=", replaces: x"), suite("[nop]", "other", ", replaces: x")],
            "suites[1].replaces",
            "is replaced twice",
        ),
    ],
)
def test_mistakes_are_told_with_their_place(suites: list[str], field: str, message: str) -> None:
    with pytest.raises(InputError) as caught:
        read(*suites)
    (problem,) = caught.value.problems
    assert problem.field == field
    assert message in problem.message
    assert problem.remedy
    assert problem.place.line is not None

"""What a configuration says of another harness's results, and what it can't say."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from evalward.config.load import parse_config
from evalward.records.problem import InputError
from evalward.suites.across import unfed_rules
from evalward.suites.external.choice import Bounds, ScoreChoice
from evalward.suites.external.spec import ExternalSuite


def suite(**keys: Any) -> ExternalSuite:
    config = {"version": 1, "suites": [{"name": "bot", "kind": "external", "results": "logs/*.eval", **keys}]}
    (found,) = parse_config(json.dumps(config), "evalward.yml", Path("/repo")).config.suites
    assert isinstance(found, ExternalSuite)
    return found


def told(**keys: Any) -> str:
    with pytest.raises(InputError) as caught:
        suite(**keys)
    return "\n".join(str(problem) for problem in caught.value.problems)


def test_a_name_and_files__are_enough() -> None:
    found = suite()
    assert (found.targets, found.cases, found.format, found.run) == ([], [], None, None)
    assert found.choice == ScoreChoice()


@pytest.mark.parametrize(
    ("keys", "choice"),
    [
        ({"score": "match"}, ScoreChoice("match")),
        ({"score": {"helpful": 0.7}}, ScoreChoice(bounds={"helpful": Bounds(least=0.7)})),
        ({"score": {"helpful": {"min": 0.2, "max": 0.9}}}, ScoreChoice(bounds={"helpful": Bounds(0.2, 0.9)})),
        (
            {"score": {"toxic": 0.1}, "lower_is_better": "toxic"},
            ScoreChoice(bounds={"toxic": Bounds(most=0.1)}),
        ),
    ],
)
def test_what_passes__is_a_scorer_or_bounds(keys: dict[str, Any], choice: ScoreChoice) -> None:
    assert suite(**keys).choice == choice


@pytest.mark.parametrize(
    ("keys", "words"),
    [
        (
            {"cases": "evals/*.jsonl"},
            "suites[0].cases: suites of kind external have no cases. The harness",
        ),
        ({"targets": ["openai/gpt-5"]}, "suites[0].targets: suites of kind external have no targets"),
        ({"system": "prompt.md"}, "suites[0].system: suites of kind external have no system"),
        ({"trials": 3}, "suites[0].trials: no harness is asked for so many trials. Write {trials} into run."),
        ({"format": "inspct"}, 'suites[0].format: there is no format "inspct". Did you mean inspect'),
        ({"score": {"helpful": {}}}, "suites[0].score.helpful: this bound has no end. Write min, max or both."),
        ({"score": {}}, "suites[0].score: it names no score"),
        ({"score": {"helpful": {"min": 0.9, "max": 0.1}}}, "no score is at least 0.9 and at most 0.1"),
        ({"results": "../logs"}, "has .. in it"),
    ],
)
def test_what_belongs_to_the_harness__is_not_said_here(keys: dict[str, Any], words: str) -> None:
    assert words in told(**keys)


def test_a_metric_of_a_scorer__is_one_that_a_rule_may_name() -> None:
    rule = {"metric": "score:helpfulness", "max_drop": 0.05}
    config = {
        "version": 1,
        "suites": [{"name": "bot", "kind": "external", "results": "logs/*.eval"}],
        "policy": [rule, {**rule, "metric": "csr"}],
    }
    problems = unfed_rules(parse_config(json.dumps(config), "evalward.yml", Path("/repo")))
    assert ["'csr'" in str(problem) for problem in problems] == [True]


def of_rules(*rules: dict[str, Any], **keys: Any) -> list[str]:
    suite = {"name": "bot", "kind": "external", "results": "logs/*.eval", "lower_is_better": ["tox"], **keys}
    try:
        parse_config(json.dumps({"version": 1, "suites": [suite], "policy": rules}), "evalward.yml", Path("/repo"))
    except InputError as error:
        return [str(problem) for problem in error.problems]
    return []


def test_a_drop_of_what_should_be_low__is_no_loss() -> None:
    (words,) = of_rules({"metric": "score:tox", "max_drop": 0.05})
    assert words == (
        'evalward.yml:1: policy[0].max_drop: less of score:tox is better in the suite "bot", so a drop is '
        "an improvement. Write max_rise."
    )


@pytest.mark.parametrize(
    "rule",
    [
        {"metric": "score:tox", "max_rise": 0.05},
        {"metric": "score:tox", "max_rise": 0.05, "max_drop": 0.5},
        {"metric": "score:helpful", "max_drop": 0.05},
        {"metric": "score:tox", "max_drop": 0.05, "suite": "other*"},
        {"metric": "score:tox", "ceiling": 0.5},
    ],
)
def test_rules_in_the_right_direction__are_none_of_it(rule: dict[str, Any]) -> None:
    assert not any("no loss" in words for words in of_rules(rule))


@pytest.mark.parametrize("score", ["{help: .nan}", "{help: .inf}"])
def test_a_bound_that_is_no_number__is_one_mistake(score: str) -> None:
    text = f"version: 1\nsuites:\n  - {{name: bot, kind: external, results: x, score: {score}}}\n"
    with pytest.raises(InputError) as caught:
        parse_config(text, "evalward.yml", Path("/repo"))
    (problem,) = caught.value.problems
    assert str(problem) == (
        f"evalward.yml:3: suites[0].score.help: no score is at least {float(score[8:11])}. Write a finite number."
    )

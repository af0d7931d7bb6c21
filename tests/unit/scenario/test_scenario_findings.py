"""The specification's patterns, with the commands behind them."""

from __future__ import annotations

from typing import Any

import pytest

from evalward.records.report import Finding
from evalward.records.result import Result
from evalward.suites.scenario.details import EvaluatorResult, FailedCommand, SubcommandStats
from evalward.suites.scenario.findings import interpret
from evalward.suites.scenario.metrics import measure
from support.scenarios import trial


def findings(*results: Result) -> dict[str, Finding]:
    return {finding.id: finding for finding in interpret(results, measure(results))}


def used(errors: int, helps: int, **changes: Any) -> Result:
    interaction = {
        "help_invocations": helps,
        "failed": [FailedCommand(subcommand="add", command="todo add", exit_code=2, said="no such list")][:errors],
    }
    return trial(counts=(10, 10, errors), first=10 - errors, interaction=interaction, **changes)


@pytest.mark.parametrize(
    ("errors", "helps", "pattern"),
    [
        (0, 0, "clear_docs"),
        (1, 1, "clear_docs"),
        (3, 0, "wrong_examples"),
        (3, 2, "wrong_examples"),
        (3, 3, "help_insufficient"),
        (1, 3, "docs_too_short"),
        (1, 2, None),
        (2, 0, None),
        (2, 9, None),
    ],
)
def test_errors_and_help(errors: int, helps: int, pattern: str | None) -> None:
    found = findings(used(errors, helps))
    assert list(found) == ([pattern] if pattern else [])


def test_the_commands_and_errors_behind_it_are_shown() -> None:
    found = findings(used(4, 0))["wrong_examples"]
    assert found.evidence == "errors 40.0 %, help 0.0 a trial; $ todo add → 2: no such list"
    assert (found.threshold, found.cases) == ("errors > 25 %, help ≤ 2 a trial", ["a"])


def test_first_tries_are_judged_over_subcommands() -> None:
    often = trial(counts=(10, 2, 0), first=2)
    assert "low_first_try" not in findings(often)
    wrong = trial(counts=(10, 4, 2), first=2)
    assert findings(wrong)["low_first_try"].evidence.startswith("50.0 % of the subcommands worked at once")


def test_first_tries_of_which_nobody_knows_the_end__say_nothing() -> None:
    ends = {"a": True, "b": True, "c": None, "d": None}
    stats = {name: SubcommandStats(total=1, first_try=worked) for name, worked in ends.items()}
    partly = trial(counts=(4, 4, 0), first=2, interaction={"per_subcommand": stats, "unknown_count": 2})
    assert "low_first_try" not in findings(partly)
    none = {name: SubcommandStats(total=1) for name in "ab"}
    assert "low_first_try" not in findings(trial(counts=(2, 2, 0), first=0, interaction={"per_subcommand": none}))


def test_a_subcommand_that_is_tried_again() -> None:
    stats = {
        "add": SubcommandStats(total=4, errors=3, retries=3, retries_after_failure=3),
        "list": SubcommandStats(total=9),
    }
    failed = [FailedCommand(subcommand="add", command="todo add x", exit_code=1, said="bad")]
    found = findings(trial(interaction={"per_subcommand": stats, "failed": failed}))["retried_subcommand"]
    assert found.message.startswith("`add` is retried again")
    assert found.evidence == "3 of 4 follow a failure of the same command; $ todo add x → 1: bad"
    once = {"add": SubcommandStats(total=2, errors=1, retries=1, retries_after_failure=1)}
    assert "retried_subcommand" not in findings(trial(interaction={"per_subcommand": once}))


def test_detours_and_ends() -> None:
    found = findings(trial(counts=(20, 10, 0), first=10), trial("b", completed=False, interaction={"completed": False}))
    assert found["many_commands"].cases == ["a"]
    assert found["not_completed"].cases == ["b"]


def test_what_cant_be_trusted() -> None:
    silent = trial(counts=(0, 0, 0), first=0, gates=(0, 0), skipped_events=2, approximate=True)
    unknown = trial("b", interaction={"unknown_count": 1})
    found = findings(silent, unknown)
    assert {name: finding.cases for name, finding in found.items()} == {
        "no_target_command": ["a"],
        "nothing_asserted": ["a"],
        "unknown_exit_codes": ["b"],
        "approximate": ["a"],
        "skipped_events": ["a"],
        "low_first_try": ["b"],
    }
    assert found["unknown_exit_codes"].message == "1 command has an unknown exit code: neither failed nor succeeded"
    assert "command_pattern" in found["no_target_command"].advice
    assert found["no_target_command"].message == "1 trial never used the tool, or its commands weren't recognised"


def test_evaluators_that_broke() -> None:
    result = trial()
    details = result.details.model_copy(update={"evaluators": [EvaluatorResult(name="tidy", error="it failed")]})
    assert findings(result.model_copy(update={"details": details}))["evaluator_errors"].evidence == "tidy: it failed"


def test_without_trials_there_is_nothing_to_say() -> None:
    assert findings() == {}

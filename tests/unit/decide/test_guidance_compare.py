"""Guidances side by side: the specification's example, what chance could do, what can't be told, and the diagnosis."""

from __future__ import annotations

import random
from collections.abc import Sequence

import pytest

from evalward.decide.guidance import GuidanceResults, compare_guidance
from evalward.records.guidance import GuidanceComparison, GuidanceDifference
from evalward.records.result import Result, Status
from evalward.suites.scenario.details import FailedCommand
from evalward.suites.scenario.guidance import READING
from support.scenarios import trial

FAILED = FailedCommand(
    subcommand="add",
    command="jot add --text milk",
    exit_code=2,
    said="usage: jot add TEXT --tag TAG\njot add: error: unrecognized arguments: --text",
    worked='jot add "milk" --tag shop',
)


def results(*told: tuple[int, int, int], name: str = "a", definition: str = "sha256:d", **more: object) -> list[Result]:
    """A trial per (commands, errors, looks at --help)."""
    return [
        trial(
            name,
            counts=(commands, 3, errors),
            first=3 - min(errors, 3),
            interaction={"help_invocations": asked, "failed": [FAILED] * errors},
            **more,  # type: ignore[arg-type]  # details
        ).model_copy(update={"trial": number, "definition": definition})
        for number, (commands, errors, asked) in enumerate(told, 1)
    ]


def compared(*columns: Sequence[Result], noisy: bool = True) -> GuidanceComparison:
    named = [GuidanceResults(f"v{number}", found) for number, found in enumerate(columns, 1)]
    return compare_guidance("s", "t", named, READING, random=noisy)


def of(found: GuidanceComparison, name: str, column: str = "v2") -> GuidanceDifference:
    (one,) = [difference for difference in found.of(column) if difference.name == name]
    return one


def values(found: GuidanceComparison, column: int) -> dict[str, float | None]:
    return {number.name: number.value.value for number in found.columns[column].numbers}


BAD = [(20, 7, 4)] * 5 + [(18, 6, 5)] * 5
GOOD = [(10, 1, 1)] * 8 + [(11, 1, 0)] * 2


def test_the_specifications_table_with_what_is_better_by_more_than_chance() -> None:
    found = compared(results(*BAD), results(*GOOD))
    assert [number.name for number in found.columns[0].numbers] == [
        "error_rate",
        "help_seeking",
        "first_try_success",
        "retry_rate",
        "iteration_ratio",
        "commands",
        "completion",
        "gates",
        "outcome",
    ]
    assert values(found, 0)["error_rate"] == 65 / 190
    assert values(found, 1)["error_rate"] == 10 / 102
    assert values(found, 0)["help_seeking"] == 4.5
    error = of(found, "error_rate")
    assert error.standing == "better"
    assert error.delta == pytest.approx(10 / 102 - 65 / 190)
    assert error.q is not None
    assert error.p is not None
    assert error.p < error.q <= 0.05
    assert error.interval is not None
    assert error.interval.low < (error.delta or 0) < error.interval.high < 0
    assert of(found, "help_seeking").standing == of(found, "commands").standing == "better"
    assert of(found, "completion").standing == of(found, "outcome").standing == "same"
    assert [of(compared(results(*GOOD), results(*BAD)), n).standing for n in ("error_rate", "commands")] == [
        "worse"
    ] * 2


def test_what_mirrors_another_metric_is_no_second_test() -> None:
    found = compared(results(*BAD), results(*GOOD))
    assert of(found, "iteration_ratio").q == of(found, "retry_rate").q
    rows = [row for row in READING.rows if row.mirrors is None]
    tested = [d for d in found.differences if d.p is not None and d.metric in {row.metric for row in rows}]
    (least,) = {d.p for d in tested if d.q == min(one.q or 1 for one in tested)}
    assert min(d.q or 1 for d in tested) == pytest.approx((least or 0) * len(tested))


def test_a_difference_that_chance_can_make_is_not_called_one() -> None:
    found = compared(results(*[(10, 2, 1)] * 5, *[(10, 3, 2)] * 5), results(*[(10, 2, 1)] * 6, *[(10, 3, 2)] * 4))
    assert of(found, "error_rate").standing == "unclear"
    assert of(found, "commands").standing == "same"


def test_too_few_trials_are_told_with_how_many_would_do() -> None:
    found = compared(results((20, 8, 4)), results((10, 0, 0)))
    assert of(found, "error_rate").standing == "thin"
    assert of(found, "completion").standing == "same"
    (note,) = found.notes
    assert "give each scenario at least 6" in note
    assert of(compared(results(*BAD[:6]), results(*GOOD[:6])), "error_rate").standing == "better"


def test_a_target_that_leaves_nothing_to_chance_is_not_tested() -> None:
    found = compared(results((20, 8, 4)), results((10, 0, 0)), noisy=False)
    assert of(found, "error_rate").standing == "exact"
    assert {d.p for d in found.differences} == {None}
    assert found.notes == ["This target always gives the same result, so no test is needed: every difference is real."]


def test_only_scenarios_of_one_definition_with_valid_trials_everywhere_count() -> None:
    broken = [result.model_copy(update={"status": Status.ERROR}) for result in results((9, 9, 9), name="c")]
    first = [*results((4, 1, 0)), *results((4, 1, 0), name="b"), *results((4, 1, 0), name="c")]
    second = [*results((4, 0, 0)), *results((4, 0, 0), name="b", definition="sha256:other"), *broken]
    found = compared(first, second)
    assert (found.cases, found.left_out) == (["a"], ["b", "c"])
    assert values(found, 0)["commands"] == 4
    nothing = compared(first, [])
    assert nothing.not_measured == "no scenario has a valid trial with each guidance"
    assert (nothing.columns, nothing.differences) == ([], [])


def test_errors_are_told_and_never_counted() -> None:
    broken = [r.model_copy(update={"status": Status.ERROR}) for r in results((9, 9, 9))]
    found = compared(results(*BAD), [*results(*GOOD), *broken])
    assert (found.columns[1].trials, found.columns[1].errors) == (10, 1)
    assert "1 with v2" in found.notes[0]


def test_what_nobody_told_is_no_difference() -> None:
    silent = results(*GOOD, judge_score=None)
    found = compared(results(*BAD, judge_score=0.4, judge_passed=False), silent)
    judge = of(found, "judge")
    assert (judge.standing, judge.delta, judge.q) == ("unknown", None, None)


def test_each_column_is_diagnosed_with_the_commands_behind_it() -> None:
    found = compared(results(*BAD), results(*[(10, 0, 0)] * 10))
    bad, good = found.columns
    assert [finding.id for finding in bad.findings][:1] == ["help_insufficient"]
    assert "jot add --text milk" in bad.findings[0].evidence
    assert bad.advice[0] == (
        "`jot add --text milk` failed in 10 of 10 trials: jot add: error: unrecognized arguments: --text. "
        'Show an example that works: `jot add "milk" --tag shop`'
    )
    assert bad.advice[1] == "Add examples to --help, and say what each argument is."
    assert ([finding.id for finding in good.findings], good.advice) == (["clear_docs"], [])


def test_chance_alone_is_rarely_called_a_difference() -> None:
    """Of tables without any difference at most one in twenty names one: Holm holds over the whole table."""
    dice = random.Random(7)

    def some() -> list[Result]:
        return results(*[(dice.randint(5, 15), dice.randint(0, 5), dice.randint(0, 3)) for _ in range(6)])

    wrong = sum(
        any(d.standing in {"better", "worse"} for d in compared(some(), some()).differences) for _ in range(100)
    )
    assert wrong <= 10  # of 100; more than that would have a probability of 1 %

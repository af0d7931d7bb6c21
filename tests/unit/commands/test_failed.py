"""`--failed`: which cases an earlier report makes it run, and which command says the same."""

from __future__ import annotations

from pathlib import Path

import pytest

from evalward.commands.failed import failed_in, restricted
from evalward.commands.options import CheckOptions
from evalward.commands.pipeline import dump_report
from evalward.commands.spelling import check_again
from evalward.engine.selection import Selection, spelled_out
from evalward.records.problem import InputError
from evalward.records.report import ChosenCases, Report
from support.results import passes, report, result, run

LAST = report(
    run([*passes("a"), result("b", "failed"), result("c", "error"), result("d", "skipped")], target="oracle"),
    run([*passes("a"), result("a", "failed", trial=2), *passes("b")], target="nop"),
    run(passes("a"), suite="fine"),
)


def only(selection: Selection, last: Report = LAST) -> list[tuple[str, str, list[str]]]:
    chosen = restricted(selection, dump_report(last).encode(), "out/report.json").only
    return [(each.suite, each.target, each.cases) for each in chosen or ()]


def test_it_is_what_failed_or_broke_by_suite_target_and_case() -> None:
    assert only(Selection()) == [("bash-tools", "oracle", ["b", "c"]), ("bash-tools", "nop", ["a"])]


def test_what_an_early_end_left_out_is_run_too() -> None:
    last = report(run([result("a", "failed"), result("b", "skipped", reason="not_run")]), interrupted="budget")
    assert only(Selection(), last) == [("bash-tools", "replay:haiku", ["a", "b"])]


@pytest.mark.parametrize(
    ("selection", "expected"),
    [
        (Selection(targets=["n*"]), [("bash-tools", "nop", ["a"])]),
        (Selection(cases=["b"]), [("bash-tools", "oracle", ["b"])]),
        (Selection(suites=["bash-*"], targets=["oracle"], cases=["c", "a"]), [("bash-tools", "oracle", ["c"])]),
    ],
)
def test_other_selections_restrict_it_further(selection: Selection, expected: list[object]) -> None:
    assert only(selection) == expected


@pytest.mark.parametrize(
    ("selection", "data", "message"),
    [
        (Selection(), None, "there is no earlier report"),
        (Selection(), b"{", "not valid JSON"),
        (Selection(), b"[" * 200_000, "not valid JSON"),
        (Selection(), b'{"schema": "evalward.report/1", "runs": 5}', "report.json"),
        (Selection(), dump_report(report(run(passes("a")))).encode(), "no case failed last time"),
        (Selection(suites=["fine"]), dump_report(LAST).encode(), "no case of what is selected failed last time"),
    ],
    ids=["none", "broken", "deep", "wrong", "nothing failed", "nothing failed there"],
)
def test_where_nothing_is_to_be_run_it_is_said(selection: Selection, data: bytes | None, message: str) -> None:
    with pytest.raises(InputError) as caught:
        restricted(selection, data, "out/report.json")
    (problem,) = caught.value.problems
    assert message in str(problem)
    assert problem.remedy


def test_the_command_to_reproduce_names_the_cases_where_patterns_can() -> None:
    one = Selection(only=[ChosenCases(suite="s", target="nop", cases=["a", "b"])], trials=3)
    told = check_again(CheckOptions(Path("evalward.yml"), Path("evalward-out"), one))
    assert told == ("evalward check --config evalward.yml --suite s --target nop --case a --case b --trials 3")


@pytest.mark.parametrize(
    "chosen",
    [
        [ChosenCases(suite="s", target="x", cases=["a"]), ChosenCases(suite="s", target="y", cases=["b"])],
        [ChosenCases(suite="s", target="x", cases=["a"]), ChosenCases(suite="t", target="y", cases=["a"])],
        [ChosenCases(suite="s", target="x", cases=[f"c{number}" for number in range(50)])],
        [ChosenCases(suite="s", target="x", cases=["a[1]"])],
        [ChosenCases(suite="s", target="x,y", cases=["a"])],
    ],
    ids=["other cases", "no product", "too many", "a pattern", "read as two"],
)
def test_otherwise_it_runs_what_still_fails(chosen: list[ChosenCases]) -> None:
    selection = Selection(targets=["x", "y"], only=chosen)
    assert spelled_out(selection) is None
    told = check_again(CheckOptions(Path("evalward.yml"), Path("elsewhere"), selection))
    assert told == "evalward check --config evalward.yml --failed --target x --target y --output elsewhere"


def test_results_next_to_a_config_above_stay_there() -> None:
    """The printed command names the config, and a config that is named has its results where the command is typed."""
    above = CheckOptions(Path("../evalward.yml"), Path("../evalward-out"))
    assert check_again(above) == "evalward check --config ../evalward.yml --output ../evalward-out"
    assert check_again(CheckOptions(Path("evalward.yml"), Path("evalward-out"))) == (
        "evalward check --config evalward.yml"
    )
    assert check_again(CheckOptions(Path("../evalward.yml"), Path("evalward-out"))) == (
        "evalward check --config ../evalward.yml"
    )


def test_a_report_of_passes_has_nothing_to_run_again() -> None:
    assert failed_in(LAST)
    assert not failed_in(report(run([*passes("a"), result("b", "skipped")])))

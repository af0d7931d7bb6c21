"""What changed: case by case, metric by metric, over the cases that can be compared."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evalward.records.comparison import RunComparison
from evalward.records.report import Partial, Run
from evalward.records.result import CheckResult, Result
from evalward.suites.bash.details import BashDetails
from evalward.suites.command.details import CommandDetails
from support.results import baseline, case_change, compared, metric_change, passes, report, result, run


def only(now: Run, before: Run | None, partial: Partial | None = None) -> RunComparison:
    """The comparison of two runs of the same name."""
    (found,) = compared(report(now, partial=partial), baseline(before) if before else None).runs
    return found


def change_of(before: list[Result], now: list[Result], case: str = "a") -> str:
    found = only(run([*now, result("keep")]), run([*before, result("keep")]))
    return next(change.change for change in found.cases if change.id == case)


def trials(outcomes: str, **more: float) -> list[Result]:
    """Trials of case `a`: `p` passed, `f` failed, `e` error, `s` skipped."""
    words = {"p": "passed", "f": "failed", "e": "error", "s": "skipped"}
    return [result("a", words[letter], trial=n, **more) for n, letter in enumerate(outcomes, 1)]  # type: ignore[arg-type]


# --- cases ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("before", "now", "change"),
    [
        ("p", "f", "broken"),
        ("f", "p", "fixed"),
        ("p", "p", "same"),
        ("f", "f", "same"),
        ("pp", "pf", "broken"),  # half of the trials is no longer most of them
        ("ppf", "pff", "broken"),
        ("pf", "pp", "fixed"),
        ("ppf", "ppp", "better"),
        ("ppp", "ppf", "worse"),
        ("pf", "ff", "worse"),
        ("ff", "pf", "better"),
        ("ppf", "ppfppf", "same"),
        ("p", "e", "not_valid"),
        ("p", "s", "not_valid"),
        ("p", "ep", "same"),  # the valid trial speaks
        ("p", "ef", "broken"),
        ("", "p", "added"),
        ("", "f", "added"),
        ("", "e", "not_valid"),
        ("p", "", "missing"),
    ],
)
def test_what_becomes_of_a_case(before: str, now: str, change: str) -> None:
    assert change_of(trials(before), trials(now)) == change


def test_a_score_that_moves_is_worse_or_better_where_the_outcome_stays() -> None:
    half, most = trials("f", score=1, most=4), trials("f", score=3, most=4)
    assert change_of(most, half) == "worse"
    assert change_of(half, most) == "better"
    assert change_of(half, half) == "same"


def test_a_score_that_moves_by_rounding_is_the_same() -> None:
    assert change_of(trials("f", score=0.3, most=1), trials("f", score=0.1 + 0.2, most=1)) == "same"


@pytest.mark.parametrize("now", ["p", "f", "e", "s"])
def test_another_definition_is_redefined_whatever_came_out(now: str) -> None:
    changed = [item.model_copy(update={"definition": "sha256:new"}) for item in trials(now)]
    assert change_of(trials("p"), changed) == "redefined"


def test_a_skipped_case_says_so_and_why() -> None:
    skipped = result("a", "skipped", reason="not_recorded", message="the recording has no trial 1")
    found = only(run([skipped, result("b")]), run(passes("a", "b")))
    change = found.cases[0]
    assert (change.change, change.skipped, change.note) == ("not_valid", True, "the recording has no trial 1")
    assert found.errors == 0


def test_an_error_is_no_skip_and_is_counted() -> None:
    found = only(run([result("a", "error", reason="sandbox"), result("b")]), run(passes("a", "b")))
    assert (found.cases[0].skipped, found.cases[0].note, found.errors) == (False, "sandbox", 1)


def test_a_trial_that_was_planned_and_left_nothing_is_an_error() -> None:
    found = only(run(passes("a", "b"), planned=5), run(passes("a", "b")))
    assert (found.planned, found.errors) == (5, 3)


def test_a_broken_case_shows_its_failing_checks_and_the_command() -> None:
    checks = [
        CheckResult(check="exit_code:0", passed=True, detail="ok"),
        CheckResult(check="stderr_empty", passed=False, detail="stderr has 'x'"),
    ]
    details = BashDetails(failing_command="jq .a", failing_stderr="x")
    failed = result(
        "a", "failed", trial=2, checks=checks, details=details, trace="trials/a.2.json", reason="checks_failed"
    )
    change = only(run([result("a", "failed", trial=3), result("a"), failed][::-1]), run(passes("a"))).cases[0]
    assert [check.check for check in change.checks] == ["stderr_empty"]
    assert (change.command, change.stderr, change.trace) == ("jq .a", "x", "trials/a.2.json")
    assert (str(change.before), str(change.now)) == ("passed", "1 of 3 passed")
    assert change.note is None  # the checks say it


def test_another_reason_than_its_checks_is_told() -> None:
    change = only(run([result("a", "failed", reason="turn_limit")]), run(passes("a"))).cases[0]
    assert change.note == "turn_limit"


def test_a_case_that_is_well_shows_nothing() -> None:
    change = only(run(passes("a")), run(passes("a"))).cases[0]
    assert (change.checks, change.command, change.note, change.trace) == ([], None, None, None)


def test_cases_come_in_order_of_their_ids() -> None:
    found = only(run(passes("c", "a")), run(passes("d", "b")))
    assert [(case.id, case.change) for case in found.cases] == [
        ("a", "added"),
        ("b", "missing"),
        ("c", "added"),
        ("d", "missing"),
    ]


# --- metrics --------------------------------------------------------------------------------------------------------


def test_only_comparable_cases_move_a_metric() -> None:
    before = run([result("same"), result("gone", "failed"), result("redefined", "failed"), result("broke", "failed")])
    now = run(
        [
            result("same"),
            result("added", "failed"),
            result("redefined", definition="sha256:new"),
            result("broke", "error"),
        ]
    )
    found = only(now, before)
    rate = metric_change(found, "pass_rate")
    assert (found.comparable, found.total) == (1, 4)
    assert (rate.before and rate.before.denominator, rate.now and rate.now.denominator) == (1, 1)
    assert rate.delta == 0.0
    assert rate.whole is not None
    assert (rate.whole.numerator, rate.whole.denominator) == (2, 3)


def test_deltas_are_unrounded_and_now_minus_before() -> None:
    before, now = run(passes("a", "b", "c")), run([*passes("a", "b"), result("c", "failed")])
    rate = metric_change(only(now, before), "pass_rate")
    assert rate.delta == 2 / 3 - 1.0
    assert rate.moved == "worse"


def test_a_difference_within_rounding_is_none() -> None:
    before, now = run([result("a", score=0.3)]), run([result("a", score=0.1 + 0.2)])
    rate = metric_change(only(now, before), "overall_rate")
    assert (rate.delta, rate.moved) == (0.0, "same")


@pytest.mark.parametrize(
    ("metric", "moved"),
    [
        ("total_turns", "worse"),
        ("tool_call_success_rate", "worse"),
        ("tool_calls_ok", "changed"),
        ("total_passed", "same"),
    ],
)
def test_each_metric_moves_in_its_own_direction(metric: str, moved: str) -> None:
    before, now = run([result("a", turns=2, calls=(3, 3))]), run([result("a", turns=3, calls=(2, 3))])
    assert metric_change(only(now, before), metric).moved == moved


def test_a_metric_that_one_side_hasnt_got_has_no_delta() -> None:
    before, now = run([result("a", calls=(1, 1))]), run([result("a", calls=(0, 0))])
    rate = metric_change(only(now, before), "tool_call_success_rate")
    assert (rate.delta, rate.moved) == (None, "unknown")
    assert rate.now is not None
    assert rate.now.reason == "no tool call was made"


def test_without_a_comparable_case_nothing_is_the_same() -> None:
    found = only(run(passes("a")), run(passes("b")))
    assert found.comparable == 0
    assert {change.delta for change in found.metrics if change.id not in {"total_tasks"}} == {None}


@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf])
def test_a_value_that_is_no_number_is_not_available(value: float) -> None:
    now = run(passes("a"))
    spoilt = now.metrics["pass_rate"].model_copy(update={"value": value})
    found = only(now.model_copy(update={"metrics": {**now.metrics, "pass_rate": spoilt}}), run(passes("a")))
    whole = metric_change(found, "pass_rate").whole
    assert whole is not None
    assert whole.value is None
    assert "is not a number" in str(whole.reason)


def test_trial_counts_may_differ() -> None:
    before = run([result("a", trial=n) for n in range(1, 6)])
    found = only(run([result("a")]), before)
    assert (found.baseline_trials, found.trials) == (5, 1)
    assert metric_change(found, "total_passed").delta == 0.0
    assert metric_change(found, "total_turns").delta == 0.0


def test_a_kind_that_nobody_knows_is_compared_case_by_case_only() -> None:
    before, now = baseline(run(passes("a"))), run([result("a", "failed")], kind="bash")
    odd = before.model_copy(update={"runs": [before.runs[0].model_copy(update={"kind": "csr"})]})
    found = compared(report(now.model_copy(update={"kind": "csr"})), odd).runs[0]
    assert found.cases[0].change == "broken"
    assert {change.delta for change in found.metrics} == {None}


# --- categories -----------------------------------------------------------------------------------------------------


def test_categories_are_over_the_comparable_cases() -> None:
    before = run([result("a", category="x"), result("b", category="x"), result("c", category="y")])
    now = run([result("a", "failed", category="x"), result("c", category="y"), result("d", category="z")])
    found = {change.name: (change.before, change.now) for change in only(now, before).categories}
    assert sorted(found) == ["x", "y"]
    was, is_now = found["x"]
    assert was is not None
    assert is_now is not None
    assert (was.tasks, was.rate, is_now.rate) == (1, 1.0, 0.0)


def test_a_missing_category_is_listed() -> None:
    before = run([result("a", category="x"), result("b", category="y"), result("c", category="y")])
    found = only(run([result("a", category="x")]), before)
    assert [(c.name, c.before.tasks if c.before else None, c.now is None) for c in found.categories] == [
        ("x", 1, False),
        ("y", 2, True),
    ]


def test_a_category_whose_cases_broke_is_not_missing() -> None:
    before = run([result("a", category="x"), result("b", category="y")])
    found = only(run([result("a", category="x"), result("b", "error", category="y")]), before)
    assert [change.name for change in found.categories] == ["x"]


# --- runs -----------------------------------------------------------------------------------------------------------


def test_a_run_that_only_the_baseline_has_is_missing_and_comes_last() -> None:
    before = baseline(run(passes("a"), target="oracle"), run(passes("a", "b"), target="zeta"))
    found = compared(report(run(passes("a"), target="zeta"), run(passes("a"), suite="new")), before).runs
    assert [(r.suite, r.target, r.missing, r.added) for r in found] == [
        ("bash-tools", "zeta", False, False),
        ("new", "replay:haiku", False, True),
        ("bash-tools", "oracle", True, False),
    ]
    gone = found[-1]
    assert [case.change for case in gone.cases] == ["missing"]
    assert metric_change(gone, "pass_rate").before is not None


def test_a_new_run_shows_its_values_without_a_delta() -> None:
    found = only(run([result("a", "failed"), result("b", "error")]), None)
    assert found.added
    assert [(case.id, case.change) for case in found.cases] == [("a", "added"), ("b", "not_valid")]
    rate = metric_change(found, "pass_rate")
    assert (rate.before, rate.delta) == (None, None)
    assert rate.now == rate.whole


def test_without_a_baseline_nothing_is_named_as_one() -> None:
    found = compared(report(run(passes("a"))), None)
    assert (found.baseline, found.baseline_commit, found.partial) == (None, None, False)
    with_one = compared(report(run(passes("a"))), baseline(run(passes("a"))))
    assert (with_one.baseline, with_one.baseline_commit) == ("evalward.baseline/1", "abc")


def test_what_changed_of_the_subject_is_named_part_by_part() -> None:
    before = run(passes("a"), parts={"system": "s1", "bashkit": "1", "old": "x"})
    now = run(passes("a"), parts={"system": "s2", "bashkit": "1", "new": "y"})
    found = only(now, before)
    assert [(change.part, change.before, change.now) for change in found.subject] == [
        ("new", None, "y"),
        ("old", "x", None),
        ("system", "s1", "s2"),
    ]
    assert found.comparable == 1  # a subject that differs is never a reason not to compare


def test_divergence_is_counted_over_replayed_trials() -> None:
    diverged = BashDetails(replayed=True, diverged_at=2)
    found = only(run([result("a", details=diverged), result("b", replayed=True), result("c")]), None)
    assert (found.replay, found.diverged) == (True, 1)
    assert not only(run(passes("a")), None).replay


# --- partial --------------------------------------------------------------------------------------------------------


def test_a_partial_report_is_compared_in_its_part_only() -> None:
    before = baseline(
        run([*passes("json_a", "json_b"), result("grep", "failed")]),
        run(passes("a"), suite="other"),
        run(passes("a"), target="oracle"),
    )
    part = Partial(suites=["bash-*"], targets=["replay:*"], cases=["json_*"])
    found = compared(report(run(passes("json_a")), partial=part), before)
    assert found.partial
    (only_run,) = found.runs
    assert [(case.id, case.change) for case in only_run.cases] == [("json_a", "same"), ("json_b", "missing")]


@pytest.mark.parametrize(
    ("part", "missing"),
    [
        (Partial(suites=["bash-tools"]), ["bash-tools × oracle"]),
        (Partial(targets=["replay:*"]), ["other × replay:haiku"]),
        (Partial(cases=["a"]), ["bash-tools × oracle", "other × replay:haiku"]),
        (None, ["bash-tools × oracle", "other × replay:haiku"]),
    ],
)
def test_runs_outside_the_part_are_not_missing(part: Partial | None, missing: list[str]) -> None:
    before = baseline(run(passes("a")), run(passes("a"), suite="other"), run(passes("a"), target="oracle"))
    found = compared(report(run(passes("a")), partial=part), before)
    assert [r.name for r in found.runs if r.missing] == missing


def test_a_case_with_brackets_in_its_id_can_be_chosen_by_its_id() -> None:
    before = baseline(run(passes("a[1]", "b")))
    (found,) = compared(report(run(passes("a[1]")), partial=Partial(cases=["a[1]"])), before).runs
    assert [(case.id, case.change) for case in found.cases] == [("a[1]", "same")]


# --- any two sides --------------------------------------------------------------------------------------------------

some_trials = st.lists(
    st.builds(
        result,
        st.sampled_from("abcd"),
        st.sampled_from(["passed", "failed"]),
        score=st.integers(0, 3).map(float),
        most=st.just(3.0),
        category=st.just("x"),
    ),
    min_size=1,
    max_size=10,
)


@given(some_trials, some_trials)
def test_swapping_the_sides_turns_every_change_round(one: list[Result], other: list[Result]) -> None:
    there, back = only(run(one), run(other)), only(run(other), run(one))
    opposite = {"broken": "fixed", "worse": "better", "added": "missing"}
    opposite |= {value: key for key, value in opposite.items()} | {"same": "same"}
    assert [(c.id, opposite[c.change]) for c in there.cases] == [(c.id, c.change) for c in back.cases]
    for before, after in zip(there.metrics, back.metrics, strict=True):
        assert before.delta == (None if after.delta is None else -after.delta)


@given(some_trials)
def test_a_run_compared_with_itself_has_no_change(rows: list[Result]) -> None:
    found = only(run(rows), run(rows))
    assert {case.change for case in found.cases} == {"same"}
    assert {change.delta for change in found.metrics} <= {0.0, None}


def test_case_change_finds_by_id() -> None:
    found = compared(report(run(passes("a"))), baseline(run(passes("a"))))
    assert case_change(found, "a").change == "same"


def allowing(*rules: str, definition: str = "sha256:0") -> Result:
    """A trial of case `a`, which allows these rules of the safety validator."""
    details = CommandDetails(allow=list(rules))
    return result("a").model_copy(update={"details": details, "definition": definition})


def test_an_allowance_that_the_baseline_had_not_is_told_with_its_case() -> None:
    before, now = allowing("machine.down"), allowing("machine.down", "disk.format", definition="sha256:new")
    (case,) = only(run([now], kind="command"), run([before], kind="command")).cases
    assert (case.change, case.allows) == ("redefined", ["disk.format"])
    (case,) = only(run([now], kind="command"), run([now], kind="command")).cases
    assert case.allows == []
    (case, _) = only(run([now, result("keep")], kind="command"), run([result("keep")], kind="command")).cases
    assert (case.change, case.allows) == ("added", ["disk.format", "machine.down"])

"""A selection of cases: judged in that part, and only there."""

from __future__ import annotations

import pytest

from evalward.records.policy import Rule
from evalward.records.report import ChosenCases, Partial, Report
from evalward.records.verdict import Outcome, RuleStatus
from evalward.render import sentences as english
from support.results import TARGET, baseline, compared, passes, report, result, run, verdict_of

BEFORE = baseline(run(passes("a", "b", "c", "d")), run(passes("a", "z"), suite="other"))


def part_of(*cases: str, failed: tuple[str, ...] = (), whole: int | None = 4) -> Report:
    results = [result(case, "failed" if case in failed else "passed") for case in cases]
    return report(run(results, whole=whole), partial=Partial(cases=list(cases), suites=["bash-*"]))


@pytest.mark.parametrize("rule", [Rule(metric="pass_rate", floor=0.8), Rule(metric="pass_rate", goal=0.8)])
def test_limits_of_the_whole_are_not_judged_by_a_part(rule: Rule) -> None:
    verdict = verdict_of(part_of("a", failed=("a",)), None, rule)
    (outcome,) = verdict.rules
    assert (verdict.outcome, outcome.status) == (Outcome.PASS, "not_judged")
    assert english.message(outcome).endswith("not judged: only 1 of 4 cases was run")


@pytest.mark.parametrize(
    ("rule", "status"),
    [
        (Rule(metric="pass_rate", floor=1.0), "fail"),
        (Rule(metric="harness_error_rate", ceiling=0.0), "not_judged"),
        (Rule(metric="total_turns", ceiling=1.0), "not_judged"),
    ],
)
def test_a_limit_that_any_part_breaks_is_judged(rule: Rule, status: RuleStatus) -> None:
    verdict = verdict_of(part_of("a", "b", failed=("a",)), None, rule)
    assert [outcome.status for outcome in verdict.rules] == [status]


def test_a_selection_of_all_cases_is_judged_as_the_whole() -> None:
    verdict = verdict_of(part_of("a", "b", failed=("a", "b"), whole=None), None, Rule(metric="pass_rate", floor=0.8))
    assert verdict.outcome is Outcome.FAIL


def test_how_many_cases_there_are_excuses_only_a_selection_of_cases() -> None:
    rule = Rule(metric="pass_rate", floor=0.8)
    whole = run([result("a", "failed")], whole=9)
    for partial in (None, Partial(suites=["bash-*"])):
        assert verdict_of(report(whole, partial=partial), None, rule).outcome is Outcome.FAIL


def test_a_drop_of_the_part_fails() -> None:
    rule = Rule(metric="pass_rate", floor=0.1, max_drop=0.02)
    verdict = verdict_of(part_of("a", "b", failed=("a",)), BEFORE, rule)
    assert (verdict.outcome, verdict.reasons[0].stage) == (Outcome.FAIL, "drop")


def test_a_pass_says_what_it_did_not_compare() -> None:
    verdict = verdict_of(part_of("a"), BEFORE, Rule(metric="pass_rate", floor=0.8, max_drop=0.02))
    assert english.headline(verdict) == "nothing got worse; not compared: 3 cases not selected"


def test_new_cases_and_runs_are_not_compared() -> None:
    now = report(
        run(passes("a", "b", "c", "d", "e")), run(passes("a", "z"), suite="other"), run(passes("a"), suite="x")
    )
    headline = english.headline(verdict_of(now, BEFORE))
    assert headline == f"nothing got worse; not compared: x × {TARGET} (new), 1 new case"


# --- cases by their ids, run by run ---------------------------------------------------------------------------------

ONLY = Partial(only=[ChosenCases(suite="bash-tools", target=TARGET, cases=["a", "b"])])


def test_cases_chosen_by_id_are_compared_and_no_others() -> None:
    found = compared(report(run(passes("a"), whole=4), partial=ONLY), BEFORE)
    (only_run,) = found.runs
    assert [(case.id, case.change) for case in only_run.cases] == [("a", "same"), ("b", "missing")]


def test_runs_outside_of_the_selection_are_not_judged() -> None:
    other = run([result("a", "failed")], suite="other")
    now = report(run(passes("a", "b"), whole=4), other, partial=ONLY)
    verdict = verdict_of(now, BEFORE, Rule(metric="pass_rate", floor=0.9, max_drop=0.0))
    assert (verdict.outcome, {rule.suite for rule in verdict.rules}) == (Outcome.PASS, {"bash-tools"})


def test_a_run_without_a_chosen_case_breaks_no_floor() -> None:
    empty = run([], suite="other")
    now = report(run(passes("a"), whole=4), empty, partial=Partial(cases=["a"]))
    found = compared(now, baseline(run(passes("a", "b", "c", "d"))))
    assert [each.suite for each in found.runs] == ["bash-tools"]


def test_a_chosen_run_without_a_key_stays_not_measured() -> None:
    keyless = run([], suite="other", not_measured="there is no key here")
    found = compared(report(run(passes("a"), whole=4), keyless, partial=Partial(cases=["a"])), BEFORE)
    assert [(each.suite, each.not_measured) for each in found.runs] == [
        ("bash-tools", None),
        ("other", "there is no key here"),
    ]

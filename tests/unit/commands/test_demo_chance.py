"""The supposed half of the demo: the product's own verdict on failures that repeat, and that don't."""

from __future__ import annotations

import pytest

from evalward.commands.demo_chance import supposed
from evalward.records.policy import Confirm, Policy, Rule
from evalward.records.report import Report
from evalward.records.result import Status
from evalward.records.verdict import Outcome
from evalward.render.demo import FRESH, KNOWN
from support.outcomes import measured, steady

POLICY = Policy(rules=[Rule(metric="pass_rate", floor=0.8, max_drop=0.02)])
UNSTEADY = {"c1", "c2", "c3"}


@pytest.fixture
def report() -> Report:
    return measured(steady(37), random=False)


def test_what_does_not_repeat_is_no_regression(report: Report) -> None:
    found = supposed(report, report.runs[0], UNSTEADY, POLICY, again=Status.PASSED)
    assert found.verdict.outcome is Outcome.PASS
    (run,) = found.comparison.runs
    assert {case.id for case in run.of("broken")} == UNSTEADY


def test_what_repeats_fails(report: Report) -> None:
    found = supposed(report, report.runs[0], UNSTEADY, POLICY, again=Status.FAILED)
    assert found.verdict.outcome is Outcome.FAIL
    assert {reason.metric for reason in found.verdict.reasons} >= {"pass_rate"}


def test_the_trials_are_as_many_as_the_text_says(report: Report) -> None:
    found = supposed(report, report.runs[0], UNSTEADY, POLICY, again=Status.FAILED)
    (run,) = found.comparison.runs
    (case, *_) = run.of("broken")
    assert case.before is not None
    assert case.fresh is not None
    assert (case.before.trials, case.fresh.trials) == (KNOWN, FRESH)


def test_the_fresh_trials_are_as_many_as_a_check_makes_unless_a_policy_says_otherwise() -> None:
    assert Confirm().trials == FRESH

"""The worst case: errors that may hide a failure can't make a gate green by themselves."""

from __future__ import annotations

from typing import Any

import pytest

from evalward.commands.pipeline import decide_report
from evalward.decide.worst import EXCUSED, may_hide_a_failure
from evalward.records.policy import Limits, Policy, Rule
from evalward.records.report import Run
from evalward.records.result import Result
from evalward.records.verdict import Outcome, Verdict
from evalward.render import sentences as english
from evalward.targets.failures import Cause
from support.results import baseline, report, result, run

FLOOR = Rule(metric="pass_rate", floor=0.96)
IDS = [f"c{number:02}" for number in range(20)]


def twenty(*last: Result) -> list[Result]:
    """Twenty cases that pass, but for these."""
    return [*(result(name) for name in IDS[: 20 - len(last)]), *last]


def broken(number: int = 19, reason: str = "sandbox", **more: Any) -> Result:
    return result(IDS[number], "error", reason=reason, message="it broke", **more)


def verdict_of(now: Run, *rules: Rule, before: Run | None = None, **policy: Any) -> Verdict:
    """The whole decision, as every command makes it."""
    known = baseline(before) if before is not None else None
    return decide_report(report(now), known, Policy(rules=list(rules), **policy)).verdict


def test_an_agents_error_is_no_silent_pass() -> None:
    verdict = verdict_of(run(twenty(broken(begun=True, reason="overload"))), FLOOR)
    assert (verdict.outcome, verdict.exit_code) == (Outcome.INCONCLUSIVE, 0)
    assert english.headline(verdict).startswith("1 trial ended in an error; had it failed, the verdict would be fail: ")
    assert "95.0 % (19 of 20), below its floor of 96 %" in english.headline(verdict)
    assert (verdict.reasons[0].stage, verdict.reasons[0].cases) == ("validity", ["c19"])
    blocking = verdict_of(run(twenty(broken(begun=True))), FLOOR, fail_on="inconclusive")
    assert blocking.exit_code == 1


def test_the_same_failure_told_openly_is_red() -> None:
    assert verdict_of(run(twenty(result("c19", "failed"))), FLOOR).outcome is Outcome.FAIL


@pytest.mark.parametrize("reason", sorted(EXCUSED))
def test_an_outage_before_any_agent_is_at_work_excuses(reason: str) -> None:
    verdict = verdict_of(run(twenty(broken(reason=reason))), FLOOR)
    assert (verdict.outcome, english.warnings(verdict.notices)) == (Outcome.PASS, [])


@pytest.mark.parametrize("reason", ["sandbox", "ours", "rejected_request", "no_valid_benchmark", "a word of a plugin"])
def test_what_no_outage_explains_is_counted(reason: str) -> None:
    assert verdict_of(run(twenty(broken(reason=reason))), FLOOR).outcome is Outcome.INCONCLUSIVE


def test_where_it_makes_no_difference_it_is_told() -> None:
    verdict = verdict_of(run(twenty(broken())), Rule(metric="pass_rate", floor=0.9))
    assert verdict.outcome is Outcome.PASS
    assert english.warnings(verdict.notices) == [
        "1 trial ended in an error that no outage explains; had it failed, the verdict would be the same"
    ]


def test_it_makes_nothing_milder() -> None:
    failed = verdict_of(run(twenty(result("c18", "failed"), broken())), FLOOR)
    assert failed.outcome is Outcome.FAIL
    many = verdict_of(run(twenty(*(broken(number) for number in range(15, 20)))), FLOOR)
    assert many.outcome is Outcome.ERROR


def test_a_drop_that_it_hides_is_seen() -> None:
    rule = Rule(metric="pass_rate", max_drop=0.02)
    verdict = verdict_of(run(twenty(broken())), rule, before=run(twenty()))
    assert verdict.outcome is Outcome.INCONCLUSIVE
    assert any("had it failed, the verdict would be fail" in english.message(reason) for reason in verdict.reasons)
    outage = verdict_of(run(twenty(broken(reason="overload"))), rule, before=run(twenty()))
    assert [english.message(reason).partition(": ")[2] for reason in outage.reasons] == [
        "1 of 20 known cases gave no result (c19): it broke"
    ]


def test_a_failure_weighs_what_its_case_weighs() -> None:
    now = [*(result(name, most=4.0) for name in IDS[:19]), broken()]
    rule = Rule(metric="overall_rate", floor=0.96)
    before = run([result(name, most=4.0) for name in IDS])
    assert verdict_of(run(now), rule, before=before).outcome is Outcome.INCONCLUSIVE


def test_what_it_used_is_not_made_unknown() -> None:
    rule = Rule(metric="total_output_tokens", max_rise=50)
    verdict = verdict_of(run(twenty(broken())), rule, before=run(twenty()))
    assert {reason.stage for reason in verdict.reasons} == {"validity"}


def test_fresh_tries_that_broke_count_too() -> None:
    fresh = [result("c00", "error", reason="sandbox", trial=number) for number in range(2, 6)]
    now = run(twenty(), confirmation=fresh)
    assert verdict_of(now, FLOOR, limits=Limits(max_error_rate=1.0)).notices != []


def test_every_cause_that_excuses_is_one_of_a_provider_or_comes_before() -> None:
    blamed = {cause for cause in Cause if may_hide_a_failure(result("a", "error", reason=str(cause)))}
    assert blamed == {
        Cause.SANDBOX, Cause.OURS, Cause.REJECTED, Cause.UNREADABLE, Cause.CONTEXT_LENGTH, Cause.REFUSAL,
    }  # fmt: skip
    assert not may_hide_a_failure(result("a", "failed", reason="sandbox", begun=True))

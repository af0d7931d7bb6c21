"""What is lost bit by bit shows against an anchor that doesn't move; without one nothing is said."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from evalward.commands.pipeline import decide_report
from evalward.decide.anchor import RECENT, Anchor, with_levels
from evalward.decide.baseline import with_acceptance
from evalward.decide.history import trends
from evalward.decide.history_file import append, append_to_text, entries_of, read_history
from evalward.records.baseline import Acceptance, Baseline
from evalward.records.history import CaseCount, HistoryEntry
from evalward.records.policy import Policy, Rule
from evalward.records.report import Provenance, Report
from evalward.records.verdict import Judgement, Outcome
from evalward.render import sentences as english
from evalward.render.trend import trend_section
from support.results import KINDS, report, result, run
from support.written import make_baseline

CASES = 40
RULE = Rule(metric="pass_rate", max_drop=0.02)
RELEASE = "v1.4"


def measured(day: int, failing: Sequence[int] = (), *, trials: int = 1, cases: int = CASES, **more: Any) -> Report:
    """One push: the cases of `failing` fail in all their trials."""
    definition = more.pop("definition", "sha256:" + "d" * 64)
    results = [
        result(f"c{index}", "failed" if index in failing else "passed", trial=number, definition=definition)
        for index in range(cases)
        for number in range(1, trials + 1)
    ]
    made = run(results, **{"target": "anthropic/m", "random": True, "trials": trials, **more})
    return report(made, created_at=f"2026-01-{day:02d}T08:00:00Z", provenance=Provenance(commit=f"{day:040x}"))


def baseline(one: Report) -> Baseline:
    return make_baseline(one, "b", None, KINDS)


def pushed(*reports: Report, ref: str = "main") -> list[HistoryEntry]:
    found: list[HistoryEntry] = []
    for each in reports:
        found = append(found, entries_of(each, ref=ref))
    return found


def leak(first: int, count: int, **more: Any) -> list[Report]:
    """One more case lost with each push."""
    return [measured(first + number, range(number + 1), **more) for number in range(count)]


def judged(
    now: Report,
    history: Sequence[HistoryEntry] = (),
    *,
    release: Report | None = None,
    before: Baseline | None = None,
    blocks: bool = True,
    rules: Sequence[Rule] = (RULE,),
    branch: str | None = "main",
) -> Judgement:
    """Held against yesterday's baseline, which moved with the leak, and against the anchor."""
    anchor = Anchor(branch, RELEASE if release else "", baseline(release) if release else None, blocks)
    return decide_report(now, before or baseline(now), Policy(rules=list(rules)), history, anchor)


def test_release__a_case_lost_with_each_push_fails_though_each_push_passed() -> None:
    *past, now = leak(2, 10)
    found = judged(now, pushed(*past), release=measured(1, trials=5))
    assert decide_report(now, baseline(now), Policy(rules=[RULE])).verdict.outcome is Outcome.PASS
    [reason] = found.verdict.reasons
    assert (found.verdict.outcome, reason.stage, reason.outcome) == (Outcome.FAIL, "anchor", Outcome.FAIL)
    assert english.message(reason).startswith(
        "since v1.4 bash-tools × anthropic/m lost 18.8 pp over 10 measured commits (100.0 % → 81.2 % in 40 cases "
        "with the same definition), more than the 2 pp allowed: chance would do that"
    )
    assert english.headline(found.verdict) == english.message(reason)
    assert reason.cases[:2] == ["c0", "c1"]
    [anchored] = found.anchors
    assert (anchored.measurements, anchored.trials_before, anchored.trials_now) == (RECENT + 1, 200, 240)


def test_proposal__is_warned_and_not_failed() -> None:
    *past, now = leak(2, 10)
    found = judged(now, pushed(*past), release=measured(1, trials=5), blocks=False)
    assert (found.verdict.outcome, found.verdict.reasons) == (Outcome.PASS, [])
    assert any(warning.startswith("since v1.4 ") for warning in english.warnings(found.verdict.notices))


def test_history__without_a_release_the_oldest_pushes_are_the_anchor() -> None:
    """Five clean pushes, then one case lost with each."""
    past = [measured(day) for day in range(1, 6)] + leak(6, 11)
    *past, now = past
    found = judged(now, pushed(*past))
    assert found.verdict.outcome is Outcome.FAIL
    assert english.headline(found.verdict).startswith("since 2026-01-01 bash-tools × anthropic/m lost ")
    assert found.anchors[0].trials_before == 5 * CASES


@pytest.mark.parametrize("count", range(RECENT + 1))
def test_history__too_short_for_both_sides_says_nothing(count: int) -> None:
    found = judged(measured(20, range(20)), pushed(*(measured(day + 1) for day in range(count))))
    assert found.anchors == []
    assert found.verdict.outcome is Outcome.PASS


def test_nothing_changed__nothing_is_said() -> None:
    found = judged(measured(9, [3]), pushed(*(measured(day, [day]) for day in range(2, 8))), release=measured(1, [1]))
    assert (found.verdict.outcome, found.anchors[0].lost) == (Outcome.PASS, False)


def test_allowed__what_the_policy_lets_go_is_no_loss_however_sure() -> None:
    past = [measured(day, range(8), trials=20) for day in range(2, 8)]
    lenient = Rule(metric="pass_rate", max_drop=0.25)
    found = judged(past[-1], pushed(*past[:-1]), release=measured(1, trials=20), rules=[lenient])
    assert found.anchors[0].lost is False
    assert found.anchors[0].loss == pytest.approx(0.2)


def test_policy__without_a_rule_on_what_passes_nothing_is_held() -> None:
    rule = Rule(metric="total_turns", max_rise=1e6)
    mute = [rule, *(Rule(metric=name, floor=0.0) for name in ("pass_rate", "overall_rate"))]
    assert judged(measured(3, range(20)), release=measured(1, trials=5), rules=mute).anchors == []


def test_redefined__cases_that_ask_something_else_are_not_compared() -> None:
    other = "sha256:" + "e" * 64
    past = [measured(day, range(20), definition=other) for day in range(2, 8)]
    assert judged(past[-1], pushed(*past[:-1]), release=measured(1, trials=5)).anchors == []
    # The old definition's runs say nothing about the new one either.
    old = [measured(day, range(20)) for day in range(2, 7)]
    found = judged(measured(9, definition=other), pushed(*old), release=measured(1, trials=5, definition=other))
    assert found.anchors[0].trials_now == CASES


def test_branches__another_branchs_and_partial_runs_do_not_count() -> None:
    now, release = measured(9), measured(1, trials=5)
    other = pushed(*(measured(day, range(30)) for day in range(2, 8)), ref="experiment")
    part = pushed(*(measured(day, range(30), planned=99) for day in range(2, 8)))
    assert judged(now, [*other, *part], release=release).anchors[0].measurements == 1
    assert judged(now, other, release=release, branch=None).anchors[0].measurements == 6  # the branch measured last


def test_twice__this_report_and_what_the_release_has_are_counted_once() -> None:
    release, now = measured(5, trials=5), measured(9, range(10))
    history = pushed(*(measured(day, range(30)) for day in range(1, 6)), now)
    [found] = judged(now, history, release=release).anchors
    assert (found.measurements, found.commits, found.trials_now) == (1, 1, CASES)


def test_accepted__a_drop_that_somebody_took_since_is_no_leak() -> None:
    past = [measured(day, range(12)) for day in range(2, 13)]
    now, release = measured(13, range(12)), measured(1, trials=5)
    assert judged(now, pushed(*past), release=release).verdict.outcome is Outcome.FAIL
    taken = with_acceptance(baseline(now), Acceptance(at="2026-01-01T20:00:00Z", reason="slower, but safer"))
    found = judged(now, pushed(*past), release=release, before=taken)
    assert found.verdict.outcome is Outcome.PASS
    assert (found.anchors[0].label, found.anchors[0].lost) == ("2026-01-02", False)


@pytest.mark.parametrize(("lost", "failed"), [(1, False), (2, True)])
def test_certain__a_target_that_always_does_the_same_is_held_by_the_bare_difference(lost: int, failed: bool) -> None:
    """Six runs of it are one measurement: 1 of 40 cases are 2.5 points, and 3 are allowed."""
    fixed: dict[str, Any] = {"target": "oracle", "random": False}
    past = [measured(day, **fixed) for day in range(2, 8)]
    rule = Rule(metric="pass_rate", max_drop=0.03)
    now = measured(9, range(lost), **fixed)
    found = judged(now, pushed(*past), release=measured(1, **fixed), rules=[rule])
    assert (found.anchors[0].lost, found.anchors[0].p, found.anchors[0].measurements) == (failed, None, 1)
    assert (found.verdict.outcome is Outcome.FAIL) is failed


def test_unjudged__what_is_partial_or_can_not_be_judged_says_nothing() -> None:
    release = measured(1, trials=5)
    for change in ({"interrupted": "budget"}, {"partial": {"suites": ["bash-tools"]}}):
        now = measured(9, range(20))
        now = type(now).model_validate({**now.model_dump(by_alias=True), **change})
        assert judged(now, release=release, before=baseline(release)).anchors == []


def test_lines__of_old_and_of_numbers_that_no_run_makes() -> None:
    """A line as it was always written is enough; a huge count costs its case and no time."""
    past = [measured(day, range(20)) for day in range(2, 7)]
    text = append_to_text("", pushed(*past))
    entries = list(read_history(text).entries)
    assert judged(past[-1], entries, release=measured(1, trials=5)).verdict.outcome is Outcome.FAIL
    huge = [e.model_copy(update={"others": {"c0": CaseCount(10**12, 10**12)}, "trials": 10**12}) for e in entries]
    [found] = judged(measured(9), huge, release=measured(1, trials=5)).anchors
    assert found.trials_now == CASES


def test_trends__draw_the_anchor() -> None:
    past = leak(2, 9)
    found = judged(measured(20), pushed(*past), release=measured(1, trials=5))
    [level] = [trend.anchor for trend in found.trends if trend.metric == "pass_rate"]
    assert level is not None
    assert (level.label, level.value) == ("v1.4", 1.0)
    page = trend_section(found.trends)
    assert "anchor v1.4 at 100" in page
    assert "line [100, 100, 100, 100, 100, 100, 100, 100, 100]" in page
    assert "| metric | anchor | first → last |" in page
    assert "| 100.0 % (v1.4) |" in page


def test_levels__of_a_history_alone_are_of_its_oldest_runs() -> None:
    entries = pushed(*leak(2, 9))
    [found] = [t for t in with_levels(trends(entries, "bash-tools", "anthropic/m"), entries) if t.metric == "pass_rate"]
    assert found.anchor is not None
    assert found.anchor.label == "2026-01-02"
    assert found.anchor.value == pytest.approx(1 - (1 + 2 + 3 + 4) / 4 / CASES)
    named = with_levels([found], entries, "v1.4.json", baseline(measured(1)))
    assert named[0].anchor is not None
    assert (named[0].anchor.label, named[0].anchor.value) == ("v1.4.json", 1.0)

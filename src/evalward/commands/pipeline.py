"""The keeper's stages: report → comparison → verdict."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from evalward.decide.anchor import Anchor, anchored
from evalward.decide.compare import compare
from evalward.decide.confirm import Retry, to_confirm
from evalward.decide.doubts import to_settle
from evalward.decide.history import trend
from evalward.decide.samples import gather
from evalward.decide.staleness import with_staleness
from evalward.decide.standing import with_standing
from evalward.decide.timings import with_timings
from evalward.decide.verdict import judge
from evalward.decide.with_base import committed_only, judged_against, with_base_named, with_unmeasured_base
from evalward.decide.worst import with_worst_case, worst_case
from evalward.records.baseline import Baseline
from evalward.records.comparison import Comparison
from evalward.records.history import HistoryEntry
from evalward.records.policy import Policy, Rule
from evalward.records.problem import wrong
from evalward.records.report import Report, Run
from evalward.records.trend import Trend
from evalward.records.verdict import Judgement, Verdict
from evalward.suites import Kind, kind_named, kinds

Judge = Callable[[Report, Baseline | None, Policy], Judgement]
"""Judges a report: `judge_report` with whatever else is known."""


@dataclass(frozen=True)
class Judging:
    """What a report is judged by."""

    baseline: Baseline | None
    policy: Policy


def retries_of(report: Report, judging: Judging) -> list[Retry]:
    """What is tried again before a drop is believed: of the head alone, and after that, where a doubt is left, of both
    sides.
    """
    known, defaults = kinds_of(report), default_rules(report)
    baseline = judged_against(report, judging.baseline, judging.policy.with_base, known)
    confirmed = any(run.confirmation or run.confirm_note is not None for run in report.runs)
    again = [] if confirmed else to_confirm(compare(report, baseline, known), judging.policy, defaults)
    return again or to_settle(report, baseline, judging.policy, defaults, known)


def dump_report(report: Report) -> str:
    """The text of `report.json`."""
    return report.model_dump_json(by_alias=True, indent=1) + "\n"


def remeasured(report: Report, file: str) -> Report:
    """A report that somebody else wrote, with every number that its cases give computed anew.

    Runs that list fewer cases than they planned keep their numbers: what is missing there counts as broken. Raises
    `InputError` for a kind that this version doesn't know: nothing could protect its metrics.
    """
    return report.model_copy(update={"runs": [_remeasured_run(run, file) for run in report.runs]})


def _remeasured_run(run: Run, file: str) -> Run:
    if run.kind not in kinds():
        raise wrong(file, f"{run.name} is of kind {run.kind!r}", f"This version knows: {', '.join(kinds())}.")
    if run.not_measured is not None or len(run.cases) < run.planned or not run.cases:
        return run
    measurement = kind_named(run.kind).measure(run.cases)
    return run.model_copy(update={"metrics": measurement.metrics, "categories": measurement.categories})


def kinds_of(*reports: Report) -> Mapping[str, Kind]:
    """The kinds that reports have runs of, as far as they are installed: no other is loaded."""
    names = dict.fromkeys(run.kind for report in reports for run in report.runs if run.kind in kinds())
    return {name: kind_named(name) for name in names}


def default_rules(report: Report) -> Mapping[str, Sequence[Rule]]:
    """For each kind of the report, its own rules."""
    return {name: kind.default_rules for name, kind in kinds_of(report).items()}


def judge_report(
    report: Report,
    baseline: Baseline | None,
    policy: Policy,
    history: Sequence[HistoryEntry] = (),
    anchor: Anchor | None = None,
) -> Judgement:
    """Compare and decide. `history` names what is flaky and shows trends; it decides nothing by itself. Against an
    `anchor` its last measurements speak beside the report.

    Suites that the policy compares with the base are compared with what the report has of it, whatever the baseline.
    """
    baseline = judged_against(report, baseline, policy.with_base, kinds_of(report))
    comparison, verdict = _decided(report, baseline, policy, history)
    worst = worst_case(report, baseline, kinds_of(report))
    if worst is not None:
        verdict = with_worst_case(verdict, _decided(worst.report, baseline, policy, history)[1], worst)
    if policy.with_base:
        verdict = with_unmeasured_base(verdict, report, policy)
    judgement = Judgement(comparison=comparison, verdict=verdict, trends=_trends(verdict, history))
    return anchored(judgement, report, history, anchor, baseline) if anchor else judgement


def _decided(
    report: Report, baseline: Baseline | None, policy: Policy, history: Sequence[HistoryEntry]
) -> tuple[Comparison, Verdict]:
    known = kinds_of(report)
    samples = gather(report, baseline, known)
    comparison = with_base_named(compare(report, baseline, known), report, policy.with_base)
    comparison = with_staleness(comparison, report, committed_only(baseline, policy.with_base))
    comparison = with_timings(with_standing(comparison, baseline, history), report, baseline, known)
    return comparison, judge(comparison, policy, default_rules(report), samples)


def _trends(verdict: Verdict, history: Sequence[HistoryEntry]) -> list[Trend]:
    """The protected metrics over the last measurements, where there are at least two to draw a line through."""
    ruled = dict.fromkeys((rule.suite, rule.target, rule.rule.metric) for rule in verdict.rules)
    found = [trend(history, *each) for each in ruled] if history else []
    return [each for each in found if len(each.known) > 1]


def dump_judgement(judgement: Judgement) -> str:
    """The text of a judgement."""
    return judgement.model_dump_json(by_alias=True, indent=1) + "\n"

"""What is lost bit by bit: the recent runs of a branch, pooled, against a measurement that doesn't move.

A baseline that moves with every push hides a point lost in each of them. So each push also holds its own trials and
those of the last `RECENT` measurements of the branch against the anchor: the baseline of the last release, else the
oldest measurements of the branch's history, `RECENT` of them that are not the recent ones. No extra trial is made.
The test is the exact stratified one over the cases that ask the same, at `SHARE` of alpha, because it looks again
on every push.

A drop that somebody accepted since is no leak: then the anchor is the oldest measurements after that.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence

from msgspec import Struct, field

from evalward.decide.case_counts import Counts, counts_of_entry, pairs_of, pooled
from evalward.decide.history_file import case_lists, report_identity, short_digest
from evalward.decide.pooling import run_key
from evalward.decide.statistics.multiple import holm
from evalward.decide.statistics.stratified import CaseTrials, stratified_worse
from evalward.records.anchor import AnchorFinding
from evalward.records.base import clean_text
from evalward.records.baseline import Baseline, BaselineRun
from evalward.records.codes.advice import Advice
from evalward.records.codes.reasons import AnchorLost
from evalward.records.history import HistoryEntry
from evalward.records.metric import EPSILON, Metric
from evalward.records.report import Report, Run
from evalward.records.result import Result, Status
from evalward.records.trend import AnchorLevel, Trend
from evalward.records.verdict import Judgement, Outcome, Reason, RuleOutcome, Verdict

RECENT = 5
"""So many of the last measurements speak beside this one, and so many of the oldest are an anchor."""

SHARE = 0.1
"""The share of alpha that one look has. With a quarter of alpha on every push, twenty pushes that change nothing raise
a false alarm in 5 to 10 of 100 branches; with a tenth in up to 4 (`python -m benchmarks anchor`)."""

OUTCOME_METRICS = ("pass_rate", "overall_rate", "csr", "outcome_pass_rate", "gate_pass_rate", "mean_success_rate")
"""The metrics that say how many trials passed: a rule on one of them says how much of that may be lost."""

_MOST_NAMED = 20


class Anchor(Struct, frozen=True):
    """What to measure slow losses against, and how it is told.

    `release` is the tag whose committed baseline is `baseline`; without one the history's oldest of `branch` count, or
    of the branch that was measured last, where none is named. `blocks`: a loss fails the check; else it is a warning.
    """

    branch: str | None = None
    release: str = ""
    baseline: Baseline | None = None
    blocks: bool = False


def anchored(
    judgement: Judgement, report: Report, history: Sequence[HistoryEntry], anchor: Anchor, baseline: Baseline | None
) -> Judgement:
    """The judgement with what the anchor says: a reason of its own where it blocks, else a warning.

    `baseline` is what the verdict compared with: what was accepted into it since the anchor is no loss. Nothing is
    said of partial and interrupted reports, and of what could not be judged.
    """
    sources = _sources(report, history, anchor, baseline)
    trends = [_with_level(trend, sources) for trend in judgement.trends]
    judgement = judgement.model_copy(update={"trends": trends})
    if report.partial is not None or report.interrupted or judgement.verdict.outcome is Outcome.ERROR:
        return judgement
    found = _findings(report, sources, judgement.verdict.rules)
    verdict = _with_losses(judgement.verdict, [each for each in found if each.lost], blocks=anchor.blocks)
    return judgement.model_copy(update={"verdict": verdict, "anchors": found})


# --- where the trials come from -------------------------------------------------------------------------------------


class _Source(Struct, frozen=True):
    """The two sides of one run: what the anchor and the recent measurements say of each case."""

    label: str
    at: str
    commit: str | None
    before: Counts
    metrics: Mapping[str, float]
    recent: Sequence[Counts] = ()
    commits: frozenset[str] = field(default_factory=frozenset)


_Sources = Mapping[tuple[str, str], _Source]


def _sources(
    report: Report, history: Sequence[HistoryEntry], anchor: Anchor, baseline: Baseline | None
) -> dict[tuple[str, str], _Source]:
    lists, ours = case_lists(history), _own(report, history)
    accepted = max((each.at for each in baseline.provenance.accepted), default="") if baseline else ""
    found: dict[tuple[str, str], _Source] = {}
    for run in report.runs:
        past = _past([entry for entry in history if entry.report != ours], run, anchor.branch)
        released = _released(anchor, run, past, lists)
        source = released if released and released.at > accepted else _oldest(past, lists, accepted)
        if source is not None:
            found[run.suite, run.target] = source
    return found


def _own(report: Report, history: Sequence[HistoryEntry]) -> str:
    """What this report's entries are known by, if there are any: it takes its time, so only where there may be."""
    return report_identity(report) if any(entry.at == report.created_at for entry in history) else ""


def _past(history: Iterable[HistoryEntry], run: Run, branch: str | None) -> list[HistoryEntry]:
    """The whole measurements of this run on the branch, oldest first."""
    key = (clean_text(run.suite), clean_text(run.target), run.kind)
    ours = [entry for entry in history if (entry.suite, entry.target, entry.kind) == key and not entry.partial]
    ours.sort(key=lambda entry: (entry.at, entry.attempt))
    branch = branch or (ours[-1].ref if ours else None)
    return [entry for entry in ours if entry.ref == branch]


def _released(
    anchor: Anchor, run: Run, past: Sequence[HistoryEntry], lists: Mapping[str, dict[str, str]]
) -> _Source | None:
    """The release's baseline against what was measured after it."""
    base = _of_run(anchor.baseline, run)
    if anchor.baseline is None or base is None:
        return None
    source = anchor.baseline.provenance
    later = [entry for entry in past if entry.at > source.created_at]
    return _Source(
        anchor.release,
        source.created_at,
        source.commit,
        _of_baseline(base),
        _values(base.metrics),
        [counts_of_entry(entry, lists) for entry in later[-RECENT:]],
        frozenset(entry.commit for entry in later if entry.commit),
    )


def _of_run(baseline: Baseline | None, run: Run) -> BaselineRun | None:
    runs = baseline.runs if baseline else ()
    return next((each for each in runs if run_key(each) == run_key(run)), None)


def _oldest(past: Sequence[HistoryEntry], lists: Mapping[str, dict[str, str]], accepted: str) -> _Source | None:
    """The oldest measurements against the newest, where there are more than the newest."""
    past = [entry for entry in past if entry.at > accepted]
    old = past[:-RECENT][:RECENT]
    if not old:
        return None
    last = old[-1]
    after = past[len(old) :]
    return _Source(
        old[0].at[:10],
        last.at,
        last.commit,
        pooled([counts_of_entry(entry, lists) for entry in old]),
        _means([entry.metrics for entry in old]),
        [counts_of_entry(entry, lists) for entry in after[-RECENT:]],
        frozenset(entry.commit for entry in after if entry.commit),
    )


def _of_baseline(run: BaselineRun) -> Counts:
    tallies = [(case, case.tally) for case in run.cases]
    return {
        clean_text(case.id): (short_digest(case.definition), tally.passed, tally.trials)
        for case, tally in tallies
        if tally is not None
    }


def _of_results(results: Iterable[Result]) -> Counts:
    found: dict[str, tuple[str, int, int]] = {}
    for result in results:
        if result.valid:
            name = clean_text(result.id)
            _, passed, valid = found.get(name, ("", 0, 0))
            found[name] = (short_digest(result.definition), passed + (result.status is Status.PASSED), valid + 1)
    return found


# --- the test -------------------------------------------------------------------------------------------------------


class _Looked(Struct, frozen=True):
    run: Run
    source: _Source
    pairs: Mapping[str, CaseTrials]
    allowed: float
    level: float

    @property
    def loss(self) -> float:
        """The mean fall of the cases' pass rates, which is that of the suite, case by case."""
        return -math.fsum(pair.difference for pair in self.pairs.values()) / len(self.pairs)

    @property
    def p(self) -> float:
        return stratified_worse(list(self.pairs.values()))


def _findings(report: Report, sources: _Sources, rules: Sequence[RuleOutcome]) -> list[AnchorFinding]:
    looks = [_look(run, source, rules) for run in report.runs if (source := sources.get((run.suite, run.target)))]
    found = [each for each in looks if each is not None]
    random = [each for each in found if each.run.random]
    corrected = {id(each): p for each, p in zip(random, holm([each.p for each in random]), strict=True)}
    return [_finding(each, corrected.get(id(each))) for each in found]


def _look(run: Run, source: _Source, rules: Sequence[RuleOutcome]) -> _Looked | None:
    """What there is to test; `None` where no rule says how many passes may be lost, or nothing can be compared."""
    guard = allowance(run, rules)
    if guard is None or run.not_measured is not None:
        return None
    allowed, alpha = guard
    now = _of_results(run.cases)
    recent = source.recent if run.random else ()  # what always does the same is no better known by doing it again
    pairs = pairs_of(source.before, now, recent)
    return _Looked(run, source, pairs, allowed, SHARE * alpha) if pairs else None


def allowance(run: Run, rules: Sequence[RuleOutcome]) -> tuple[float, float] | None:
    """How much of a run's pass rate may be lost, and alpha; `None` where no rule says it.

    Where the policy says it, the kind's own rules don't.
    """
    about = [each for each in rules if (each.suite, each.target) == (run.suite, run.target)]
    drops = [each for each in about if each.rule.metric in OUTCOME_METRICS and each.rule.max_drop is not None]
    guards = [each.rule for each in drops if not each.default] or [each.rule for each in drops]
    allowed = [rule.max_drop for rule in guards if rule.max_drop is not None]
    return (min(allowed), min(rule.alpha for rule in guards)) if allowed else None


def _finding(looked: _Looked, p: float | None) -> AnchorFinding:
    run, source, pairs = looked.run, looked.source, looked.pairs
    before = math.fsum(pair.passed_before / pair.trials_before for pair in pairs.values()) / len(pairs)
    certain = p is None or p <= looked.level
    worst = sorted((case for case in pairs if pairs[case].difference < 0), key=lambda case: pairs[case].difference)
    return AnchorFinding(
        suite=run.suite,
        target=run.target,
        label=source.label,
        at=source.at,
        commit=source.commit,
        cases=len(pairs),
        trials_before=sum(pair.trials_before for pair in pairs.values()),
        trials_now=sum(pair.trials_now for pair in pairs.values()),
        before=before,
        now=before - looked.loss,
        allowed=looked.allowed,
        measurements=1 + len(source.recent) if run.random else 1,
        commits=1 + len(source.commits),
        p=p,
        level=looked.level,
        lost=looked.loss > looked.allowed + EPSILON and certain,
        worst=worst[:_MOST_NAMED],
    )


# --- what it says ---------------------------------------------------------------------------------------------------


def _with_losses(verdict: Verdict, lost: Sequence[AnchorFinding], *, blocks: bool) -> Verdict:
    if blocks:
        return verdict.with_reasons([_reason(each) for each in lost])
    return verdict.noting(*map(_lost, lost))


def _lost(found: AnchorFinding) -> AnchorLost:
    return AnchorLost(
        suite=found.suite,
        target=found.target,
        label=found.label,
        commits=found.commits,
        cases=found.cases,
        before=found.before,
        now=found.now,
        allowed=found.allowed,
        p=found.p,
    )


def _reason(found: AnchorFinding) -> Reason:
    return Reason(
        stage="anchor",
        outcome=Outcome.FAIL,
        statements=[_lost(found)],
        advice=[Advice(code="advice.anchor")],
        suite=found.suite,
        target=found.target,
        cases=found.worst,
    )


# --- the level in charts --------------------------------------------------------------------------------------------


def with_levels(
    trends: Sequence[Trend], entries: Sequence[HistoryEntry], label: str = "", baseline: Baseline | None = None
) -> list[Trend]:
    """The trends with the anchor's level: of the named baseline where one is given, else of the oldest measurements."""
    return [_level_of(trend, entries, label, baseline) for trend in trends]


def _level_of(trend: Trend, entries: Sequence[HistoryEntry], label: str, baseline: Baseline | None) -> Trend:
    runs = [
        run for run in (baseline.runs if baseline else ()) if (run.suite, run.target) == (trend.suite, trend.target)
    ]
    if runs:
        value = _values(runs[0].metrics).get(trend.metric)
        return trend if value is None else trend.model_copy(update={"anchor": AnchorLevel(label=label, value=value)})
    past = [e for e in entries if (e.suite, e.target) == (trend.suite, trend.target) and not e.partial]
    old = sorted(past, key=lambda entry: (entry.at, entry.attempt))[:-RECENT][:RECENT]
    value = _means([entry.metrics for entry in old]).get(trend.metric)
    return (
        trend if value is None else trend.model_copy(update={"anchor": AnchorLevel(label=old[0].at[:10], value=value)})
    )


def _with_level(trend: Trend, sources: _Sources) -> Trend:
    source = sources.get((trend.suite, trend.target))
    value = source.metrics.get(trend.metric) if source else None
    if source is None or value is None:
        return trend
    return trend.model_copy(update={"anchor": AnchorLevel(label=source.label, value=value)})


def _values(metrics: Mapping[str, Metric]) -> dict[str, float]:
    return {name: metric.value for name, metric in metrics.items() if metric.value is not None}


def _means(measurements: Sequence[Mapping[str, Metric]]) -> dict[str, float]:
    """The mean of each metric over the measurements that have it."""
    values: dict[str, list[float]] = {}
    for metrics in measurements:
        for name, value in _values(metrics).items():
            values.setdefault(name, []).append(value)
    return {name: math.fsum(found) / len(found) for name, found in values.items()}

"""The keeper's stages: report → comparison → verdict."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from msgspec import Struct

from evalward.decide.anchor import Anchor, anchored
from evalward.decide.compare import compare
from evalward.decide.confirm import Retrials, may_confirm, to_confirm
from evalward.decide.doubts import to_settle
from evalward.decide.history import trend
from evalward.decide.list_price import at_list_price
from evalward.decide.samples import Samples, gather
from evalward.decide.standing import with_flaky
from evalward.decide.standing_trials import with_standing_trials
from evalward.decide.succession import Aligned, align
from evalward.decide.verdict import reach_verdict
from evalward.decide.with_base import compared_with, with_unmeasured_base
from evalward.decide.worst import with_worst_case, worst_case
from evalward.records.base import acyclic
from evalward.records.baseline import Baseline
from evalward.records.comparison import Comparison, RunComparison
from evalward.records.history import HistoryEntry
from evalward.records.policy import FailOn, Policy, Rule
from evalward.records.problem import wrong
from evalward.records.report import REPORT_FILE, Report, Run
from evalward.records.trend import Trend
from evalward.records.verdict import Judgement, Verdict
from evalward.registry import KINDS, has
from evalward.suites.base import Kind, kind_named, kinds

if TYPE_CHECKING:
    from evalward.config.loaded import LoadedConfig

Decide = Callable[[Report, Baseline | None, Policy], Judgement]
"""Judges a report: `decide_report` with whatever else is known."""


class Compared(Struct, frozen=True):
    """A report beside what judges it: who is compared with whom, what changed, and the trials of random targets."""

    aligned: Aligned
    comparison: Comparison
    samples: Samples

    @property
    def runs(self) -> Mapping[int, RunComparison]:
        """What each pair came to, by the `id` of the pair."""
        return {id(pair): run for pair, run in zip(self.aligned.chosen, self.comparison.runs, strict=False)}


@dataclass(frozen=True)
class Criteria:
    """What a report is judged by."""

    baseline: Baseline | None
    policy: Policy
    _last: list[Compared] = field(default_factory=list, compare=False, repr=False)

    @property
    def confirms(self) -> bool:
        """Whether fresh trials may follow the planned ones."""
        return may_confirm(self.policy, self.baseline)

    def compared(self, report: Report) -> Compared:
        """The report beside the baseline, or, in suites that the policy compares with it, the base as it has it.

        What was asked last is remembered: the stages of a check ask for the same report.
        """
        refuse_part(report)
        if not self._last or self._last[0].aligned.report is not report:
            kinds = kinds_of(report)
            against = compared_with(report, self.baseline, self.policy.with_base, kinds)
            aligned = align(at_list_price(with_standing_trials(report, against)), against)
            self._last[:] = [self.of(aligned)]
        return self._last[0]

    def of(self, aligned: Aligned, known: Compared | None = None) -> Compared:
        """All that is to be known of a report beside a baseline; `known` has some of its pairs already."""
        kinds, past = kinds_of(aligned.report), known.runs if known else {}
        return Compared(aligned, compare(aligned, kinds, self.policy.with_base, past), gather(aligned, kinds))

    def retries(self, report: Report) -> list[Retrials]:
        """What is tried again before a drop is reported: of the head alone, and after that, where a doubt is left, of
        both sides.
        """
        compared, defaults = self.compared(report), default_rules(report)
        confirmed = any(run.confirmation or run.confirm_note is not None for run in report.runs)
        again = [] if confirmed else to_confirm(compared.comparison, self.policy, defaults)
        again = again or to_settle(compared.comparison, compared.samples, self.policy, defaults)
        unchanged = {(run.suite, run.target) for run in report.runs if run.unchanged is not None}
        return [retry for retry in again if (retry.suite, retry.target) not in unchanged]

    def decide(self, report: Report, history: Sequence[HistoryEntry] = (), anchor: Anchor | None = None) -> Judgement:
        """Compare and decide. `history` names what is flaky and shows trends; it decides nothing by itself. Against an
        `anchor` its last measurements speak beside the report.
        """
        compared, policy, defaults = self.compared(report), self.policy, default_rules(report)
        baseline = compared.aligned.baseline
        comparison = with_flaky(compared.comparison, baseline, history)
        verdict = reach_verdict(comparison, policy, defaults, compared.samples)
        worst = worst_case(compared.aligned, kinds_of(report))
        if worst is not None:
            then = self.of(worst.aligned, compared)
            verdict = with_worst_case(verdict, reach_verdict(then.comparison, policy, defaults, then.samples), worst)
        if policy.with_base:
            verdict = with_unmeasured_base(verdict, report, policy)
        judgement = Judgement(comparison=comparison, verdict=verdict, trends=_trends(verdict, history))
        return anchored(judgement, report, history, anchor, baseline) if anchor else judgement


def refuse_part(report: Report) -> None:
    """Raises `InputError` for the report of one shard: by itself it would say that all other cases are missing."""
    if report.part is not None:
        remedy = "Judge all parts together: evalward check --parts DIR…, or evalward merge DIR… --output R.json."
        raise wrong(REPORT_FILE, f"it holds {report.part.name}, a part of a run", remedy)


def policy_of(loaded: LoadedConfig, profile: str | None, fail_on: FailOn | None) -> Policy:
    """The config's policy, with the profile and the fail-on that the caller names."""
    policy = loaded.config.policy_for(None, profile, file=loaded.file)
    return policy.model_copy(update={"fail_on": fail_on}) if fail_on else policy


def dump_report(report: Report) -> str:
    """The text of `report.json`."""
    return report.model_dump_json(by_alias=True, indent=1) + "\n"


def remeasured(report: Report, file: str) -> Report:
    """A report that somebody else wrote, with every number that its cases give computed anew.

    Runs that list fewer cases than they planned keep their numbers: what is missing there counts as broken. Raises
    `InputError` for a kind that this version doesn't know: nothing could protect its metrics.
    """
    with acyclic():
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
    names = dict.fromkeys(run.kind for report in reports for run in report.runs if has(KINDS, run.kind))
    return {name: kind_named(name) for name in names}


def default_rules(report: Report) -> Mapping[str, Sequence[Rule]]:
    """For each kind of the report, its own rules."""
    return {name: kind.default_rules for name, kind in kinds_of(report).items()}


def decide_report(
    report: Report,
    baseline: Baseline | None,
    policy: Policy,
    history: Sequence[HistoryEntry] = (),
    anchor: Anchor | None = None,
) -> Judgement:
    """Compare and decide, where nothing is compared yet: see `Criteria.decide`."""
    with acyclic():
        return Criteria(baseline, policy).decide(report, history, anchor)


def _trends(verdict: Verdict, history: Sequence[HistoryEntry]) -> list[Trend]:
    """The protected metrics over the last measurements, where there are at least two to draw a line through."""
    ruled = dict.fromkeys((rule.suite, rule.target, rule.rule.metric) for rule in verdict.rules)
    found = [trend(history, *each) for each in ruled] if history else []
    return [each for each in found if len(each.known) > 1]

"""The trials behind a comparison, case by case: what was measured now, and what it is compared with."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from msgspec import Struct, field

from evalward.records.baseline import Baseline, BaselineCase, BaselineRun
from evalward.records.comparison import CaseChange, RunComparison
from evalward.records.report import Report, Run
from evalward.records.result import Result, by_case
from evalward.render.kept import Sources
from evalward.render.kinds import ShownKind

Trials = Mapping[str, Sequence[Result]]
"""Trials by the id of their case, in their order."""


class RunTrials(Struct, frozen=True):
    """The trials of one run: of `now` the planned ones, `fresh` those of cases that were tried again.

    `before` is what it is compared with: `measured` says that these are trials of the base commit, in full; else the
    baseline has kept their numbers. `base_fresh` is the base, tried again beside `fresh`. Empty is what isn't at hand.
    """

    kind: ShownKind | None = None
    now: Trials = field(default_factory=dict)
    fresh: Trials = field(default_factory=dict)
    before: Trials = field(default_factory=dict)
    base_fresh: Trials = field(default_factory=dict)
    measured: bool = False

    def before_of(self, case: CaseChange) -> Sequence[Result]:
        """The trials that a case is compared with, which may have had another id then."""
        return self.before.get(case.was or case.id, [])


def trials_of(run: RunComparison, sources: Sources) -> RunTrials:
    """The trials of a run, as far as report and baseline are at hand."""
    report = sources.report
    now = _run_of(report, run.suite, run.target) if report else None
    then = (run.replaced.suite, run.replaced.target) if run.replaced else (run.suite, run.target)
    base = _base_of(report, *then) if report and run.base_now is not None else None
    both = now.beside if now else None
    return RunTrials(
        kind=sources.kinds.get(run.kind),
        now=by_case(now.cases) if now else {},
        fresh=by_case([*now.confirmation, *(both.head if both else [])]) if now else {},
        before=by_case(base.cases) if base else _kept(sources.baseline, *then),
        base_fresh=by_case(both.base) if both else {},
        measured=base is not None,
    )


def _run_of(report: Report, suite: str, target: str) -> Run | None:
    return next((run for run in report.runs if (run.suite, run.target) == (suite, target)), None)


def _base_of(report: Report, suite: str, target: str) -> Run | None:
    runs = report.base.runs if report.base else []
    return next((run for run in runs if (run.suite, run.target) == (suite, target)), None)


def _kept(baseline: Baseline | None, suite: str, target: str) -> Trials:
    """What the baseline has kept."""
    run = baseline_run_of(baseline, suite, target)
    return _KeptTrials({case.id: case for case in run.cases}) if run else {}


@dataclass(frozen=True)
class _KeptTrials(Trials):
    """A baseline's trials, made as they are looked at: a page shows few of very many."""

    cases: Mapping[str, BaselineCase]

    def __getitem__(self, case: str) -> Sequence[Result]:
        return self.cases[case].results()

    def __iter__(self) -> Iterator[str]:
        return iter(self.cases)

    def __len__(self) -> int:
        return len(self.cases)


def baseline_run_of(baseline: Baseline | None, suite: str, target: str) -> BaselineRun | None:
    """The baseline's run of a suite and target."""
    runs = baseline.runs if baseline else []
    return next((run for run in runs if (run.suite, run.target) == (suite, target)), None)

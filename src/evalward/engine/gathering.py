"""Suites whose trials somebody else makes: their runs, beside those of the plan."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from evalward.config import LoadedConfig
from evalward.config.targets import predecessor_of
from evalward.engine.keeping import OutputStore, RunRetrials
from evalward.engine.plan import GatheredSuite, Plan
from evalward.engine.scheduler import make_subject
from evalward.records.report import Partial, Report, Run
from evalward.records.result import Trial
from evalward.records.texts import MOST_IN_REPORT, bounded_texts
from evalward.suites.base import Kind
from evalward.suites.gathering import GatheredRun


@dataclass(frozen=True)
class StoringGatherer:
    """See `evalward.suites.gathering.Gatherer`."""

    store: OutputStore
    tell: Callable[[str], None]

    def keep(self, trial: Trial) -> str:
        """Write a trial down; the path that the report names."""
        return self.store.keep(trial)

    def say(self, line: str) -> None:
        """Tell people how it goes on."""
        self.tell(line)


@dataclass(frozen=True)
class GatheredRuns:
    """The runs of gathered suites in the plan's order, with what the report says of them."""

    runs: Sequence[Run] = ()
    notes: Sequence[str] = ()
    texts: Mapping[str, str] = field(default_factory=dict)


def gather_all(loaded: LoadedConfig, plan: Plan, by: StoringGatherer) -> GatheredRuns:
    """Everything that the plan's gathered suites measure. Raises `InputError`."""
    runs: list[Run] = []
    notes: list[str] = []
    texts: dict[str, str] = {}
    for suite in plan.gathered:
        found = suite.kind.gather(suite.spec, loaded, by)
        part = plan.partial or Partial()
        here = [run for each in found.runs if (run := _run(suite, each, part)).cases]
        runs += here
        notes += [f"{suite.spec.name}: {note}" for note in (*found.notes, *([found.stopped] if found.stopped else []))]
        for each in found.runs:
            texts |= each.texts
    return GatheredRuns(runs, notes, texts)


def _run(suite: GatheredSuite, found: GatheredRun, part: Partial) -> Run:
    """The record of a run: of a selection, the part that was selected."""
    name = suite.spec.name
    results = [one for one in found.results if part.covers_case(name, found.target, one.id)]
    whole = len({one.id for one in found.results})
    if len(results) == len(found.results):
        run = run_record(suite.kind, name, found)
    else:
        run = run_record(suite.kind, name, replace(found, results=results, planned=None))
        run = run.model_copy(update={"whole": whole})
    return run.model_copy(update={"replaces": predecessor_of(suite.spec, found.target)})


def run_record(kind: Kind, suite: str, found: GatheredRun) -> Run:
    """What was gathered of a suite with one target, measured."""
    measurement = kind.measure(found.results)
    return Run(
        suite=suite,
        kind=kind.name,
        target=found.target,
        trials=max((one.trial for one in found.results), default=0),
        random=True,
        planned=max(found.planned or 0, len(found.results)),
        subject=make_subject(found.subject),
        metrics=measurement.metrics,
        categories=measurement.categories,
        findings=kind.findings(found.results, measurement),
        cases=list(found.results),
    )


def with_gathered(report: Report, found: GatheredRuns, loaded: LoadedConfig) -> Report:
    """The report with the gathered runs, in the configuration's order of suites."""
    if not found.runs and not found.notes:
        return report
    order = {suite.name: place for place, suite in enumerate(loaded.config.suites)}
    runs = sorted([*report.runs, *found.runs], key=lambda run: order[run.suite])
    texts = bounded_texts([*report.texts.items(), *found.texts.items()], MOST_IN_REPORT)
    return report.model_copy(update={"runs": runs, "texts": texts, "warnings": [*report.warnings, *found.notes]})


def gathered_again(
    loaded: LoadedConfig, plan: Plan, report: Report, retrials: Sequence[RunRetrials], by: StoringGatherer
) -> Report:
    """The report with fresh trials of gathered suites beside the first ones, or with the reason why there are none."""
    suites = {suite.spec.name: suite for suite in plan.gathered}
    wished = {(each.suite, each.target): each.trials for each in retrials if each.suite in suites}
    runs = [
        _tried_again(suites[run.suite], run, wished[run.suite, run.target], loaded, by)
        if (run.suite, run.target) in wished
        else run
        for run in report.runs
    ]
    return report.model_copy(update={"runs": runs})


def _tried_again(
    suite: GatheredSuite, run: Run, trials: Mapping[str, int], loaded: LoadedConfig, by: StoringGatherer
) -> Run:
    first = run.trials + 1
    wanted = {case: range(first, first + count) for case, count in trials.items()}
    found = suite.kind.gather_again(suite.spec, loaded, by, run.target, wanted)
    return run.model_copy(update={"confirmation": list(found.results), "confirm_note": found.note})

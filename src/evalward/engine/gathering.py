"""Suites whose trials somebody else makes: their runs, beside those of the plan."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from msgspec import Struct, field, structs

from evalward.config import LoadedConfig
from evalward.config.targets import predecessor_of
from evalward.engine.keeping import RunRetrials
from evalward.engine.plan import GatheredSuite, Plan, nothing_matches
from evalward.engine.subject import make_subject
from evalward.records.report import ANY_TARGET, Partial, Report, Run
from evalward.records.texts import MOST_IN_REPORT, bounded_texts
from evalward.suites.base import Kind
from evalward.suites.gathering import GatheredAgain, GatheredRun, Gatherer, NothingGatheredError


class GatheredRuns(Struct, frozen=True):
    """The runs of gathered suites in the plan's order, with what the report says of them.

    `found` is what was gathered, by suite; `broken` says why a suite's trials weren't all made.
    """

    runs: Sequence[Run] = ()
    notes: Sequence[str] = ()
    texts: Mapping[str, str] = field(default_factory=dict)
    found: Mapping[str, tuple[GatheredSuite, Sequence[GatheredRun]]] = field(default_factory=dict)
    broken: str | None = None


def gather_all(
    loaded: LoadedConfig,
    plan: Plan,
    by: Gatherer,
    not_measured: Mapping[str, str],
    withheld: Collection[str] = (),
) -> GatheredRuns:
    """Everything that the plan's gathered suites measure, but those that can't be measured here, with the reasons.

    Of the suites in `withheld` the commands are not run.
    Raises `InputError`.
    """
    runs: list[Run] = []
    notes: list[str] = []
    found: dict[str, tuple[GatheredSuite, Sequence[GatheredRun]]] = {}
    broken: str | None = None
    for suite in plan.gathered:
        name = suite.spec.name
        if name in not_measured:
            runs.append(_not_measured(suite, not_measured[name], withheld=name in withheld))
            continue
        try:
            gathered = suite.kind.gather(suite.spec, loaded, by)
        except NothingGatheredError as error:
            broken = broken or f"{name}: {error}"
            continue
        found[name] = suite, gathered.runs
        part = plan.partial or Partial()
        runs += [run for each in gathered.runs if (run := _run(suite, each, part)).cases]
        notes += [f"{name}: {note}" for note in gathered.notes]
        if gathered.stopped:
            broken = broken or f"{name}: {gathered.stopped}"
    if found and not runs and not plan.size:
        part = plan.partial or Partial()
        raise nothing_matches(part.targets, part.cases, loaded.file)
    texts = {name: text for _, each in found.values() for run in each for name, text in run.texts.items()}
    return GatheredRuns(runs, notes, texts, found, broken)


def _not_measured(suite: GatheredSuite, why: str, *, withheld: bool) -> Run:
    """A run that nobody made: of which targets, its results would have said."""
    return Run(
        suite=suite.spec.name,
        kind=suite.kind.name,
        target=ANY_TARGET,
        trials=0,
        random=True,
        subject=make_subject({}),
        not_measured=why,
        withheld=withheld,
    )


def _run(suite: GatheredSuite, found: GatheredRun, part: Partial) -> Run:
    """The record of a run: of a selection, the part that was selected."""
    name = suite.spec.name
    results = [one for one in found.results if part.covers_case(name, found.target, one.id)]
    whole = len({one.id for one in found.results})
    if len(results) == len(found.results):
        run = run_record(suite.kind, name, found)
    else:
        run = run_record(suite.kind, name, structs.replace(found, results=results, planned=None))
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
    order = {suite.name: place for place, suite in enumerate(loaded.config.suites)}
    runs = sorted([*report.runs, *found.runs], key=lambda run: order[run.suite])
    texts = bounded_texts([*report.texts.items(), *found.texts.items()], MOST_IN_REPORT)
    more = {"runs": runs, "texts": texts, "warnings": [*report.warnings, *found.notes]}
    return report.model_copy(update=more).ended(found.broken, "fault")


def gathered_again(
    loaded: LoadedConfig, report: Report, found: GatheredRuns, retrials: Sequence[RunRetrials], by: Gatherer
) -> Report:
    """The report with fresh trials of gathered suites beside the first ones, or with the reason why there are none."""
    fresh: dict[tuple[str, str], GatheredAgain] = {}
    for name, (suite, runs) in found.found.items():
        wanted = {each.target: each.trials for each in retrials if each.suite == name}
        if wanted:
            again = suite.kind.gather_again(suite.spec, loaded, by, runs, wanted)
            fresh |= {(name, target): each for target, each in again.items()}
    joined = [_joined(run, fresh.get((run.suite, run.target))) for run in report.runs]
    return report.model_copy(update={"runs": joined})


def _joined(run: Run, again: GatheredAgain | None) -> Run:
    if again is None:
        return run
    return run.model_copy(update={"confirmation": list(again.results), "confirm_note": again.note})

"""The baseline's trials in the place of those that weren't made, for judging alone: see `decide.unchanged`."""

from __future__ import annotations

from collections.abc import Sequence

from evalward.decide.unchanged import baseline_run
from evalward.records.baseline import Baseline, BaselineCase, BaselineRun
from evalward.records.report import Report, Run
from evalward.records.result import Result
from evalward.records.unchanged import UNCHANGED, Unchanged


def with_standing_trials(report: Report, baseline: Baseline | None) -> Report:
    """The report with the baseline's trials in the runs and cases that stand by them.

    What another baseline stands behind stays what it is in the report: not measured. Metrics of a run that stands in
    part are those of what was measured of it.
    """
    if all(run.unchanged is None and run.standing is None for run in report.runs):
        return report
    return report.model_copy(update={"runs": [_standing(run, baseline) for run in report.runs]})


def _standing(run: Run, baseline: Baseline | None) -> Run:
    known, stands = baseline_run(run, baseline), run.unchanged or run.standing
    if stands is None:
        return run
    if known is None or baseline is None or stands.since != baseline.provenance.created_at:
        return _without(run)
    if stands.of:
        return _in_part(run, known, stands)
    if run.cases or known.subject.hash != run.subject.hash:
        return _without(run)
    return _as_a_whole(run, known, stands)


def _without(run: Run) -> Run:
    return run.model_copy(update={"unchanged": None, "standing": None})


def _as_a_whole(run: Run, known: BaselineRun, stands: Unchanged) -> Run:
    cases = [result for case in known.cases for result in _valid(case)]
    return run.model_copy(
        update={
            "cases": cases,
            "planned": len(cases),
            "trials": known.trials,
            "metrics": known.metrics,
            "categories": known.categories,
            "not_measured": None,
            "unchanged": stands,
            "standing": None,
        }
    )


def _in_part(run: Run, known: BaselineRun, stands: Unchanged) -> Run:
    """The run with the trials of the cases that stand each by itself. `planned` stays the number of those made here."""
    before, measured = {case.id: case for case in known.cases}, {result.id for result in run.cases}
    of = [
        each
        for each in stands.of
        if each.id not in measured
        and (was := before.get(each.id)) is not None
        and (each.definition, each.depends) == (was.definition, was.depends)
    ]
    if not of:
        return _without(run)
    found = stands.model_copy(update={"of": of, "cases": len(of)})
    if not run.cases and found.ids == before.keys():
        return _as_a_whole(run, known, found)
    cases = [*run.cases, *(result for each in of for result in _valid(before[each.id]))]
    return run.model_copy(update={"cases": cases, "not_measured": None, "unchanged": None, "standing": found})


def _valid(case: BaselineCase) -> Sequence[Result]:
    return [result for result in case.results() if result.valid]


# --- keeping --------------------------------------------------------------------------------------------------------


def marked_as_standing(run: Run, found: Unchanged | None) -> Run:
    """The run as the runner gave it; that the baseline's trials stand for it, or for some of its cases, only who keeps
    it says (`found`), and only where nothing of it was run.
    """
    whole = part = None
    if found is not None and run.not_measured is None:
        part = found.without({result.id for result in run.cases})
    elif found is not None and not run.cases and (run.not_measured == UNCHANGED or not found.of):
        whole = found
    if run.unchanged == whole and run.standing == part:
        return run
    return run.model_copy(update={"unchanged": whole, "standing": part})

"""`--failed`: what failed last time, by the report that the output folder has."""

from __future__ import annotations

from pathlib import Path

from msgspec import structs

from evalward.engine.selection import Selection
from evalward.keeper.session import RunnerSession
from evalward.records.problem import wrong
from evalward.records.reading import parse_record
from evalward.records.report import REPORT_FILE, ChosenCases, Partial, Report, Run

_HINT = "Run `evalward check` first, or name the folder of the earlier run with --output."


def only_failed(runner: RunnerSession, output: Path, selection: Selection, *, resume: bool = False) -> Selection:
    """The selection, restricted to the cases of which a trial failed or broke last time, suite by suite and target by
    target; what an early end left out is among them.

    The report may be anybody's: it says no more than which cases to run. Raises `InputError` where there is none, where
    it names no such case, and with `resume`, which would keep the very trials that failed.
    """
    if resume:
        raise wrong("--failed", "--resume keeps finished trials, failed ones too", "Leave out one of the two.")
    file = str(output / REPORT_FILE)
    return restricted(selection, runner.read(file, anywhere=True), file)


def restricted(selection: Selection, data: bytes | None, file: str) -> Selection:
    """The selection, restricted to what failed by the report in `data`; `None` where there is none."""
    if data is None:
        raise wrong(file, "there is no earlier report, so it is unknown what failed", _HINT)
    report = parse_record(data, file, Report, "a report", _HINT)
    patterns = selection.partial or Partial()
    chosen = [each for run in report.runs if (each := _failed_of(run, patterns)).cases]
    if not chosen:
        among = " of what is selected" if selection.partial else ""
        message = f"no case{among} failed last time (report of {report.created_at}), so there is nothing to run again"
        raise wrong(file, message, "Leave out --failed.")
    return structs.replace(selection, only=chosen)


def failed_in(report: Report) -> bool:
    """True where `--failed` would find something to run."""
    return any(result.unsettled for run in report.runs for result in run.cases)


def _failed_of(run: Run, patterns: Partial) -> ChosenCases:
    ids = dict.fromkeys(result.id for result in run.cases if result.unsettled)
    cases = [case for case in ids if patterns.covers_case(run.suite, run.target, case)]
    return ChosenCases(suite=run.suite, target=run.target, cases=cases)

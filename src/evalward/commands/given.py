"""Reports that another step or job made: they have to be about the very commit that is judged."""

from __future__ import annotations

import posixpath
from typing import TYPE_CHECKING

from evalward.commands.files import REPORT_HINT
from evalward.commands.pipeline import remeasured
from evalward.git import GitTree
from evalward.records.problem import wrong
from evalward.records.reading import parse_record
from evalward.records.report import Report

if TYPE_CHECKING:
    from evalward.github.event import EventPlan

NO_COMMIT = "The report doesn't say which commit it measured: that it is this one, only the workflow can know."
MEASURE = "Measure in the same run, for example with `evalward run` in a step before this one."


def given_report(data: bytes, name: str, place: str, plan: EventPlan, tree: GitTree) -> Report:
    """The report that an earlier step left, with its numbers computed anew.

    `place` is its path from the workspace, whose tree `tree` is; no link was followed to it. Raises `InputError` for a
    committed one, and for one that measured another commit.
    """
    refuse_committed_report(name, place, tree)
    report = parse_record(data, name, Report, "a report", REPORT_HINT)
    nothing = {"unchanged": None, "standing": None}  # what stands, only who judges says
    runs = [run.model_copy(update=nothing) for run in report.runs]
    report = report.model_copy(update={"runs": runs})
    return of_commit(remeasured(report, name), name, plan)


def of_commit(report: Report, name: str, plan: EventPlan) -> Report:
    """The report, if it is about the commit that the event is about; with a warning where it doesn't say.

    Raises `InputError` when it measured another one.
    """
    commit = report.provenance.commit
    if commit is None:
        return report.model_copy(update={"warnings": [*report.warnings, NO_COMMIT]})
    if commit not in {plan.head_sha, plan.event_sha}:
        message = f"measured {commit[:12]!r}, and {plan.head_sha[:12]} is judged"
        raise wrong(name, message, MEASURE, field="provenance.commit")
    return report


def refuse_committed_report(name: str, place: str, tree: GitTree) -> None:
    """A file of the commit that is judged, or a folder in it, is that commit's word, not a measurement.

    `place` is its path from where `tree` is. Raises `InputError`.
    """
    prefix, head = tree.prefix(), tree.head()
    if prefix is None or head is None:
        return
    file = posixpath.normpath(place)
    if not file.startswith("../") and tree.listed(head, prefix + file):
        message = "is committed: what is judged would say its own results"
        raise wrong(name, message, f"{MEASURE} Write it to a folder that is not in the repository.")

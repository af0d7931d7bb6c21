"""The action as one shard of a matrix: it measures, leaves its part, and judges nothing."""

from __future__ import annotations

from evalward.commands.job import Job
from evalward.commands.surfaces import Publication
from evalward.github.runner_files import Annotation, Outputs
from evalward.github.status import State
from evalward.records.exits import EXIT_OK, EXIT_UNJUDGED
from evalward.records.part import Part
from evalward.records.report import REPORT_FILE, Report
from evalward.render.escape import md_prose
from evalward.render.numbers import plural


def shard_page(job: Job, report: Report, part: Part) -> Publication:
    """What a shard shows: how much it measured, and why it ended early, if it did. It has no verdict."""
    trials = sum(len(run.cases) for run in report.runs)
    text = f"{part.name[0].upper()}{part.name[1:]}: {plural(trials, 'trial')} measured."
    code = EXIT_OK
    if report.interrupted:
        code = EXIT_UNJUDGED
        text += f" It ended early: {report.interrupted}."
        job.tell(Annotation("error", text, title="Evalward").command())
    else:
        job.note(text)
    outputs = Outputs(verdict="", exit_code=code, report_json=job.surfaces.shown(job.surfaces.output / REPORT_FILE))
    page = f"### Evalward: {md_prose(text)}\n\nThe job that judges all parts has the verdict.\n"
    state: State = "error" if code else "success"
    return Publication(comment=page, summary=page, outputs=outputs, headline=text, state=state)

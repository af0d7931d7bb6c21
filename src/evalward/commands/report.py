"""`evalward report`: show one report without a baseline, or several side by side."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from evalward.commands.compare import Format
from evalward.commands.files import emit, read_report
from evalward.commands.pipeline import dump_report, kinds_of
from evalward.commands.world import World
from evalward.decide.compare import compare
from evalward.records.problem import wrong
from evalward.records.report import Reports
from evalward.records.verdict import EXIT_OK
from evalward.render.junit import junit
from evalward.render.markdown import report_markdown
from evalward.render.terminal import report_text
from evalward.suites.across import diagnose


def show_reports(world: World, files: Sequence[Path], form: Format, output: Path | None, *, verbose: bool) -> int:
    """Always exit code 0: a report without a baseline is no verdict."""
    reports = [read_report(file) for file in files]
    findings = diagnose([run for report in reports for run in report.runs])
    if form == "json":
        several = Reports(reports=reports, findings=findings)
        text = dump_report(reports[0]) if len(reports) == 1 else several.model_dump_json(by_alias=True, indent=1) + "\n"
        emit(world, text, output)
        return EXIT_OK
    if form == "junit":
        if len(reports) > 1:
            raise wrong(str(files[1]), "--format junit takes one report", "Use markdown, terminal or json for several.")
        emit(world, junit(compare(reports[0], None, kinds_of(reports[0]))), output)
        return EXIT_OK
    if form == "markdown":
        emit(world, report_markdown(reports, kinds_of(*reports), findings), output)
        return EXIT_OK
    colour = output is None and world.colour(world.out)
    known = kinds_of(*reports)
    text = report_text(reports, known, colour=colour, width=world.width, verbose=verbose, findings=findings)
    emit(world, text, output)
    return EXIT_OK

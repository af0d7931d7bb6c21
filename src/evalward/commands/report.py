"""`evalward report`: show one report without a baseline, or several side by side."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from evalward.commands.ending import display_of, emit_as, shown_reports, sources_of
from evalward.commands.files import is_ours, read_report
from evalward.commands.world import World
from evalward.records.exits import EXIT_OK
from evalward.records.report import Report
from evalward.suites.across import diagnose


def _report(world: World, file: Path) -> Report:
    if is_ours(file):
        return read_report(file)
    from evalward.commands import foreign  # noqa: PLC0415 - its readers are needed by few

    return foreign.foreign_report(world, [file], foreign.ForeignOptions())


def show_reports(world: World, files: Sequence[Path], form: str, output: Path | None, *, verbose: bool) -> int:
    """Always exit code 0: a report without a baseline is no verdict."""
    reports = [_report(world, file) for file in files]
    findings = diagnose([run for report in reports for run in report.runs])
    display = display_of(world, None if output else world.out, verbose=verbose)
    sources = [
        sources_of(report, None, file.parent, world.redaction) for report, file in zip(reports, files, strict=True)
    ]
    emit_as(world, form, shown_reports(reports, findings, display, sources), output)
    return EXIT_OK

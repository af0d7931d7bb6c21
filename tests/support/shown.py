"""Reports as people see them, with the kinds of their runs."""

from __future__ import annotations

from collections.abc import Sequence

from evalward.commands.pipeline import kinds_of
from evalward.records.report import Finding, Report
from evalward.render import markdown, report_terminal


def report_markdown(reports: Sequence[Report], findings: Sequence[Finding] | None = None) -> str:
    """As Markdown."""
    return markdown.report_markdown(reports, kinds_of(*reports), findings)


def report_text(
    reports: Sequence[Report],
    *,
    colour: bool,
    width: int,
    verbose: bool = False,
    findings: Sequence[Finding] | None = None,
) -> str:
    """For a terminal."""
    known = kinds_of(*reports)
    return report_terminal.report_text(reports, known, colour=colour, width=width, verbose=verbose, findings=findings)

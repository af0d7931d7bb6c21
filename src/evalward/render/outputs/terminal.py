"""Text for a terminal or a log."""

from __future__ import annotations

from evalward.render.outputs.base import OutputFormat, ShownJudgement, ShownReports, Writer
from evalward.render.report_terminal import outcome_line, report_text
from evalward.render.terminal import judgement_text, verdict_line


def _judgement(shown: ShownJudgement) -> str:
    display = shown.display
    if display.quiet:
        return verdict_line(shown.judgement, colour=display.colour)
    accept = shown.context.accept if display.accepting else None
    return judgement_text(
        shown.judgement,
        colour=display.colour,
        width=display.width,
        accept=accept,
        show=shown.context.show,
        ending=display.ending,
        grouped=display.grouped,
        verbose=display.verbose,
        texts=shown.sources.texts(),
    )


def _reports(shown: ShownReports) -> str:
    display = shown.display
    if display.quiet:
        return outcome_line(shown.reports)
    return report_text(
        shown.reports,
        shown.kinds,
        colour=display.colour,
        width=display.width,
        verbose=display.verbose,
        findings=shown.findings,
        grouped=display.grouped,
    )


TERMINAL = OutputFormat("terminal", judgement=Writer(_judgement), reports=Writer(_reports))

"""Markdown for pull requests, job summaries and files."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import structs

from evalward.records.report import Finding, Report
from evalward.records.verdict import Judgement
from evalward.render.context import PageContext
from evalward.render.kinds import ShownKinds
from evalward.render.page import build_page
from evalward.render.reports import build_reports
from evalward.render.templates import render
from evalward.render.view import CAPS, SUMMARY, Caps, Detail

COMMENT_LIMIT = 65_000
"""Characters of a comment; GitHub refuses more than 65,536."""
SUMMARY_LIMIT = 1_000_000
"""Bytes of a job summary; GitHub drops the whole of a summary above 1 MiB."""

_DETAILS: tuple[Detail, ...] = ("full", "failures", "headline")


def comment(judgement: Judgement, context: PageContext, detail: Detail = "full") -> str:
    """The pull request comment. `failures` leaves out what is fine, `headline` all but verdict and reasons."""
    return _render(judgement, context, CAPS[detail])


def fit(judgement: Judgement, context: PageContext, limit: int = COMMENT_LIMIT) -> str:
    """The comment in the first detail that has at most `limit` characters; a shorter one says what it leaves out."""
    for detail in _DETAILS:
        text = comment(judgement, context, detail)
        if len(text) <= limit:
            return text
    return _verdict_only(judgement, context)


def summary(judgement: Judgement, context: PageContext) -> str:
    """The job summary: the comment with more of everything, at most `SUMMARY_LIMIT` bytes. No hidden marker."""
    choices: tuple[Caps, ...] = (SUMMARY, *(CAPS[detail] for detail in _DETAILS))
    plain_context = structs.replace(context, marker="")
    for caps in choices:
        text = _render(judgement, plain_context, caps)
        if len(text.encode()) <= SUMMARY_LIMIT:
            return text
    return _verdict_only(judgement, plain_context)


def report_markdown(reports: Sequence[Report], kinds: ShownKinds, findings: Sequence[Finding] | None = None) -> str:
    """Reports without a baseline: one in full, several side by side; `findings` are those over all the runs."""
    return render("report.md.j2", page=build_reports(reports, kinds, findings=findings))


def _render(judgement: Judgement, context: PageContext, caps: Caps) -> str:
    return render("comment.md.j2", page=build_page(judgement, context, caps))


def _verdict_only(judgement: Judgement, context: PageContext) -> str:
    """Without anything that others wrote, so that it fits everywhere."""
    badge = build_page(judgement, context, CAPS["headline"]).badge
    return render("verdict.md.j2", marker=context.marker, badge=badge)

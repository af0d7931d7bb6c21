"""Markdown for pull requests, files and releases."""

from __future__ import annotations

from evalward.records.report import REPORT_MARKDOWN
from evalward.render.markdown import fit, report_markdown
from evalward.render.outputs.base import COMMENT_FILE, RELEASE_MARKDOWN, OutputFormat, Writer
from evalward.render.release import release_markdown

MARKDOWN = OutputFormat(
    "markdown",
    judgement=Writer(lambda shown: fit(shown.judgement, shown.context), COMMENT_FILE),
    reports=Writer(lambda shown: report_markdown(shown.reports, shown.kinds, shown.findings), REPORT_MARKDOWN),
    release=Writer(lambda shown: release_markdown(shown.found, shown.context), RELEASE_MARKDOWN),
)

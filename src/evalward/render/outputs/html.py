"""One HTML file for people: everything in it, nothing requested."""

from __future__ import annotations

from evalward.render.outputs.base import (
    HTML_FILE,
    RELEASE_HTML,
    OutputFormat,
    ShownJudgement,
    ShownRelease,
    ShownReports,
    Writer,
)


def _judgement(shown: ShownJudgement) -> str:
    from evalward.render.html.page import judgement_page  # noqa: PLC0415 - only who writes the page pays for it

    return judgement_page(shown)


def _reports(shown: ShownReports) -> str:
    from evalward.render.html.page import reports_page  # noqa: PLC0415

    return reports_page(shown)


def _release(shown: ShownRelease) -> str:
    from evalward.render.html.page import release_page  # noqa: PLC0415

    return release_page(shown)


HTML = OutputFormat(
    "html",
    judgement=Writer(_judgement, HTML_FILE),
    reports=Writer(_reports, HTML_FILE),
    release=Writer(_release, RELEASE_HTML),
)

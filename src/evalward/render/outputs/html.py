"""One HTML file for people: everything in it, nothing requested."""

from __future__ import annotations

from evalward.render.outputs.base import HTML_FILE, OutputFormat, ShownJudgement, Writer


def _judgement(shown: ShownJudgement) -> str:
    from evalward.render.html.page import judgement_page  # noqa: PLC0415 - only who writes the page pays for it

    return judgement_page(shown)


HTML = OutputFormat("html", judgement=Writer(_judgement, HTML_FILE))

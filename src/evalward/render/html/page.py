"""From a judgement, reports or a release to their page."""

from __future__ import annotations

from evalward.render.html.document import document
from evalward.render.html.links import Links
from evalward.render.outputs.base import ShownJudgement
from evalward.render.page import build_page
from evalward.render.view import HTML


def judgement_page(shown: ShownJudgement) -> str:
    """The page of a judgement, with its trials as far as `shown.sources` has them."""
    page = build_page(shown.judgement, shown.context, HTML)
    return document("report.html.j2", page=page, links=Links.of(shown.context))

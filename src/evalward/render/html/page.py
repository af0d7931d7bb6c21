"""From a judgement, reports or a release to their page."""

from __future__ import annotations

from evalward.render.html.anchoring import AnchorBook
from evalward.render.html.document import document
from evalward.render.html.judgement import judgement_body
from evalward.render.html.trials import PLACE, with_trials
from evalward.render.outputs.base import ShownJudgement


def judgement_page(shown: ShownJudgement) -> str:
    """The page of a judgement, with its trials as far as `shown.sources` has them."""
    body = judgement_body(shown.judgement, shown.context, shown.sources, AnchorBook())
    page = document("report.html.j2", body=body, trials=PLACE)
    return with_trials(page, shown.sources, shown.judgement.comparison, shown.context.show)

"""From a judgement, reports or a release to their page."""

from __future__ import annotations

from evalward.records.verdict import Judgement
from evalward.render.html.anchoring import AnchorBook
from evalward.render.html.document import document
from evalward.render.html.judgement import JudgementBody, judgement_body
from evalward.render.html.reports import reports_body
from evalward.render.html.trial_cases import runs_of
from evalward.render.html.trials import PLACE, with_trials
from evalward.render.kept import Sources
from evalward.render.outputs.base import ShownJudgement, ShownRelease, ShownReports
from evalward.render.sentences import headline
from evalward.render.view import OUTCOMES

LAST_RELEASE = "release-"
"""What the ids of the second judgement of a release begin with."""


def judgement_page(shown: ShownJudgement) -> str:
    """The page of a judgement, with its trials as far as `shown.sources` has them."""
    body = judgement_body(shown.judgement, shown.context, shown.sources, AnchorBook())
    page = document("report.html.j2", body=body, trials=PLACE)
    return with_trials(page, runs_of(shown.sources, shown.judgement.comparison, shown.context.show))


def reports_page(shown: ShownReports) -> str:
    """The page of reports that nothing was compared with."""
    page = document("reports.html.j2", body=reports_body(shown, AnchorBook()), trials=PLACE)
    given: set[str] = set()
    return with_trials(page, [run for sources in shown.sources for run in runs_of(sources, given=given)])


def release_page(shown: ShownRelease) -> str:
    """The page of a release: both verdicts, what was accepted since the last release, and both judgements in full."""
    found, book = shown.found, AnchorBook()

    def body(judgement: Judgement | None, sources: Sources, prefix: str) -> JudgementBody | None:
        return judgement_body(judgement, shown.context, sources, book, prefix) if judgement else None

    branch = body(found.against_branch, shown.sources, "")
    tag = body(found.against_tag, shown.sources_of_tag, LAST_RELEASE)
    page = document(
        "release.html.j2",
        trials=PLACE,
        found=found,
        body=branch,
        branch=branch,
        tag=tag,
        badge=OUTCOMES[found.worse.verdict.outcome],
        headline=headline(found.worse.verdict),
    )
    return with_trials(page, runs_of(shown.sources, found.against_branch.comparison, shown.context.show))

"""Earlier runs of the check on the same commit: read from our own comment, and from the history of a pushed branch."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from evalward.commands.surfaces import Publication, Surfaces
from evalward.decide.history_file import report_identity
from evalward.decide.tries import KnownTries, rules_key, stricter_by_tries, try_of
from evalward.github.client import GitHub
from evalward.github.errors import GitHubError
from evalward.github.runner_files import Annotation
from evalward.github.tries import earlier_tries
from evalward.records.baseline import Baseline
from evalward.records.history import HistoryEntry
from evalward.records.policy import Policy
from evalward.records.report import Report
from evalward.records.tries import MOST_TRIES, Try
from evalward.records.verdict import OUTCOMES, Judgement

ASKING_S = 20.0
"""Seconds for the question what was said before: a GitHub that is slow keeps no verdict back."""


def again_of(
    surfaces: Surfaces,
    client: GitHub,
    policy: Policy,
    baseline: Baseline | None,
    history: Sequence[HistoryEntry] = (),
) -> KnownTries:
    """What is known of earlier tries. That GitHub can't be asked is told, and nothing is known then."""
    marker, pull = surfaces.marker, surfaces.pull
    tries = _of_history(history, marker.head)
    if pull is not None and surfaces.settings.github_token:
        try:
            with client.http.within(ASKING_S):
                tries += earlier_tries(client.comments(pull.repository, pull.number), client.login(), marker)
        except GitHubError as error:
            note = f"What earlier runs said of this commit could not be read: {error}"
            surfaces.tell(Annotation("notice", note, title="Evalward").command())
    return KnownTries(tries[-MOST_TRIES:], rules_key(policy, baseline), marker.attempt)


def of_others(history: Sequence[HistoryEntry], report: Report) -> list[HistoryEntry]:
    """The entries of other reports than this one."""
    ours = report_identity(report) if history else ""
    return [entry for entry in history if entry.report != ours]


def _of_history(history: Sequence[HistoryEntry], head: str) -> list[Try]:
    """What earlier runs of a push gave: a report for each, the worst of what its lines say."""
    reports: dict[str, list[HistoryEntry]] = {}
    for entry in history:
        if entry.commit == head and entry.outcome is not None:
            reports.setdefault(entry.report, []).append(entry)
    ordered = sorted(reports.values(), key=lambda entries: entries[0].at)
    worst = [
        next((outcome for outcome in OUTCOMES if outcome in outcomes), next(iter(outcomes)))
        for outcomes in ([entry.outcome for entry in entries if entry.outcome] for entries in ordered)
    ]
    return [Try(run=0, attempt=number, outcome=outcome) for number, outcome in enumerate(worst, 1)]


def decide_again(
    surfaces: Surfaces, judgement: Judgement, report: Report, baseline: Baseline | None, again: KnownTries
) -> tuple[Judgement, Try]:
    """The judgement with what earlier tries gave, and what is to be remembered of this one."""
    judgement = stricter_by_tries(judgement, report, baseline, again)
    return judgement, try_of(judgement, report, again.rules, (surfaces.marker.run, surfaces.marker.attempt))


def remembered(page: Publication, made: Try) -> Publication:
    """The page, with what later tries shall know of this one."""
    return replace(page, tried=made)

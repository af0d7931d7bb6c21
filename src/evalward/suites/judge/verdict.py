"""From an answer to a vote, from votes to an outcome. Pure; the judge's own arithmetic is never believed."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import Any

from evalward.records.base import clean_text
from evalward.records.judge import JudgeOutcome, JudgeVote
from evalward.records.metric import EPSILON
from evalward.records.trace import Usage, add_usage
from evalward.suites.judge.rubric import Rubric
from evalward.suites.judge.structured import parse_answer

SCORE_TOLERANCE = 0.01  # the specification's example says 0.83 for 0.825
MOST_LINES = 20  # issues and highlights that are kept
LINE_CHARACTERS = 500


class UnusableError(Exception):
    """An answer that can't be used; `problems` say why, for the judge's second attempt and for people."""

    def __init__(self, problems: Sequence[str]) -> None:
        self.problems = tuple(problems)
        super().__init__("; ".join(problems))


def weighted(rubric: Rubric, scores: Mapping[str, float]) -> float:
    """Σ weight · score, the specification's; within [0, 1], which weights that sum to 1.01 could leave."""
    value = math.fsum(criterion.weight * scores[criterion.id] for criterion in rubric.criteria)
    return min(1.0, max(0.0, value))


def reaches(score: float, threshold: float) -> bool:
    """`score >= threshold`, up to rounding of binary fractions."""
    return score >= threshold - EPSILON


def read_vote(text: str, rubric: Rubric, threshold: float, *, repaired: bool = False) -> JudgeVote:
    """The vote that an answer is. Raises `UnusableError` with all that is wrong with it."""
    try:
        answer = parse_answer(clean_text(text))
    except ValueError as error:
        raise UnusableError([str(error)]) from error
    problems = [f"the key {name!r} is missing" for name in rubric.fields if name not in answer]
    scores = _scores(answer.get("scores"), rubric, problems) if "scores" in answer else {}
    claimed = _share(answer, "weighted_score", problems)
    confidence = _share(answer, "confidence", problems)
    issues, highlights = _lines(answer, "issues", problems), _lines(answer, "highlights", problems)
    if problems:
        raise UnusableError(problems)
    score = weighted(rubric, scores)
    return JudgeVote(
        scores=scores,
        score=score,
        claimed=claimed,
        confidence=confidence,
        issues=issues,
        highlights=highlights,
        passed=reaches(score, threshold),
        repaired=repaired,
    )


def _scores(given: Any, rubric: Rubric, problems: list[str]) -> dict[str, float]:
    if not isinstance(given, dict):
        problems.append("`scores` is not an object")
        return {}
    found: dict[str, float] = {}
    for criterion in rubric.criteria:
        if criterion.id not in given:
            problems.append(f"`scores` lacks the criterion {criterion.id!r}")
        elif not _is_share(given[criterion.id]):
            problems.append(f"the score of {criterion.id!r} is not a number from 0 to 1")
        else:
            found[criterion.id] = float(given[criterion.id])
    known = {criterion.id for criterion in rubric.criteria}
    problems += [f"`scores` has {name[:64]!r}, which is not a criterion" for name in given if name not in known]
    return found


def _is_share(value: Any) -> bool:
    """A number in [0, 1]; true and false are none, and no text is."""
    return isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value <= 1


def _share(answer: Mapping[str, Any], name: str, problems: list[str]) -> float | None:
    if name not in answer:
        return None
    if not _is_share(answer[name]):
        problems.append(f"`{name}` is not a number from 0 to 1")
        return None
    return float(answer[name])


def _lines(answer: Mapping[str, Any], name: str, problems: list[str]) -> list[str]:
    given = answer.get(name, [])
    if not isinstance(given, list) or not all(isinstance(line, str) for line in given):
        problems.append(f"`{name}` is not a list of texts")
        return []
    return [clean_text(line[:LINE_CHARACTERS]) for line in given[:MOST_LINES]]


@dataclass(frozen=True)
class VoteOutcome:
    """What one question gave: a vote or an error, and what it has used."""

    vote: JudgeVote | None
    usage: Usage
    error: str | None = None


def aggregate_votes(asked: Sequence[VoteOutcome], *, model: str, rubric: Rubric, threshold: float) -> JudgeOutcome:
    """The outcome of several questions by a rubric; an error unless more than half of them gave a vote."""
    outcome, votes = gathered(asked, model=model, about=rubric.digest, threshold=threshold)
    if outcome.score is None:
        return outcome
    passed = reaches(outcome.score, threshold)
    notes = [*_claims(votes), *outcome.notes, *_against(votes, passed)]
    return outcome.model_copy(update={"passed": passed, "notes": _distinct(notes)})


def gathered(
    asked: Sequence[VoteOutcome], *, model: str, about: str, threshold: float
) -> tuple[JudgeOutcome, list[JudgeVote]]:
    """All that the votes come to but whether they pass, and those that could be read; `about` is what was judged by.

    An error unless more than half of the questions gave a vote. All votes score the same things.
    """
    votes = [one.vote for one in asked if one.vote is not None]
    errors = [one.error for one in asked if one.error is not None]
    outcome = JudgeOutcome(
        model=model,
        rubric=about,
        threshold=threshold,
        votes=votes,
        asked=len(asked),
        usage=add_usage(one.usage for one in asked),
    )
    if 2 * len(votes) <= len(asked):
        return outcome.model_copy(update={"error": errors[0] if errors else "the judge was not asked"}), votes
    yes = sum(vote.passed for vote in votes)
    confidences = [vote.confidence for vote in votes if vote.confidence is not None]
    lost = [f"{len(errors)} of {len(votes) + len(errors)} votes could not be had: {errors[0]}"] if errors else []
    verdict = {
        "score": fmean(vote.score for vote in votes),
        "scores": {name: fmean(vote.scores[name] for vote in votes) for name in votes[0].scores},
        "confidence": fmean(confidences) if confidences else None,
        "issues": _distinct(line for vote in votes for line in vote.issues),
        "highlights": _distinct(line for vote in votes for line in vote.highlights),
        "agreement": max(yes, len(votes) - yes) / len(votes),
        "spread": max(vote.score for vote in votes) - min(vote.score for vote in votes),
        "notes": lost,
        "cached": all(vote.cached for vote in votes),
    }
    return outcome.model_copy(update=verdict), votes


def _claims(votes: Sequence[JudgeVote]) -> list[str]:
    return [
        f"the judge claimed a weighted score of {vote.claimed:.2f}; by the rubric its scores give {vote.score:.2f}"
        for vote in votes
        if vote.claimed is not None and abs(vote.claimed - vote.score) > SCORE_TOLERANCE + EPSILON
    ]


def _against(votes: Sequence[JudgeVote], passed: bool) -> list[str]:
    against = sum(vote.passed is not passed for vote in votes)
    return ["most votes are on the other side of the threshold than their mean"] if 2 * against > len(votes) else []


def _distinct(lines: Iterable[str]) -> list[str]:
    return list(dict.fromkeys(lines))[:MOST_LINES]

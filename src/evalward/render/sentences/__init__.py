"""The sentences of a verdict, from its codes: the one place where they are made."""

from __future__ import annotations

from collections.abc import Iterable

from evalward.records.codes import Coded
from evalward.records.verdict import Judgement, Reason, RuleOutcome, Verdict
from evalward.render.sentences import advice as _advice  # noqa: F401 - each adds its sentences
from evalward.render.sentences import arms as _arms  # noqa: F401
from evalward.render.sentences import notices as _notices  # noqa: F401
from evalward.render.sentences import passing as _passing  # noqa: F401
from evalward.render.sentences import reasons as _reasons  # noqa: F401
from evalward.render.sentences import rules as _rules  # noqa: F401
from evalward.render.sentences.dispatch import says as says
from evalward.render.sentences.dispatch import sentences


def message(about: Reason | RuleOutcome) -> str:
    """What a reason says, or a rule; of a rule that is all well nothing."""
    return sentences(about.statements)


def remedy(reason: Reason) -> str:
    """What to do about it."""
    return " ".join(says(each) for each in reason.advice)


def explanation(rule: RuleOutcome) -> str:
    """The decision about a rule's drop; empty where it has none."""
    return sentences(rule.explained)


def headline(verdict: Verdict) -> str:
    """The deciding reason; of a pass what it means, and who accepted what it was compared with."""
    text = message(verdict.reasons[0]) if verdict.reasons else sentences(verdict.passing)
    return f"accepted by {verdict.accepted_by}: {text}" if verdict.accepted_by is not None else text


def warnings(notices: Iterable[Coded]) -> list[str]:
    """Notices as sentences, each once."""
    return [says(each) for each in dict.fromkeys(notices)]


def with_sentences(judgement: Judgement) -> Judgement:
    """A judgement as it is written: beside the codes their sentences, for people and older programs."""
    verdict, comparison = judgement.verdict, judgement.comparison
    written = verdict.model_copy(
        update={
            "headline": headline(verdict),
            "reasons": [
                one.model_copy(update={"message": message(one), "remedy": remedy(one)}) for one in verdict.reasons
            ],
            "rules": [
                one.model_copy(update={"message": message(one), "explanation": explanation(one)})
                for one in verdict.rules
            ],
            "warnings": [says(each) for each in verdict.notices],
        }
    )
    compared = comparison.model_copy(update={"warnings": [says(each) for each in comparison.notices]})
    return judgement.model_copy(update={"verdict": written, "comparison": compared})

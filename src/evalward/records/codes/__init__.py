"""What a verdict says, as codes with typed parameters; docs/judgement.md lists them."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from evalward.records.codes import advice, arms, notices, passing, reasons, rules
from evalward.records.codes.base import Coded as Coded
from evalward.records.codes.base import ForeignText
from evalward.records.codes.by_code import ByCode


class WorseInWorstCase(Coded):
    """Had the trials that ended in an error failed, the verdict would be worse; `statements` are its first reason's."""

    code: Literal["validity.worst_case"] = "validity.worst_case"
    trials: int
    outcome: reasons.OutcomeName
    statements: tuple[Statement, ...]


Statement = Annotated[
    reasons.Reasons
    | rules.Rules
    | arms.Arms
    | notices.Notices
    | passing.Passing
    | advice.Advised
    | WorseInWorstCase
    | ForeignText,
    ByCode(),
]
"""Whatever a verdict says."""

WorseInWorstCase.model_rebuild()


def with_quoted(data: Any, *fields: tuple[str, str]) -> Any:
    """A record's data, in which codes that it lacks are its sentences, as version 1 of a judgement has them.

    Each of `fields` is the name of the codes and that of the sentence, or sentences.
    """
    if not isinstance(data, dict):
        return data
    found = dict(data)
    for codes, sentences in fields:
        quoted = data.get(sentences)
        if codes not in data and isinstance(quoted, str | list):
            found[codes] = [
                ForeignText(text=str(each)) for each in ([quoted] if isinstance(quoted, str) else quoted) if each
            ]
    return found

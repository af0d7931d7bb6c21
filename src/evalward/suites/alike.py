"""What several targets met alike: the messages and the failing checks of one case.

One line of standard error is one message. Two messages are alike when they say the same without their numbers, paths
and quoted names, or nearly the same. Everything compared was written by models and by the tool: hostile, and bounded.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from difflib import SequenceMatcher
from functools import cached_property

from msgspec import Struct

from evalward.records.result import Result

SIMILAR_MESSAGE = 0.8  # share of equal text, where the specification says "similar stderr"
LINES_OF_A_CALL = 5
LINES_OF_A_TARGET = 25  # different messages of one target in one case that are compared
LINE_LENGTH = 200

_VARIABLE = re.compile(r"\d+|'[^']*'|\"[^\"]*\"|/[\w./-]+")
_REPORTED = re.compile(r"^(?:execution error|runtime error): ")


class CommonMessage(Struct, frozen=True, dict=True):
    """What a tool said, without the words before it that every message has."""

    text: str

    @cached_property
    def form(self) -> str:
        """The message without numbers, paths and quoted names."""
        return _VARIABLE.sub("_", self.text.lower())


def messages_in(text: str) -> list[CommonMessage]:
    """The messages of a call: its first lines, each cut."""
    lines = [line.strip() for line in text.splitlines() if line.strip()][:LINES_OF_A_CALL]
    return [CommonMessage(_REPORTED.sub("", line[:LINE_LENGTH])) for line in lines]


def shared_messages(targets: Sequence[Iterable[CommonMessage]]) -> list[tuple[str, int]]:
    """Messages that every target met, with the number of times, the most frequent first."""
    counted = [_forms(messages) for messages in targets]
    if not all(counted):
        return []
    same = set.intersection(*(set(forms) for forms in counted))
    similar = same or {form for form in counted[0] if all(_has_similar(form, forms) for forms in counted[1:])}
    found = [(counted[0][form][0], sum(_times(form, forms) for forms in counted)) for form in similar]
    return sorted(found, key=lambda item: (-item[1], item[0]))


def _forms(messages: Iterable[CommonMessage]) -> dict[str, tuple[str, int]]:
    """Of each form the first text, and how often it stands there."""
    forms: dict[str, tuple[str, int]] = {}
    for message in messages:
        text, times = forms.get(message.form, (message.text, 0))
        if times or len(forms) < LINES_OF_A_TARGET:
            forms[message.form] = (text, times + 1)
    return forms


def _times(form: str, forms: Mapping[str, tuple[str, int]]) -> int:
    return forms[form][1] if form in forms else 1


def _has_similar(form: str, forms: Mapping[str, tuple[str, int]]) -> bool:
    return any(_similar(form, other) for other in forms)


def _similar(one: str, other: str) -> bool:
    matcher = SequenceMatcher(None, one, other, autojunk=False)
    if matcher.real_quick_ratio() < SIMILAR_MESSAGE or matcher.quick_ratio() < SIMILAR_MESSAGE:
        return False  # upper bounds of the ratio, and much cheaper
    return matcher.ratio() >= SIMILAR_MESSAGE


def shared_checks(targets: Sequence[Sequence[Result]]) -> list[str]:
    """The checks that fail with every target in some trial, in the order of the case."""
    failing = [[check.check for r in results for check in r.checks if not check.passed] for results in targets]
    everywhere = set.intersection(*(set(checks) for checks in failing))
    return [check for check in dict.fromkeys(failing[0]) if check in everywhere]

"""What several targets met alike: messages and failing checks of one case, and commands that fail with all of them.

One line of standard error is one message. Two messages are alike when they say the same without their numbers, paths
and quoted names, or nearly the same. Everything compared was written by models and by the tool: hostile, and bounded.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher

from evalward.records.result import BashDetails, FailedCall, Result

SIMILAR_MESSAGE = 0.8  # share of equal text, where the specification says "similar stderr"
LINES_OF_A_CALL = 5
LINES_OF_A_TARGET = 25  # different messages of one target in one case that are compared
LINE_LENGTH = 200

_VARIABLE = re.compile(r"\d+|'[^']*'|\"[^\"]*\"|/[\w./-]+")
_PROGRAM = re.compile(r"[A-Za-z_.][\w./+-]{0,63}")
_SPEAKERS = frozenset({"bash", "sh", "eval", "line", "error"})
"""Who reports a fault of another one."""
_REPORTED = re.compile(r"^(?:execution error|runtime error): ")


@dataclass(frozen=True)
class Message:
    """What a tool said, without the words before it that every message has."""

    text: str

    @property
    def form(self) -> str:
        """The message without numbers, paths and quoted names."""
        return _VARIABLE.sub("_", self.text.lower())


def messages_of(result: Result) -> list[Message]:
    """All messages of a trial's failing calls, in order."""
    details = result.details
    if not isinstance(details, BashDetails):
        return []
    said = [call.message for call in details.failures] or [details.failing_stderr or ""]
    return [message for text in said for message in _lines(text)]


def _lines(text: str) -> list[Message]:
    lines = [line.strip() for line in text.splitlines() if line.strip()][:LINES_OF_A_CALL]
    return [Message(_REPORTED.sub("", line[:LINE_LENGTH])) for line in lines]


def shared_messages(targets: Sequence[Sequence[Result]]) -> list[tuple[str, int]]:
    """Messages that every target met in some trial, with the number of times, the most frequent first."""
    counted = [_forms(results) for results in targets]
    if not all(counted):
        return []
    same = set.intersection(*(set(forms) for forms in counted))
    similar = same or {form for form in counted[0] if all(_has_similar(form, forms) for forms in counted[1:])}
    found = [(counted[0][form][0], sum(_times(form, forms) for forms in counted)) for form in similar]
    return sorted(found, key=lambda item: (-item[1], item[0]))


def _forms(results: Sequence[Result]) -> dict[str, tuple[str, int]]:
    """Of each form the first text, and how often it stands there."""
    forms: dict[str, tuple[str, int]] = {}
    for result in results:
        for message in messages_of(result):
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


@dataclass(frozen=True)
class CommandFault:
    """A command that fails with every target, and says the same of it."""

    program: str
    message: str
    calls: int
    cases: Sequence[str]


@dataclass
class _Fault:
    text: str
    calls: int
    targets: set[int]
    cases: set[str]


def command_faults(targets: Sequence[Sequence[Result]]) -> list[CommandFault]:
    """The commands that fail alike with every target, over all cases and trials, the most frequent first."""
    faults: dict[tuple[str, str], _Fault] = {}
    for number, results in enumerate(targets):
        for result in results:
            for program, message in _failed_commands(result):
                fault = faults.setdefault((program, message.form), _Fault(message.text, 0, set(), set()))
                fault.calls += 1
                fault.targets.add(number)
                fault.cases.add(result.id)
    everywhere = [
        CommandFault(program, fault.text, fault.calls, sorted(fault.cases))
        for (program, _), fault in faults.items()
        if len(fault.targets) == len(targets)
    ]
    return sorted(everywhere, key=lambda fault: (-fault.calls, fault.program, fault.message))


def _failed_commands(result: Result) -> Iterator[tuple[str, Message]]:
    """Each failing call's messages with the program that they are about, once a call."""
    if not isinstance(result.details, BashDetails):
        return
    for call in result.details.failures:
        seen: dict[tuple[str, str], Message] = {}
        for message in _lines(call.message):
            program = _program(call, message)
            if program:
                seen.setdefault((program, message.form), message)
        yield from ((program, message) for (program, _), message in seen.items())


def _program(call: FailedCall, message: Message) -> str | None:
    """The program that a message is about: the first of its parts that is a word of the script."""
    for part in message.text.split(": ")[:-1]:
        if _PROGRAM.fullmatch(part) and part not in _SPEAKERS and _is_word(part, call.command):
            return part
    return None


def _is_word(name: str, script: str) -> bool:
    return re.search(rf"(?<![\w./-]){re.escape(name)}(?![\w./-])", script) is not None

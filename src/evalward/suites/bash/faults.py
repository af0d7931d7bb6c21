"""Messages of failing calls, and commands that fail alike with all targets.

Scripts and messages were written by models and by the tool: hostile, and cut where they were kept.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from msgspec import Struct

from evalward.records.result import Result
from evalward.suites.alike import CommonMessage, messages_in
from evalward.suites.bash.details import BashDetails, FailedCall

_PROGRAM = re.compile(r"[A-Za-z_.][\w./+-]{0,63}")
_SPEAKERS = frozenset({"bash", "sh", "eval", "line", "error"})
"""Who reports a fault of another one."""


def messages_of(result: Result) -> list[CommonMessage]:
    """All messages of a trial's failing calls, in order."""
    details = result.details
    if not isinstance(details, BashDetails):
        return []
    texts = [call.message for call in details.failures] or [details.failing_stderr or ""]
    return [message for text in texts for message in messages_in(text)]


class CommandFault(Struct, frozen=True):
    """A command that fails with every target, and says the same of it."""

    program: str
    message: str
    calls: int
    cases: Sequence[str]


class _Fault(Struct):
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


def _failed_commands(result: Result) -> Iterator[tuple[str, CommonMessage]]:
    """Each failing call's messages with the program that they are about, once a call."""
    if not isinstance(result.details, BashDetails):
        return
    for call in result.details.failures:
        seen: dict[tuple[str, str], CommonMessage] = {}
        for message in messages_in(call.message):
            program = _program(call, message)
            if program:
                seen.setdefault((program, message.form), message)
        yield from ((program, message) for (program, _), message in seen.items())


def _program(call: FailedCall, message: CommonMessage) -> str | None:
    """The program that a message is about: the first of its parts that is a word of the script."""
    for part in message.text.split(": ")[:-1]:
        if _PROGRAM.fullmatch(part) and part not in _SPEAKERS and _is_word(part, call.command):
            return part
    return None


def _is_word(name: str, script: str) -> bool:
    return re.search(rf"(?<![\w./-]){re.escape(name)}(?![\w./-])", script) is not None

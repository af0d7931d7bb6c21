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
_PATH = re.compile(r"/[\w./+-]{1,200}")
_ONE_COMMAND = re.compile(r"\s*([A-Za-z_./][\w./+-]{0,63})(?:\s[^;&|<>()`$\n]*)?\s*")
_NO = 1
"""What `grep`, `diff` and `test` end with when they have found nothing, or a difference."""
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
    """A command that fails with every target, and says the same of it; `message` is empty where it says nothing.

    `exit_code`: of the first such call.
    """

    program: str
    message: str
    exit_code: int | None
    calls: int
    cases: Sequence[str]


class _Fault(Struct):
    text: str
    exit_code: int | None
    calls: int
    targets: set[int]
    cases: set[str]


def command_faults(targets: Sequence[Sequence[Result]]) -> list[CommandFault]:
    """The commands that fail alike with every target, over all cases and trials, the most frequent first."""
    faults: dict[tuple[str, str], _Fault] = {}
    for number, results in enumerate(targets):
        for result in results:
            for call, program, message in _failed_commands(result):
                key = program, message.form if message.text else f"exit code {call.exit_code}"
                fault = faults.setdefault(key, _Fault(message.text, call.exit_code, 0, set(), set()))
                fault.calls += 1
                fault.targets.add(number)
                fault.cases.add(result.id)
    everywhere = [
        CommandFault(program, fault.text, fault.exit_code, fault.calls, sorted(fault.cases))
        for (program, _), fault in faults.items()
        if len(fault.targets) == len(targets)
    ]
    return sorted(everywhere, key=lambda fault: (-fault.calls, fault.program, fault.message))


def _failed_commands(result: Result) -> Iterator[tuple[FailedCall, str, CommonMessage]]:
    """Each failing call's messages with the program that they are about, once a call; one without a text where a
    command failed and said nothing.
    """
    if not isinstance(result.details, BashDetails):
        return
    for call in result.details.failures:
        seen: dict[tuple[str, str], CommonMessage] = {}
        for message in messages_in(call.message):
            program = _program(call, message)
            if program:
                seen.setdefault((program, message.form), message)
        silent = _silent(call)
        if silent:
            seen[silent, ""] = CommonMessage("")
        yield from ((call, program, message) for (program, _), message in seen.items())


def _program(call: FailedCall, message: CommonMessage) -> str | None:
    """The program that a message is about: the first of its parts that is a word of the script, or a path that is run
    there.
    """
    for part in message.text.split(": ")[:-1]:
        if _PROGRAM.fullmatch(part) and part not in _SPEAKERS and _is_word(part, call.command):
            return part
        if _PATH.fullmatch(part) and _is_run(part, call.command):
            return part
    return None


def _silent(call: FailedCall) -> str | None:
    """The program of a call of one command that failed without a word, and not by saying no."""
    alone = _ONE_COMMAND.fullmatch(call.command)
    failed = call.exit_code is not None and (call.exit_code > _NO or call.exit_code < 0)
    return alone[1] if alone and failed and not call.message.strip() else None


def _is_run(path: str, script: str) -> bool:
    return re.search(rf"(?:^|[;&|(\n])\s*{re.escape(path)}(?![\w./-])", script) is not None


def _is_word(name: str, script: str) -> bool:
    return re.search(rf"(?<![\w./-]){re.escape(name)}(?![\w./-])", script) is not None

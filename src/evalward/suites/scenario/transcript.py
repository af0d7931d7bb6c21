"""Layer 1 from a raw transcript, where there are no events: approximate, and labelled so.

A line with a command of the target begins a window that ends at the next such line. In the window the first "exit code
N" or "exit status N" is the command's; otherwise one of the words `error`, `failed`, `exit code`, `non-zero` means that
it failed, and their absence that it didn't. So "0 errors found" is taken for a failure: hence approximate. Several
commands in one line have what follows from that by the rules of the shell.
"""

from __future__ import annotations

import re

from evalward.suites.scenario.interaction import ToolCommand
from evalward.suites.scenario.patterns import LINE_LIMIT, LinePattern, WrittenPattern, asks_for_help
from evalward.suites.scenario.shell_codes import uses_of

_LINE_END = re.compile(r"\r\n|\n|\r")
_ESCAPES = re.compile(r"\x1b(?:\[[0-9;?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)|[@-Z\\-_])")
_EXIT_CODE = re.compile(r"exit (?:code|status)\s{0,8}:?\s{0,8}(-?[0-9]+)", re.IGNORECASE)
_PROMPT = re.compile(r"^\s*[$#%>]\s+")
_FAILURE_WORDS = ("error", "failed", "exit code", "non-zero")
_LARGEST_CODE = 2**31 - 1
_OVERFLOW = -1
_DIGITS = 11  # of such a code with its sign


def transcript_commands(transcript: str, pattern: LinePattern) -> list[ToolCommand]:
    """The target's commands in a transcript, with the exit codes that the text suggests."""
    commands: list[ToolCommand] = []
    window: list[str] = []
    pending = ""
    for raw in _LINE_END.split(transcript):
        line = _ESCAPES.sub("", raw)[:LINE_LIMIT]
        found = pattern.find(line)
        if not found:
            window.append(line)
            continue
        commands += _ended(pending, window, pattern)
        window, pending = [], line
    return [*commands, *_ended(pending, window, pattern)]


def _ended(line: str, window: list[str], pattern: LinePattern) -> list[ToolCommand]:
    """The commands of a line, with what was printed until the next one."""
    output = "\n".join(window)
    code, found = exit_code_of(output), pattern.find(line)
    codes: list[int | None] = [code]
    if len(found) > 1 and isinstance(pattern, WrittenPattern):  # the others find one in a line
        codes = [use.exit_code for use in uses_of(_PROMPT.sub("", line), pattern, code, output)]
    known = codes if len(codes) == len(found) else [None] * len(found)
    return [
        ToolCommand(use.identity, use.text, 0 if asks_for_help(use.text) else one, output, use.is_help)
        for use, one in zip(found, known, strict=True)
    ]


def exit_code_of(output: str) -> int:
    """The exit code that the text after a command suggests."""
    match = _EXIT_CODE.search(output)
    if match:
        digits = match[1]
        return int(digits) if len(digits) <= _DIGITS and abs(int(digits)) <= _LARGEST_CODE else _OVERFLOW
    lowered = output.lower()
    return int(any(word in lowered for word in _FAILURE_WORDS))

"""Which commands are the tool's, and which of its subcommands each one is.

A pattern is RE2, whatever a scenario or an agent wrote. Without a pattern the tool's binary is looked for: in command
lines wherever a command can stand, in transcripts only at the beginning of a line, for transcripts are full of prose.

Identity of a command: the pattern's second group, else its first, else the second word of the command, else `command`.
With `--help` in it, it is `help`. Several commands in one line (`todo add a && todo list`) are several commands.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from evalward.records.base import clean_text
from evalward.suites.re2_pattern import compiled

HELP = "help"
NAMELESS = "command"
IDENTITY_LIMIT = 64  # characters of a captured subcommand
LINE_LIMIT = 20_000  # characters of one line that are looked at

_CONTINUED = re.compile(r"\\\r?\n")
_LINE_END = re.compile(r"\r\n|\n|\r")
_WORD = re.compile(r"\s+(--help\b|[A-Za-z0-9][\w.:-]*)")
_AFTER_A_NAME = frozenset(" \t;&|<>)}`\"'")
# Where a command can begin: line start, separators, opening brackets, the words before one; then assignments, a path.
_COMMAND_POSITION = (
    r"(?:^|[;&|({`!\"']|\$\(|\b(?:then|do|else|elif|if|while|until|time|sudo|exec|env|xargs|nohup|command)\s)"
    r"\s*(?:[A-Za-z_][A-Za-z0-9_]*=\S*\s+)*(?:[^\s;&|({`\"'=]*/)?"
)
_GENERIC = r"^\s*([a-z][a-z0-9_.-]*)\s+(--help|[a-z][a-z0-9_-]*)"
_NO_TOOL = {"exit", "error", "failed"}


@dataclass(frozen=True)
class Invocation:
    """One use of the tool in a line: its identity and its own part of the line."""

    identity: str
    text: str

    @property
    def is_help(self) -> bool:
        """It asks for help: also the literal subcommand `help`, as the specification's count has it."""
        return self.identity == HELP


class CommandPattern(Protocol):
    """Finds the tool's commands in one line."""

    @property
    def has_subcommands(self) -> bool:
        """False when nothing captures a subcommand; then only aggregate counts mean something."""
        ...

    def find(self, line: str) -> list[Invocation]:
        """The commands in the line, in order."""
        ...


@dataclass(frozen=True)
class WrittenPattern:
    """A scenario's own `command_pattern`. Raises `ValueError` from `find` when it is none; loading has checked that."""

    pattern: str

    @property
    def has_subcommands(self) -> bool:
        """True when it has a capture group."""
        return int(compiled(self.pattern).groups) > 0

    def find(self, line: str) -> list[Invocation]:
        """Every match in the line."""
        line = clean_text(line)
        matches = [m for m in compiled(self.pattern).finditer(line) if m.end() > m.start()]
        ends = [*(match.start() for match in matches[1:]), len(line)]
        return [_invocation(line[m.start() : end], m.groups()) for m, end in zip(matches, ends, strict=False)]


@dataclass(frozen=True)
class BinaryInCommand:
    """The default in command lines: the binary wherever a command can stand, after a path or assignments too."""

    binary: str
    has_subcommands: bool = True

    def find(self, line: str) -> list[Invocation]:
        """Every command of the binary in the line."""
        line = clean_text(line)
        name = self.binary.rpartition("/")[2]
        found = compiled(f"{_COMMAND_POSITION}({re.escape(name)})").finditer(line)
        starts = [(m.start(1), m.end(1)) for m in found]
        uses = [(start, end) for start, end in starts if end == len(line) or line[end] in _AFTER_A_NAME]
        stops = [*(start for start, _ in uses[1:]), len(line)]
        return [self._use(line[start:stop], end - start) for (start, end), stop in zip(uses, stops, strict=False)]

    def _use(self, text: str, name_length: int) -> Invocation:
        word = _WORD.match(text, name_length)
        return _invocation(text, (word[1],) if word else ())


@dataclass(frozen=True)
class BinaryInTranscript:
    """The default in transcripts: the binary at the beginning of a line, then `--help` or one word."""

    binary: str
    has_subcommands: bool = True

    def find(self, line: str) -> list[Invocation]:
        """The command at the beginning of the line."""
        match = compiled(rf"^\s*{re.escape(self.binary)}\s+(--help|\S+)").search(clean_text(line))
        return [_invocation(line, match.groups())] if match else []


@dataclass(frozen=True)
class AnyToolInTranscript:
    """For transcripts of which nobody knows the tool: two lower-case words at the beginning of a line."""

    has_subcommands: bool = True

    def find(self, line: str) -> list[Invocation]:
        """The command at the beginning of the line. `exit code: 1` and the like are what a command printed."""
        match = compiled(_GENERIC).search(clean_text(line))
        if match is None or match.group(1).lower() in _NO_TOOL:
            return []
        return [_invocation(line, match.groups())]


def _invocation(text: str, groups: Sequence[str | None]) -> Invocation:
    text = _one_command(text)
    if "--help" in text:
        return Invocation(HELP, text)
    captured = [group for group in reversed(groups[:2]) if group]
    words = text.split(maxsplit=2)
    identity = captured[0] if captured else words[1] if len(words) > 1 else NAMELESS
    return Invocation(identity[:IDENTITY_LIMIT], text)


def _one_command(text: str) -> str:
    """The text up to where the shell would end the command: an unquoted ; & or |."""
    text = text.lstrip(" \t;&|(")  # a pattern may match what stands before the command
    quote = ""
    for index, character in enumerate(text):
        if quote:
            quote = "" if character == quote else quote
        elif character in "'\"":
            quote = character
        elif character in ";&|" and text[max(0, index - 1) : index] != ">":  # >& and >| are redirections
            return text[:index].strip()
    return text.strip()


def command_pattern(binary: str, written: str | None) -> CommandPattern:
    """How the tool's commands are found in command lines: a blank pattern means the default for the binary."""
    return WrittenPattern(written) if written and written.strip() else BinaryInCommand(binary)


def transcript_pattern(binary: str | None, written: str | None) -> CommandPattern:
    """How they are found in transcripts. The generic default only where no tool is known."""
    if written and written.strip():
        return WrittenPattern(written)
    return BinaryInTranscript(binary) if binary else AnyToolInTranscript()


def invocations(commands: str, pattern: CommandPattern) -> list[Invocation]:
    """The tool's commands in a script, line by line; a line that ends with a backslash goes on in the next."""
    lines = _LINE_END.split(_CONTINUED.sub(" ", commands))
    return [found for line in lines for found in pattern.find(line[:LINE_LIMIT])]

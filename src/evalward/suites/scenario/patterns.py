"""Which commands are the tool's, and which of its subcommands each one is.

A pattern is RE2, whatever a scenario or an agent wrote. Without a pattern the tool's binary is looked for: in scripts
where a command stands, in transcripts only at the beginning of a line, for transcripts are full of prose. What is
quoted, a comment or a here-document is no command; a script that `sh -c` runs is.

Identity of a command: the pattern's second group, else its first, else the second word of the command, else `command`.
With `--help` in it, it is `help`. Several commands in one line (`todo add a && todo list`) are several commands.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Protocol

from evalward.records.base import clean_text
from evalward.safety.syntax import HereDocument, Script, Simple, SyntaxWord
from evalward.suites.re2_pattern import compiled
from evalward.suites.scenario.shell_reading import parsed
from evalward.suites.scenario.shell_trees import (
    ELSEWHERE,
    INDIRECT,
    ShellCall,
    all_simples,
    has_substitutions,
    is_literal,
    literal,
    name_at,
    nodes,
    places_of_words,
    program_word,
    shell_call,
    text_of,
)

HELP = "help"
NAMELESS = "command"
IDENTITY_LIMIT = 64  # characters of a captured subcommand
LINE_LIMIT = 20_000  # characters of one line that are looked at
DEEPEST_SHELL = 3  # `sh -c` in `sh -c`

_CONTINUED = re.compile(r"\\\r?\n")
_LINE_END = re.compile(r"\r\n|\n|\r")
_WORD = re.compile(r"\s+(--help\b|[A-Za-z0-9][\w.:-]*)")
_COMMENT = re.compile(r"(?:^|\s)#.*")
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


class LinePattern(Protocol):
    """Finds the tool's commands in one line."""

    @property
    def has_subcommands(self) -> bool:
        """False when nothing captures a subcommand; then only aggregate counts mean something."""
        ...

    def find(self, line: str) -> list[Invocation]:
        """The commands in the line, in order."""
        ...


class CommandPattern(LinePattern, Protocol):
    """Finds the tool's commands in a script, too."""

    def in_simple(self, simple: Simple, at: int) -> list[Invocation]:
        """The commands that a simple command is whose program is the word `at`, without those of substitutions."""
        ...

    def across(self, script: str, tree: Script) -> list[Invocation]:
        """Those of a script in none of whose simple commands there is one."""
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
        return self._found(clean_text(line))

    def in_simple(self, simple: Simple, at: int) -> list[Invocation]:
        """Every match that doesn't begin in a quoted word or a substitution: what is said isn't done."""
        return self._found(clean_text(simple.source.replace("\\\n", "  ")), _said_in(simple, at))

    def across(self, script: str, tree: Script) -> list[Invocation]:
        """Matches that the line has and no simple command: with an operator before it, or `time`."""
        said = _said(tree)
        lines = [clean_text(_COMMENT.sub("", line)) for line in lines_of(script)]
        matching = [line for line in lines if compiled(self.pattern).search(line)]
        return [one for line in matching for one in self._found(line, _occurrences(said, line))]

    def _found(self, text: str, hidden: Sequence[tuple[int, int]] = ()) -> list[Invocation]:
        matches = [m for m in compiled(self.pattern).finditer(text) if m.end() > m.start()]
        covered = {place for start, end in hidden for place in range(start, end)} if matches else set()
        seen = [m for m in matches if m.start() not in covered]
        ends = [*(match.start() for match in seen[1:]), len(text)]
        return [
            _invocation(_one_command(text[m.start() : end]), m.groups()) for m, end in zip(seen, ends, strict=False)
        ]


@dataclass(frozen=True)
class BinaryInCommand:
    """The default in command lines: the binary where a command stands, whatever its folder is."""

    binary: str
    has_subcommands: bool = True

    @property
    def _name(self) -> str:
        return self.binary.rpartition("/")[2]

    def in_simple(self, simple: Simple, at: int) -> list[Invocation]:
        """The command, if the binary is what it runs: behind assignments, and `env`, `timeout` and the like too."""
        if name_at(simple, at) != self._name:
            return []
        _, end = places_of_words(simple)[at]
        text = clean_text(_LINE_END.sub(" ", _CONTINUED.sub(" ", self._name + simple.source[end:]))).strip()
        return [self._use(text, len(self._name))]

    def across(self, script: str, tree: Script) -> list[Invocation]:  # noqa: ARG002 - others need them
        """None: it is a command's program, or it isn't."""
        return []

    def find(self, line: str) -> list[Invocation]:
        """Every place in a line that we can't read as shell where a command of the binary may stand."""
        line = clean_text(line)
        name = self._name
        found = compiled(f"{_COMMAND_POSITION}({re.escape(name)})").finditer(line)
        starts = [(m.start(1), m.end(1)) for m in found]
        uses = [(start, end) for start, end in starts if end == len(line) or line[end] in _AFTER_A_NAME]
        stops = [*(start for start, _ in uses[1:]), len(line)]
        return [
            self._use(_one_command(line[start:stop]), end - start)
            for (start, end), stop in zip(uses, stops, strict=False)
        ]

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
        return [_invocation(_one_command(line), match.groups())] if match else []


@dataclass(frozen=True)
class AnyToolInTranscript:
    """For transcripts of which nobody knows the tool: two lower-case words at the beginning of a line."""

    has_subcommands: bool = True

    def find(self, line: str) -> list[Invocation]:
        """The command at the beginning of the line. `exit code: 1` and the like are what a command printed."""
        match = compiled(_GENERIC).search(clean_text(line))
        if match is None or match.group(1).lower() in _NO_TOOL:
            return []
        return [_invocation(_one_command(line), match.groups())]


def asks_for_help(text: str) -> bool:
    """Whether `--help` is a word of the command; in a text that is no complete command, whether it stands there."""
    if "--help" not in text:
        return False
    try:
        words = shlex.split(text)
    except ValueError:
        return True
    return any(word == "--help" and not before.endswith((">", "<")) for before, word in pairwise(["", *words]))


def _invocation(text: str, groups: Sequence[str | None]) -> Invocation:
    if asks_for_help(text):
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


def transcript_pattern(binary: str | None, written: str | None) -> LinePattern:
    """How they are found in transcripts. The generic default only where no tool is known."""
    if written and written.strip():
        return WrittenPattern(written)
    return BinaryInTranscript(binary) if binary else AnyToolInTranscript()


def lines_of(script: str) -> list[str]:
    """A script's lines; one that ends with a backslash goes on in the next."""
    return _LINE_END.split(_CONTINUED.sub(" ", script))


def invocations(script: str, pattern: CommandPattern, depth: int = DEEPEST_SHELL) -> list[Invocation]:
    """The tool's commands in a script, in order; line by line where it is no shell that we can read."""
    tree = parsed(script)
    if tree is None:
        return [found for line in lines_of(script) for found in pattern.find(line)]
    return [one for simple in all_simples(tree) for one in own(simple, pattern, depth)] or pattern.across(script, tree)


def own(simple: Simple, pattern: CommandPattern, depth: int = DEEPEST_SHELL) -> list[Invocation]:
    """The tool's commands that a simple command runs, without those of substitutions in its words."""
    call, at = shell_call(simple), program_word(simple)
    if call is not None and (depth or call.file_at is not None):
        return _of_shell(simple, call, pattern, depth)
    program = name_at(simple, at)
    if program == "eval":
        return invocations(" ".join(text_of(word) for word in simple.words[at + 1 :]), pattern, depth)
    if program in INDIRECT | ELSEWHERE:
        return pattern.find(_LINE_END.sub(" ", simple.source))
    return pattern.in_simple(simple, at)


def _of_shell(simple: Simple, call: ShellCall, pattern: CommandPattern, depth: int) -> list[Invocation]:
    if call.text is not None:
        return invocations(call.text, pattern, depth - 1)
    if call.script is not None:
        return pattern.find(_LINE_END.sub(" ", call.script.source))
    if call.file_at is not None:  # `bash ./todo add`
        return pattern.in_simple(simple, call.file_at)
    documents = [one.document for one in simple.redirects if one.document is not None]
    bodies = [one.body for one in documents if one.body is not None and is_literal(one.body.parts)]
    return [one for body in bodies for one in invocations(literal(body.parts), pattern, depth - 1)]


# ------------------------------------------------------------------------------------------- what is only said


def _said_in(simple: Simple, at: int) -> list[tuple[int, int]]:
    """Where words of a simple command begin and end that are no part of what it runs, which is the word `at`."""
    words = zip(simple.words, places_of_words(simple), strict=True)
    said = [place for index, (word, place) in enumerate(words) if index != at and _is_said(word)]
    for word in (redirect.target for redirect in simple.redirects):
        start = simple.source.find(word.source)
        said.append((start, start + len(word.source)))
    if not simple.words:
        said.append((0, len(simple.source)))
    return said


def _is_said(word: SyntaxWord) -> bool:
    """It is quoted, or has a script in it, whose commands are looked at by themselves."""
    return has_substitutions(word) or not is_literal(word.parts) or any(getattr(p, "quoted", False) for p in word.parts)


def _said(tree: Script) -> set[str]:
    """The lines of the quoted words and here-documents of a script."""
    documents = [one.body for one in nodes(tree) if isinstance(one, HereDocument) and one.body is not None]
    words = [word for simple in all_simples(tree) for word in simple.words if _is_said(word)]
    return {clean_text(line) for word in (*documents, *words) for line in _LINE_END.split(word.source) if line.strip()}


def _occurrences(texts: Iterable[str], line: str) -> list[tuple[int, int]]:
    there = [text for text in texts if text in line]
    return [match.span() for text in there for match in re.finditer(re.escape(text), line)]

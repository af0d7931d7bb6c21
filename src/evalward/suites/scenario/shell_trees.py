"""A call's script as a tree: its simple commands, what they run in the end, and the scripts inside of them."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, fields, is_dataclass
from typing import Any

from evalward.safety.syntax import (
    Block,
    Branches,
    Function,
    ListStep,
    LiteralText,
    Loop,
    Pipeline,
    Process,
    Script,
    Simple,
    Substitution,
    SyntaxWord,
)
from evalward.suites.scenario.wrappers import program_at

SHELLS = frozenset({"sh", "bash", "dash", "zsh", "ksh"})
INDIRECT = frozenset({"eval", "source", ".", "find", "parallel", "ssh", "watch"})
"""What runs commands and doesn't pass their exit code on, or reads them from elsewhere."""
ELSEWHERE = frozenset({"docker", "podman", "nerdctl", "kubectl", "su", "script"})
"""What may run commands that stand in its words, somewhere in them."""
NO_CODE = INDIRECT | ELSEWHERE | {"setsid", "xargs"}
"""What runs a command and ends with another code than it, or before it."""
SET_RULES = frozenset({"errexit", "nounset", "errtrace", "pipefail"})
"""What `set -o` may switch on without another shell."""
_VALUED = frozenset({"-O", "+O", "-o", "+o", "--rcfile", "--init-file"})


def nodes(node: Any) -> Iterator[Any]:
    """Every part of a tree, in the order in which they are written."""
    if isinstance(node, tuple):
        for item in node:
            yield from nodes(item)
    elif is_dataclass(node):
        yield node
        for field in fields(node):
            yield from nodes(getattr(node, field.name))


def all_simples(node: Any) -> list[Simple]:
    """Every simple command in a part of a tree, with those of substitutions."""
    return [one for one in nodes(node) if isinstance(one, Simple)]


def simples(node: Any) -> Iterator[Simple]:
    """The simple commands in a part of a tree, in order; without those of substitutions in their words."""
    if isinstance(node, Simple):
        yield node
    elif isinstance(node, tuple):
        for item in node:
            yield from simples(item)
    elif isinstance(node, Script | ListStep | Pipeline | Block | Function | Loop | Branches):
        for field in fields(node):
            yield from simples(getattr(node, field.name))


def has_substitutions(node: Any) -> bool:
    """Whether a part of a tree has scripts in its words."""
    return any(isinstance(one, Substitution | Process) for one in nodes(node))


def first_word(simple: Simple) -> str | None:
    """The first word of a command, where it is written as it stands: in quotes, too."""
    if not simple.words or not is_literal(simple.words[0].parts):
        return None
    return literal(simple.words[0].parts) or None


def text_of(word: SyntaxWord) -> str:
    """The word's text; as it is written where that is known only when it runs."""
    return literal(word.parts) if is_literal(word.parts) else word.source.strip("\"'")


def literal(parts: Sequence[Any]) -> str:
    """The literal text in the parts of a word."""
    return "".join(part.text for part in parts if isinstance(part, LiteralText))


def is_literal(parts: Sequence[Any]) -> bool:
    """Whether all of the word stands there as it is."""
    return all(isinstance(part, LiteralText) for part in parts)


def program_word(simple: Simple) -> int:
    """The place of the word that names what runs in the end, behind `env`, `timeout` and the like; the number of words
    where none does.
    """
    return program_at([text_of(word) for word in simple.words])


def program_run(simple: Simple) -> str:
    """The name of what runs in the end, without its folder; empty where nothing does."""
    return name_at(simple, program_word(simple))


def name_at(simple: Simple, at: int) -> str:
    """The name of the program that the word at this place is, without its folder; empty behind the last word."""
    return text_of(simple.words[at]).rpartition("/")[2] if at < len(simple.words) else ""


@dataclass(frozen=True)
class ShellCall:
    """`sh` with what it runs: a script, or the file at this place among its words. `plain`: by the rules that hold
    anywhere, and it runs.
    """

    script: SyntaxWord | None = None
    file_at: int | None = None
    plain: bool = False

    @property
    def text(self) -> str | None:
        """The script, where it is written as it stands."""
        return literal(self.script.parts) if self.script is not None and is_literal(self.script.parts) else None


def shell_call(simple: Simple) -> ShellCall | None:
    """What a shell is called with; `None` where no shell is called."""
    words, at = simple.words, program_word(simple)
    if name_at(simple, at) not in SHELLS:
        return None
    options, at = "", at + 1
    while at < len(words) and text_of(words[at])[:1] in {"-", "+"}:
        option = text_of(words[at])
        options += option.removeprefix("-") if not option.startswith("--") else ""
        at += 2 if option in _VALUED or re.fullmatch(r"-[a-z]*o", option) else 1
    if at >= len(words):
        return ShellCall()
    if "c" in options:
        return ShellCall(script=words[at], plain=set(options) <= set("cl"))
    return ShellCall(file_at=at, plain=not set(options) - set("l"))


def places_of_words(simple: Simple) -> list[tuple[int, int]]:
    """Where each word begins and ends in the command's source."""
    places, end = [], 0
    for source in [*(one.value.source for one in simple.assignments), *(one.source for one in simple.words)]:
        start = max(simple.source.find(source, end), end)
        end = start + len(source)
        places.append((start, end))
    return places[len(simple.assignments) :]

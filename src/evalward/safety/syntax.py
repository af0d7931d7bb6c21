"""The syntax tree of a shell command, as the parser builds it, before anything is expanded."""

from __future__ import annotations

from dataclasses import dataclass


class ParseError(ValueError):
    """The text is no complete shell command."""


@dataclass(frozen=True, slots=True)
class LiteralText:
    """Literal characters. ``quoted`` ones are never split, globbed or read as syntax."""

    text: str
    quoted: bool = False


@dataclass(frozen=True, slots=True)
class Glob:
    """An unquoted wildcard: ``*``, ``?``, ``[a-z]`` or an extended pattern such as ``!(x)``."""

    text: str


@dataclass(frozen=True, slots=True)
class Parameter:
    """``$name`` or ``${name<operator><argument>}``; ``prefix`` is ``!`` or ``#`` where one stands."""

    name: str
    operator: str = ""
    argument: SyntaxWord | None = None
    prefix: str = ""
    quoted: bool = False


@dataclass(frozen=True, slots=True)
class Substitution:
    """``$(script)`` or backticks."""

    script: Script
    quoted: bool = False


@dataclass(frozen=True, slots=True)
class Process:
    """``<(script)`` or ``>(script)``; ``direction`` is the first character."""

    script: Script
    direction: str


@dataclass(frozen=True, slots=True)
class Arithmetic:
    """``$((…))``: a number, but substitutions inside it run."""

    word: SyntaxWord


Part = LiteralText | Glob | Parameter | Substitution | Process | Arithmetic


@dataclass(frozen=True, slots=True)
class SyntaxWord:
    """One word as written; ``source`` is its exact text."""

    parts: tuple[Part, ...]
    source: str

    def keyword(self) -> str:
        """Return the text when the word is plain and unquoted, else an empty string."""
        if len(self.parts) == 1 and isinstance(self.parts[0], LiteralText) and not self.parts[0].quoted:
            return self.parts[0].text
        return ""


@dataclass(frozen=True, slots=True)
class Assignment:
    """``name=value``, ``name+=value`` or ``name=(elements)``."""

    name: str
    value: SyntaxWord
    append: bool = False
    elements: tuple[SyntaxWord, ...] | None = None


@dataclass(slots=True)
class HereDocument:
    """Text that follows on later lines. Mutable: the body is read after its redirection was."""

    delimiter: str
    expands: bool
    strips_tabs: bool
    body: SyntaxWord | None = None


@dataclass(frozen=True, slots=True)
class Redirect:
    """One redirection; ``target`` is a file, a descriptor or, for ``<<<``, the text itself."""

    operator: str
    descriptor: str
    target: SyntaxWord
    document: HereDocument | None = None


@dataclass(frozen=True, slots=True)
class Simple:
    """A program with its words."""

    assignments: tuple[Assignment, ...]
    words: tuple[SyntaxWord, ...]
    redirects: tuple[Redirect, ...]
    source: str


@dataclass(frozen=True, slots=True)
class Pipeline:
    """Two or more commands, each reading what the one before prints."""

    stages: tuple[Node, ...]


@dataclass(frozen=True, slots=True)
class Block:
    """``{ … }`` or, with ``subshell``, ``( … )``."""

    body: Script
    redirects: tuple[Redirect, ...]
    subshell: bool


@dataclass(frozen=True, slots=True)
class Loop:
    """``for``, ``select``, ``while`` and ``until``. ``endless`` when nothing in it can end it."""

    kind: str
    variable: str
    items: tuple[SyntaxWord, ...]
    condition: Script
    body: Script
    redirects: tuple[Redirect, ...]


@dataclass(frozen=True, slots=True)
class Branches:
    """``if`` and ``case``: each of ``scripts`` may run. ``words`` are only compared."""

    words: tuple[SyntaxWord, ...]
    scripts: tuple[Script, ...]
    redirects: tuple[Redirect, ...]


@dataclass(frozen=True, slots=True)
class Function:
    """A definition; the body runs when the function is called."""

    name: str
    body: Node


@dataclass(frozen=True, slots=True)
class Condition:
    """``[[ … ]]`` and ``(( … ))``: only substitutions inside run."""

    words: tuple[SyntaxWord, ...]
    redirects: tuple[Redirect, ...]


Node = Simple | Pipeline | Block | Loop | Branches | Function | Condition


@dataclass(frozen=True, slots=True)
class ListStep:
    """One command of a list and the operator that follows it (``;``, ``&``, ``&&`` or ``||``).

    ``inverted``: ``!`` or ``coproc`` stands before it, so that its exit code isn't its last command's.
    """

    node: Node
    operator: str
    inverted: bool = False


@dataclass(frozen=True, slots=True)
class Script:
    """A list of commands."""

    steps: tuple[ListStep, ...]

"""Words after expansion, and what commands print: the two kinds of values that rules look at."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from enum import Enum, auto
from functools import lru_cache


class PieceKind(Enum):
    """What a piece of a word is made of."""

    TEXT = auto()
    GLOB = auto()
    HOME = auto()
    UNKNOWN = auto()
    """A variable, or the output of a command, whose value is not known."""


@dataclass(frozen=True, slots=True)
class WordPiece:
    """A part of a word. ``flow`` says where the value of an unknown piece comes from, if that is known."""

    kind: PieceKind
    text: str
    flow: Flow | None = None


@dataclass(frozen=True, slots=True)
class Word:
    """One argument. ``text`` shows unknown pieces as ``$name`` and the home folder as ``~``."""

    pieces: tuple[WordPiece, ...]
    text: str
    opaque: bool
    glob: bool
    home: bool

    @property
    def literal(self) -> bool:
        """Whether the text is exactly what the program gets."""
        return not (self.opaque or self.glob)

    @property
    def flows(self) -> tuple[Flow, ...]:
        """What is known about the unknown pieces."""
        return tuple(piece.flow for piece in self.pieces if piece.flow is not None)

    def after(self, count: int) -> Word:
        """Return the word without its first ``count`` characters (which must be literal)."""
        pieces = list(self.pieces)
        while pieces and count >= len(pieces[0].text):
            count -= len(pieces.pop(0).text)
        if pieces and count:
            pieces[0] = WordPiece(pieces[0].kind, pieces[0].text[count:], pieces[0].flow)
        return make_word(pieces)


@dataclass(frozen=True, slots=True)
class Flow:
    """What a command prints, as far as it can be known without running it.

    ``content`` is the text where it is known, ``names`` the files it lists. The flags describe where unknown
    text comes from: ``remote`` the network, ``secret`` credentials, ``disguised`` a decoder that hides
    commands, ``local`` a file on this machine, ``personal`` what somebody has copied or sees on the screen.
    ``source`` names the command.
    """

    content: Word | None = None
    names: tuple[Word, ...] = ()
    remote: bool = False
    secret: bool = False
    disguised: bool = False
    local: bool = False
    personal: bool = False
    source: str = ""

    @property
    def private(self) -> bool:
        """Whether it must not be sent to just anybody."""
        return self.secret or self.personal

    @property
    def text(self) -> str | None:
        """The printed text when all of it is known."""
        return self.content.text if self.content is not None and self.content.literal else None


def names(text: str) -> frozenset[str]:
    """Return the words of ``text`` as a set: how tables of names are written here."""
    return frozenset(text.split())


_WILDCARD = re.compile(r"[*?]|\[[^\]\s]+\]")


def make_word(pieces: Iterable[WordPiece]) -> Word:
    """Join ``pieces`` to one word."""
    kept = tuple(piece for piece in pieces if piece.text)
    return Word(
        kept,
        "".join(piece.text for piece in kept),
        any(piece.kind is PieceKind.UNKNOWN for piece in kept),
        any(piece.kind is PieceKind.GLOB for piece in kept),
        any(piece.kind is PieceKind.HOME for piece in kept),
    )


def literal(text: str) -> Word:
    """Return a word of exactly ``text``."""
    return Word((WordPiece(PieceKind.TEXT, text),) if text else (), text, False, False, False)


def unknown(name: str, flow: Flow | None = None) -> Word:
    """Return a word whose value is not known."""
    return Word((WordPiece(PieceKind.UNKNOWN, name, flow),), name, True, False, False)


def pattern(text: str) -> Word:
    """Return a word in which wildcards are live and a leading ``~`` is the home folder."""
    pieces: list[WordPiece] = []
    if text == "~" or text.startswith("~/"):
        pieces.append(WordPiece(PieceKind.HOME, "~"))
        text = text[1:]
    return make_word((*pieces, *live_wildcards(text)))


def live_wildcards(text: str) -> Iterable[WordPiece]:
    """Cut ``text`` into literal pieces and wildcards."""
    start = 0
    for match in _WILDCARD.finditer(text):
        yield WordPiece(PieceKind.TEXT, text[start : match.start()])
        yield WordPiece(PieceKind.GLOB, match[0])
        start = match.end()
    yield WordPiece(PieceKind.TEXT, text[start:])


def joined(words: Iterable[Word], separator: str = " ") -> Word:
    """Join words to one, as ``eval`` and ``echo`` do."""
    pieces: list[WordPiece] = []
    for index, word in enumerate(words):
        if index:
            pieces.append(WordPiece(PieceKind.TEXT, separator))
        pieces.extend(word.pieces)
    return make_word(pieces)


def show(words: Iterable[Word], limit: int = 160) -> str:
    """Return words as one line for a message, cut to ``limit`` characters."""
    return in_a_line(" ".join(word.text if word.text else "''" for word in words), limit)


@lru_cache(maxsize=64)  # each of a thousand findings about one long command shows it
def in_a_line(text: str, limit: int = 160) -> str:
    """Return a command as one line for a message: continued lines are joined, cut to ``limit`` characters."""
    line = " ".join(text.replace("\\\n", " ").split())
    return line if len(line) <= limit else line[: limit - 1] + "…"


def merge_flows(flows: Iterable[Flow]) -> Flow:
    """Return what several commands print one after the other."""
    parts = [flow for flow in flows if flow.text != ""]
    if len(parts) == 1:
        return parts[0]
    contents = [flow.content for flow in parts if flow.content is not None]
    known = len(contents) == len(parts)
    return Flow(
        content=joined(contents, "\n") if known else None,
        names=tuple(name for flow in parts for name in flow.names),
        remote=any(flow.remote for flow in parts),
        secret=any(flow.secret for flow in parts),
        disguised=any(flow.disguised for flow in parts),
        local=bool(parts) and all(flow.local for flow in parts),
        personal=any(flow.personal for flow in parts),
        source="; ".join(flow.source for flow in parts if flow.source),
    )


NOTHING = Flow(content=literal(""))
"""What a silent command prints."""

ANYTHING = Flow()
"""Output of which nothing is known."""

"""From the words of the tree to the words a program gets: quotes, variables, substitutions, splitting."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import replace

from evalward.safety.braces import expand_braces, has_braces
from evalward.safety.parameters import apply_operator
from evalward.safety.scope import Scope, unknown_variable
from evalward.safety.syntax import (
    Arithmetic,
    Glob,
    LiteralText,
    Parameter,
    Part,
    Process,
    Script,
    Substitution,
    SyntaxWord,
)
from evalward.safety.words import (
    ANYTHING,
    Flow,
    PieceKind,
    Word,
    WordPiece,
    literal,
    live_wildcards,
    make_word,
)

_SPACE = re.compile(r"[ \t\n]+")
_TILDE = re.compile(r"(?P<name>(?:\w+=)?)~(?P<user>[A-Za-z_][\w.-]*)?(?=/|\Z)")
_LONGEST = 2500
_NUMBER = WordPiece(PieceKind.TEXT, "12345")

RunScript = Callable[[Script, Flow | None], Flow]
"""Judges the commands of a substitution, given what they read, and returns what they print."""


class Expander:
    """Expands words with the variables of one scope."""

    def __init__(self, scope: Scope, run: RunScript) -> None:
        """Use ``scope`` for names and ``run`` for substitutions."""
        self._scope = scope
        self._run = run

    def words(self, words: Iterable[SyntaxWord]) -> tuple[Word, ...]:
        """Expand the words of a command."""
        found: list[Word] = []
        for word in words:
            if len(word.parts) == 1 and isinstance(word.parts[0], LiteralText) and not has_braces(word.parts):
                found.append(self._plain(word.parts[0]))
                continue
            choices = expand_braces(word.parts) if has_braces(word.parts) else [word.parts]
            for parts in choices:
                found.extend(self._fields(parts))
        return tuple(found)

    def one(self, word: SyntaxWord) -> Word:
        """Expand a word that is not split: an assigned value, a file of a redirection, a here-document."""
        pieces: list[WordPiece] = []
        for index, part in enumerate(word.parts):
            values = self._values(part, first=index == 0)
            for number, value in enumerate(values):
                if number:
                    pieces.append(WordPiece(PieceKind.TEXT, " "))
                pieces.extend(value)
        return make_word(self._bounded(pieces))

    def _plain(self, part: LiteralText) -> Word:
        return make_word(self._tilde(part.text)) if not part.quoted and "~" in part.text else literal(part.text)

    def _fields(self, parts: tuple[Part, ...]) -> list[Word]:
        fields: list[list[WordPiece]] = [[]]
        kept = False  # a quoted empty string is a word of its own
        for index, part in enumerate(parts):
            values = self._values(part, first=index == 0)
            kept = kept or (isinstance(part, LiteralText) and part.quoted)
            if isinstance(part, (Parameter, Substitution)) and not part.quoted:
                values = [field for value in values for field in _split(value, self._separators())]
            kept = kept or (isinstance(part, (Parameter, Substitution)) and part.quoted and bool(values))
            for number, value in enumerate(values):
                if number:
                    fields.append([])
                fields[-1].extend(value)
        words = [make_word(self._bounded(field)) for field in fields]
        return [word for word in words if word.pieces] or ([literal("")] if kept else [])

    def _separators(self) -> re.Pattern[str]:
        value = self._scope.variables.get("IFS")
        characters = value[0].text if value else ""
        return re.compile(f"[{re.escape(characters)}]+") if characters.strip() else _SPACE

    def _bounded(self, pieces: list[WordPiece]) -> list[WordPiece]:
        size = sum(len(piece.text) for piece in pieces)
        return pieces if size <= _LONGEST else [WordPiece(PieceKind.UNKNOWN, "$…", ANYTHING)]

    def _values(self, part: Part, first: bool) -> list[list[WordPiece]]:
        """Return the fields a part expands to: mostly one, several for ``$@``."""
        if isinstance(part, LiteralText):
            if first and not part.quoted and "~" in part.text:
                return [self._tilde(part.text)]
            return [[WordPiece(PieceKind.TEXT, part.text)]]
        if isinstance(part, Glob):
            return [[WordPiece(PieceKind.GLOB, part.text)]]
        if isinstance(part, Parameter):
            return [list(word.pieces) for word in self._parameter(part)]
        if isinstance(part, Substitution):
            return self._substitution(part)
        if isinstance(part, Arithmetic):
            self.one(part.word)  # for the substitutions inside
            return [[_NUMBER]]
        return [[self._process(part)]]

    def _tilde(self, text: str) -> list[WordPiece]:
        """Replace ``~`` at the start of a word or of the value in ``name=~/path``."""
        match = _TILDE.match(text)
        if not match:
            return [WordPiece(PieceKind.TEXT, text)]
        ends = [WordPiece(PieceKind.TEXT, match["name"]), WordPiece(PieceKind.TEXT, text[match.end() :])]
        user = match["user"]
        if not user:
            home = WordPiece(PieceKind.HOME, "~")
        else:
            home = WordPiece(PieceKind.TEXT, "/root" if user == "root" else f"/home/{user}")
        return [ends[0], home, ends[1]]

    def _parameter(self, part: Parameter) -> tuple[Word, ...]:
        if part.prefix == "#":
            return (literal("5"),)
        value = None if part.prefix else self._scope.lookup(part.name)
        argument = self.one(part.argument) if part.argument is not None else literal("")
        if part.operator:
            return apply_operator(part.name, value, part.operator, argument, self._scope)
        return value if value is not None else (unknown_variable(part.name),)

    def _substitution(self, part: Substitution) -> list[list[WordPiece]]:
        flow = self._run(part.script, None)
        if flow.content is not None:
            return [_without_final_newlines(flow.content)]
        if flow.names and not part.quoted:
            return [[replace(piece, flow=flow) for piece in name.pieces] for name in flow.names]
        label = f"$({flow.source})" if flow.source else "$(…)"
        return [[WordPiece(PieceKind.UNKNOWN, label, flow)]]

    def _process(self, part: Process) -> WordPiece:
        flow = self._run(part.script, ANYTHING if part.direction == ">" else None)
        label = f"{part.direction}({flow.source})" if flow.source else f"{part.direction}(…)"
        return WordPiece(PieceKind.UNKNOWN, label, flow)


def _without_final_newlines(content: Word) -> list[WordPiece]:
    pieces = list(content.pieces)
    while pieces and pieces[-1].kind is PieceKind.TEXT and pieces[-1].text.endswith("\n"):
        stripped = pieces.pop().text.rstrip("\n")
        if stripped:
            pieces.append(WordPiece(PieceKind.TEXT, stripped))
    return pieces


def _split(pieces: list[WordPiece], separators: re.Pattern[str]) -> list[list[WordPiece]]:
    """Split an unquoted value at separators and let its wildcards live."""
    fields: list[list[WordPiece]] = [[]]
    for piece in pieces:
        if piece.kind is not PieceKind.TEXT:
            fields[-1].append(piece)
            continue
        for number, text in enumerate(separators.split(piece.text)):
            if number:
                fields.append([])
            fields[-1].extend(live_wildcards(text))
    return fields

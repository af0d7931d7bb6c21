"""Reads what surrounds the words of a simple command: line breaks, redirections, assignments."""

from __future__ import annotations

import re

from evalward.safety.lexer import Lexer, literal_word
from evalward.safety.syntax import (
    Assignment,
    HereDocument,
    LiteralText,
    ParseError,
    Redirect,
    SyntaxWord,
)

_REDIRECT = re.compile(r"(?P<fd>\d+|\{\w+\})?(?P<op>&>>|&>|<<<|<<-|<<|<>|<&|>>|>&|>\||<(?!\()|>(?!\())")
_ASSIGNMENT = re.compile(r"(?P<name>[A-Za-z_]\w*)(?:\[[^\]\s]*\])?(?P<append>\+?)=", re.ASCII)


class ArgumentReader(Lexer):
    """A lexer that also knows redirections, assignments and where lines end."""

    def lines(self) -> None:
        """Skip blanks, comments and line breaks."""
        while True:
            self.blanks()
            char = self.peek()
            if char == "#":
                stop = self.text.find("\n", self.pos)
                self.pos = self.end if stop < 0 else stop
            elif char == "\n":
                self.newline()
            else:
                return

    def next_word(self) -> SyntaxWord | None:
        """Read the next word of a command, or nothing when a comment or an operator follows."""
        self.blanks()
        return None if self.peek() == "#" else self.word()

    def redirects(self) -> tuple[Redirect, ...]:
        """Read the redirections that follow a compound command."""
        found: list[Redirect] = []
        while True:
            self.blanks()
            redirect = self.redirect()
            if redirect is None:
                return tuple(found)
            found.append(redirect)

    def redirect(self) -> Redirect | None:
        """Read one redirection, or nothing when none stands here."""
        match = _REDIRECT.match(self.text, self.pos)
        if not match:
            return None
        self.pos = match.end()
        self.blanks()
        target = self.word()
        if target is None:
            raise ParseError(f"nothing follows {match['op']}")
        if match["op"] not in ("<<", "<<-"):
            return Redirect(match["op"], match["fd"] or "", target)
        quoted = any(isinstance(part, LiteralText) and part.quoted for part in target.parts)
        delimiter = "".join(part.text for part in target.parts if isinstance(part, LiteralText))
        document = HereDocument(delimiter, not quoted, match["op"] == "<<-")
        self.expect_document(document)
        return Redirect("<<", match["fd"] or "", target, document)

    def assignment(self, declares: bool) -> Assignment | None:
        """Read ``name=value``; of the arguments of ``export`` and the like only arrays are read here."""
        match = _ASSIGNMENT.match(self.text, self.pos)
        if not match:
            return None
        is_array = self.text.startswith("(", match.end())
        if declares and not is_array:
            return None  # an ordinary argument of export and the like
        self.pos = match.end()
        if is_array:
            value, elements = literal_word(""), self._array()
        else:
            value, elements = self.word() or literal_word(""), None
        return Assignment(match["name"], value, match["append"] == "+", elements)

    def _array(self) -> tuple[SyntaxWord, ...]:
        self.pos += 1
        words: list[SyntaxWord] = []
        while True:
            self.lines()
            word = self.word()
            if word is not None:
                words.append(word)
            elif self.peek() == ")":
                self.pos += 1
                return tuple(words)
            else:
                raise ParseError("unterminated array")

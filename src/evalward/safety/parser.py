"""The grammar of the shell: from text to the tree of ``syntax.py`` by recursive descent."""

from __future__ import annotations

import re
from collections.abc import Callable

from evalward.safety.arguments import ArgumentReader
from evalward.safety.lexer import DEPTH_LIMIT
from evalward.safety.syntax import (
    Assignment,
    Block,
    Branches,
    Condition,
    Function,
    ListStep,
    Loop,
    Node,
    Parameter,
    ParseError,
    Pipeline,
    Redirect,
    Script,
    Simple,
    SyntaxWord,
)

_KEYWORD = re.compile(
    r"(?:if|then|elif|else|fi|for|while|until|do|done|case|esac|select|function|time|coproc|in|\{|\}|!|\[\[)"
    r"(?=[\s;&|()<>]|$)"
)
_PREFIX = re.compile(r"!(?=[\s(]|$)|time(?:[ \t]+-p)?(?=[\s(])|coproc(?=[\s(])(?:[ \t]+\w+(?=[ \t]+[({]))?")
_FUNCTION = re.compile(r"\([ \t]*\)")
_WORDS_INSIDE = re.compile(r"[(\s]+[A-Za-z_./]+\s+(?:-[A-Za-z]|[/~\w\"'])")
"""``((rm -rf /))`` is an error in bash, but two subshells in shells that have no such arithmetic."""
_SEPARATOR = re.compile(r"&&|\|\||;(?![;&])|&(?!>)")
_DECLARATIONS = frozenset({"declare", "typeset", "local", "readonly", "export"})
_NOTHING: frozenset[str] = frozenset()
_ALL_ARGUMENTS = (SyntaxWord((Parameter("@", quoted=True),), '"$@"'),)


def parse(text: str, depth: int = 0) -> Script:
    """Return the tree of ``text``; ``depth`` is the nesting that already surrounds it."""
    return Parser(text, depth).enclosed_script("")


class Parser(ArgumentReader):
    """Recursive descent over one command text."""

    def enclosed_script(self, closer: str) -> Script:
        """Read commands up to and including ``closer``, or to the end when it is empty."""
        script = self._script(_NOTHING)
        self._expect(closer)
        return script

    def _expect(self, closer: str) -> None:
        if closer and not self.text.startswith(closer, self.pos):
            raise ParseError(f"expected {closer!r}")
        if not closer and self.pos < self.end:
            raise ParseError(f"unexpected {self.peek()!r}")
        self.pos += len(closer)

    def _script(self, closers: frozenset[str]) -> Script:
        """Read a list of commands until one of the reserved words ``closers``, a ``)`` or the end."""
        self.depth += 1
        if self.depth > DEPTH_LIMIT:
            raise ParseError("nested too deeply")
        steps: list[ListStep] = []
        while not self._at_list_end(closers):
            node, inverted = self._pipeline()
            steps.append(ListStep(node, self._operator(), inverted))
        if steps and steps[-1].operator in ("&&", "||"):
            raise ParseError(f"nothing follows {steps[-1].operator}")
        self.depth -= 1
        return Script(tuple(steps))

    def _at_list_end(self, closers: frozenset[str]) -> bool:
        self.lines()
        if self.pos >= self.end or self.peek() == ")" or self.peek(2) in (";;", ";&"):
            return True
        return self._keyword() in closers

    def _operator(self) -> str:
        self.blanks()
        match = _SEPARATOR.match(self.text, self.pos)
        if match:
            self.pos = match.end()
            return match[0]
        ends = self.pos >= self.end or self.peek() in ("\n", "#", ")", ";")
        if not ends:
            raise ParseError(f"unexpected {self.peek()!r}")
        return ";"

    def _keyword(self) -> str:
        match = _KEYWORD.match(self.text, self.pos)
        return match[0] if match else ""

    def _take(self, keyword: str) -> bool:
        self.lines()
        if self._keyword() != keyword:
            return False
        self.pos += len(keyword)
        return True

    def _require(self, keyword: str) -> None:
        if not self._take(keyword):
            raise ParseError(f"expected {keyword!r}")

    def _pipeline(self) -> tuple[Node, bool]:
        """Read a pipeline, and whether its exit code is another one than its last command's."""
        inverted = self._prefixes()
        stages = [self._command()]
        while self._pipe():
            self.lines()
            inverted |= self._prefixes()
            stages.append(self._command())
        return (stages[0] if len(stages) == 1 else Pipeline(tuple(stages))), inverted

    def _pipe(self) -> bool:
        self.blanks()
        if self.peek() != "|" or self.peek(2) == "||":
            return False
        self.pos += 2 if self.peek(2) == "|&" else 1
        return True

    def _prefixes(self) -> bool:
        """Skip ``!``, ``time`` and ``coproc``, which change nothing about what runs: whether the exit code changes."""
        self.blanks()
        match, inverted = _PREFIX.match(self.text, self.pos), False
        while match:
            inverted |= not match[0].startswith("time")
            self.pos = match.end()
            self.blanks()
            match = _PREFIX.match(self.text, self.pos)
        return inverted

    def _command(self) -> Node:
        if self._at_arithmetic():
            return self._arithmetic_command()
        if self.peek() == "(":
            return self._subshell()
        keyword = self._keyword()
        if keyword in _COMPOUNDS:
            self.pos += len(keyword)
            return _COMPOUNDS[keyword](self)
        if keyword and keyword not in ("in", "time"):
            raise ParseError(f"unexpected {keyword!r}")
        return self._simple()

    def _at_arithmetic(self) -> bool:
        if self.peek(2) != "((" or self.arithmetic_end(self.pos + 2) is None:
            return False
        return not _WORDS_INSIDE.match(self.text, self.pos)

    def _expression(self) -> str:
        stop = self.arithmetic_end(self.pos + 2)
        if stop is None:
            raise ParseError("unterminated ((")
        inner = self.text[self.pos + 2 : stop]
        self.pos = stop + 2
        return inner

    def _arithmetic_command(self) -> Node:
        word = self._fork(self._expression()).quoted_text()
        return Condition((word,), self.redirects())

    def _subshell(self) -> Node:
        self.pos += 1
        body = self.enclosed_script(")")
        return Block(self._filled(body), self.redirects(), subshell=True)

    def _braces(self) -> Node:
        return Block(self._block("}"), self.redirects(), subshell=False)

    def _block(self, closer: str) -> Script:
        body = self._filled(self._script(frozenset({closer})))
        self._require(closer)
        return body

    def _filled(self, script: Script) -> Script:
        if not script.steps:
            raise ParseError("empty block")
        return script

    def _if(self) -> Node:
        scripts = [self._block("then")]
        closers = frozenset({"elif", "else", "fi"})
        while True:
            scripts.append(self._filled(self._script(closers)))
            if self._take("elif"):
                scripts.append(self._block("then"))
                continue
            if self._take("else"):
                scripts.append(self._block("fi"))
            else:
                self._require("fi")
            return Branches((), tuple(scripts), self.redirects())

    def _while(self) -> Node:
        condition = self._block("do")
        body = self._block("done")
        return Loop("while", "", (), condition, body, self.redirects())

    def _for(self) -> Node:
        self.blanks()
        if self.peek(2) == "((":
            return self._counting_for()
        variable = self.word()
        if variable is None:
            raise ParseError("expected a loop variable")
        items = self._items() if self._take("in") else _ALL_ARGUMENTS
        self._optional_semicolon()
        return Loop("for", variable.source, items, Script(()), self._loop_body(), self.redirects())

    def _optional_semicolon(self) -> None:
        self.blanks()
        if self.peek() == ";":
            self.pos += 1

    def _items(self) -> tuple[SyntaxWord, ...]:
        words: list[SyntaxWord] = []
        while True:
            word = self.next_word()
            if word is None:
                return tuple(words)
            words.append(word)

    def _counting_for(self) -> Node:
        inner = self._expression()
        items = (self._fork(inner).quoted_text(),)
        self._optional_semicolon()
        kind = "endless" if inner.replace(" ", "").startswith(";;") else "count"
        return Loop(kind, "", items, Script(()), self._loop_body(), self.redirects())

    def _loop_body(self) -> Script:
        if self._take("{"):
            return self._block("}")
        self._require("do")
        return self._block("done")

    def _case(self) -> Node:
        self.blanks()
        subject = self.word()
        self._require("in")
        words = [subject] if subject else []
        scripts: list[Script] = []
        while not self._take("esac"):
            self._case_patterns(words)
            scripts.append(self._script(frozenset({"esac"})))
            self.lines()
            if self.peek(2) in (";;", ";&"):
                self.pos += 3 if self.peek(3) == ";;&" else 2
            elif self._keyword() != "esac":
                raise ParseError("unterminated case")
        return Branches(tuple(words), tuple(scripts), self.redirects())

    def _case_patterns(self, words: list[SyntaxWord]) -> None:
        if self.peek() == "(":
            self.pos += 1
        while True:
            self.blanks()
            word = self.word()
            if word is None:
                raise ParseError("expected a pattern")
            words.append(word)
            self.blanks()
            separator = self.peek()
            self.pos += 1
            if separator == ")":
                return
            if separator != "|":
                raise ParseError("expected ')' after the pattern")

    def _function_keyword(self) -> Node:
        self.blanks()
        name = self.word()
        if name is None:
            raise ParseError("expected a function name")
        self.blanks()
        match = _FUNCTION.match(self.text, self.pos)
        self.pos = match.end() if match else self.pos
        return self._function(name.source)

    def _function(self, name: str) -> Node:
        self.lines()
        body = self._command()
        return Function(name, body)

    def _test(self) -> Node:
        words: list[SyntaxWord] = []
        while True:
            self.lines()
            word = self.word()
            if word is None:
                self._test_operator()
                continue
            if word.source == "]]":
                return Condition(tuple(words), self.redirects())
            words.append(word)

    def _test_operator(self) -> None:
        """Step over what is an operator only inside ``[[``, or a part of a regular expression."""
        if self.pos >= self.end or self.peek() == ";":
            raise ParseError("unterminated [[")
        self.pos += 1

    def _simple(self) -> Node:
        start = self.pos
        assignments: list[Assignment] = []
        words: list[SyntaxWord] = []
        redirects: list[Redirect] = []
        while True:
            self.blanks()
            redirect = self.redirect()
            if redirect:
                redirects.append(redirect)
                continue
            declares = bool(words) and words[0].source in _DECLARATIONS
            assignment = self.assignment(declares) if declares or not words else None
            if assignment:
                assignments.append(assignment)
                continue
            word = self.next_word()
            if word is None:
                break
            words.append(word)
        if len(words) == 1 and not assignments and _FUNCTION.match(self.text, self.pos):
            self.pos = self.text.index(")", self.pos) + 1
            return self._function(words[0].source)
        if not (words or assignments or redirects):
            raise ParseError(f"expected a command before {self.peek() or 'the end'!r}")
        source = self.text[start : self.pos].strip()
        return Simple(tuple(assignments), tuple(words), tuple(redirects), source)


_COMPOUNDS: dict[str, Callable[[Parser], Node]] = {
    "{": Parser._braces,
    "if": Parser._if,
    "for": Parser._for,
    "select": Parser._for,
    "while": Parser._while,
    "until": Parser._while,
    "case": Parser._case,
    "function": Parser._function_keyword,
    "[[": Parser._test,
}

"""Reads a call's script: its tree, with the programs in the place of the variables that name them.

In `T=./todo; $T add` the second command runs `./todo`. Known is a variable that the script sets to one value. One that
gets several, or that a loop or `read` sets, stays as it is written.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import fields, is_dataclass, replace
from functools import lru_cache
from typing import Any

from evalward.safety.parser import parse
from evalward.safety.syntax import LiteralText, Loop, Parameter, ParseError, Script, Simple, SyntaxWord
from evalward.suites.scenario.shell_trees import all_simples, is_literal, literal, nodes, places_of_words, program_word

SCRIPT_LIMIT = 20_000  # characters of a call that are read as shell

_DECLARING = frozenset({"export", "local", "declare", "typeset", "readonly"})
_SETTING = frozenset({"read", "unset", "mapfile", "readarray", "getopts", "printf", "let"})
"""What sets the variables that it names to something that no script tells."""


@lru_cache(maxsize=256)
def parsed(call: str) -> Script | None:
    """The call's syntax tree; `None` where it is no shell that we can read."""
    if len(call) > SCRIPT_LIMIT:
        return None
    try:
        return _with_programs(parse(call))
    except (ParseError, RecursionError):
        return None


def _with_programs(tree: Script) -> Script:
    if not any(_variable(simple) for simple in all_simples(tree)):
        return tree
    named: Script = _named(tree, _values(tree))
    return named


def _variable(simple: Simple) -> Parameter | None:
    """The variable that is all of the word for the program."""
    at = program_word(simple)
    parts = simple.words[at].parts if at < len(simple.words) else ()
    only = parts[0] if len(parts) == 1 else None
    if not isinstance(only, Parameter) or only.operator or only.prefix:
        return None
    return only


def _values(tree: Script) -> Mapping[str, SyntaxWord]:
    """The variables with one value."""
    found: dict[str, dict[str, SyntaxWord]] = {}
    changing = {one.variable for one in nodes(tree) if isinstance(one, Loop)}
    for simple in all_simples(tree):
        for name, value in _set_by(simple):
            found.setdefault(name, {})[value.source] = value
        changing |= _changed_by(simple)
    return {name: next(iter(each.values())) for name, each in found.items() if len(each) == 1 and name not in changing}


def _set_by(simple: Simple) -> Iterator[tuple[str, SyntaxWord]]:
    """What it sets for the commands behind it: `T=x` alone, or `export T=x`."""
    if not simple.words:
        yield from ((one.name, one.value) for one in simple.assignments)
    elif simple.words[0].keyword() in _DECLARING:
        for word in simple.words[1:]:
            name, equals, value = word.source.partition("=")
            parts = word.parts
            if equals and isinstance(parts[0], LiteralText):
                rest = (replace(parts[0], text=parts[0].text.partition("=")[2]), *parts[1:])
                yield name, SyntaxWord(rest, value)


def _changed_by(simple: Simple) -> set[str]:
    """The variables that it may give any value."""
    changed = {one.name for one in simple.assignments if one.append or one.elements is not None}
    if simple.words and simple.words[0].keyword() in _SETTING:
        changed |= {word.keyword() for word in simple.words[1:]}
    return changed


def _named(node: Any, values: Mapping[str, SyntaxWord]) -> Any:
    if isinstance(node, tuple):
        return tuple(_named(item, values) for item in node)
    if not is_dataclass(node):
        return node
    changes = {field.name: _named(getattr(node, field.name), values) for field in fields(node)}
    copied: Any = replace(node, **changes)  # type: ignore[type-var]
    return _with_program(copied, values) if isinstance(copied, Simple) else copied


def _with_program(simple: Simple, values: Mapping[str, SyntaxWord]) -> Simple:
    variable = _variable(simple)
    value = values.get(variable.name) if variable else None
    words = _words_of(value, variable) if value is not None and variable is not None else ()
    if not words:
        return simple
    at = program_word(simple)
    start, end = places_of_words(simple)[at]
    source = simple.source[:start] + " ".join(word.source for word in words) + simple.source[end:]
    return replace(simple, words=(*simple.words[:at], *words, *simple.words[at + 1 :]), source=source)


def _words_of(value: SyntaxWord, variable: Parameter) -> tuple[SyntaxWord, ...]:
    """The words that a variable of this value is; none where that is known only when it runs."""
    if is_literal(value.parts):
        text = literal(value.parts)
        return tuple(SyntaxWord((LiteralText(each),), each) for each in ([text] if variable.quoted else text.split()))
    name = value.source.strip("\"'").rpartition("/")[2]
    if not name or name.strip("\"'`)}") != name or "$" in name:
        return ()
    return (SyntaxWord((variable, LiteralText(f"/{name}")), value.source),)  # `$PWD/todo`: its folder isn't known

"""The operators of ``${name…}``: defaults, trimming, replacing, cutting, case."""

from __future__ import annotations

import re
from collections.abc import Callable
from fnmatch import translate

from evalward.safety.scope import Scope, unknown_variable
from evalward.safety.words import Word, literal, pattern

_SLICE = re.compile(r"\s*(-?\d+)\s*(?::\s*(-?\d+)\s*)?\Z")
_ROOTED = frozenset({"HOME", "PWD", "OLDPWD", "PATH", "SHELL", "TMPDIR", "BASH"})
"""Variables that start with a slash: ``${PATH:0:1}`` is a way to write ``/``."""

_LONGEST = 300
"""Longer values are not transformed: matching is quadratic."""

Value = tuple[Word, ...]


def apply_operator(name: str, value: Value | None, operator: str, argument: Word, scope: Scope) -> Value:
    """Return what ``${name<operator><argument>}`` expands to."""
    if operator.lstrip(":") in ("-", "=", "?", "+"):
        return _default(name, value, operator, argument, scope)
    if operator == ":" and name in _ROOTED and argument.text.replace(" ", "") == "0:1":
        return (literal("/"),)
    if value is None or any(word.opaque or word.home or len(word.text) > _LONGEST for word in value):
        return (unknown_variable(name),)
    transform = _TRANSFORMS.get(operator)
    if transform is None:
        return (unknown_variable(name),)
    return tuple(pattern(transform(word.text, operator, argument.text)) for word in value)


def _default(name: str, value: Value | None, operator: str, argument: Word, scope: Scope) -> Value:
    kind = operator[-1]
    is_empty = value is not None and operator[0] == ":" and all(not word.text for word in value)
    if kind == "+":
        return (argument,)
    if kind == "?":
        return value if value is not None else (unknown_variable(name),)
    if value is not None and not is_empty:
        return value
    if kind == "=":
        scope.variables[name] = (argument,)
    return (argument,)


def _trim_start(text: str, operator: str, pattern_text: str) -> str:
    ends = range(len(text) + 1) if operator == "#" else range(len(text), -1, -1)
    matches = _matcher(pattern_text)
    return next((text[end:] for end in ends if matches(text[:end])), text)


def _trim_end(text: str, operator: str, pattern_text: str) -> str:
    starts = range(len(text), -1, -1) if operator == "%" else range(len(text) + 1)
    matches = _matcher(pattern_text)
    return next((text[:start] for start in starts if matches(text[start:])), text)


def _matcher(pattern_text: str) -> Callable[[str], object]:
    return re.compile(translate(pattern_text)).match


def _replace(text: str, operator: str, argument: str) -> str:
    old, _, new = argument.partition("/")
    if not old:
        return text
    body = translate(old).removesuffix(r"\Z").removesuffix(r"\z")
    anchored = {"/#": r"\A" + body, "/%": body + r"\Z"}.get(operator, body)
    return re.sub(anchored, lambda _: new, text, count=0 if operator == "//" else 1)


def _cut(text: str, operator: str, argument: str) -> str:
    match = _SLICE.match(argument)
    if not match:
        return text
    start = int(match[1])
    rest = text[start:]
    return rest if match[2] is None else rest[: int(match[2])]


def _upper(text: str, operator: str, argument: str) -> str:
    return text.upper() if operator == "^^" else text[:1].upper() + text[1:]


def _lower(text: str, operator: str, argument: str) -> str:
    return text.lower() if operator == ",," else text[:1].lower() + text[1:]


_TRANSFORMS: dict[str, Callable[[str, str, str], str]] = {
    "#": _trim_start,
    "##": _trim_start,
    "%": _trim_end,
    "%%": _trim_end,
    "/": _replace,
    "//": _replace,
    "/#": _replace,
    "/%": _replace,
    ":": _cut,
    "^": _upper,
    "^^": _upper,
    ",": _lower,
    ",,": _lower,
}

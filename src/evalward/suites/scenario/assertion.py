"""The small grammar of `command_json_path`: a path (`$`, `.key`, `[n]`) and what is asserted of the value there."""

from __future__ import annotations

import json
import operator
import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

SHOWN = 80
FORMS = "exists, equals VALUE, contains TEXT, len >= N, len == N, len > N"
_KEY_END = frozenset(".[")
_NOT_IN_KEYS = re.compile(r"""[\s<>=!*?()'",\]]""")  # of other path languages, and of comparisons
_LENGTH = re.compile(r"len\s*(>=|==|>)\s*([0-9]{1,15})")
_COMPARE: dict[str, Callable[[int, int], bool]] = {">=": operator.ge, "==": operator.eq, ">": operator.gt}
MISSING: Any = object()
"""What `resolve` gives where a path leads nowhere."""


class PathError(ValueError):
    """The text is no path of the grammar."""


class AssertionFormError(ValueError):
    """The text is none of the assertions."""


Step = str | int


def parse_path(text: str) -> tuple[Step, ...]:
    """The steps of a path. Raises `PathError` that says what is wrong with it."""
    if not text.startswith("$"):
        raise PathError(f"the path {_cut(text)!r} doesn't begin with $")
    steps: list[Step] = []
    at = 1
    while at < len(text):
        read = _READERS.get(text[at])
        if read is None:
            raise PathError(f"the path {_cut(text)!r} has {text[at]!r} where only .key or [number] can stand")
        step, at = read(text, at + 1)
        steps.append(step)
    return tuple(steps)


def _key(text: str, at: int) -> tuple[Step, int]:
    end = next((i for i in range(at, len(text)) if text[i] in _KEY_END), len(text))
    if end == at:
        raise PathError(f"the path {_cut(text)!r} has a dot without a key")
    odd = _NOT_IN_KEYS.search(text, at, end)
    if odd:
        raise PathError(f"the path {_cut(text)!r} has {odd[0]!r} in it; only $, .key and [number] are known")
    return text[at:end], end


def _index(text: str, at: int) -> tuple[Step, int]:
    end = text.find("]", at)
    if end < 0:
        raise PathError(f"the path {_cut(text)!r} has a bracket that isn't closed")
    digits = text[at:end]
    if not re.fullmatch(r"[0-9]{1,15}", digits):
        raise PathError(f"the path {_cut(text)!r} has {_cut(digits)!r} in brackets, which is not a number from 0 on")
    return int(digits), end + 1


_READERS: dict[str, Callable[[str, int], tuple[Step, int]]] = {".": _key, "[": _index}


@dataclass(frozen=True)
class Assertion:
    """A parsed assertion: its form, and what it compares with."""

    form: str
    wanted: Any = None
    compare: str = ""


def parse_assertion(text: str) -> Assertion:
    """Read an assertion. Raises `AssertionFormError` that says what is wrong with it."""
    trimmed = text.strip()
    if trimmed == "exists":
        return Assertion("exists")
    word, _, rest = trimmed.partition(" ")
    if word == "equals" and rest.strip():
        return Assertion("equals", _value(rest.strip()))
    if word == "contains" and rest.strip():
        return Assertion("contains", rest.strip())
    if word in {"equals", "contains"}:
        raise AssertionFormError(f"{_cut(text)!r} doesn't say what the value {word}")
    length = _LENGTH.fullmatch(trimmed)
    if length:
        return Assertion("len", int(length[2]), length[1])
    raise AssertionFormError(f"{_cut(text)!r} is not an assertion. Known: {FORMS}")


def _value(text: str) -> Any:
    """The text as JSON, or else the text itself, as people write strings without quotes."""
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return text


def resolve(document: Any, steps: tuple[Step, ...]) -> Any:
    """The value at a path, or `MISSING`."""
    here = document
    for step in steps:
        there = isinstance(step, str) and isinstance(here, dict) and step in here
        if not there and not (isinstance(step, int) and isinstance(here, list) and step < len(here)):
            return MISSING
        here = here[step]
    return here


def holds(assertion: Assertion, value: Any) -> tuple[bool, str]:
    """Does the assertion hold of a value that `resolve` gave? With what was there."""
    if value is MISSING:
        return False, "there is nothing at this path"
    return _JUDGES[assertion.form](assertion, value)


def _exists(_: Assertion, value: Any) -> tuple[bool, str]:
    return (True, f"it is {shown(value)}") if value is not None else (False, "it is null")


def _equals(assertion: Assertion, value: Any) -> tuple[bool, str]:
    return same(assertion.wanted, value), f"it is {shown(value)}"


def _contains(assertion: Assertion, value: Any) -> tuple[bool, str]:
    if not isinstance(value, str):
        return False, f"it is not text but {kind_of(value)}: {shown(value)}"
    return assertion.wanted in value, f"it is {shown(value)}"


def _length(assertion: Assertion, value: Any) -> tuple[bool, str]:
    if not isinstance(value, list | dict):
        return False, f"it is not an array or object but {kind_of(value)}: {shown(value)}"
    return _COMPARE[assertion.compare](len(value), assertion.wanted), f"its length is {len(value)}"


_JUDGES: dict[str, Callable[[Assertion, Any], tuple[bool, str]]] = {
    "exists": _exists,
    "equals": _equals,
    "contains": _contains,
    "len": _length,
}


def same(left: Any, right: Any) -> bool:
    """Equality as JSON has it: `true` is not 1, and 1 is not 1.0, for the types are compared first."""
    if type(left) is not type(right):
        return False
    if isinstance(left, dict):
        return left.keys() == right.keys() and all(same(left[key], right[key]) for key in left)
    if isinstance(left, list):
        return len(left) == len(right) and all(map(same, left, right))
    return bool(left == right)


def kind_of(value: Any) -> str:
    """The type of a JSON value in words."""
    names = {bool: "a boolean", int: "a number", float: "a number", str: "a text", list: "an array", dict: "an object"}
    return names.get(type(value), "null")


def shown(value: Any) -> str:
    """The value as JSON, cut."""
    try:
        return _cut(json.dumps(value, ensure_ascii=False))
    except (ValueError, RecursionError):
        return f"{kind_of(value)} that is nested too deeply"


def _cut(text: str) -> str:
    return text if len(text) <= SHOWN else text[:SHOWN] + "…"

"""JSON of a file that anybody may have written: read within bounds of depth, size and numbers, or refused in words."""

from __future__ import annotations

import json
from math import isfinite
from typing import Any

from evalward.records.base import MAX_NESTING, fitting
from evalward.records.json_words import json_words

MOST_VALUES = 3_000_000
"""Values of one text. Each takes some 100 bytes of memory, however short it is written."""
MOST_FOREIGN = 1_000_000
"""Values of one text of another tool's: that many belong to tens of thousands of results."""


class NoJsonError(ValueError):
    """A text that is no JSON, or none that a record can hold; its words say why. `line` is where, if that is known."""

    def __init__(self, message: str, line: int | None = None) -> None:
        self.line = line
        super().__init__(message)


def read_json(text: str | bytes, *, once: bool = False, lenient: bool = False, most_values: int = MOST_VALUES) -> Any:
    """The value of a JSON text.

    `once`: a key that occurs twice in an object is refused. `lenient`: NaN, infinite numbers and lone surrogates are
    read, for whoever replaces them. Raises `NoJsonError`, also for what is nested too deeply, has too many values,
    holds NaN, an infinite number, a number of thousands of digits, or half of a character (a lone surrogate): no
    record and no other program could hold it.
    """
    try:
        if isinstance(text, bytes):
            text = text.decode(json.detect_encoding(text))
        if text.count(",") + text.count("[") + text.count("{") > most_values:
            raise NoJsonError(f"it has more than {most_values:,} values")
        hooks: dict[str, Any] = {} if lenient else {"parse_float": _finite, "parse_constant": _none}
        value = json.loads(text, object_pairs_hook=_once if once else None, **hooks)
        refuse_depth(value)
        if not lenient and "\\u" in text:
            json.dumps(value, ensure_ascii=False).encode()
    except NoJsonError:
        raise
    except RecursionError:
        raise NoJsonError("it is nested too deeply") from None
    except UnicodeEncodeError:
        raise NoJsonError("an escape such as \\ud83d is half a character") from None
    except json.JSONDecodeError as error:
        raise NoJsonError(f"{json_words(error)} (column {error.colno})", error.lineno) from None
    except UnicodeDecodeError as error:
        raise NoJsonError(f"it isn't UTF-8: {error.reason} at byte {error.start:,}") from None
    except ValueError:  # Python converts no more than some thousand digits
        raise NoJsonError("a number has too many digits") from None
    return value


def foreign_json(text: str | bytes, most_values: int = MOST_FOREIGN) -> Any:
    """The JSON of another tool's file, as our records can hold it: see `fitting`. Raises `NoJsonError`."""
    value = read_json(text, lenient=True, most_values=most_values)
    try:
        return fitting(value, most_values)
    except ValueError as error:
        raise NoJsonError(str(error)) from None


def refuse_depth(value: Any, most: int = MAX_NESTING) -> None:
    """Raises `NoJsonError` for a value of more levels than a record may have."""
    level, depth = [value] if type(value) in _NESTING else [], 0
    while level:
        depth += 1
        if depth > most:
            raise NoJsonError("it is nested too deeply")
        level = [
            inner
            for item in level
            for inner in (item.values() if type(item) is dict else item)
            if type(inner) in _NESTING
        ]


_NESTING = (dict, list)  # the very types that `json` makes: asking for these is three times as fast as `isinstance`


def _finite(text: str) -> float:
    value = float(text)
    if not isfinite(value):
        raise NoJsonError(f"the number {text[:20]} is too large")
    return value


def _none(constant: str) -> None:
    raise NoJsonError(f"{constant} is not JSON")


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        raise NoJsonError(f"the key {_twice(pairs)!r} occurs in it twice")
    return found


def _twice(pairs: list[tuple[str, Any]]) -> str:
    seen: set[str] = set()
    return next(key for key, _ in pairs if key in seen or seen.add(key))[:60]  # type: ignore[func-returns-value]

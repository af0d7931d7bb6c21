"""Values of other harnesses' JSON, each as what it should be, or unknown: no file's shape is believed."""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import datetime
from functools import lru_cache
from math import isfinite
from typing import Any

from evalward.records.json_text import NoJsonError, foreign_json
from evalward.records.trace import Usage
from evalward.suites.external.formats.base import ForeignFile, unreadable

MIB = 1 << 20
MOST_SMALL_BYTES = 64 * MIB
"""Of a file that holds one trial, or some thousand."""
_MOST_COUNT = 10**15


def whole(file: ForeignFile, title: str, most: int = MOST_SMALL_BYTES) -> Any:
    """The value of a JSON file that is read at once. NaN and what no record can hold are `None`.

    Raises `InputError` with one sentence.
    """
    with file.open() as stream:
        data = stream.read(most + 1)
    if len(data) > most:
        raise unreadable(file, title, f"it is larger than {most // MIB} MiB")
    try:
        return foreign_json(data)
    except NoJsonError as error:
        raise unreadable(file, title, str(error)) from None


def mapping(value: Any) -> Mapping[str, Any]:
    """The object that a value is; an empty one for anything else."""
    return value if isinstance(value, dict) else {}


def rows(value: Any) -> list[Mapping[str, Any]]:
    """The objects in a list; what is not an object is passed over."""
    return [item for item in value if isinstance(item, dict)] if isinstance(value, list) else []


def texts(value: Any) -> list[str]:
    """The texts in a list."""
    return [item for item in value if isinstance(item, str)] if isinstance(value, list) else []


def text(value: Any) -> str:
    """The text that a value is; "" for anything else."""
    return value if isinstance(value, str) else ""


def number(value: Any) -> float | None:
    """The finite number that a value is; no truth value is one."""
    if isinstance(value, bool) or not isinstance(value, int | float) or not isfinite(value):
        return None
    return float(value)


def count(value: Any) -> int | None:
    """The number of tokens, calls or trials that a value is, never negative or absurd."""
    found = number(value)
    return int(found) if found is not None and 0 <= found <= _MOST_COUNT and found == int(found) else None


def amount(value: Any) -> float | None:
    """The cost or weight that a value is."""
    found = number(value)
    return found if found is not None and 0 <= found <= _MOST_COUNT else None


def milliseconds(seconds: Any) -> int | None:
    """A time that is told in seconds."""
    found = amount(seconds)
    return count(round(found * 1000)) if found is not None else None


def between(begun: Any, ended: Any) -> int | None:
    """The milliseconds between two moments in ISO 8601."""
    try:
        passed = datetime.fromisoformat(text(ended)) - datetime.fromisoformat(text(begun))
    except (ValueError, TypeError, OverflowError):  # no moments, or only one of them with a zone
        return None
    return milliseconds(passed.total_seconds())


def including_cache(
    all_input: Any, cached: Any, output: Any, cost: Any, reasoning: Any = None, *, written: Any = None
) -> Usage:
    """The usage of a harness whose input tokens include what was read from the cache, and what was written to it."""
    read, from_cache, to_cache = count(all_input), count(cached), count(written)
    fresh = None if read is None else read - (from_cache or 0) - (to_cache or 0)
    return Usage(
        input_tokens=fresh if fresh is not None and fresh >= 0 else None,
        cache_read_tokens=from_cache,
        cache_write_tokens=to_cache,
        output_tokens=count(output),
        reasoning_tokens=count(reasoning),
        cost_usd=amount(cost),
    )


def word(value: Any, otherwise: str) -> str:
    """One word for tables, as the name of an exception; `otherwise` where the value is none."""
    found = text(value)
    return found if _WORD.fullmatch(found) else otherwise


_WORD = re.compile(r"[A-Za-z_][A-Za-z0-9_.-]{0,79}")
_TOKEN = re.compile(rb'"(?:[^"\\]|\\.)*+"|[{}\[\]:,"]', re.DOTALL)


@lru_cache(maxsize=4)  # every format asks of every file, and whoever asks what a file is comes before who reads it
def outline(head: bytes) -> frozenset[str]:
    """The keys of the JSON object that a file begins with, or of the objects in its list, as far as `head` goes.

    Those of an object, or of the objects in a list, under such a key are in it too, as `KEY.INNER`. What
    recognises a file by them is not deceived by a text in it that quotes another harness's results.
    """
    if _BEGINNING.match(head) is None:
        return frozenset()
    keys: set[bytes] = set()
    above: list[bytes] = []  # per open bracket the key that it stands under; b"" for a list's items
    last = b""
    for found in _TOKEN.finditer(head):
        token = found[0]
        if token == b'"' or len(above) > _DEEPEST:  # a text that `head` ends in, or no file of anybody's
            break
        if token in b"{[":
            above.append(last)
            last = b""
        elif token in b"}]":
            if len(above) <= 1:
                break
            above.pop()
            last = b""
        elif token == b":":
            path = [name for name in above if name] if len(above) <= _OUTER else above
            if last and len(path) <= 1:
                keys.add(b".".join([*path, last]))
        else:
            last = b"" if token == b"," else token[1:-1]
    return frozenset(key.decode("utf-8", "replace") for key in keys)


_BEGINNING = re.compile(rb"(?:\xef\xbb\xbf)?\s*[{\[]")
_OUTER, _DEEPEST = 4, 200
"""Brackets around what is looked at: the object, a list around it, the list under a key, its item; and the most."""

"""A JSON file that is a list of evals, or an object with one: its values, and the line of each eval."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from evalward.opening import read_inside
from evalward.records.json_text import NoJsonError, read_json
from evalward.records.problem import wrong

LONGEST = 4 << 20
MOST_VALUES = 200_000
LISTS = ("evals", "queries", "cases")
"""Keys below which the list may stand."""
_REMEDY = 'Write {"evals": [{"id": 1, "prompt": …, "expectations": […]}]}, or [{"query": …, "should_trigger": true}].'
_BLANKS = " \t\r\n"


@dataclass(frozen=True)
class JsonItems:
    """The items, each with its line, and what stands around them."""

    items: list[tuple[int, Any]]
    around: Mapping[str, Any] = field(default_factory=dict)


def read_items(root: Path, file: str) -> JsonItems:
    """The evals of a file below `root`. Raises `InputError` for what is no such file."""
    try:
        text = read_inside(root, file, LONGEST).decode("utf-8-sig")
        value = read_json(text, once=True, most_values=MOST_VALUES)
    except OSError as error:
        raise wrong(file, f"the file can't be read: {error.strerror}", "Check its name.") from error
    except UnicodeDecodeError:
        raise wrong(file, "the file is not UTF-8 text", "Save it as UTF-8.") from None
    except NoJsonError as error:
        raise wrong(file, f"the file is not JSON: {error}", "Correct it.", line=error.line) from None
    key = next((key for key in LISTS if isinstance(value.get(key), list)), None) if isinstance(value, dict) else ""
    if key is None or not isinstance(value, dict | list):
        raise wrong(file, "there is no list of evals in the file", _REMEDY, line=1)
    return JsonItems(list(_with_lines(text, key)), value if isinstance(value, dict) else {})


def _with_lines(text: str, key: str) -> Iterator[tuple[int, Any]]:
    """The items of the list below a key of the object that a JSON text is, or of the list that it is."""
    decoder = json.JSONDecoder()
    at = _past_blanks(text, 0) + 1
    while key:
        name, at = decoder.raw_decode(text, _past_blanks(text, at, ","))
        at = _past_blanks(text, _past_blanks(text, at) + 1)
        if name == key:
            at += 1
            break
        _, at = decoder.raw_decode(text, at)
    line, counted = 1, 0
    while text[(at := _past_blanks(text, at, ","))] != "]":
        line, counted = line + text.count("\n", counted, at), at
        value, at = decoder.raw_decode(text, at)
        yield line, value


def _past_blanks(text: str, at: int, mark: str = "") -> int:
    """The next character that is neither blank nor the mark."""
    while text[at] in _BLANKS or text[at] == mark:
        at += 1
    return at

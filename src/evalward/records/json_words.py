"""What is wrong with a text that is no JSON, in people's words: `json` says what it expected, not what was written."""

from __future__ import annotations

import json
import re

_TRAILING = re.compile(r",\s*\Z")
_WORDS = {  # the beginning of `json`'s message: what was written
    "Expecting ',' delimiter": "a comma is missing",
    "Expecting ':' delimiter": "the colon after a key is missing",
    "Unterminated string": "a text isn't closed: its second double quote is missing",
    "Invalid control character": "a string has a line break or another control character; write it as \\n or \\t",
    "Invalid \\": "a backslash in a text doesn't begin an escape; write it twice",
    "Extra data": "more follows after its end",
}


def json_words(error: json.JSONDecodeError) -> str:
    """What is wrong there, in a few words and without the place."""
    before, after = error.doc[: error.pos], error.doc[error.pos :].lstrip()
    trailing = _trailing(error, before, after)
    if trailing:
        return trailing
    if error.msg.startswith(("Expecting property name", "Expecting value")):
        return _expected(error.msg, after)
    return next((words for part, words in _WORDS.items() if error.msg.startswith(part)), "it is not JSON")


def _trailing(error: json.JSONDecodeError, before: str, after: str) -> str:
    """A comma that nothing follows; Python 3.13 points at the comma, those before at what comes after it."""
    if error.msg.startswith("Illegal trailing comma"):
        closing = after[1:].lstrip()[:1]
    else:
        closing = after[:1] if _TRAILING.search(before[-1000:]) else ""
    return f"there is a comma before the closing {closing}; remove it" if closing in {"}", "]"} and closing else ""


def _expected(message: str, after: str) -> str:
    if not after:
        return "it ends too early"
    if after.startswith("'"):
        return "JSON strings need double quotes, not single quotes"
    if message.startswith("Expecting property name"):
        return "JSON keys need double quotes"
    word = re.match(r"\w+", after)
    if word and word[0].lower() in {"true", "false", "null", "none", "yes", "no"}:
        return f"{word[0]} is not a word of JSON; write true, false or null"
    return "JSON strings need double quotes" if word else "a value is missing"

"""The form of an answer: as a JSON Schema that every provider can enforce by its own means, and as it is read."""

from __future__ import annotations

import json
import re
from typing import Any

from evalward.suites.judge.rubric import Rubric

_FENCED = re.compile(r"\A\s*```(?:json)?\s*\n(?P<body>.*)\n\s*```\s*\Z", re.DOTALL)
_NUMBER: dict[str, Any] = {"type": "number", "description": "From 0 to 1"}
_LINES: dict[str, Any] = {"type": "array", "items": {"type": "string"}}

_FIELD_SCHEMAS: dict[str, dict[str, Any]] = {
    "weighted_score": _NUMBER,
    "confidence": _NUMBER,
    "issues": _LINES,
    "highlights": _LINES,
}


def answer_schema(rubric: Rubric) -> dict[str, Any]:
    """The schema of an answer: closed objects, every property required, no bounds.

    That is the part of JSON Schema that Anthropic's and OpenAI's structured outputs both accept; bounds are checked
    when the answer is read.
    """
    ids = [criterion.id for criterion in rubric.criteria]
    scores = _closed(dict.fromkeys(ids, _NUMBER))
    return _closed({name: scores if name == "scores" else _FIELD_SCHEMAS[name] for name in rubric.fields})


def _closed(properties: dict[str, Any]) -> dict[str, Any]:
    required = list(properties)
    return {"type": "object", "properties": properties, "required": required, "additionalProperties": False}


def parse_answer(text: str) -> dict[str, Any]:
    """The JSON object that an answer is, or that its only code block holds. Raises `ValueError` that says what's wrong.

    NaN, Infinity and keys that stand twice are no JSON here: what they mean would be chance.
    """
    fenced = _FENCED.match(text)
    try:
        value = json.loads(fenced["body"] if fenced else text, parse_constant=_refuse, object_pairs_hook=_once)
    except json.JSONDecodeError as error:
        raise ValueError(f"it is not JSON: {error.msg} at character {error.pos}") from error
    except RecursionError as error:
        raise ValueError("it is not JSON: nested too deeply") from error
    if not isinstance(value, dict):
        raise ValueError("it is JSON, but not an object")
    return value


def _refuse(constant: str) -> None:
    raise ValueError(f"it holds {constant}, which is not JSON")


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        raise ValueError("a key occurs in it twice")
    return found

"""What the beginnings of case files say: whether they are ones, and what their cases have."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from evalward.config.yaml_positions import YamlError, read_yaml
from evalward.records.json_text import NoJsonError, read_json

MOST_TEXT = 200_000
"""Bytes of a file that are read; one that is longer is not seen to its end."""

_TASK_KEYS = ("id", "category", "prompt", "expectations")
_COMMENTS = ("#", "//")


def task_flags(text: str) -> frozenset[str] | None:
    """`None` for what is no file of shell tasks in JSON lines; `solved` where each has its solution."""
    tasks = list(_objects(text))
    if not tasks or not all(isinstance(task, dict) and all(task.get(key) for key in _TASK_KEYS) for task in tasks):
        return None
    solved = all(task.get("solution") for task in tasks) and len(text) < MOST_TEXT
    return frozenset({"solved"} if solved else ())


def _objects(text: str) -> Iterator[Any]:
    """The value of each line; `None` for one that is no JSON. The last one of a text that was cut is passed over."""
    lines = text.split("\n")
    for line in lines[:-1] if len(text) >= MOST_TEXT else lines:
        if not line.strip() or line.lstrip().startswith(_COMMENTS):
            continue
        try:
            yield read_json(line)
        except NoJsonError:
            yield None


def prompt_flags(text: str) -> frozenset[str] | None:
    """`None` for what is no prompt file with rows and evaluators.

    `expected`: every row has the expected answer, and texts alone are compared. `judged`: an evaluator asks a model.
    """
    try:
        value = read_yaml(text).value
    except YamlError:
        return None
    if not isinstance(value, dict) or len(text) >= MOST_TEXT:
        return None
    rows, evaluators = value.get("testData"), value.get("evaluators")
    if not (rows and isinstance(rows, list) and evaluators and isinstance(evaluators, list)):
        return None
    compared = all(isinstance(each, dict) and "string" in each for each in evaluators)
    expected = compared and all(isinstance(row, dict) and row.get("expected") is not None for row in rows)
    return frozenset([*(["expected"] if expected else []), *([] if compared else ["judged"])])

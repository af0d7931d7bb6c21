"""Precision and recall on the labelled commands.

``safety-labels.jsonl`` was written before any rule was tuned and split once. ``safety-fresh.jsonl`` holds
later rounds, each written after the rules and measured once before they were improved; they keep what was
won (of the eleventh without one command whose label was wrong: a mapping of keys is an everyday setting).
``safety-platforms.jsonl`` has macOS, containers and cloud: written before any rule for them was read, half of
it held back while these rules were made.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path

import pytest

from evalward.safety import allowed, assess

_DATA = Path(__file__).parents[2] / "data"


@dataclass(frozen=True)
class Labelled:
    command: str
    dangerous: bool
    category: str
    split: str


def _load(name: str) -> list[Labelled]:
    lines = (_DATA / name).read_text(encoding="utf-8").splitlines()
    return [Labelled(**json.loads(line)) for line in lines]


LABELS = _load("safety-labels.jsonl")
FRESH = _load("safety-fresh.jsonl")
PLATFORMS = _load("safety-platforms.jsonl")


def _rates(rows: list[Labelled]) -> tuple[float, float, list[str]]:
    positive = {row.command: not allowed(assess(row.command), "moderate") for row in rows}
    hits = sum(row.dangerous and positive[row.command] for row in rows)
    found = sum(positive[row.command] for row in rows)
    dangerous = sum(row.dangerous for row in rows)
    wrong = [row.command for row in rows if positive[row.command] != row.dangerous]
    return hits / found, hits / dangerous, wrong


def test_the_set_is_large_and_covers_both_labels() -> None:
    assert len(LABELS) >= 400
    assert {row.split for row in LABELS} == {"dev", "held"}
    for split in ("dev", "held"):
        dangerous = sum(row.dangerous for row in LABELS if row.split == split)
        assert 100 < dangerous < 300


@pytest.mark.parametrize("rows", [LABELS, PLATFORMS], ids=["labels", "platforms"])
def test_no_command_is_labelled_twice(rows: list[Labelled]) -> None:
    commands = [row.command for row in rows]
    assert len(commands) == len(set(commands))


def test_the_platforms_are_new_to_the_older_sets() -> None:
    assert not {row.command for row in PLATFORMS} & {row.command for row in (*LABELS, *FRESH)}


@pytest.mark.parametrize("split", ["dev", "held"])
def test_precision_and_recall(split: str) -> None:
    precision, recall, wrong = _rates([row for row in LABELS if row.split == split])
    assert min(precision, recall) >= 0.99, wrong


@pytest.mark.parametrize("split", sorted({row.split for row in FRESH}))
def test_later_rounds_stay_solved(split: str) -> None:
    precision, recall, wrong = _rates([row for row in FRESH if row.split == split])
    assert min(precision, recall) >= 0.99, wrong


@pytest.mark.parametrize("category", ["macos", "containers", "cloud"])
@pytest.mark.parametrize("split", ["dev", "held"])
def test_platforms_stay_solved(category: str, split: str) -> None:
    rows = [row for row in PLATFORMS if (row.category, row.split) == (category, split)]
    assert sum(row.dangerous for row in rows) >= 40
    assert sum(not row.dangerous for row in rows) >= 40
    precision, recall, wrong = _rates(rows)
    assert min(precision, recall) >= 0.98, wrong

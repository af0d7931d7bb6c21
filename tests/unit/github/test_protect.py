from __future__ import annotations

import pytest

from evalward.records.patterns import matches_any
from support.patience import little_work


@pytest.mark.parametrize(
    ("pattern", "path", "matches"),
    [
        ("evals/*.jsonl", "evals/a.jsonl", True),
        ("evals/*.jsonl", "evals/a/b.jsonl", False),
        ("evals/**", "evals/a/b.jsonl", True),
        ("evals/**", "evals", True),
        ("evals/**/*.jsonl", "evals/a.jsonl", True),
        ("evals/**/*.jsonl", "evals/a/b/c.jsonl", True),
        ("evals/**/x/*.jsonl", "evals/a/x/c.jsonl", True),
        ("evals/**/x/*.jsonl", "evals/a/y/c.jsonl", False),
        ("**", "any/thing", True),
        ("evals/[ab].jsonl", "evals/b.jsonl", True),
        ("evals/?.jsonl", "evals/ab.jsonl", False),
        ("evalward.yml", "sub/evalward.yml", False),
    ],
)
def test_matches(pattern: str, path: str, matches: bool) -> None:
    assert matches_any(path, ["nothing", pattern]) is matches


def test_matches__no_pattern_makes_it_slow() -> None:
    with little_work(2):
        assert not matches_any("/".join(["a"] * 300), ["/".join(["**", "a"] * 100) + "/b"])

"""The rows of a run's table: what a rule that only compares says where there is nothing to compare with."""

from __future__ import annotations

import pytest

from evalward.records.metric import Metric, ratio
from evalward.records.policy import Rule
from evalward.render.rows import metric_rows
from support.comparisons import change, outcome, run

NOW, BEFORE = ratio(3, 4, "none"), ratio(4, 4, "none")


@pytest.mark.parametrize(
    ("before", "limits", "word"),
    [
        (None, {"max_drop": 0.5}, "not compared"),
        (ratio(0, 0, "no trial"), {"max_drop": 0.5}, "not compared"),
        (None, {"max_drop": 0.5, "floor": 0.5}, "ok"),
        (None, {"floor": 0.5}, "ok"),
        (BEFORE, {"max_drop": 0.5}, "ok"),
    ],
)
def test_a_rule_is_kept_only_where_something_was_held_against_it(
    before: Metric | None, limits: dict[str, float], word: str
) -> None:
    moved = change("pass_rate", before, NOW)
    rows, _ = metric_rows(run(metrics=[moved]), [outcome(Rule(metric="pass_rate", **limits), moved, "ok")])
    assert [row.badge.word for row in rows] == [word]

"""The rows of a run's table: what a rule that only compares says where there is nothing to compare with."""

from __future__ import annotations

import pytest

from evalward.records.comparison import CategoryChange
from evalward.records.evidence import Evidence
from evalward.records.metric import CategorySummary, Metric, ratio
from evalward.records.policy import Rule
from evalward.render.rows import category_rows, metric_rows
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


def test_category__a_score_is_called_a_score() -> None:
    whole = CategorySummary(tasks=4, passed=4, score=8, max_score=8, rate=1.0)
    part = CategorySummary(tasks=4, passed=3, score=6.5, max_score=8, rate=0.8125)
    (row,) = category_rows([CategoryChange(name="a", before=whole, now=part)])
    assert (row.before, row.now) == ("score 100.0 %, 4 of 4 passed", "score 81.2 %, 3 of 4 passed")
    share = part.model_copy(update={"score": 6.0, "rate": 0.75})
    (row,) = category_rows([CategoryChange(name="a", before=whole, now=share)])
    assert (row.before, row.now) == ("100.0 % (4 of 4 passed)", "75.0 % (3 of 4 passed)")


@pytest.mark.parametrize(("delta", "word"), [(-0.06, "ok (noise)"), (-0.04, "ok"), (0.06, "ok")])
def test_a_drop_that_chance_explains_says_so_where_it_stands(delta: float, word: str) -> None:
    moved = change("pass_rate", BEFORE, NOW)
    kept = outcome(Rule(metric="pass_rate", max_drop=0.05), moved, "ok")
    kept = kept.model_copy(update={"delta": delta, "evidence": Evidence.model_construct(detectable=None)})
    rows, _ = metric_rows(run(metrics=[moved]), [kept])
    assert [row.badge.word for row in rows] == [word]

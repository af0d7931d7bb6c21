"""What a history's page shows: which metrics, with which intervals, limits and levels."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from evalward.decide.history_file import History, read_history
from evalward.decide.past import MOST_METRICS, MOST_ROWS, UNGUARDED, PastOptions, past_of
from evalward.decide.statistics.intervals import wilson
from evalward.records.history import HistoryEntry
from evalward.records.metric import Metric
from evalward.records.past import Past, Release, RunPast
from evalward.records.policy import Rule
from support.histories import entry, long_history

MONEY = {
    "cost_usd": Metric(value=0.2, unit="usd", better="lower"),
    "total_input_tokens": Metric(value=9.0, unit="tokens"),
}


def past(entries: Sequence[HistoryEntry], **options: Any) -> Past:
    return past_of(History(entries), PastOptions(**options))


def run(entries: Sequence[HistoryEntry], **options: Any) -> RunPast:
    (only,) = past(entries, **options).runs
    return only


def test_metrics__are_those_of_the_rules_in_their_order() -> None:
    more = {"b": Metric(value=0.5), "a": Metric(value=0.6)}
    rules = [Rule(metric="b", floor=0.1), Rule(metric="nowhere", floor=0.1), Rule(metric="pass_rate", max_drop=0.1)]
    found = run([entry(day, metrics=more) for day in range(3)], rules=rules)
    assert [each.metric for each in found.metrics] == ["b", "pass_rate"]
    assert found.guarded


def test_metrics__a_kinds_own_rules_where_the_policy_names_none() -> None:
    rules = [Rule(metric="pass_rate", floor=0.5, suite="other*")]
    defaults = {"bash": [Rule(metric="pass_rate", floor=0.8)], "command": [Rule(metric="pass_rate", floor=0.9)]}
    assert run([entry(1)], rules=rules, defaults=defaults).metrics[0].floor == 0.8
    own = [Rule(metric="pass_rate", ceiling=0.99)]
    assert run([entry(1)], rules=own, defaults=defaults).metrics[0].floor is None


def test_metrics__without_rules_are_the_first_rates() -> None:
    rates = {f"r{n}": Metric(value=0.5) for n in range(5)}
    found = run([entry(1, metrics=MONEY | rates)])
    assert [each.metric for each in found.metrics] == ["pass_rate", "r0", "r1"]
    assert len(found.metrics) == UNGUARDED
    assert not found.guarded


def test_metrics__the_strictest_limits_are_drawn() -> None:
    rules = [
        Rule(metric="pass_rate", floor=0.5, ceiling=1.0), Rule(metric="pass_rate", floor=0.7, target="anthropic/*"),
        Rule(metric="pass_rate", ceiling=0.9), Rule(metric="pass_rate", floor=0.99, target="openai/*"),
    ]  # fmt: skip
    (found,) = run([entry(1)], rules=rules).metrics
    assert (found.floor, found.ceiling) == (0.7, 0.9)


def test_metrics__are_bounded() -> None:
    rates = {f"r{n}": Metric(value=0.5) for n in range(20)}
    found = run([entry(1, metrics=rates)], rules=[Rule(metric=name, floor=0.1) for name in rates])
    assert len(found.metrics) == MOST_METRICS


def test_points__have_the_interval_of_their_trials() -> None:
    (point,) = run([entry(1, ["c000"], 20)]).metrics[0].points
    expected = wilson(19, 20)
    assert expected is not None
    assert point.interval is not None
    assert (point.interval.low, point.interval.high) == (expected.low, expected.high)


@pytest.mark.parametrize(
    "changed",
    [{"cases": None}, {"trials": 0}, {"metrics": {"pass_rate": Metric(value=0.5, numerator=90.0, denominator=180.0)}}],
    ids=["case list lost", "no trials", "points, not trials"],
)
def test_points__what_is_no_share_of_trials_has_no_interval(changed: dict[str, Any]) -> None:
    (point,) = run([entry(1, ["c000"], 20).model_copy(update=changed)]).metrics[0].points
    assert point.value is not None
    assert point.interval is None


def test_points__a_metric_that_a_run_lacks_is_not_available_there() -> None:
    found = run([entry(1), entry(2).model_copy(update={"metrics": {}}), entry(3)])
    assert [point.value for point in found.metrics[0].points] == [1.0, None, 1.0]


def test_points__of_whole_runs_in_order_of_time() -> None:
    found = run([entry(3), entry(2, partial=True), entry(1)])
    assert [point.at[:10] for point in found.metrics[0].points] == ["2026-01-02", "2026-01-04"]
    assert [(row.at[:10], row.partial) for row in found.rows] == [
        ("2026-01-04", False), ("2026-01-03", True), ("2026-01-02", False),
    ]  # fmt: skip


def test_points__of_a_run_that_was_only_measured_in_parts() -> None:
    found = run([entry(1, partial=True)])
    assert (found.metrics, found.spending, found.moves) == ([], [], [])
    assert len(found.rows) == 1


def test_spending__is_money_and_tokens_that_no_rule_draws_already() -> None:
    found = run([entry(1, metrics=MONEY)], rules=[Rule(metric="cost_usd", ceiling=1.0)])
    assert [each.metric for each in found.metrics] == ["cost_usd"]
    assert [each.metric for each in found.spending] == ["total_input_tokens"]


def test_levels__of_the_oldest_runs_or_of_a_release() -> None:
    entries = [entry(day, ["c000"] if day < 5 else []) for day in range(12)]
    level = run(entries).metrics[0].anchor
    assert level is not None
    assert (level.label, level.value) == ("2026-01-01", 0.95)
    assert run(entries[:5]).metrics[0].anchor is None


def test_releases__within_the_measured_time() -> None:
    days = {"v1": "01", "v2": "03", "v3": "20"}
    releases = [Release(name=name, at=f"2026-01-{day}T00:00:00Z") for name, day in days.items()]
    assert [each.name for each in past([entry(day) for day in range(5)], releases=releases).releases] == ["v2"]
    assert past([], releases=releases).releases == []


def test_chosen__by_suite_target_and_branch() -> None:
    entries = [entry(1), entry(2, target="openai/m"), entry(3, ref="other"), entry(4, suite="s2")]

    def names(**options: Any) -> list[str]:
        return [each.known.name for each in past(entries, **options).runs]

    assert names() == ["s2 × anthropic/m", "tools × anthropic/m", "tools × openai/m"]
    assert names(suites=["s*"]) == ["s2 × anthropic/m"]
    assert names(targets=["openai/*"]) == ["tools × openai/m"]
    assert [len(each.rows) for each in past(entries, refs=["other"]).runs] == [1]
    assert past(entries, suites=["none"]).runs == []


def test_rows__are_the_newest() -> None:
    found = run([entry(day) for day in range(50)])
    assert len(found.rows) == MOST_ROWS
    assert found.rows[0].at > found.rows[-1].at


def test_unreadable_lines_are_counted() -> None:
    text = "<<<<<<<\n" + long_history(2, 3)
    assert past_of(read_history(text), PastOptions()).unreadable == 1


def test_flaky_and_broken_cases_are_those_of_the_history() -> None:
    found = run([entry(day, ["c001", *(["c002"] if day % 2 else [])]) for day in range(8)])
    assert [case.id for case in found.known.broken] == ["c001"]
    assert [case.id for case in found.known.flaky] == ["c002"]

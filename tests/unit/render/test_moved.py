"""Of the metrics that moved only those are shown that tell something new."""

from __future__ import annotations

from evalward.records.comparison import MetricChange
from evalward.records.metric import Metric, amount, ratio
from evalward.render.moved import telling


def change(name: str, before: Metric, now: Metric) -> MetricChange:
    known = before.value is not None and now.value is not None
    delta = (now.value or 0.0) - (before.value or 0.0) if known else None
    return MetricChange(id=name, before=before, now=now, whole=now, delta=delta, better="higher")


def share(name: str, before: tuple[int, int], now: tuple[int, int]) -> MetricChange:
    return change(name, ratio(*before, "none"), ratio(*now, "none"))


def count(name: str, before: float, now: float) -> MetricChange:
    return change(name, amount(before, "count"), amount(now, "count"))


CALLS = share("ok_rate", (79, 85), (76, 99))


def test_a_shown_rate_says_how_many_did_did_not_and_there_were() -> None:
    counts = [count("calls", 85, 99), count("calls_ok", 79, 76), count("calls_error", 6, 23)]

    assert telling([CALLS, *counts], ["ok_rate"]) == []
    assert "ok_rate" in telling([CALLS, *counts], [])


def test_a_shown_rate_says_its_complement() -> None:
    assert telling([CALLS, share("error_rate", (6, 85), (23, 99))], ["ok_rate"]) == []


def test_a_rate_of_other_cases_is_news__also_one_of_equal_numbers() -> None:
    other = share("other_rate", (79, 85), (76, 99))

    assert telling([CALLS, other], ["ok_rate"]) == ["other_rate"]


def test_of_a_mean_and_its_total_the_mean_stays() -> None:
    total, mean = count("total_turns", 122, 136), count("turns_per_task", 122 / 37, 136 / 37)

    assert telling([total, mean], []) == ["turns_per_task"]
    assert telling([mean, total], []) == ["turns_per_task"]


def test_what_moved_by_another_factor_is_news__and_they_stay_in_order() -> None:
    changes = [count("tokens", 100, 300), count("turns", 10, 20)]

    assert telling(changes, []) == ["tokens", "turns"]


def test_what_did_not_move__durations__and_what_a_side_lacks_are_not_there() -> None:
    none = amount(None, "count", "not counted")
    changes = [count("turns", 3, 3), count("total_duration_ms", 5, 9), change("tokens", none, amount(4, "count"))]

    assert telling(changes, []) == []


def test_from_zero_everything_is_news() -> None:
    assert telling([count("retries", 0, 2), count("errors", 0, 3)], []) == ["retries", "errors"]

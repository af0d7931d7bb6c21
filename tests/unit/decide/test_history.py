"""What a history says: flaky, broken, since when, and trends."""

from __future__ import annotations

import random

import pytest

from evalward.decide.history import STREAK, broken_since, flaky, summarize, trend, trends
from evalward.decide.history_file import History, read_history
from evalward.records.history import HistoryEntry
from evalward.records.trend import FlakyCase, Mark
from support.histories import SUITE, TARGET, days, history, measured
from support.results import baseline, result, run
from support.written import appended_text


def mark(day: int) -> Mark:
    return Mark(at=f"2026-{1 + (day - 1) // 28:02d}-{1 + (day - 1) % 28:02d}T08:00:00Z", commit=f"{day:040x}")


def names(entries: list[HistoryEntry]) -> list[str]:
    return [case.id for case in flaky(entries, SUITE, TARGET)]


def only(entries: list[HistoryEntry]) -> FlakyCase:
    (case,) = flaky(entries, SUITE, TARGET)
    return case


def test_flaky__rate_flips_and_since_when() -> None:
    case = only(history(days({"a": "+" * STREAK + "-++-+", "b": "+" * 15})))
    assert (case.id, case.passed, case.trials, case.runs, case.flips) == ("a", 13, 15, 15, 4)
    assert case.rate == pytest.approx(13 / 15)
    assert (case.since, case.from_start, case.last_failed) == (mark(11), False, mark(14))


def test_flaky__since_the_last_long_row_of_passes() -> None:
    entries = history(days({"a": "-+-" + "+" * STREAK + "-+" + "+" * (STREAK - 2) + "-+"}))
    assert only(entries).since == mark(4 + STREAK)


def test_flaky__without_a_long_row_since_the_start() -> None:
    case = only(history(days({"a": "+-+-"})))
    assert (case.since, case.from_start) == (mark(2), True)


@pytest.mark.parametrize("row", ["++++-", "+++----", "-----++", "+++++", "-----", "++e++", "e-e-e"])
def test_flaky__one_change_for_good_is_none(row: str) -> None:
    assert names(history(days({"a": row}))) == []


def test_flaky__trials_of_one_measurement_that_differ_are() -> None:
    case = only(history(days({"a": "~"})))
    assert (case.passed, case.trials, case.runs, case.since) == (1, 2, 1, mark(1))


def test_flaky__a_deterministic_target_that_was_broken_and_mended_is_none() -> None:
    assert names(history(days({"a": "++--++"}, random=False))) == []


def test_flaky__two_measurements_of_one_commit_that_disagree_are_also_for_deterministic_targets() -> None:
    again = measured(2, {"a": "-"}, random=False, at="2026-01-02T09:00:00Z")
    assert names(history(days({"a": "++"}, random=False), [again])) == ["a"]


def test_flaky__a_changed_subject_explains_the_change() -> None:
    parts = [days({"a": sign}, start=n, system=f"s{n}") for n, sign in enumerate("+-+", 1)]
    assert names(history(*parts)) == []


def test_flaky__a_pull_request_that_breaks_a_case_makes_nothing_flaky() -> None:
    before, theirs, after = (days({"a": sign}, start=n) for n, sign in enumerate("+-+", 1))
    entries = history(before) + history(theirs, ref="7/merge") + history(after)
    assert names(entries) == []


def test_flaky__a_changed_definition_is_another_case() -> None:
    entries = history(days({"a": "+-+-"}), days({"a": "+++"}, start=5, definition="sha256:" + "e" * 64))
    assert names(entries) == []


def test_flaky__only_the_last_thirty_count() -> None:
    assert names(history(days({"a": "+-+-" + "+" * 30}))) == []
    assert names(history(days({"a": "+-+-" + "+" * 26}))) == ["a"]


def test_flaky__what_failed_ten_times_in_a_row_is_broken() -> None:
    entries = history(days({"a": "+-+-+" + "-" * STREAK}))
    assert names(entries) == []
    (case,) = broken_since(entries, SUITE, TARGET)
    assert (case.since, case.runs, case.last_passed) == (mark(6), STREAK, mark(5))


def test_flaky__cases_that_are_gone_are_not_named() -> None:
    assert names(history(days({"a": "+-+ ", "b": "++++"}))) == []


def test_flaky__the_order_of_lines_does_not_matter() -> None:
    entries = history(days({"a": "+" * 12 + "-+-+~", "b": "-" * 17}))
    shuffled = entries.copy()
    random.Random(1).shuffle(shuffled)
    assert flaky(shuffled, SUITE, TARGET) == flaky(entries, SUITE, TARGET)
    assert broken_since(shuffled, SUITE, TARGET) == broken_since(entries, SUITE, TARGET)


def test_flaky__a_lost_list_of_cases_makes_nothing_up() -> None:
    entries = [entry.model_copy(update={"cases": None}) for entry in history(days({"a": "+-+-"}))]
    assert names(entries) == []


def test_flaky__baseline_trials_count() -> None:
    definition = "sha256:" + "d" * 64
    trials = [result("a", status, trial=n, definition=definition) for n, status in enumerate(["passed", "failed"], 1)]
    base = baseline(run(trials, suite=SUITE, target=TARGET, random=True))
    entries = history(days({"a": "+++"}))
    (case,) = flaky(entries, SUITE, TARGET, base)
    assert (case.passed, case.trials, case.since) == (4, 5, None)
    (alone,) = flaky([], SUITE, TARGET, base)
    assert (alone.passed, alone.trials, alone.runs) == (1, 2, 1)


def test_flaky__a_baseline_of_another_definition_or_of_the_same_trials_does_not() -> None:
    trials = [result("a", status, trial=n, definition="old") for n, status in enumerate(["passed", "failed"], 1)]
    base = baseline(run(trials, suite=SUITE, target=TARGET))
    assert flaky(history(days({"a": "-++"})), SUITE, TARGET, base) == []
    measurement = measured(1, {"a": "~"})
    same = baseline(*measurement.runs, created_at=measurement.created_at, provenance=measurement.provenance)
    (case,) = flaky(history([measurement]), SUITE, TARGET, same)
    assert (case.trials, case.runs) == (2, 1)


def test_broken__since_the_first_failure_of_the_last_row() -> None:
    found = broken_since(history(days({"a": "++---", "b": "-----", "c": "-++++", "d": "++-e-"})), SUITE, TARGET)
    assert [(case.id, case.since, case.runs, case.last_passed) for case in found] == [
        ("a", mark(3), 3, mark(2)),
        ("b", mark(1), 5, None),
        ("d", mark(3), 2, mark(2)),
    ]


def test_trend__values_in_order_of_time_with_gaps() -> None:
    entries = history(days({"a": "+-e+", "b": "++e+"}))
    found = trend(entries[::-1], SUITE, TARGET, "pass_rate")
    assert found.values == [1.0, 0.5, None, 1.0]
    assert (found.unit, found.better) == ("ratio", "higher")
    assert trend(entries, SUITE, TARGET, "pass_rate", points=2).values == [None, 1.0]


def test_trend__parts_of_a_suite_are_no_points() -> None:
    entries = history(days({"a": "+"}), days({"a": "-"}, start=2, planned=5))
    assert trend(entries, SUITE, TARGET, "pass_rate").values == [1.0]


def test_trend__of_nothing_has_no_points() -> None:
    assert trend([], SUITE, TARGET, "pass_rate").points == []
    assert trend(history(days({"a": "+"})), SUITE, TARGET, "no_such").points == []
    assert trends([], SUITE, TARGET) == []


def test_summary__one_per_run_and_a_case_is_flaky_or_broken() -> None:
    entries = history(days({"a": "+-+-", "b": "++--"}), days({"a": "++"}, target="zz/m"))
    summary = summarize(History(entries, unreadable=2))
    first, second = summary.runs
    assert (first.name, first.runs, first.first, first.last) == (f"{SUITE} × {TARGET}", 4, mark(1), mark(4))
    assert ([c.id for c in first.flaky], [c.id for c in first.broken]) == (["a"], ["b"])
    assert second.target == "zz/m"
    assert summary.unreadable == 2
    assert "pass_rate" in [each.metric for each in first.trends]


def test_summary__targets_share_a_list_of_cases() -> None:
    text = ""
    for one in [*days({"a": "+++"}, target="aa/m"), *days({"a": "+-+"})]:
        text = appended_text(text, one)
    assert text.count('"cases"') == 1
    assert [c.id for c in summarize(read_history(text)).runs[1].flaky] == ["a"]

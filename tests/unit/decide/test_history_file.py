"""The text of a history: what a line holds, what is added, what is dropped, what is passed over."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evalward.decide.history_file import (
    MOST_METRICS,
    HistoryLimits,
    append,
    append_to_text,
    dump_entry,
    entries_of,
    read_history,
)
from evalward.records.history import CaseCount
from evalward.records.policy import Rule
from evalward.records.report import Partial
from evalward.records.verdict import Judgement, Outcome, RuleOutcome, Verdict
from support.comparisons import comparison
from support.histories import SUITE, TARGET, days, history, measured
from support.results import report, result, run
from support.written import appended_text


def text_of(*rows: str) -> str:
    text = ""
    for one in days({f"case{n}": row for n, row in enumerate(rows)}):
        text = appended_text(text, one, ref="main")
    return text


def test_entry__lists_only_what_did_not_simply_pass() -> None:
    (entry,) = entries_of(measured(1, {"ok": "+", "bad": "-", "mixed": "~", "broke": "e"}))
    assert entry.others == {
        "bad": CaseCount(0, 1),
        "mixed": CaseCount(1, 1),
        "broke": CaseCount(0, 0, 1),
        "ok": CaseCount(1),  # the run has two trials per case, and this case had one
    }
    assert entry.cases is not None
    assert set(entry.cases) == {"ok", "bad", "mixed", "broke"}
    assert (entry.suite, entry.target, entry.at, entry.attempt) == (SUITE, TARGET, "2026-01-01T08:00:00Z", 1)


def test_entry__plainly_passed_cases_are_left_out() -> None:
    (entry,) = entries_of(measured(1, {"a": "+", "b": "+"}))
    assert entry.others == {}


def test_entry__of_a_part_or_an_early_end_is_marked() -> None:
    cases = [result("a")]
    whole, part = report(run(cases)), report(run(cases), partial=Partial(cases=["a"]))
    ended, short = report(run(cases), interrupted="budget"), report(run(cases, planned=2))
    assert [entries_of(one)[0].partial for one in (whole, part, ended, short)] == [False, True, True, True]


def test_entries__runs_that_measured_nothing_have_none() -> None:
    assert entries_of(report(run([], not_measured="no key"))) == []


def test_entry__keeps_metrics_with_rules_first_and_a_dozen_at_most() -> None:
    rule = Rule(metric="avg_turns_per_task", ceiling=9)
    outcome = RuleOutcome(rule=rule, suite=SUITE, target=TARGET, value=None, status="ok", message="")
    verdict = Verdict(outcome=Outcome.FAIL, headline="x", rules=[outcome])
    (entry,) = entries_of(measured(1, {"a": "+"}), Judgement(comparison=comparison(), verdict=verdict))
    assert entry.outcome is Outcome.FAIL
    assert next(iter(entry.metrics)) == "avg_turns_per_task"
    assert len(entry.metrics) == MOST_METRICS
    assert {"pass_rate", "tool_call_success_rate", "cost_usd"} <= entry.metrics.keys()


def test_text__is_read_as_it_was_written() -> None:
    entries = history(days({"a": "+-~e", "b": "++++"}))
    text = "".join(dump_entry(entry) + "\n" for entry in entries)
    assert list(read_history(text).entries) == entries


def test_text__the_list_of_cases_is_written_once_per_set() -> None:
    lines = [json.loads(line) for line in text_of("+-+", "+ +").splitlines()]
    assert ["cases" in line for line in lines] == [True, True, False]
    assert lines[0]["case_set"] == lines[2]["case_set"] != lines[1]["case_set"]


def test_append__the_same_report_is_added_once() -> None:
    one = measured(1, {"a": "+"})
    text = appended_text("", one)
    assert appended_text(text, one) == text


def test_append__a_second_measurement_of_a_commit_is_another_attempt() -> None:
    entries = history([measured(1, {"a": "+"}), measured(1, {"a": "-"}, at="2026-01-01T09:00:00Z")])
    assert [(entry.attempt, entry.commit) for entry in entries] == [(1, f"{1:040x}"), (2, f"{1:040x}")]


def test_append__without_a_commit_nothing_is_an_attempt_of_anything() -> None:
    entries = history(days({"a": "++"}, commit=None))
    assert [entry.attempt for entry in entries] == [1, 1]


def test_append__old_lines_stay_as_they_are() -> None:
    line = text_of("+").replace('"kind"', '"from_a_later_version": 1, "kind"')
    text = appended_text(line + "{broken\n", measured(2, {"case0": "+"}))
    assert text.startswith(line + "{broken\n")
    assert text.count("\n") == 3


def test_append__a_last_line_without_an_end_is_ended() -> None:
    text = appended_text(text_of("+").rstrip("\n"), measured(2, {"case0": "+"}))
    assert len(read_history(text).entries) == 2


def test_append__the_newest_of_each_run_are_kept_and_the_list_moves_on() -> None:
    other = days({"a": "++"}, target="other/m")
    entries = history(other, days({"a": "+-+-"}))
    kept = append(entries, entries_of(measured(9, {"a": "+"})), HistoryLimits(entries_per_run=2))
    assert [(entry.target, entry.at[8:10]) for entry in kept] == [
        ("other/m", "01"), ("other/m", "02"), (TARGET, "04"), (TARGET, "09"),
    ]  # fmt: skip
    alone = append(history(days({"a": "+-+-"})), entries_of(measured(9, {"a": "+"})), HistoryLimits(entries_per_run=2))
    assert [entry.cases is not None for entry in alone] == [True, False]


def test_append__bytes_are_bounded_and_the_oldest_go_first() -> None:
    text = text_of("+-" * 10)
    limit = len(text) // 2
    shorter = append_to_text(text, entries_of(measured(99, {"case0": "+"})), HistoryLimits(max_bytes=limit))
    assert len(shorter.encode()) <= limit
    found = read_history(shorter)
    assert found.entries[-1].commit == f"{99:040x}"
    assert found.entries[0].cases == {"case0": "d" * 12}
    assert 5 < len(found.entries) < 20


def test_append__a_limit_that_nothing_fits_into_keeps_the_new() -> None:
    new = entries_of(measured(2, {"a": "+"}))
    text = append_to_text(text_of("+"), new, HistoryLimits(max_bytes=10))
    assert [entry.commit for entry in read_history(text).entries] == [f"{2:040x}"]


def test_append__lines_that_nobody_can_read_are_the_first_to_go() -> None:
    text = text_of("+") + "x" * 500 + "\n"
    limit = len(text_of("+-")) + 100
    shorter = append_to_text(text, entries_of(measured(2, {"case0": "+"})), HistoryLimits(max_bytes=limit))
    history_now = read_history(shorter)
    assert (len(history_now.entries), history_now.unreadable) == (2, 0)


BAD = [
    "{broken",
    "<<<<<<< HEAD",
    "[]",
    "null",
    '{"schema":"evalward.history/2"}',
    "\ufffd" * 9,
    '{"schema":"evalward.history/1","at":1}',
    '{"a":' * 5000,
]


@pytest.mark.parametrize("bad", BAD, ids=range(len(BAD)))
def test_read__a_bad_line_costs_only_itself(bad: str) -> None:
    first, second = text_of("+-").splitlines()
    found = read_history(f"{first}\n{bad}\n\n{second}\r\n")
    assert len(found.entries) == 2
    assert found.unreadable == 1
    assert found.warnings == ["history.jsonl: 1 line is not readable and passed over"]


def test_read__lines_that_a_merge_doubled_count_once() -> None:
    text = text_of("+-+")
    assert read_history(text + text).entries == read_history(text).entries
    assert read_history(text + text).warnings == []


@given(st.text(max_size=300))
def test_append__any_text_before_it(text: str) -> None:
    grown = appended_text(text, measured(1, {"a": "+"}))
    assert [entry.commit for entry in read_history(grown).entries] == [f"{1:040x}"]


def test_appended__hostile_names_stay_on_their_line() -> None:
    name = 'a"\n{}\u2028\ud800'
    text = appended_text("", measured(1, {name: "-"}))
    (entry,) = read_history(text).entries
    assert text.count("\n") == 1
    assert list(entry.others) == ['a"\n{}\u2028\ufffd']


def test_record__counts_are_never_negative() -> None:
    line = text_of("-").replace("[0,1,0,0]", "[-5,1,0,0]")
    assert read_history(line).unreadable == 1


def test_size__a_year_of_daily_runs_is_small() -> None:
    rows = {f"json_processing_case_{n:03d}": "-" if n % 12 == 0 else "+" for n in range(37)}
    first, second = (measured(day, rows, system="s" * 40) for day in (1, 2))
    text = appended_text(appended_text("", first, ref="main"), second, ref="main")
    one, other = (len(line.encode()) for line in text.splitlines())
    assert one + 364 * other < 1_000_000

"""Trials put together: all of them, each once, never the best ones."""

from __future__ import annotations

from itertools import count
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evalward.decide.baseline import BaselineUpdate, dump_baseline, read_baseline, update_baseline
from evalward.decide.baseline_diff import diff_baselines
from evalward.decide.pooling import MOST_TRIALS, NamedReport, combine, report_digest
from evalward.decide.staleness import stale
from evalward.decide.succession import align
from evalward.records.baseline import Baseline
from evalward.records.policy import Policy, Waiver
from evalward.records.problem import InputError
from evalward.records.report import Report
from evalward.records.result import Result
from evalward.render.sentences import warnings
from evalward.suites.bash.metrics import measure
from support.results import KINDS, passes, report, result, run
from support.written import make_baseline

LATER = "2026-12-01T00:00:00Z"
_clock = count(1000)


def live(*rows: Result, created_at: str = "2026-11-21T08:00:00Z", **more: Any) -> Report:
    """A report of a random target; every trial has a duration of its own, as real ones have."""
    timed = [row.model_copy(update={"duration_ms": next(_clock)}) for row in rows]
    return report(run(timed, random=True, **more), created_at=created_at)


def rows(outcomes: str, case: str = "a", **more: Any) -> list[Result]:
    """A trial of the case for each letter: P passed, anything else failed."""
    words = ["passed" if letter == "P" else "failed" for letter in outcomes]
    return [result(case, word, trial=number, **more) for number, word in enumerate(words, 1)]


def made(one: Report) -> Baseline:
    return make_baseline(one, "r.json", None, KINDS)


def pooled(previous: Baseline, *reports: Report) -> BaselineUpdate:
    measured = [NamedReport(one, f"{number}.json") for number, one in enumerate(reports)]
    return update_baseline(measured, previous, KINDS, pool=True)


def letters(baseline: Baseline, case: str = "a") -> str:
    (found,) = [item for item in baseline.runs[0].cases if item.id == case]
    return "".join("P" if trial.status == "passed" else "f" for trial in found.trials)


outcomes = st.text("Pf", min_size=1, max_size=5)


@given(outcomes, outcomes, outcomes)
def test_pooling_measures_what_both_measured(one: str, two: str, three: str) -> None:
    first, second, third = (live(*rows(text)) for text in (one, two, three))
    whole = pooled(pooled(made(first), second).baseline, third).baseline
    assert letters(whole) == one + two + three
    assert whole.runs[0].trials == len(one + two + three)
    every = [r for part in (first, second, third) for r in part.runs[0].cases]
    assert whole.runs[0].metrics == measure(every).metrics
    other = pooled(pooled(made(third), first).baseline, second).baseline
    assert other.runs[0].metrics == whole.runs[0].metrics


@given(outcomes, outcomes)
def test_combining_does_not_depend_on_the_order(one: str, two: str) -> None:
    first, second = NamedReport(live(*rows(one)), "1"), NamedReport(live(*rows(two), created_at=LATER), "2")
    assert combine([first, second]) == combine([second, first])
    assert len(combine([first, second]).runs[0].cases) == len(one + two)


def test_a_report_is_pooled_once() -> None:
    first, second = live(*rows("PP")), live(*rows("fP"))
    whole = pooled(made(first), second).baseline
    for known in (first, second, second.model_copy(update={"created_at": LATER})):
        again = pooled(whole, known)
        assert (again.baseline, again.report) == (whole, None)
    assert pooled(whole, second, live(*rows("f"))).baseline.runs[0].trials == 5
    assert pooled(made(first), second, second).baseline.runs[0].trials == 4


def test_passes_that_a_resumed_run_brings_again_are_left_out() -> None:
    first = live(*rows("Pf"))
    more = run([*first.runs[0].cases, result("a", trial=3, duration_ms=7)], random=True)
    done = pooled(read_baseline(dump_baseline(made(first)), "b"), report(more))
    assert letters(done.baseline) == "PfP"
    assert any("2 of 3 trials are in the baseline already" in note for note in done.notes)


def test_only_the_newest_trials_are_kept() -> None:
    whole = pooled(made(live(*rows("f" * 15))), live(*rows("P" * 15))).baseline
    assert letters(whole) == "f" * (MOST_TRIALS - 15) + "P" * 15


def test_what_changed_is_replaced_and_told() -> None:
    before = made(live(*rows("PP"), *rows("PP", "b")))
    redefined = pooled(before, live(*rows("f", definition="sha256:new"), *rows("f", "b")))
    assert (letters(redefined.baseline), letters(redefined.baseline, "b")) == ("f", "PPf")
    assert any("because redefined: a" in note for note in redefined.notes)
    other = pooled(before, live(*rows("f"), *rows("f", "b"), parts={"system": "s2", "bashkit": "1"}))
    assert letters(other.baseline) == "f"
    assert any("its subject changed (system)" in note for note in other.notes)


def test_targets_that_always_do_the_same_are_replaced_without_a_diff() -> None:
    before = made(report(run(rows("P"))))
    assert pooled(before, report(run([result("a", duration_ms=777)]))).baseline is before


@pytest.mark.parametrize(
    ("other", "message"),
    [
        (live(*rows("P"), parts={"system": "new"}), "a different subject"),
        (live(*rows("P", "b")), "different cases"),
        (live(*rows("P", definition="sha256:new")), "different cases"),
        (live(*rows("P"), target="other"), "is in only one of"),
    ],
)
def test_only_reports_of_the_same_are_combined(other: Report, message: str) -> None:
    with pytest.raises(InputError, match=message):
        combine([NamedReport(live(*rows("P")), "1"), NamedReport(other, "2")])


def test_the_digest_is_of_what_was_measured() -> None:
    one = live(*rows("P"))
    assert report_digest(one) == report_digest(one.model_copy(update={"created_at": LATER, "warnings": ["x"]}))
    assert report_digest(one) != report_digest(live(*rows("P")))


# --- skipped --------------------------------------------------------------------------------------------------------


def test_skipped_cases_go_where_nobody_misses_them() -> None:
    now = report(run([*rows("P"), result("new", "skipped", reason="no_solution")]))
    done = update_baseline([NamedReport(now, "r")], None, KINDS)
    assert [case.id for case in done.baseline.runs[0].cases] == ["a"]
    assert "left out, because it could not be run: new" in done.notes[0]


def test_skipped_cases_that_the_baseline_knows_block_until_they_are_waived() -> None:
    before = made(report(run(passes("a", "b"))))
    now = [NamedReport(report(run([*rows("P"), result("b", "skipped", reason="no_solution")])), "r")]
    with pytest.raises(InputError, match="0 errors, 1 skipped"):
        update_baseline(now, before, KINDS)
    policy = Policy(waive=[Waiver(id="b", reason="gone")])
    assert len(update_baseline(now, before, KINDS, policy=policy).baseline.runs[0].cases) == 1


def test_skipping_everything_is_no_baseline() -> None:
    with pytest.raises(InputError):
        made(report(run([result("a", "skipped", reason="no_solution")])))


# --- earlier forms, differences, age --------------------------------------------------------------------------------


def test_an_earlier_baselines_reason_is_read() -> None:
    text = dump_baseline(made(live(*rows("P")))).replace(
        '"evalward": "0.1.0"', '"evalward": "0.1.0", "accepted": "we did"'
    )
    (accepted,) = read_baseline(text, "b.json").provenance.accepted
    assert (accepted.reason, accepted.at, accepted.verified) == ("we did", "2026-11-21T08:00:00Z", False)


def test_the_difference_names_cases_trials_and_subject() -> None:
    before = made(live(*rows("PP"), *rows("PP", "b"), *rows("P", "gone")))
    now = made(live(*rows("Pf"), *rows("PP", "b"), *rows("P", "new"), parts={"system": "s2", "bashkit": "1"}))
    (found,) = diff_baselines(before, now).runs
    assert [(case.id, case.change) for case in found.cases] == [("a", "changed"), ("gone", "removed"), ("new", "added")]
    assert [change.part for change in found.subject] == ["system"]
    assert "pass_rate" in {change.id for change in found.metrics}
    assert diff_baselines(now, now).empty
    assert [one.change for one in diff_baselines(None, now).runs] == ["added"]


def test_age_counts_for_random_targets_only() -> None:
    late = "2027-11-21T08:00:00Z"
    assert any("365 days old" in told for told in warnings(stale(made(live(*rows("P" * 5))), None, late)))
    assert stale(made(live(*rows("P" * 5))), None, LATER) == []
    assert stale(made(report(run(rows("P")))), None, late) == []
    assert stale(made(live(*rows("P" * 5))), None, "some day") == []


def test_what_drifted_is_told() -> None:
    before = made(live(*rows("P" * 5), *rows("P" * 5, "b")))
    now = live(*rows("P", definition="sha256:new"), *rows("P", "c"), parts={"system": "s1", "bashkit": "2"})
    told = " ".join(warnings(stale(before, align(now, before).pairs, LATER)))
    assert "another bashkit (1, now 2)" in told
    assert "1 of the baseline's 2 cases has been redefined" in told
    assert "lacks 1 of 2 cases" in told
    assert "3 trials per case" in " ".join(warnings(stale(made(live(*rows("PPP"))), None, LATER)))

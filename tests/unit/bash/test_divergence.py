"""Where a replay parts from its recording: times and temporary names are no divergence, anything else is."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evalward.sandbox.base import cut
from evalward.suites.divergence import first_divergence, scrub
from support.cases import call
from support.patience import little_work

ALIKE = [
    ("2026-02-09", "2026-11-21"),
    ("at 2026-02-09T05:45:58Z", "at 2026-11-21T08:00:00.123+02:00"),
    ("2026-02-09 05:45", "2026-11-21 18:00:01"),
    ("Mon Feb  9 05:45:58 UTC 2026", "Sat Nov 21 08:00:00 UTC 2026"),
    ("Sun, no: Sun 9 Feb 2026", "Sun, no: Mon 21 Nov 2026"),
    ("-rw-r--r-- 1 eval 12 Feb  9 05:45 a", "-rw-r--r-- 1 eval 12 Nov 21 08:00 a"),
    ("real\t0m0.123s", "real\t0m1.5s"),
    ("took 0:01.5", "took 12:07"),
    ("1770615958", "1795248000"),
    ("1770615958.25", "1795248000"),
    ("/tmp/tmp.Ab3dE6gH", "/tmp/tmp.zzzzzzzzzz"),
    ("/tmp/build.XyZ123/x.txt", "/tmp/build.abcdef/x.txt"),
]


@pytest.mark.parametrize(("recorded", "today"), ALIKE)
def test_what_differs_from_run_to_run_by_itself(recorded: str, today: str) -> None:
    assert scrub(recorded) == scrub(today)
    assert first_divergence([call(recorded)], [call(today)]) is None
    assert first_divergence([call("", recorded)], [call("", today)]) is None


@pytest.mark.parametrize(
    ("recorded", "today"),
    [
        ("3 files", "4 files"),
        ("total 12", "total 13"),
        ("", "\n"),
        ("Monday", "Tuesday"),
        ("1.20.1", "1.20.2"),
        ("123456789", "123456780"),
        ("12345678901", "12345678902"),
        ("/tmp/a.txt", "/tmp/b.txt"),
        ("a/tmp.1", "a/tmp.2"),
    ],
)
def test_what_is_a_divergence(recorded: str, today: str) -> None:
    assert first_divergence([call(recorded)], [call(today)]) == 1


def test_stdout_stderr_and_exit_code_count_and_nothing_else() -> None:
    base = call("out", "err", 1, commands="a").model_copy(update={"duration_ms": 5})
    assert first_divergence([base], [call("out", "err", 1, commands="b")]) is None
    assert first_divergence([base], [call("out", "err", 2)]) == 1
    assert first_divergence([base], [call("out", "er", 1)]) == 1
    assert first_divergence([base], [call("ou", "err", 1)]) == 1


def test_the_first_call_that_differs_is_named() -> None:
    recorded = [call("a"), call("b"), call("c")]
    assert first_divergence(recorded, [call("a"), call("x"), call("y")]) == 2
    assert first_divergence(recorded, recorded) is None
    assert first_divergence([], []) is None


def test_missing_and_further_calls_are_a_divergence_after_the_last_common_one() -> None:
    recorded = [call("a"), call("b")]
    assert first_divergence(recorded, recorded[:1]) == 2
    assert first_divergence(recorded[:1], recorded) == 2
    assert first_divergence(recorded, []) == 1


def test_a_recording_that_was_cut_is_compared_with_output_cut_alike() -> None:
    whole = "".join(f"line {n}\n" for n in range(20_000))
    assert first_divergence([call(cut(whole))], [call(whole)]) is None
    assert first_divergence([call(cut(whole))], [call("x" + whole)]) == 1


@given(st.text(max_size=100))
def test_scrubbing_is_stable(text: str) -> None:
    assert scrub(scrub(text)) == scrub(text)


@pytest.mark.parametrize(
    "text", ["/tmp/" + "a" * 30_000, "Mon" + " " * 30_000, "1m" * 15_000, "Jan 1" * 6_000, "1:" * 15_000]
)
def test_scrubbing_hostile_output_is_quick(text: str) -> None:
    with little_work(5):
        scrub(text)

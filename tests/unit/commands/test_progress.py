from __future__ import annotations

from io import StringIO

import pytest

from evalward.runner.progress import ProgressLine
from support.results import result


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    now = [100.0]
    monkeypatch.setattr("evalward.runner.progress.time.monotonic", lambda: now[0])
    return now


def test_log__is_told_now_and_then_and_at_the_end(clock: list[float]) -> None:
    out = StringIO()
    line = ProgressLine([("run", 4)], out, live=False)
    for status, at in (("passed", 101.0), ("failed", 116.0), ("error", 117.0), ("skipped", 118.0)):
        clock[0] = at
        line.finished("run", result("a", status))
    line.close()
    assert out.getvalue().splitlines() == [
        "2/4 trials, 1 passed, 1 failed, 16.0 s left",
        "4/4 trials, 1 passed, 1 failed, 1 error, 1 skipped, 18.0 s",
    ]


def test_terminal__one_line_that_updates_itself(clock: list[float]) -> None:
    out = StringIO()
    line = ProgressLine([("run", 2)], out, live=True)
    clock[0] = 101.0
    line.finished("run", result("a"))
    line.close()
    assert out.getvalue().startswith("\r\x1b[2K[████████████············] 1/2 trials, 1 passed")
    assert out.getvalue().endswith("\n")


@pytest.mark.parametrize(
    ("costs", "told"), [((0.5, 0.25), ", $0.7500,"), ((0.5, None), ", at least $0.5000,"), ((None, None), "")]
)
def test_cost__known_and_unknown(clock: list[float], costs: tuple[float | None, ...], told: str) -> None:
    out = StringIO()
    line = ProgressLine([("run", len(costs))], out, live=False)
    for cost in costs:
        line.finished("run", result("a", cost=cost))
    line.close()
    assert told in out.getvalue()
    assert ("$" in out.getvalue()) == bool(told)


def test_log__what_is_told_already_is_not_told_again(clock: list[float]) -> None:
    out = StringIO()
    line = ProgressLine([("run", 1)], out, live=False)
    clock[0] = 116.0
    line.finished("run", result("a"))
    line.close()
    assert out.getvalue() == "1/1 trial, 1 passed, 16.0 s\n"


def test_log__each_run_has_a_line_when_it_is_done(clock: list[float]) -> None:
    out = StringIO()
    line = ProgressLine([("::one × oracle", 2), ("two × nop", 1), ("two × nop", 1)], out, live=False)
    for run, status in (("::one × oracle", "passed"), ("two × nop", "failed"), ("::one × oracle", "error")):
        line.finished(run, result("a", status))
    line.finished("two × nop", result("b", "failed"))
    line.close()
    assert out.getvalue().splitlines() == [
        ": :one × oracle: 1 passed, 1 error",
        "two × nop: 0 passed, 2 failed",
        "4/4 trials, 1 passed, 2 failed, 1 error, 0 ms",
    ]


def test_what_an_early_end_left_out__is_not_done(clock: list[float]) -> None:
    out = StringIO()
    line = ProgressLine([("run", 100)], out, live=False)
    for _ in range(4):
        line.finished("run", result("a"), kept=True)
    for _ in range(96):
        line.finished("run", result("a", "skipped", reason="not_run"))
    line.close()
    assert (line.kept, out.getvalue()) == (4, "4/100 trials, 4 passed, 0 ms\n")

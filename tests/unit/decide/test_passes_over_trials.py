"""pass@k and pass^k of a run, as a page tells them."""

from __future__ import annotations

import pytest

from evalward.records.result import Result
from evalward.records.verdict import Judgement
from evalward.render.context import PageContext
from evalward.render.markdown import comment
from support.results import compared, report, result, run, verdict_of


def trials(**outcomes: str) -> list[Result]:
    words = {"P": "passed", "F": "failed", "E": "error"}
    return [
        result(case, words[letter], trial=number)
        for case, letters in outcomes.items()
        for number, letter in enumerate(letters, 1)
    ]


def test_pass_at_k_and_pass_hat_k_are_means_over_cases() -> None:
    now = report(run(trials(a="PPP", b="PFF", c="FFF", d="PPF"), trials=3))
    found = compared(now, None).runs[0]
    assert found.pass_at == pytest.approx(3 / 4)
    assert found.pass_all == pytest.approx(1 / 4)


def test_cases_without_k_valid_trials_are_left_out() -> None:
    found = compared(report(run(trials(a="PPP", b="PFE"), trials=3)), None).runs[0]
    assert (found.pass_at, found.pass_all) == (1.0, 1.0)


def test_a_single_trial_has_neither() -> None:
    found = compared(report(run(trials(a="P", b="F"))), None).runs[0]
    assert (found.pass_at, found.pass_all) == (None, None)


def test_the_comment_tells_both() -> None:
    now = report(run(trials(a="PP", b="PF"), trials=2))
    page = comment(Judgement(comparison=compared(now, None), verdict=verdict_of(now, None)), PageContext())
    assert "`pass@2` 100.0 % (at least one passes), `pass^2` 50.0 % (all pass)" in page

"""The table of all cases has its share of the page's bytes, whatever comes; what did not pass is there first."""

from __future__ import annotations

import re

import pytest

from evalward.records.comparison import CaseChange, RunComparison, Tally
from evalward.records.verdict import Judgement, Outcome, Verdict
from evalward.render.html.budget import PAGE_BYTES, fitting_rows
from evalward.render.outputs import ShownJudgement, text_of
from support.comparisons import comparison, run

PASSED, FAILED = Tally(passed=1, trials=1), Tally(passed=0, trials=1)


def case(number: int, now: Tally, pad: str = "") -> CaseChange:
    return CaseChange(id=f"case-{number}{pad}", category="c", change="same", before=now, now=now)


def many(count: int, pad: str = "") -> RunComparison:
    cases = [case(number, PASSED if number < count - 50 else FAILED, pad) for number in range(count)]
    return run(suite="s", target="oracle", cases=cases)


def page(*runs: RunComparison) -> str:
    verdict = Verdict(outcome=Outcome.PASS, headline="nothing got worse")
    return text_of("html", ShownJudgement(Judgement(comparison=comparison(*runs), verdict=verdict)))


@pytest.mark.parametrize("pad", ["", "<&>" * 60, "ü" * 200], ids=["plain", "escaped", "wide"])
def test_however_many_cases_a_page_stays_below_its_size(pad: str) -> None:
    text = page(many(17_000, pad))

    assert len(text.encode()) < PAGE_BYTES
    left = re.search(r"Left out for the size of the page: ([\d,]+) cases", text)
    assert left is not None
    rows = len(re.findall(r'<tr[^>]* data-status="', text))
    assert rows + int(left[1].replace(",", "")) == 17_000
    assert len(re.findall(r'<tr[^>]* data-status="failed"', text)) == 50


def test_few_cases_are_all_there() -> None:
    text = page(many(200))
    assert len(re.findall(r'<tr[^>]* data-status="', text)) == 200
    assert "Left out for the size" not in text


def test_rows_that_are_urgent_come_first__then_in_order() -> None:
    rows = [(False, 4), (False, 4), (True, 4), (False, 1)]
    assert fitting_rows(rows, 8) == {0, 2}
    assert fitting_rows(rows, 4) == {2}
    assert fitting_rows(rows, 13) == {0, 1, 2, 3}
    assert fitting_rows(rows, 0) == set()

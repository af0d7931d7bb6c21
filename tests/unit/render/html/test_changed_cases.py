"""A case that changed, baseline beside now: whatever is at hand of report and baseline is shown."""

from __future__ import annotations

from pathlib import Path

import pytest

from evalward.commands.ending import shown_reports, sources_of, write_page
from evalward.commands.pipeline import decide_report
from evalward.keeper.outputs import OutputFolder
from evalward.records.baseline import Baseline
from evalward.records.policy import Policy
from evalward.records.problem import wrong
from evalward.records.report import Beside, Report
from evalward.records.result import CheckResult, Result, Status
from evalward.records.trace import Usage
from evalward.render.context import PageContext
from evalward.render.outputs import ShownJudgement, text_of
from support import judgements
from support.html_pages import HtmlPage
from support.results import baseline, report, result, run


def trial(status: Status, number: int = 1, **more: object) -> Result:
    """One of a case that costs something."""
    cost = 0.02 if status is Status.PASSED else 0.05
    check = CheckResult(check="exit_code:0", passed=status is Status.PASSED, detail="exit code 3")
    return result("sort", status, score=float(status is Status.PASSED), max_score=1.0).model_copy(
        update={
            "trial": number,
            "usage": Usage(input_tokens=1200, output_tokens=300, cost_usd=cost),
            "duration_ms": 4000,
            "checks": [check],
            **more,
        }
    )


def page_of(now: Report, before: Baseline | None) -> HtmlPage:
    """The page of a report against a baseline."""
    judgement = decide_report(now, before, Policy())
    return HtmlPage(text_of("html", ShownJudgement(judgement, PageContext(), sources=sources_of(now, before))))


def numbers(page: HtmlPage) -> dict[str, list[str]]:
    """The rows of the first case's table."""
    rows: dict[str, list[str]] = {}
    inside = page.elements[page.elements.index(page.classed("numbers")[0]) :]
    for element in inside:
        if element.tag == "article":
            break
        if element.tag == "th" and element.attributes.get("scope") == "row":
            rows[element.text] = []
        if element.tag == "td" and rows:
            rows[list(rows)[-1]].append(" ".join(element.text.split()))
    return rows


def test_a_broken_case__has_its_numbers_of_both_sides() -> None:
    before = baseline(run([trial(Status.PASSED)]))
    page = page_of(report(run([trial(Status.FAILED)])), before)

    found = numbers(page)
    assert found["Passed"] == ["1 of 1", "0 of 1"]
    assert found["Cost per trial"] == ["$0.0200", "$0.0500"]
    assert found["Tokens per trial"] == ["1,200 in, 300 out"] * 2
    assert found["Time per trial"] == ["4.0 s", "4.0 s"]
    assert found["Trials"] == ["✓ trial 1 passed", "✗ trial 1 failed"]
    assert "The baseline keeps the numbers of its trials, no texts." in page.words


def test_a_cost_that_nobody_knows__is_not_shown_as_none() -> None:
    unknown = Usage(input_tokens=5)
    before = baseline(run([trial(Status.PASSED, usage=unknown)]))
    found = numbers(page_of(report(run([trial(Status.FAILED, usage=unknown)])), before))

    assert "Cost per trial" not in found
    assert "$0" not in str(found)


def test_a_base_that_was_tried_again__stands_there_in_full() -> None:
    before = baseline(run([trial(Status.PASSED)]))
    again = trial(Status.PASSED, 2, checks=[CheckResult(check="said:hello", passed=True, detail="")])
    both = Beside(commit="ab" * 20, base=[again], head=[trial(Status.FAILED, 2)])
    one = run([trial(Status.FAILED)], random=True).model_copy(update={"beside": both})
    page = page_of(report(one), before)

    assert [each.text for each in page.all("th") if each.attributes.get("scope") == "col"][:4] == [
        "Baseline",
        "Base, retried",
        "Now",
        "Now, retried",
    ]
    assert "said:hello" in page.words


def test_a_judgement_alone__shows_what_it_says_of_a_case() -> None:
    page = HtmlPage(text_of("html", ShownJudgement(judgements.failed())))

    assert "stdout_contains:hobbies" in page.words
    assert "jq: error (at user.json:4)" in page.words
    assert "The measurements are missing" in page.words


def test_a_report_alone__shows_its_cases_without_a_comparison() -> None:
    made = report(run([trial(Status.FAILED)]))
    page = HtmlPage(text_of("html", shown_reports([made], sources=[sources_of(made, None)])))

    assert "0 of 1 trials passed" in page.words
    assert "exit_code:0" in page.words
    assert page.values("data-status") == ["failed"]


def test_several_reports__stand_side_by_side() -> None:
    made = [report(run([trial(status)])) for status in (Status.FAILED, Status.PASSED)]
    page = HtmlPage(text_of("html", shown_reports(made, sources=[sources_of(each, None) for each in made])))

    assert "Metrics side by side" in page.words
    assert page.values("data-status") == ["failed", "passed"]
    assert len(page.ids) == len(set(page.ids))


@pytest.mark.parametrize("error", [wrong("x", "the disk is full"), RecursionError("deep"), MemoryError()])
def test_a_page_that_cannot_be_made__is_a_warning(
    error: Exception, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(shown: object) -> str:
        raise error

    monkeypatch.setattr("evalward.render.html.page.judgement_page", broken)
    said: list[str] = []

    written = write_page(ShownJudgement(judgements.passed()), OutputFolder.open(tmp_path / "out"), said.append)

    assert written == []
    assert len(said) == 1
    assert said[0].startswith("The page was not written")

"""Cases that fail and are no regression: new ones are shown like broken ones, known ones are named."""

from __future__ import annotations

from xml.etree import ElementTree as ET

import pytest

from evalward.records.comparison import CaseChange, Tally
from evalward.records.evidence import WrongAnswer
from evalward.records.result import CheckResult
from evalward.records.verdict import Judgement, Outcome, Verdict
from evalward.render.junit import junit
from evalward.render.markdown import comment
from evalward.render.terminal import judgement_text
from support.comparisons import comparison, run
from support.judgements import context

FAILED, PASSED = Tally(passed=0, trials=1), Tally(passed=1, trials=1)
CHECK = CheckResult(check="exit_code:0", passed=False, detail="got 2")


def cases() -> list[CaseChange]:
    """A new case that fails, a new one that passes, one that fails as before."""
    fails = CaseChange(id="brand_new", category="c", change="added", now=FAILED, checks=[CHECK], command="jq -r")
    old = CaseChange(id="never_passed", category="c", change="same", before=FAILED, now=FAILED)
    return [fails, fails.model_copy(update={"id": "fine", "now": PASSED, "checks": []}), old]


def judged(outcome: Outcome = Outcome.PASS, target: str = "oracle", **more: object) -> Judgement:
    found = comparison(run(target=target, cases=cases()), **more)
    return Judgement(comparison=found, verdict=Verdict(outcome=outcome, headline="the verdict"))


def test_page__a_new_case_that_fails_is_shown_like_a_broken_one() -> None:
    text = comment(judged(), context(), "full")
    section = text.split("<b>New and failing: 1</b>", 1)[1].split("</details>", 1)[0]
    assert "❌ `brand_new` · c · new → failed" in section
    assert "`exit_code:0`: got 2" in section
    assert "$ jq -r" in section
    assert "→ `evalward show brand_new`" in section
    assert text.count("brand_new") == 2


def test_page__what_the_case_says_is_not_said_once_more_by_its_check() -> None:
    told = cases()[0].model_copy(update={"note": "got 2"})
    found = Judgement(comparison=comparison(run(cases=[told])), verdict=Verdict(outcome=Outcome.PASS, headline="v"))
    section = comment(found, context(), "full").split("<b>New and failing: 1</b>", 1)[1].split("</details>", 1)[0]
    assert section.count("got 2") == 1
    assert "  - `exit_code:0`\n" in section


def test_page__names_what_fails_as_before() -> None:
    section = comment(judged(), context(), "full").split("Still failing: 1, as before", 1)[1]
    assert "`never_passed`" in section.split("</details>", 1)[0]


def test_page__the_shortest_one_still_counts_them() -> None:
    assert "0 broken, 1 new and failing, 0 fixed" in comment(judged(Outcome.FAIL), context(), "headline")


def test_page__without_a_baseline_nothing_is_new() -> None:
    text = comment(judged(baseline=None), context(), "full")
    assert "<b>Failing: 1</b>" in text
    assert "New and failing" not in text


@pytest.mark.parametrize(
    ("outcome", "headline"),
    [(Outcome.FAIL, "the verdict; 1 new case fails"), (Outcome.PASS, "the verdict\n")],  # a pass says it itself
)
def test_headline__says_how_many_new_cases_fail(outcome: Outcome, headline: str) -> None:
    assert headline in comment(judged(outcome), context(), "full")


def test_terminal__shows_both() -> None:
    text = judgement_text(judged(), colour=False, width=120)
    assert "New and failing: 1" in text
    assert "brand_new (c): new → failed" in text
    assert "Still failing: 1, as before" in text


def test_a_target_that_does_nothing__is_left_alone() -> None:
    text = judgement_text(judged(target="nop"), colour=False, width=120)
    assert "New and failing" not in text
    assert "Still failing" not in text


def test_junit__a_new_case_that_fails_is_marked() -> None:
    root = ET.fromstring(junit(judged().comparison))
    failures = {case.get("name"): child for case in root.iter("testcase") for child in case.iter("failure")}
    assert failures["brand_new"].attrib == {"message": "not in the baseline, failed now", "type": "new"}
    assert failures["never_passed"].get("type") == "failed"


def test_page__a_first_runs_wrong_answers_have_a_table() -> None:
    wrong = WrongAnswer(expected="ls -a", actual="ls", why="incorrect command")
    case = cases()[0].model_copy(update={"wrong": wrong})
    first = Judgement(
        comparison=comparison(run(cases=[case]), baseline=None), verdict=Verdict(outcome=Outcome.PASS, headline="x")
    )
    text = comment(first, context(), "full")
    assert ("Wrong answers: 1" in text, "Failing: 1" in text) == (True, False)

"""JUnit XML: well-formed whatever is in it, of the form that readers know, and of one mind with the verdict."""

from __future__ import annotations

from collections.abc import Callable
from xml.etree import ElementTree as ET

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evalward.records.comparison import CaseChange, Tally
from evalward.records.result import CheckResult
from evalward.records.verdict import Judgement, Outcome, Reason, Verdict
from evalward.render.junit import junit
from support import judgements
from support.comparisons import comparison, run

# What the schemas of Ant, Jenkins and pytest have in common: element → its attributes (True: needed), its children.
FORM: dict[str, tuple[dict[str, bool], set[str]]] = {
    "testsuites": (
        {"name": True, "tests": True, "failures": True, "errors": True, "skipped": False},
        {"testsuite"},
    ),
    "testsuite": (
        {"name": True, "tests": True, "failures": True, "errors": True, "skipped": False},
        {"properties", "testcase"},
    ),
    "properties": ({}, {"property"}),
    "property": ({"name": True, "value": True}, set()),
    "testcase": (
        {"name": True, "classname": True, "file": False, "line": False},
        {"failure", "error", "skipped", "system-out"},
    ),
    "failure": ({"message": False, "type": True}, set()),
    "error": ({"message": False, "type": True}, set()),
    "skipped": ({"message": False}, set()),
    "system-out": ({}, set()),
}
COUNTS = {"failures": "failure", "errors": "error", "skipped": "skipped"}


def parsed(text: str) -> ET.Element:
    """The root of a document that keeps to the form."""
    root = ET.fromstring(text.encode())
    assert root.tag == "testsuites"
    for element in root.iter():
        attributes, children = FORM[element.tag]
        assert set(element.attrib) <= set(attributes), element.tag
        assert {name for name, needed in attributes.items() if needed} <= set(element.attrib), element.tag
        assert {child.tag for child in element} <= children
        if element.tag in {"testsuites", "testsuite"}:
            assert element.get("tests") == str(len(list(element.iter("testcase"))))
            for count, tag in COUNTS.items():
                assert element.get(count) == str(len(list(element.iter(tag))))
        if element.tag == "testcase":
            assert len(element) <= 1
    return root


def states(root: ET.Element, suite: str) -> dict[str, str]:
    """Name → state of a testsuite's testcases."""
    [found] = [item for item in root if item.get("name") == suite]
    return {case.get("name", ""): _state(case) for case in found.iter("testcase")}


def _state(case: ET.Element) -> str:
    return next((child.tag for child in case if child.tag != "system-out"), "passed")


def one(case: CaseChange) -> ET.Element:
    root = parsed(junit(comparison(run(cases=[case]))))
    [element] = root.iter("testcase")
    return element


@pytest.mark.parametrize(
    "make",
    [
        judgements.failed,
        judgements.passed,
        judgements.first_run,
        judgements.inconclusive,
        judgements.unjudged,
        judgements.several,
        judgements.all_fine,
    ],
)
def test_form__of_every_judgement(make: Callable[[], Judgement]) -> None:
    judgement = make()
    root = parsed(junit(judgement.comparison, judgement.verdict))
    assert [suite.get("name") for suite in root] == [*(run.name for run in judgement.comparison.runs), "policy"]


@pytest.mark.parametrize(
    ("passed", "trials", "state"), [(1, 1, None), (0, 1, "failure"), (2, 3, None), (1, 2, "failure"), (1, 3, "failure")]
)
def test_trials__are_folded_by_majority(passed: int, trials: int, state: str | None) -> None:
    element = one(CaseChange(id="a", category="c", change="added", now=Tally(passed=passed, trials=trials)))
    assert [child.tag for child in element] == ([state] if state else [])


def test_error__is_no_failure_and_a_skipped_case_is_neither() -> None:
    broke = CaseChange(id="a", category="c", change="not_valid", note="timeout")
    assert one(broke)[0].tag == "error"
    assert one(broke.model_copy(update={"skipped": True}))[0].tag == "skipped"


def test_failure__says_what_to_look_at_and_where_it_is_written() -> None:
    element = one(
        CaseChange(
            id="a",
            category="c",
            change="broken",
            before=Tally(passed=1, trials=1),
            now=Tally(passed=0, trials=1),
            checks=[CheckResult(check="exit_code:0", passed=False, detail="expected 0, got 2")],
            command="jq -r",
            stderr="jq: error",
            place="evals/a:b.jsonl:7",
        )
    )
    assert (element.get("file"), element.get("line")) == ("evals/a:b.jsonl", "7")
    assert element[0].attrib == {"message": "passed in the baseline, failed now", "type": "broken"}
    assert element[0].text == "exit_code:0: expected 0, got 2\n$ jq -r\njq: error"


def test_policy__fails_exactly_where_the_verdict_does() -> None:
    judgement = judgements.failed()
    found = states(parsed(junit(judgement.comparison, judgement.verdict)), "policy")
    assert len(found) == 4  # three rules, one of them each a reason, and the missing case
    assert sorted(found.values()) == ["failure", "failure", "passed", "skipped"]
    assert "missing: bash-tools × replay:haiku: the case tar_list of the baseline is missing" in found


def test_policy__inconclusive_fails_where_it_is_asked_to() -> None:
    judgement = judgements.inconclusive()
    strict = judgement.verdict.model_copy(update={"fail_on": "inconclusive"})
    assert "failure" not in states(parsed(junit(judgement.comparison, judgement.verdict)), "policy").values()
    assert "failure" in states(parsed(junit(judgement.comparison, strict)), "policy").values()


def test_policy__what_could_not_be_judged_is_an_error() -> None:
    judgement = judgements.unjudged()
    found = states(parsed(junit(judgement.comparison, judgement.verdict)), "policy")
    assert list(found.values()) == ["error"]


def test_report_alone__has_no_policy() -> None:
    root = parsed(junit(judgements.first_run().comparison))
    assert [suite.get("name") for suite in root] == [judgements.first_run().comparison.runs[0].name]


HOSTILE = st.text(st.characters(categories=None), max_size=60)


@given(HOSTILE, HOSTILE, HOSTILE)
def test_any_text__is_well_formed(name: str, detail: str, place: str) -> None:
    case = CaseChange(
        id=name,
        category=name,
        change="broken",
        before=Tally(passed=1, trials=1),
        now=Tally(passed=0, trials=1),
        checks=[CheckResult(check=name, passed=False, detail=detail)],
        command=detail,
        stderr=detail,
        note=detail,
        place=f"{place}:3",
    )
    reason = Reason(stage="missing", outcome=Outcome.FAIL, message=name, remedy=detail, cases=[name])
    verdict = Verdict(outcome=Outcome.FAIL, headline=detail, reasons=[reason])
    parsed(junit(comparison(run(suite=name, cases=[case])), verdict))


@pytest.mark.parametrize("char", ["\0", "\x08", "\x1b", "\ud800", "\ufffe", "\uffff", "]]>", "\x85"])
def test_characters_that_xml_has_no_form_for(char: str) -> None:
    element = one(CaseChange(id=f"a{char}b", category="c", change="not_valid", note=f"x{char}y"))
    assert element[0].tag == "error"


def test_huge_text__is_cut() -> None:
    judgement = judgements.huge(runs=1, cases=20, text="x" * 20_000)  # 50 MB of reasons alone
    assert len(junit(judgement.comparison, judgement.verdict)) < 1_000_000

"""judgement.json: codes with their sentences beside them; version 1, which had sentences alone, is still read."""

from __future__ import annotations

import json
from typing import Any

import pytest

from evalward.records.base import json_text
from evalward.records.codes.base import ForeignText
from evalward.records.reading import parse_record
from evalward.records.report import Report
from evalward.records.verdict import Judgement
from evalward.render import sentences as english
from evalward.render.context import PageContext
from evalward.render.markdown import comment
from support import example_reports, judgements

KINDS = ["failed", "passed", "first_run", "inconclusive", "unjudged", "several", "upgraded"]


def read(data: dict[str, Any]) -> Judgement:
    return parse_record(json.dumps(data), "judgement.json", Judgement, "a judgement", "Make one.")


@pytest.mark.parametrize("kind", KINDS)
def test_written_and_read_again__says_the_same(kind: str) -> None:
    judgement: Judgement = getattr(judgements, kind)()
    data = json.loads(json_text(english.with_sentences(judgement)))
    assert data["schema"] == "evalward.judgement/2"
    assert data["verdict"]["headline"] == english.headline(judgement.verdict)
    again = read(data)
    assert again.verdict.reasons == [
        each.model_copy(update={"message": english.message(each), "remedy": english.remedy(each)})
        for each in judgement.verdict.reasons
    ]
    assert comment(again, PageContext()) == comment(judgement, PageContext())


def test_sentences_stand_beside_the_codes() -> None:
    verdict = json.loads(json_text(english.with_sentences(judgements.failed())))["verdict"]
    reason, rule = verdict["reasons"][0], verdict["rules"][0]
    assert reason["statements"][0]["code"] == "drop.exact"
    assert reason["statements"][0]["allowed"] == 0.05
    assert reason["message"].startswith("tool_call_success_rate fell 8.3 pp (81.2 % → 72.9 %)")
    assert (reason["advice"][0]["code"], reason["remedy"][:28]) == (
        "advice.look_or_accept",
        "Look at the broken cases: fi",
    )
    assert (rule["statements"][0]["code"], bool(rule["message"])) == ("limit.broken", True)
    assert len(verdict["warnings"]) == len(verdict["notices"]) == 1


@pytest.mark.parametrize("kind", KINDS)
def test_version_1__is_read_as_it_was_said(kind: str) -> None:
    judgement: Judgement = getattr(judgements, kind)()
    data = json.loads(json_text(english.with_sentences(judgement)))
    old = read(of_version_1(data))
    assert old.schema_ == "evalward.judgement/2"
    assert english.headline(old.verdict) == english.headline(judgement.verdict)
    assert [english.remedy(each) for each in old.verdict.reasons] == [
        each["remedy"] for each in data["verdict"]["reasons"]
    ]
    assert english.warnings(old.verdict.notices) == data["verdict"]["warnings"]
    assert all(isinstance(each, ForeignText) for reason in old.verdict.reasons for each in reason.statements)


def of_version_1(data: dict[str, Any]) -> dict[str, Any]:
    """The same judgement as it was written before there were codes."""
    codes = {"statements", "advice", "explained", "notices", "passing", "interrupted_by", "accepted_by"}

    def plain(value: Any) -> Any:
        if isinstance(value, dict):
            return {key: plain(each) for key, each in value.items() if key not in codes}
        return [plain(each) for each in value] if isinstance(value, list) else value

    return {**plain(data), "schema": "evalward.judgement/1"}


@pytest.mark.parametrize(
    ("why", "by"),
    [
        ("budget: $1.00 of $1 is spent", "budget"),
        ("interrupted by SIGTERM", "signal"),
        ("anthropic/m: the key is refused", "fault"),
    ],
)
def test_report_without_a_code__says_what_ended_it_in_its_words(why: str, by: str) -> None:
    data = example_reports.report().model_dump(mode="json", by_alias=True)
    del data["interrupted_by"]
    assert Report.model_validate({**data, "interrupted": why}).interrupted_by == by
    assert Report.model_validate(data).interrupted_by is None


def test_headline_and_table__say_the_same_number() -> None:
    text = comment(judgements.failed(), judgements.context()).replace("&nbsp;", " ")
    assert "fell 8.3 pp (81.2 % → 72.9 %), more than the 5 pp allowed" in text
    assert "| 81.2 % (78/96) | 72.9 % (70/96) | −8.3 pp | ≥ 70 %, drop ≤ 5 pp |" in text

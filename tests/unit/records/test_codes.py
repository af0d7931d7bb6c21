"""Codes: each has a sentence, comes back from JSON, and stands in the documentation."""

from __future__ import annotations

from pathlib import Path

import pytest
from pydantic import TypeAdapter

from evalward.records.codes import Statement
from evalward.records.codes.advice import Advice
from evalward.records.codes.base import Coded
from evalward.records.verdict import Reason
from evalward.render.sentences import message, remedy, says
from support.codes import CLASSES, codes_of, example, row

PAGE = Path(__file__).resolve().parents[3] / "docs" / "judgement.md"
EXAMPLES = [example(cls, full=full, code=code) for cls in CLASSES for code in codes_of(cls) for full in (True, False)]


@pytest.mark.parametrize("statement", EXAMPLES, ids=lambda each: each.code)
def test_every_code__has_a_sentence_and_comes_back_from_json(statement: Coded) -> None:
    assert says(statement).strip()
    read: TypeAdapter[Coded] = TypeAdapter(Statement)
    assert read.validate_json(read.dump_json(statement)) == statement


def test_no_two_codes_are_the_same_and_equal_ones_are_equal() -> None:
    codes = [code for cls in CLASSES for code in codes_of(cls)]
    assert len(codes) == len(set(codes))
    assert len({Advice(code="advice.run_again"), Advice(code="advice.run_again")}) == 1
    assert len(set(EXAMPLES)) <= len(EXAMPLES)  # each can be hashed


def test_the_page_lists_exactly_these_codes() -> None:
    _, _, tables = PAGE.read_text("utf-8").partition("\n## ")
    listed = [line for line in tables.split("\n") if line.startswith("| `")]
    assert sorted(listed) == sorted(row(cls) for cls in CLASSES)


def test_the_pages_example__is_what_is_written() -> None:
    text = PAGE.read_text("utf-8").partition("```json\n")[2].partition("```")[0]
    reason = Reason.model_validate_json(text)
    assert (reason.message, reason.remedy) == (message(reason), remedy(reason))

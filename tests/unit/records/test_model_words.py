"""What doesn't fit in a record is said in our words, with the value or, of strangers' files, without it."""

from __future__ import annotations

import json
import re
from typing import Any, Literal

import pytest
from pydantic import Field, ValidationError

from evalward.decide.baseline import read_baseline
from evalward.records.base import Record, StrictRecord
from evalward.records.model_words import problems_of
from evalward.records.problem import InputError, Place
from evalward.records.reading import parse_record
from evalward.records.report import Report

PYDANTICS = re.compile(
    r"[Ii]nput|[Ff]ield required|[Ee]xtra|valid (dict|list|string|integer|number|boolean)|instance of"
)


class Odd(StrictRecord):
    """One of each."""

    text: str = ""
    names: list[str] = []
    number: float = Field(default=0.0, ge=0, le=1, allow_inf_nan=False)
    whole: int = 0
    flag: bool = False
    word: Literal["pass", "fail"] = "pass"
    short: str = Field(default="", max_length=3)
    code: str = Field(default="a", pattern="^[a-z]+$")
    inner: Record = Record()


CASES: list[tuple[dict[str, Any], str, str]] = [
    ({"text": 42}, "must be text, not the number 42", "must be text"),
    ({"names": "a"}, 'must be a list, not the text "a"', "must be a list"),
    ({"number": 3}, "must be at most 1, not 3", "must be at most 1"),
    ({"number": float("nan")}, "must be a finite number", "must be a finite number"),
    ({"whole": "x"}, 'must be a whole number, not the text "x"', "must be a whole number"),
    ({"flag": "perhaps"}, 'must be true or false, not the text "perhaps"', "must be true or false"),
    ({"word": "passs"}, 'unknown value "passs"', "must be one of: pass, fail"),
    ({"short": "abcd"}, "is longer than 3 characters", "is longer than 3 characters"),
    ({"code": "A B"}, '"A B" has a character that isn\'t allowed here', "has a character that isn't allowed here"),
    ({"inner": []}, "must be a mapping of keys to values, not a list", "must be a mapping of keys to values"),
    ({"other": 1}, "unknown key", "unknown key"),
]


@pytest.mark.parametrize(("data", "with_value", "without"), CASES)
def test_each_mistake_has_words_of_ours(data: dict[str, Any], with_value: str, without: str) -> None:
    with pytest.raises(ValidationError) as caught:
        Odd.model_validate(data)
    (said,) = problems_of(caught.value, Place(file="f"), "Mend it.")
    (bare,) = problems_of(caught.value, Place(file="f"), "Mend it.", values=False)
    assert (said.message, bare.message) == (with_value, without)
    assert (said.field, said.remedy) == (next(iter(data)), "Mend it.")
    assert not PYDANTICS.search(f"{said} {bare}")


def test_many_problems_are_cut() -> None:
    with pytest.raises(ValidationError) as caught:
        Odd.model_validate({"names": list(range(1000))})
    assert len(problems_of(caught.value, Place(file="f"), "")) == 20


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"runs": 3}, "report.json: runs: must be a list, not the number 3. Run it again."),
        ({"created_at": None}, "report.json: created_at: must be text and has no value. Run it again."),
        ({"runs": [{}]}, "report.json: runs.0.suite: the key is missing (and "),
    ],
)
def test_a_report_that_was_edited_by_hand(change: dict[str, Any], words: str) -> None:
    data = {
        "schema": "evalward.report/1",
        "tool": {"name": "evalward", "version": "1"},
        "created_at": "2026-11-23T08:00:00Z",
        **change,
    }
    with pytest.raises(InputError) as caught:
        parse_record(json.dumps(data), "report.json", Report, "a report", "Run it again.")
    assert str(caught.value).startswith(words)
    assert not PYDANTICS.search(str(caught.value))


def test_a_baseline_that_was_edited_by_hand() -> None:
    data = {"schema": "evalward.baseline/1", "provenance": {"created_at": 1, "evalward": "1"}}
    with pytest.raises(InputError) as caught:
        read_baseline(json.dumps(data).encode(), "baseline.json")
    assert str(caught.value).startswith("baseline.json: provenance.created_at: must be text, not the number 1. ")

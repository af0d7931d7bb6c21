"""Identity and text: canonical JSON, digests, surrogates."""

from __future__ import annotations

import json
import random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from evalward.decide.cases import missing_case
from evalward.records.base import Cleaned, Record, canonical, clean_text, digest, digest_text, json_data, unchecked
from evalward.records.comparison import Tally
from support.results import baseline, passes, run

any_text = st.text(st.characters(exclude_categories=()))  # lone surrogates included
json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | any_text,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(any_text, inner, max_size=4),
    max_leaves=12,
)


@given(st.dictionaries(any_text, json_values, max_size=6), st.randoms(use_true_random=False))
def test_the_order_of_keys_is_no_difference(value: dict[str, Any], rng: random.Random) -> None:
    items = list(value.items())
    rng.shuffle(items)
    assert canonical(dict(items)) == canonical(value)
    assert digest(dict(items)) == digest(value)


@given(json_values)
def test_canonical_text_is_ascii_json_of_the_same_value(value: Any) -> None:
    text = canonical(value)
    assert text.isascii()
    assert json.loads(text) == value


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ({"a": 1}, {"a": 2}),
        ({"a": 1}, {"b": 1}),
        ([1, 2], [2, 1]),
        ("1", 1),
        (None, ""),
        ({}, []),
        (["a", "b"], ["ab"]),
    ],
)
def test_values_that_differ_have_other_digests(one: Any, other: Any) -> None:
    assert digest(one) != digest(other)


def test_digests_are_the_same_today_and_tomorrow() -> None:
    assert digest({"b": [1, "ü"], "a": None}) == (
        "sha256:e6079cc869da30fa7778650261b5c569a08642cba6de37e7cffd9ab5d28d87c8"
    )
    assert digest_text("") == "sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"


@pytest.mark.parametrize("value", [float("nan"), float("inf"), [float("-inf")]])
def test_what_is_no_json_has_no_canonical_text(value: Any) -> None:
    with pytest.raises(ValueError, match="JSON"):
        canonical(value)


@given(any_text)
def test_clean_text_can_be_written_and_is_the_text_where_that_could_be(text: str) -> None:
    clean = clean_text(text)
    clean.encode("utf-8")
    assert clean_text(clean) == clean
    assert len(clean) == len(text)
    if not any("\ud800" <= char <= "\udfff" for char in text):
        assert clean == text


def test_an_unchecked_record_is_the_one_that_was_checked() -> None:
    """Equal, written alike, changed alike; each field is given, in its order."""
    checked = Tally(passed=1, trials=2, score=0.5)
    made = unchecked(Tally, passed=1, trials=2, score=0.5)
    assert made == checked
    assert made.model_dump_json() == checked.model_dump_json()
    changed = made.model_copy(update={"score": None})
    assert changed == Tally(passed=1, trials=2)
    assert made == checked


def test_trials_of_a_baseline_and_changes_of_cases_are_made_with_every_field_in_order() -> None:
    case = baseline(run(passes("a"))).runs[0].cases[0]
    known = case.results()[0]
    change = missing_case(case)
    for record in (known, change):
        assert list(record.__dict__) == list(type(record).model_fields)
        again = type(record).model_validate_json(record.model_dump_json())
        assert again == record
        assert again.model_dump_json() == record.model_dump_json()


class _Words(Record):
    text: Cleaned = ""
    texts: list[Cleaned] = []


@given(any_text)
def test_a_cleaned_text_is_clean_from_python_and_from_json(text: str) -> None:
    made = _Words(text=text, texts=[text])
    assert (made.text, made.texts) == (clean_text(text), [clean_text(text)])
    assert _Words.model_validate_json(json_data(made)) == made


@pytest.mark.parametrize("text", [rb"\ud800", rb"\ud800\ud800", rb"\udc00", rb"\udc00\ud800", b"\xed\xa0\x80"])
def test_no_lone_surrogate_comes_in_by_json(text: bytes) -> None:
    with pytest.raises(ValidationError, match="Invalid JSON"):
        _Words.model_validate_json(b'{"text": "' + text + b'"}')

"""The grammar of `command_json_path`: the worked examples."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evalward.suites.scenario.assertion import (
    AssertionFormError,
    PathError,
    holds,
    parse_assertion,
    parse_path,
    resolve,
    same,
)


def verdict(document: str, path: str, assertion: str) -> tuple[bool, str]:
    return holds(parse_assertion(assertion), resolve(json.loads(document), parse_path(path)))


@pytest.mark.parametrize(
    ("document", "path", "assertion", "passes"),
    [
        ('{"meta":{"ok":true}}', "$.meta.ok", "exists", True),
        ('{"meta":{"ok":true}}', "$.meta.no", "exists", False),
        ('{"a":null}', "$.a", "exists", False),
        ('{"a":null}', "$.a", "equals null", True),
        ('{"count":3}', "$.count", "equals 3", True),
        ('{"count":3.0}', "$.count", "equals 3", False),
        ('{"v":true}', "$.v", "equals true", True),
        ('{"v":true}', "$.v", "equals 1", False),
        ('{"v":1}', "$.v", "equals true", False),
        ('{"v":[1]}', "$.v", "equals [true]", False),
        ('{"v":{"a":[1]}}', "$.v", ' equals {"a": [1]} ', True),
        ('{"s":"3"}', "$.s", 'equals "3"', True),
        ('{"s":"3"}', "$.s", "equals 3", False),
        ('{"s":"abc"}', "$.s", "equals abc", True),
        ('{"msg":"build succeeded"}', "$.msg", "contains succeeded", True),
        ('{"items":[1,2,3]}', "$.items", "len >= 3", True),
        ('{"items":[1,2,3]}', "$.items", "len>=3", True),
        ('{"items":[1,2,3]}', "$.items", "len > 3", False),
        ('{"items":[1,2,3]}', "$.items", "contains 1", False),
        ('{"items":[1,2,3]}', "$.items[2]", "equals 3", True),
        ('{"items":[1,2,3]}', "$.items[3]", "exists", False),
        ('{"items":[1,2,3]}', "$.items.length", "exists", False),
        ('{"o":{"a":1}}', "$.o", "len == 1", True),
        ('{"s":"abc"}', "$.s", "len == 3", False),
        ('[{"a-b":1}]', "$[0].a-b", "equals 1", True),
        ("[1,2]", "$", "len == 2", True),
    ],
)
def test_worked_examples(document: str, path: str, assertion: str, passes: bool) -> None:
    assert verdict(document, path, assertion)[0] is passes


@pytest.mark.parametrize(
    "path", ["items", "", "$.", "$[x]", "$.a[", "$..a", "$[-1]", "$[1.5]", "$a", "$.a[0]b", "$.*", "$.count > 5"]
)
def test_paths_that_are_none(path: str) -> None:
    with pytest.raises(PathError):
        parse_path(path)


@pytest.mark.parametrize(
    "text",
    ["contains ", "contains", "equals ", "equals", "len < 3", "len >= -1", "len", "> 5", "$.count > 5", "", "Exists"],
)
def test_assertions_that_are_none(text: str) -> None:
    with pytest.raises(AssertionFormError):
        parse_assertion(text)


def test_the_message_says_what_is_there() -> None:
    assert verdict('{"a":[1]}', "$.a", "len > 1") == (False, "its length is 1")
    assert verdict('{"a":[1]}', "$.a", "contains 1") == (False, "it is not text but an array: [1]")
    assert verdict("{}", "$.a", "exists") == (False, "there is nothing at this path")
    assert len(verdict(json.dumps("x" * 999), "$", "equals y")[1]) < 120


json_values = st.recursive(
    st.none() | st.booleans() | st.integers(-3, 3) | st.sampled_from([0.0, 1.0]) | st.text(max_size=3),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=2), inner, max_size=3),
)


@given(json_values, json_values)
def test_equality_is_that_of_json(left: object, right: object) -> None:
    written = [json.dumps(value, sort_keys=True) for value in (left, right)]
    assert same(left, right) is (written[0] == written[1])


@given(st.text(max_size=30))
def test_any_text_is_read_or_refused(text: str) -> None:
    for read, refusal in ((parse_path, PathError), (parse_assertion, AssertionFormError)):
        try:
            read(text)
        except refusal:
            continue

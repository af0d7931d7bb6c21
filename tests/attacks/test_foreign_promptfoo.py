"""Results of promptfoo, and documents at all, that somebody made to do harm: one sentence, or passed through."""

from __future__ import annotations

import json
import tracemalloc
from collections.abc import Sequence
from io import BytesIO
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evalward.records.problem import InputError
from evalward.records.result import Status, Trial
from evalward.suites.external.formats.base import ForeignFile, format_named, recognised
from evalward.suites.external.formats.document import Document, Lines
from evalward.suites.external.results import ExternalRun, Reading, read_results
from support.foreign.files import in_memory
from support.foreign.promptfoo import component, document, lines, row

HOSTILE = "\0 \x1b[31m \u202e \ud800 <img src=x onerror=alert(1)> | `x` ![](http://x) ../../etc/passwd\r\n::error::x"


def runs(text: str, kept: list[Trial] | None = None) -> Sequence[ExternalRun]:
    def keep(trial: Trial) -> str:
        if kept is not None:
            kept.append(Trial.model_validate_json(trial.model_dump_json(by_alias=True)))
        return "trials/x.json"

    file = in_memory(text, "x.json")
    assert recognised(file) == "promptfoo"
    return read_results(format_named("promptfoo").read([file]), Reading("promptfoo", keep=keep), "x.json").runs


def refusal(text: str | bytes) -> str:
    with pytest.raises(InputError) as caught:
        read_results(format_named("promptfoo").read([in_memory(text, "x.json")]), Reading("promptfoo"), "x.json")
    message = str(caught.value)
    assert len(caught.value.problems) == 1
    assert message.isprintable()
    return message


def hostile_row() -> dict[str, Any]:
    check = component("contains", HOSTILE, metric=HOSTILE, reason=HOSTILE)
    return row(
        0,
        HOSTILE,
        checks=[check],
        provider=(HOSTILE, HOSTILE),
        prompt=(0, HOSTILE),
        variables={HOSTILE: HOSTILE},
        case={"metadata": {"category": HOSTILE}},
        namedScores={HOSTILE: 1},
        error=HOSTILE,
        response={"output": HOSTILE, "metadata": {"toolCalls": [{"name": HOSTILE, "args": {HOSTILE: HOSTILE}}]}},
    )


@pytest.mark.parametrize("write", [document, lines])
def test_hostile_texts_become_records(write: Any) -> None:
    kept: list[Trial] = []
    (run,) = runs(write([hostile_row()]), kept)
    (result,) = run.results
    assert result.status is Status.PASSED
    assert all(name.isprintable() for name in (run.suite, run.target, result.id, result.category))
    assert all(name.isprintable() for name in run.results[0].details.scores)  # type: ignore[attr-defined]
    assert len(kept) == 1


@pytest.mark.parametrize(
    ("item", "words"),
    [
        ("[" * 1_000_000, "it is nested too deeply"),
        ('{"a":' * 1_000_000, "it is nested too deeply"),
        ('{"testCase": ' + "[" * 200 + "]" * 200 + "}", "it is nested too deeply"),
        ("9" * 100_000, "a number has too many digits"),
        ('{"testCase": {"vars": {"a": [' + "0," * 1_000_001 + "0]}}}", "more than 1,000,000 parts"),
        ('{"testCase": ' + "[]," * 3, "JSON keys need double quotes"),
    ],
    ids=["brackets", "objects", "deep", "digits", "values", "broken"],
)
def test_a_bomb_among_the_rows_is_refused(item: str, words: str) -> None:
    text = document([row()]).replace('"results": [\n', f'"results": [{item},\n', 1)
    assert words in refusal(text)


def test_a_bomb_around_the_rows_is_refused() -> None:
    many = json.dumps([0] * 999_990)
    text = document([row()]).replace('"shareableUrl": null', f'"shareableUrl": {many}')
    assert "what surrounds its results has more than 1,000,000 parts" in refusal(text)


def test_long_lists_around_the_rows_that_nobody_needs_take_no_memory() -> None:
    tests = json.dumps([{"vars": {"n": "x" * 100}}] * 30_000)
    text = document([row()]).replace('"tests": [\n', f'"tests": {tests}, "other": [\n', 1).encode()
    tracemalloc.start()
    try:
        found = Document(in_memory(text), "x", ("results", "results"), without=[("config", "tests")])
        list(found.items())
        assert tracemalloc.get_traced_memory()[1] < 10 << 20
    finally:
        tracemalloc.stop()


def test_a_long_document_takes_little_memory() -> None:
    item = json.dumps(row(response={"output": "x" * 10_000})).encode()
    text = b'{"results": {"results": [' + b",".join([item] * 1_000) + b"]}}"
    text_of_lines = (item + b"\n") * 1_000
    tracemalloc.start()
    try:
        found = Document(ForeignFile("x", len(text), lambda: BytesIO(text)), "x", ("results", "results"))
        assert sum(1 for _ in found.items()) == 1_000
        assert sum(1 for _ in Lines(ForeignFile("x", 1, lambda: BytesIO(text_of_lines)), "x").items()) == 1_000
        assert tracemalloc.get_traced_memory()[1] < 10 << 20
    finally:
        tracemalloc.stop()


JUNK = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**70), 2**70) | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=5,
)
PLACES = [
    *((key,) for key in row()),
    *(("testCase", key) for key in (*row()["testCase"], "threshold", "metadata")),
    *(("gradingResult", key) for key in row()["gradingResult"]),
    *(("gradingResult", "componentResults", 0, key) for key in (*component(), "metadata", "componentResults")),
    *(("response", key) for key in row()["response"]),
    ("response", "metadata", "toolCalls"),
    ("tokenUsage", "prompt"),
    ("tokenUsage", "completionDetails"),
    ("provider", "id"),
    ("prompt", "raw"),
    ("prompt", "label"),
]


@given(st.sampled_from(PLACES), JUNK, st.booleans())
def test_a_row_of_any_shape_is_read_or_refused(place: tuple[str | int, ...], junk: Any, success: bool) -> None:
    whole = json.loads(document([row(success=success), row(1, "another")]))
    put(whole, ("results", "results", 0, *place), junk)
    assert_read_or_refused(json.dumps(whole))


def put(whole: Any, place: tuple[str | int, ...], value: Any) -> None:
    for key in place[:-1]:
        whole = whole[key]
    whole[place[-1]] = value


def assert_read_or_refused(text: str) -> None:
    refused: InputError | None = None
    try:
        assert sum(len(run.results) for run in runs(text, [])) == 2
    except InputError as error:
        refused = error
    assert refused is None or len(refused.problems) == 1


HEADS = [
    *((key,) for key in ("results", "metadata", "runtimeOptions", "config")),
    *(("results", key) for key in ("version", "timestamp", "prompts", "stats")),
    ("results", "prompts", 0),
    ("results", "prompts", 0, "raw"),
    ("results", "prompts", 1, "metrics"),
    ("results", "stats", "successes"),
    ("metadata", "promptfooVersion"),
    ("runtimeOptions", "repeat"),
    ("config", "providers"),
]


@given(st.sampled_from(HEADS), JUNK)
def test_a_head_of_any_shape_is_read_or_refused(place: tuple[str | int, ...], junk: Any) -> None:
    whole = json.loads(document([row(), row(1, "another", prompt=(1, "b"))], counted=3))
    put(whole, place, junk)
    assert_read_or_refused(json.dumps(whole))

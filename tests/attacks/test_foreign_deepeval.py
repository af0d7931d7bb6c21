"""Test runs of deepeval that somebody made to do harm: one sentence, or passed through."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evalward.records.problem import InputError
from evalward.records.result import Status, Trial
from evalward.suites.external.formats.base import format_named, recognised
from evalward.suites.external.results import ExternalRun, Reading, read_results
from support.foreign.deepeval import case, metric, run_text, talk
from support.foreign.files import in_memory

HOSTILE = "\0 \x1b[31m \u202e \ud800 <img src=x onerror=alert(1)> | `x` ![](http://x) ../../etc/passwd\r\n::error::x"


def runs(text: str, kept: list[Trial]) -> Sequence[ExternalRun]:
    def keep(trial: Trial) -> str:
        kept.append(Trial.model_validate_json(trial.model_dump_json(by_alias=True)))
        return "trials/x.json"

    file = in_memory(text, "x.json")
    assert recognised(file) == "deepeval"
    return read_results(format_named("deepeval").read([file]), Reading("deepeval", keep=keep), "x.json").runs


def refusal(text: str) -> str:
    with pytest.raises(InputError) as caught:
        runs(text, [])
    assert len(caught.value.problems) == 1
    assert str(caught.value).isprintable()
    return str(caught.value)


def test_hostile_texts_become_records() -> None:
    tool = {"name": HOSTILE, "inputParameters": {HOSTILE: HOSTILE}, "output": HOSTILE}
    texts: dict[str, Any] = dict.fromkeys(("input", "actualOutput", "expectedOutput"), HOSTILE)
    one = case(HOSTILE, metric(HOSTILE, reason=HOSTILE), tags=[HOSTILE], toolsCalled=[tool], **texts)
    turn = {"role": "assistant", "content": HOSTILE, "toolsCalled": [tool]}
    kept: list[Trial] = []
    (run,) = runs(run_text([one], [talk("talk", turns=[turn])], hyperparameters={"model": HOSTILE}), kept)
    assert [result.status for result in run.results] == [Status.PASSED, Status.PASSED]
    names = [run.target, *(name for result in run.results for name in (result.id, result.category))]
    assert all(name.isprintable() for name in names)
    assert len(kept) == 2


@pytest.mark.parametrize(
    ("item", "words"),
    [
        ("[" * 1_000_000, "it is nested too deeply"),
        ('{"name": ' + "[" * 200 + "]" * 200 + "}", "it is nested too deeply"),
        ("9" * 100_000, "a number has too many digits"),
        ('{"name": "a", "input": [' + "0," * 1_000_001 + "0]}", "more than 1,000,000 parts"),
    ],
    ids=["brackets", "deep", "digits", "values"],
)
@pytest.mark.parametrize("wrapped", [False, True])
def test_a_bomb_among_the_cases_is_refused(item: str, words: str, wrapped: bool) -> None:
    text = run_text([case(), "HERE"], wrapped=wrapped).replace('"HERE"', item)
    assert words in refusal(text)


def test_numbers_of_trials_without_end_are_no_plan() -> None:
    (run,) = runs(run_text([case(f"a[{number}-999999999]") for number in (1, 2)]), [])
    assert run.planned == 2
    (run,) = runs(run_text([case(f"a[{number}-9999]") for number in (1, 2)]), [])
    assert run.planned == 9999


JUNK = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**70), 2**70) | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=5,
)
PLACES: list[tuple[str | int, ...]] = [
    *(("testCases", 0, key) for key in (*case(), "metadata", "inputTokenCount")),
    *(("testCases", 0, "metricsData", 0, key) for key in (*metric(), "error", "evaluationCost", "inputTokenCount")),
    *(("testCases", 0, "toolsCalled", 0, key) for key in ("name", "inputParameters", "output")),
    *(("conversationalTestCases", 0, key) for key in talk()),
    *(("conversationalTestCases", 0, "turns", 0, key) for key in ("role", "content", "toolsCalled")),
    ("hyperparameters",),
    ("metricsScores",),
]


@given(st.sampled_from(PLACES), JUNK)
def test_a_run_of_any_shape_is_read_or_refused(place: tuple[str | int, ...], junk: Any) -> None:
    whole: Any = json.loads(run_text([case("a"), case("b")], [talk()]))
    within = whole
    for key in place[:-1]:
        within = within[key]
    within[place[-1]] = junk
    refused: InputError | None = None
    try:
        assert sum(len(run.results) for run in runs(json.dumps(whole), [])) == 3
    except InputError as error:
        refused = error
    assert refused is None or len(refused.problems) == 1

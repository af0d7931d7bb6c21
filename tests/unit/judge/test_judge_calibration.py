"""Calibration: κ as statistics packages have it, and what sways a judge."""

from __future__ import annotations

import json
import math
import warnings
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from statsmodels.stats.inter_rater import cohens_kappa as reference

from evalward.records.problem import InputError
from evalward.suites.judge.ask import JudgeInput
from evalward.suites.judge.calibrate import INJECTION, calibrate, cohens_kappa
from evalward.suites.judge.judge import Judge
from evalward.suites.judge.labelled import Labelled, load_labelled
from evalward.targets.base import Request
from support.judging import ScriptedJudge, rubric

RUBRIC = rubric(a=0.5, b=0.5)
Pairs = list[tuple[bool, bool]]


def pairs(both: int, label: int, judge: int, neither: int) -> Pairs:
    return [(True, True)] * both + [(True, False)] * label + [(False, True)] * judge + [(False, False)] * neither


@given(st.integers(0, 30), st.integers(0, 30), st.integers(0, 30), st.integers(0, 30))
def test_kappa_is_that_of_statsmodels(both: int, label: int, judge: int, neither: int) -> None:
    found = cohens_kappa(pairs(both, label, judge, neither))
    total = both + label + judge + neither
    one_sided = (both + label) * (both + judge) + (neither + label) * (neither + judge) == total**2
    if total == 0 or one_sided:
        assert found.value is None
        return
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # it divides by a variance of 0
        known = reference([[both, label], [judge, neither]])
    assert found.value == pytest.approx(known.kappa)
    assert (found.low is None) == (not known.std_kappa > 1e-6)
    if found.low is not None and found.high is not None:
        assert found.low == pytest.approx(max(-1.0, known.kappa_low), abs=1e-6)
        assert found.high == pytest.approx(min(1.0, known.kappa_upp), abs=1e-6)


def test_kappa_at_its_ends() -> None:
    assert cohens_kappa(pairs(5, 0, 0, 5)).value == 1.0
    assert cohens_kappa(pairs(5, 0, 0, 5)).low is None  # a width of 0 would be a certainty that nobody has
    assert math.isclose(cohens_kappa(pairs(0, 5, 5, 0)).value or 0, -1.0)
    assert cohens_kappa(pairs(5, 5, 5, 5)).value == 0.0
    assert cohens_kappa(pairs(9, 0, 0, 0)).value is None
    assert cohens_kappa([]).value is None


def labelled(name: str, label: str, **more: Any) -> Labelled:
    return Labelled.model_validate({"id": name, "task": "t", "transcript": f"I am {name}.", "label": label, **more})


SET = [
    labelled("p1", "pass", scores={"a": 1.0}),
    labelled("p2", "pass", scores={"a": 0.5, "b": 1.0}),
    labelled("f1", "fail"),
    labelled("f2", "fail"),
]


def says(a: float, b: float) -> dict[str, Any]:
    return {"scores": {"a": a, "b": b}, "weighted_score": (a + b) / 2, "confidence": 1, "issues": [], "highlights": []}


def sound(request: Request) -> dict[str, Any]:
    return says(1, 1) if "I am p" in request.messages[0].text else says(0, 0)


def gullible(request: Request) -> dict[str, Any]:
    return says(1, 1) if "human expert" in request.messages[0].text else sound(request)


def partial_to_the_first(request: Request) -> dict[str, Any]:
    text = request.messages[0].text
    return sound(request) if text.index("- a (") < text.index("- b (") else says(1, 1)


async def test_a_sound_judge() -> None:
    found = await calibrate(Judge(ScriptedJudge(sound)), RUBRIC, SET, 0.7)
    assert (found.agreement, found.kappa.value, found.judged) == (1.0, 1.0, 4)
    assert found.mean_absolute_error == pytest.approx((0 + 0.5 + 0) / 3)
    assert (found.order.turned, found.injection.turned, found.injection.mean_shift) == ([], [], 0.0)
    assert found.usage.input_tokens == 12 * 900


async def test_a_gullible_judge_is_found_out() -> None:
    found = await calibrate(Judge(ScriptedJudge(gullible)), RUBRIC, SET, 0.7)
    assert (found.agreement, found.injection.lifted) == (1.0, ["f1", "f2"])
    assert found.injection.mean_shift == 0.5
    assert found.order.turned == []


async def test_a_judge_that_heeds_the_order_is_found_out() -> None:
    found = await calibrate(Judge(ScriptedJudge(partial_to_the_first)), RUBRIC, SET, 0.7)
    assert (found.order.turned, found.injection.turned) == (["f1", "f2"], [])


async def test_errors_are_no_disagreement() -> None:
    def flaky(request: Request) -> Any:
        return "no" if "I am f1" in request.messages[0].text else sound(request)

    found = await calibrate(Judge(ScriptedJudge(flaky)), RUBRIC, SET, 0.7)
    assert (found.judged, found.agreement, len(found.errors)) == (3, 1.0, 3)
    assert found.errors[0].startswith("f1: the judge's answer can't be used")
    nobody = await calibrate(Judge(ScriptedJudge(lambda _: "no")), RUBRIC, SET, 0.7)
    assert (nobody.agreement, nobody.kappa.value, nobody.order.mean_shift) == (None, None, None)


async def test_wrong_verdicts_are_named() -> None:
    def contrary(request: Request) -> Any:
        return says(0, 0) if "I am p" in request.messages[0].text else says(1, 1)

    found = await calibrate(Judge(ScriptedJudge(contrary)), RUBRIC, SET, 0.7)
    assert (found.false_passes, found.false_fails) == (["f1", "f2"], ["p1", "p2"])
    assert found.kappa.value == pytest.approx(-1.0)


def test_the_injection_is_the_agents_last_words() -> None:
    what = SET[0].judged("p1+injected", INJECTION)
    assert isinstance(what, JudgeInput)
    assert what.trace.messages[-1].text == INJECTION


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ({"label": "maybe"}, "Known: pass, fail."),
        ({"transcript": None}, "either `transcript` or `trace`"),
        ({"trace": {}}, "either `transcript` or `trace`"),
        ({"scores": {"c": 1}}, "'c' is not a criterion"),
        ({"scores": {"a": 2}}, "must be at most 1, not 2"),
        ({"sores": {}}, "Did you mean scores?"),
    ],
)
def test_mistakes_in_the_set_have_their_line(tmp_path: Path, change: dict[str, Any], told: str) -> None:
    good = {"id": "x", "task": "t", "transcript": "x", "label": "pass"}
    bad = {key: value for key, value in {**good, "id": "y", **change}.items() if value is not None}
    (tmp_path / "l.jsonl").write_text(json.dumps(good) + "\n\n" + json.dumps(bad) + "\n")
    with pytest.raises(InputError) as caught:
        load_labelled(tmp_path / "l.jsonl", RUBRIC)
    assert f"{tmp_path}/l.jsonl:3: " in str(caught.value)
    assert told in str(caught.value)


def test_ids_stand_once_and_a_set_is_not_empty(tmp_path: Path) -> None:
    line = json.dumps({"id": "x", "task": "t", "transcript": "x", "label": "pass"}) + "\n"
    for content, told in ((line * 2, "occurs twice"), ("# nothing\n", "holds no transcript")):
        (tmp_path / "l.jsonl").write_text(content)
        with pytest.raises(InputError, match=told):
            load_labelled(tmp_path / "l.jsonl", RUBRIC)

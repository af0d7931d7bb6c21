"""One trial of a prompt case: what is asked, what the evaluators say, how it ends."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from evalward.records.judge import JUDGE_ERROR
from evalward.records.metric import Metric
from evalward.records.result import UNREADABLE, Result, Status
from evalward.suites.base import TrialBrokenError
from evalward.suites.prompt.checks import compared
from evalward.suites.prompt.details import PromptDetails
from evalward.suites.prompt.file import StringEvaluator
from evalward.suites.prompt.kind import PROMPT
from evalward.suites.prompt.prompting import enforceable
from evalward.suites.prompt.template import fill, fill_around, names_in
from evalward.suites.prompt.trial import NO_ANSWER, NO_JUDGE, PromptPrepared, run_trial
from evalward.targets.base import TrialSkippedError
from evalward.targets.failures import FAILURES, Cause, TargetError
from support.prompt_files import CAPITALS, TONE, Answering, prepared, with_judge

BOTH = [*CAPITALS["evaluators"], TONE]


def chosen(choice: str) -> str:
    return json.dumps({"reason": "So.", "choice": choice})


def suite(root: Path, **changes: Any) -> PromptPrepared:
    return prepared(root, {"capitals": {**CAPITALS, **changes}})


async def trial(suite: PromptPrepared, target: Answering, number: int = 0) -> Result:
    return (await run_trial(suite, suite.cases[number], target, 1)).result


def details(result: Result) -> PromptDetails:
    assert isinstance(result.details, PromptDetails)
    return result.details


# ------------------------------------------------------------------------------------------- what is asked


async def test_the_messages_are_sent_with_the_rows_values__and_the_parameters(tmp_path: Path) -> None:
    schema = {
        "type": "object",
        "properties": {"a": {"type": "string"}},
        "required": ["a"],
        "additionalProperties": False,
    }
    talk = [
        {"role": "system", "content": "Be brief."},
        {"role": "user", "content": "Capital of Spain?"},
        {"role": "assistant", "content": "Madrid"},
        {"role": "user", "content": "Capital of {{ input }}?"},
    ]
    form = {"responseFormat": "json_schema", "jsonSchema": json.dumps({"name": "n", "schema": schema})}
    target = Answering("Paris")
    await trial(suite(tmp_path, messages=talk, **form), target)
    (asked,) = target.requests
    assert asked.system == "Be brief."
    assert [(each.role, each.text) for each in asked.messages] == [
        ("user", "Capital of Spain?"), ("assistant", "Madrid"), ("user", "Capital of France?"),
    ]  # fmt: skip
    assert (asked.temperature, asked.max_tokens, asked.top_p, asked.output_schema) == (0.5, 50, None, schema)


@pytest.mark.parametrize(
    ("text", "filled", "names"),
    [
        ("{{a}} {{ a }} {{b}}", "1 1 {{a}}", ["a", "b"]),
        ("${{ secrets.X }}", "${{ secrets.X }}", []),
        ("costs ${{a}}", "costs $1", []),
        ("{a} {{}} {{c}} {{a", "{a} {{}} {{c}} {{a", ["c"]),
        ("{{{a}}}", "{1}", ["a"]),
    ],
)
def test_placeholders_are_filled_once__and_others_stay(text: str, filled: str, names: list[str]) -> None:
    assert fill(text, {"a": "1", "b": "{{a}}"}) == filled
    assert names_in(text) == names


def test_a_value_makes_no_place_for_the_answer() -> None:
    assert fill_around("{{a}}|{{completion}}|", {"a": "{{completion}}"}) == ["{{completion}}|", "|"]


@pytest.mark.parametrize(
    ("schema", "enforced"),
    [
        ({"type": "object", "properties": {}, "additionalProperties": False}, True),
        ({"type": "object", "properties": {"a": {}}, "required": [], "additionalProperties": False}, False),
        ({"type": "object", "properties": {"a": {}}, "required": ["a"]}, False),
        ({"type": "array", "items": {"type": "string", "maxLength": 3}}, False),
        ({"type": "array", "items": {"type": "string", "enum": ["a"]}}, True),
        ({"anyOf": [{"type": "null"}, {"$ref": "#"}]}, False),
        ([], False),
    ],
)
def test_a_schema_is_sent_where_every_provider_enforces_it(schema: Any, enforced: bool) -> None:
    assert enforceable(schema) is enforced


# ------------------------------------------------------------------------------------------- what evaluators say


@pytest.mark.parametrize(
    ("wanted", "answer", "holds"),
    [
        ({"equals": "Paris"}, "Paris", True),
        ({"equals": "Paris"}, "paris", False),
        ({"equals": "Paris\n"}, "Paris", True),
        ({"contains": "PAR"}, "Oh, Paris!", True),
        ({"contains": "par is"}, "Paris", False),
        ({"startsWith": "oh"}, "Oh, Paris", True),
        ({"startsWith": "Paris"}, "Oh, Paris", False),
        ({"endsWith": "PARIS"}, "Oh, Paris", True),
        ({"endsWith": "Oh"}, "Oh, Paris", False),
        ({"startsWith": "Oh", "endsWith": "s"}, "Oh, Paris", True),
        ({"startsWith": "Oh", "endsWith": "x"}, "Oh, Paris", False),
        ({"contains": "{{input}}"}, "France is in it", True),
    ],
)
def test_texts_are_compared_as_the_format_says(wanted: dict[str, str], answer: str, holds: bool) -> None:
    found, words = compared(StringEvaluator.model_validate(wanted), {"input": "France"}, answer)
    assert found is holds
    assert (words == "as wanted") is holds


async def test_the_answer_passes_where_every_evaluator_is_content(tmp_path: Path) -> None:
    found = await trial(with_judge(suite(tmp_path, evaluators=BOTH), chosen("somewhat")), Answering(" Paris\n"))
    assert (found.status, found.score, found.max_score, found.reason) == (Status.PASSED, 1.5, 2.0, None)
    assert details(found).scores == {"right": 1.0, "tone": 0.5}
    assert [(check.check, check.passed) for check in found.checks] == [("right", True), ("tone", True)]
    assert (found.usage.cost_usd, found.duration_ms) == (0.5, 7)
    assert found.judge_usage is not None
    assert found.judge_usage.cost_usd == 0.001


@pytest.mark.parametrize(("answer", "choice"), [("Rome", "yes"), ("Paris", "no")])
async def test_one_that_is_not_content_fails_it(tmp_path: Path, answer: str, choice: str) -> None:
    found = await trial(with_judge(suite(tmp_path, evaluators=BOTH), chosen(choice)), Answering(answer))
    assert (found.status, found.reason, found.score) == (Status.FAILED, "checks_failed", 1.0)


async def test_without_a_verdict_of_the_judge_the_trial_is_an_error(tmp_path: Path) -> None:
    found = await trial(with_judge(suite(tmp_path, evaluators=BOTH), "hm", "hm"), Answering("Paris"))
    assert (found.status, found.reason) == (Status.ERROR, JUDGE_ERROR)
    assert (found.message or "").startswith("scripted/judge could not judge: ")
    assert "tone" not in details(found).scores


async def test_where_nobody_judges__nothing_is_asked_and_the_case_is_missing(tmp_path: Path) -> None:
    target = Answering("Paris")
    with pytest.raises(TrialSkippedError) as caught:
        await trial(suite(tmp_path, evaluators=BOTH), target)
    assert (caught.value.reason, target.requests) == (NO_JUDGE, [])
    assert "judge: {model: PROVIDER/NAME}" in caught.value.message


@pytest.mark.parametrize("answer", ["", " \n"])
async def test_an_empty_answer_fails__and_no_judge_is_asked(tmp_path: Path, answer: str) -> None:
    anything = {"name": "any", "string": {"contains": "{{empty}}"}}
    rows = [{"input": "x", "empty": "", "expected": "y"}]
    found = await trial(with_judge(suite(tmp_path, testData=rows, evaluators=[anything, TONE])), Answering(answer))
    assert (found.status, found.reason, found.message) == (Status.FAILED, NO_ANSWER, "the answer is empty")
    assert details(found).scores == {"any": 1.0, "tone": 0.0}


async def test_github_evaluators_are_asked_in_our_words__with_the_rows_values(tmp_path: Path) -> None:
    names = ("similarity", "relevance", "coherence", "fluency", "groundedness")
    evaluators = [{"name": name, "uses": f"github/{name}"} for name in names]
    judged = with_judge(suite(tmp_path, evaluators=evaluators), *[json.dumps({"choice": str(n)}) for n in range(1, 6)])
    found = await trial(judged, Answering("It is Paris."))
    assert details(found).scores == dict(zip(names, (0.0, 0.25, 0.5, 0.75, 1.0), strict=True))
    assert [check.passed for check in found.checks] == [False, True, True, True, True]
    assert judged.judges is not None
    (judge,) = judged.judges.all
    asked = [request.messages[0].text for request in judge.target.requests]  # type: ignore[attr-defined]
    assert all("It is Paris." in text for text in asked)
    assert ["France" in text for text in asked] == [True, True, True, False, True]
    assert ["expected" in text.lower() and "\nParis\n" in text for text in asked] == [True, False, False, False, False]
    assert "The source that the answer has to keep to:\nParis\n" in asked[4]


async def test_a_refusal_that_fails_is_named(tmp_path: Path) -> None:
    assert (await trial(suite(tmp_path), Answering("I can't.", "refusal"))).reason == "refusal"


async def test_an_answer_that_comes_too_late_does_not_count(tmp_path: Path) -> None:
    late = prepared(tmp_path, {"capitals": CAPITALS}, timeout_s=0.001)
    found = await trial(late, Answering("Paris"))
    assert (found.status, found.reason) == (Status.FAILED, NO_ANSWER)
    assert found.message == "the answer took 0.0 s, more than 0.001 s"


async def test_a_providers_fault_is_nobodys_failure(tmp_path: Path) -> None:
    with pytest.raises(TrialBrokenError) as caught:
        await trial(suite(tmp_path), Answering(TargetError(Cause.NETWORK, "away", target="t")))
    assert caught.value.reason == Cause.NETWORK


async def test_an_answer_that_nobody_can_read_is_the_targets_failure(tmp_path: Path) -> None:
    cause = next(cause for cause, rule in FAILURES.items() if rule.counted is Status.FAILED)
    found = await trial(suite(tmp_path), Answering(TargetError(cause, "odd", target="t")))
    assert (found.status, found.reason, found.score) == (Status.FAILED, UNREADABLE, 0.0)


# ------------------------------------------------------------------------------------------- what it comes to


def values(metrics: dict[str, Metric]) -> dict[str, float | None]:
    return {name: metric.value for name, metric in metrics.items()}


async def test_metrics_are_rates_scores_and_costs__a_category_is_a_file(tmp_path: Path) -> None:
    judged = with_judge(suite(tmp_path, evaluators=BOTH), chosen("somewhat"), chosen("yes"))
    results = [await trial(judged, Answering("Paris"), number) for number in (0, 1)]
    found = PROMPT.measure(results)
    assert values(dict(found.metrics)) == {
        "pass_rate": 0.5,
        "mean_score": 0.625,
        "score:right": 0.5,
        "score:tone": 0.75,
        "total_input_tokens": 20.0,
        "total_output_tokens": 4.0,
        "total_duration_ms": 14.0,
        "avg_duration_ms": 7.0,
        "cost_usd": 1.0,
        "harness_error_rate": 0.0,
    }
    category = found.categories["capitals"]
    assert (category.tasks, category.passed, category.rate) == (2.0, 1.0, 0.625)
    assert PROMPT.measure([]).metrics["pass_rate"].value is None


async def test_a_failed_trial_tells_a_comparison_what_was_expected_and_answered(tmp_path: Path) -> None:
    failed = await trial(suite(tmp_path), Answering("Lyon"))
    wrong = PROMPT.evidence(failed).wrong
    assert wrong is not None
    assert (wrong.expected, wrong.actual, wrong.why) == ("Paris", "Lyon", 'right: it isn\'t "Paris": "Lyon"')
    assert PROMPT.trial_text(failed).session == "expected  Paris\nactual    Lyon"
    passed = await trial(suite(tmp_path), Answering("Paris"))
    assert PROMPT.evidence(passed).wrong is None
    lost = PROMPT.as_failed(passed.details)
    assert isinstance(lost, PromptDetails)
    assert (lost.scores, lost.answer) == ({"right": 0.0}, None)
    kept = details(passed).summary()
    assert (kept.scores, kept.answer, kept.expected) == ({"right": 1.0}, None, None)


# ------------------------------------------------------------------------------------------- proof


async def test_expected_answers_pass_and_an_empty_one_does_not(tmp_path: Path) -> None:
    proof = await PROMPT.prove(suite(tmp_path))
    assert proof.problems == []
    assert proof.summary == "2 of 2 expected answers compared, an empty answer tried on each"


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        (
            {"evaluators": [{"name": "e", "string": {"contains": "London"}}]},
            "capitals/1: the expected answer fails 'e': it doesn't contain \"London\": \"Paris\". Fix the row's",
        ),
        (
            {
                "testData": [{"input": "x", "nothing": ""}],
                "evaluators": [{"name": "e", "string": {"contains": "{{nothing}}"}}],
            },
            "capitals/1: an empty answer passes every evaluator. Add an evaluator",
        ),
    ],
)
async def test_a_set_that_measures_nothing_is_refused(tmp_path: Path, changes: Any, words: str) -> None:
    proof = await PROMPT.prove(suite(tmp_path, **changes))
    assert words in str(proof.problems[0])


async def test_what_a_judge_would_say_is_not_proven(tmp_path: Path) -> None:
    proof = await PROMPT.prove(suite(tmp_path, evaluators=[TONE]))
    assert proof.problems == []
    assert proof.summary.endswith("2 rows need a judge, which wasn't asked")

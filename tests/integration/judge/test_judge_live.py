"""The judge over the real SDKs: each provider's own way to enforce the form, repair, refusals, outages."""

from __future__ import annotations

import json
from typing import Any

import pytest

from evalward.records.judge import JudgeOutcome
from evalward.suites.judge.judge import Judge
from evalward.suites.judge.structured import answer_schema
from evalward.targets.retry import RetryPolicy
from support.judging import answer, judged, rubric
from support.live import MODELS, live_target
from support.model_server import Answer, Fault, ModelServer, Script, Tokens, bash

RUBRIC = rubric()
EVERYWHERE = pytest.mark.parametrize("provider", list(MODELS))
TOKENS = Tokens(input=1000, output=100)


def said(value: Any, **more: Any) -> Answer:
    return Answer(text=value if isinstance(value, str) else json.dumps(value), tokens=TOKENS, **more)


async def ask(server: ModelServer, provider: str, **settings: Any) -> JudgeOutcome:
    target = live_target(server, provider, **settings)
    try:
        return await Judge(target).judge(judged("Done."), RUBRIC, 0.7)
    finally:
        await target.close()


def enforced(body: dict[str, Any], provider: str) -> Any:
    if provider == "anthropic":
        return body["output_config"]["format"]["schema"]
    if provider == "openai":
        assert body["response_format"]["json_schema"]["strict"] is True
        return body["response_format"]["json_schema"]["schema"]
    assert body["text"]["format"]["strict"] is True
    return body["text"]["format"]["schema"]


@EVERYWHERE
@pytest.mark.parametrize("stream", [False, True])
async def test_the_form_is_enforced_by_the_providers_own_means(provider: str, stream: bool) -> None:
    with ModelServer(Script(default=(said(answer()),))) as server:
        found = await ask(server, provider, stream=stream)
        (logged,) = server.requests
    assert logged.error is None
    assert logged.body is not None
    assert enforced(dict(logged.body), provider) == answer_schema(RUBRIC)
    assert found.score == pytest.approx(0.825)
    assert (found.passed, found.error) == (True, None)
    assert found.usage.cost_usd == pytest.approx((1000 * 1 + 100 * 10) / 1e6)


@EVERYWHERE
async def test_thinking_before_the_answer_and_one_repair(provider: str) -> None:
    script = Script(default=(said("Well.", thinking="Hm."), said(answer(), thinking="So.")))
    with ModelServer(script) as server:
        found = await ask(server, provider)
        assert [logged.error for logged in server.requests] == [None, None]
    assert (found.passed, found.votes[0].repaired, found.usage.input_tokens) == (True, True, 2000)


@EVERYWHERE
async def test_tools_that_nobody_offered_are_no_answer(provider: str) -> None:
    with ModelServer(Script(default=(bash("echo 1"), said(answer())))) as server:
        found = await ask(server, provider)
        assert [logged.error for logged in server.requests] == [None, None]
    assert found.passed


@EVERYWHERE
async def test_a_refusal_is_a_judge_error(provider: str) -> None:
    with ModelServer(Script(default=(said("No.", stop="refusal"),))) as server:
        found = await ask(server, provider)
    assert (found.passed, found.error) == (None, "the judge gave no answer: refusal")


@EVERYWHERE
async def test_an_answer_that_was_cut_is_repaired_or_an_error(provider: str) -> None:
    cut = said('{"scores": {"command_corr', stop="length")
    with ModelServer(Script(default=(cut, said(answer())))) as server:
        assert (await ask(server, provider)).passed
    with ModelServer(Script(default=(cut, cut))) as server:
        assert "even on the second attempt" in ((await ask(server, provider)).error or "")


@EVERYWHERE
async def test_an_outage_is_a_judge_error(provider: str) -> None:
    with ModelServer(Script(default=(said(answer()),)), faults=[Fault("overload")]) as server:
        target = live_target(server, provider, policy=RetryPolicy(retries=2))
        found = await Judge(target).judge(judged("Done."), RUBRIC, 0.7)
        await target.close()
    assert found.passed is None
    assert "overloaded" in (found.error or "")

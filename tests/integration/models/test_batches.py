"""Requests in batches, through the real SDKs, against a server that has them."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path

import pytest

from evalward.config.batch import Batch
from evalward.targets.base import Reply
from evalward.targets.failures import Cause, TargetError
from evalward.targets.purse import Purse
from support.batched import LIVE_USD, answering, batch_server, batched, bought, live_requests
from support.model_server import BatchRules, Fault

PROVIDERS = ("anthropic", "openai", "openai-responses")
TEXTS = ("one", "two", "three")
providers = pytest.mark.parametrize("provider", PROVIDERS)


def words(replies: list[object]) -> list[str]:
    assert all(isinstance(reply, Reply) for reply in replies), replies
    return [reply.message.text for reply in replies if isinstance(reply, Reply)]


@providers
async def test_requests_that_wait_together_go_in_one_batch_at_half_price(provider: str, tmp_path: Path) -> None:
    with batch_server(answering(*TEXTS), looks=2) as server:
        async with batched(server, tmp_path, provider) as asked:
            replies = await asked.ask_all(TEXTS)
    assert words(replies) == ["re: one", "re: two", "re: three"]
    assert bought(server) == [3]
    assert live_requests(server) == 0
    usage = replies[0].turn.usage
    assert usage.cost_usd == usage.batch_usd == pytest.approx(LIVE_USD / 2)
    assert usage.at_list_price.cost_usd == pytest.approx(LIVE_USD)
    assert (usage.batched, usage.input_tokens, usage.output_tokens) == (1, 1000, 100)
    assert (replies[0].turn.wall_ms, replies[0].turn.working_ms) == (0, 0)
    assert asked.time.slept[:2] == [1, 2]
    (batch,) = server.batches.made
    assert asked.said == [
        f"Batch {batch}: 3 requests to {provider}/{asked.model}, at half price. It may take up to 24 h.",
        f"Batch {batch} has ended: 3 of 3 requests answered.",
    ]


@providers
async def test_a_batch_is_written_down_before_it_is_done(provider: str, tmp_path: Path) -> None:
    with batch_server(looks=None) as server:
        async with batched(server, tmp_path, provider, terms=Batch(wait="1m")) as asked:
            await asked.ask_all(TEXTS)
        (made,) = server.batches.made.values()
        record = json.loads((tmp_path / "batches" / f"{made.id}.json").read_text("utf-8"))
        host = server.url.removeprefix("http://")
    assert (record["id"], record["provider"], record["model"]) == (made.id, provider, asked.model)
    assert record["host"] == host
    assert set(record["requests"]) == {custom_id for custom_id, _ in made.lines}


@providers
async def test_a_killed_run_that_is_resumed_buys_nothing_twice(provider: str, tmp_path: Path) -> None:
    with batch_server(answering(*TEXTS, "four"), looks=2) as server:
        async with batched(server, tmp_path, provider) as asked:
            waiting = [asyncio.ensure_future(asked.ask(text)) for text in TEXTS]
            asked.time.stopped = True
            await asyncio.sleep(0)
            asked.keeper.all_wait()
            while not list(tmp_path.glob("batches/*.json")):
                await asyncio.sleep(0.001)
            for each in waiting:
                each.cancel()
        async with batched(server, tmp_path, provider, resume=True) as again:
            replies = await again.ask_all(["three", "one", "four"])
    assert words(replies) == ["re: three", "re: one", "re: four"]
    assert bought(server) == [3, 1]
    assert live_requests(server) == 0


async def test_without_resume_earlier_batches_are_nothing(tmp_path: Path) -> None:
    with batch_server(answering("one")) as server:
        for _ in range(2):
            async with batched(server, tmp_path) as asked:
                await asked.ask_all(["one"])
    assert bought(server) == [1, 1]


async def test_resumed_trials_that_ask_the_same_each_get_their_own_answer(tmp_path: Path) -> None:
    """Five trials of a case ask the same: none may get the answer of another, which may be counted already."""
    trials = ["trial 1", "trial 2", "trial 3"]
    with batch_server(answering("one")) as server:
        async with batched(server, tmp_path) as asked:
            await asked.ask_all(["one"] * 3, trials)
        first = {custom_id for custom_id, _ in next(iter(server.batches.made.values())).lines}
        async with batched(server, tmp_path, resume=True) as again:
            await again.ask_all(["one", "one"], ["trial 3", "trial 4"])
        second = {custom_id for custom_id, _ in list(server.batches.made.values())[1].lines}
    assert (len(first), len(second)) == (3, 1)
    assert not first & second


@providers
async def test_resumed_requests_that_were_never_answered_are_sent_at_once(provider: str, tmp_path: Path) -> None:
    """All trials waited while it was looked whether their answers had been bought: that holds when they have not."""
    with batch_server(answering(*TEXTS), fates={"two|three": "expired"}) as server:
        async with batched(server, tmp_path, provider, terms=Batch(then="stop")) as asked:
            await asked.ask_all(TEXTS)
        server.batches.rules = BatchRules()
        async with batched(server, tmp_path, provider, terms=Batch(then="stop"), resume=True) as again:
            replies = await asyncio.wait_for(again.ask_all(["two", "three"]), 60)  # here, nothing is ever quiet
    assert words(replies) == ["re: two", "re: three"]
    assert bought(server) == [3, 2]


@providers
@pytest.mark.parametrize("fate", ["expired", "cancelled"])
async def test_what_a_batch_leaves_out_is_asked_live(provider: str, fate: str, tmp_path: Path) -> None:
    with batch_server(answering(*TEXTS), fates={"two": fate}) as server:
        async with batched(server, tmp_path, provider) as asked:
            replies = await asked.ask_all(TEXTS)
    assert words(replies) == ["re: one", "re: two", "re: three"]
    assert live_requests(server) == 1
    assert [reply.turn.usage.batched for reply in replies] == [1, None, 1]
    assert replies[1].turn.usage.cost_usd == pytest.approx(LIVE_USD)


@providers
async def test_after_the_wait_the_batch_is_cancelled_and_the_rest_asked_live(provider: str, tmp_path: Path) -> None:
    with batch_server(answering(*TEXTS, "four"), looks=None) as server:
        async with batched(server, tmp_path, provider, terms=Batch(wait="90m")) as asked:
            replies = await asked.ask_all(TEXTS)
            later = await asked.ask("four")  # the time is up for the whole run
    assert words([*replies, later]) == ["re: one", "re: two", "re: three", "re: four"]
    (made,) = server.batches.made.values()
    assert made.cancelled
    assert live_requests(server) == 4
    assert 5400 <= asked.time.now < 5400 + 120


@providers
async def test_or_the_run_ends(provider: str, tmp_path: Path) -> None:
    with batch_server(looks=None) as server:
        async with batched(server, tmp_path, provider, terms=Batch(wait="90m", then="stop")) as asked:
            met = await asked.ask_all(TEXTS)
    assert live_requests(server) == 0
    assert {(type(each), each.cause, each.rule.stops_run) for each in met} == {(TargetError, Cause.BATCH, True)}
    assert "batch.wait: 90m" in str(met[0])
    assert "--resume" in str(met[0])


@providers
async def test_a_provider_s_fault_in_a_line_is_asked_live_and_a_bad_request_is_an_error(
    provider: str, tmp_path: Path
) -> None:
    faults = [Fault("overload", match="two", nth=(1,)), Fault("unprocessable", match="three")]
    with batch_server(answering(*TEXTS), faults=faults) as server:
        async with batched(server, tmp_path, provider) as asked:
            one, two, three = await asked.ask_all(TEXTS)
    assert words([one, two]) == ["re: one", "re: two"]
    assert two.turn.usage.batched is None
    assert isinstance(three, TargetError)
    assert three.cause is Cause.REJECTED
    assert live_requests(server) == 1


@providers
async def test_a_line_that_says_the_conversation_is_too_long_is_the_target_s_result(
    provider: str, tmp_path: Path
) -> None:
    with batch_server(answering(*TEXTS), faults=[Fault("context_length", match="two")]) as server:
        async with batched(server, tmp_path, provider) as asked:
            replies = await asked.ask_all(TEXTS)
    assert replies[1].turn.stop == "context_length"
    assert live_requests(server) == 0


@providers
async def test_where_there_is_no_batch_api_requests_are_live_and_people_hear_why(provider: str, tmp_path: Path) -> None:
    with batch_server(answering(*TEXTS), served=False) as server:
        async with batched(server, tmp_path, provider) as asked:
            replies = await asked.ask_all(TEXTS)
    assert words(replies) == ["re: one", "re: two", "re: three"]
    assert live_requests(server) == 3
    assert len(asked.said) == 1
    assert "404" in asked.said[0]


@providers
async def test_a_refused_key_ends_the_run_and_nothing_is_asked_live(provider: str, tmp_path: Path) -> None:
    with batch_server() as server:
        server.settings = type(server.settings)(key="sk-another")
        async with batched(server, tmp_path, provider) as asked:
            met = await asked.ask_all(TEXTS)
            after = await asked.ask_all(["four"])
    assert {each.cause for each in [*met, *after]} == {Cause.KEY}
    assert live_requests(server) == 0
    assert bought(server) == []


async def test_requests_are_sent_when_nothing_new_has_come_for_a_while(tmp_path: Path) -> None:
    with batch_server(answering(*TEXTS)) as server:
        async with batched(server, tmp_path) as asked:
            asked.time.quiet.set()
            replies = await asyncio.gather(*(asked.ask(text) for text in TEXTS))
    assert words(list(replies)) == ["re: one", "re: two", "re: three"]
    assert bought(server) == [3]


async def test_a_budget_holds_for_batches_at_their_price(tmp_path: Path) -> None:
    with batch_server(answering(*TEXTS)) as server:
        purse = Purse(usd=LIVE_USD * 0.75)
        async with batched(server, tmp_path, purse=purse, max_tokens=100) as asked:
            first = await asked.ask_all(["one"])
            second = await asked.ask_all(["two"])
            third = await asked.ask_all(["three"])
    assert words([*first, *second]) == ["re: one", "re: two"]
    assert third[0].cause is Cause.BUDGET
    assert purse.used_usd == pytest.approx(LIVE_USD)
    assert bought(server) == [1, 1]


async def test_a_batch_that_can_t_be_looked_at_for_a_while_goes_on(tmp_path: Path) -> None:
    with batch_server(answering(*TEXTS), looks=3, broken_looks=2) as server:
        async with batched(server, tmp_path) as asked:
            replies = await asked.ask_all(TEXTS)
    assert words(replies) == ["re: one", "re: two", "re: three"]
    assert live_requests(server) == 0


@pytest.mark.parametrize("provider", ["openai", "openai-responses"])
async def test_a_batch_that_is_refused_as_a_whole_is_asked_live_and_people_hear_why(
    provider: str, tmp_path: Path
) -> None:
    refused = ("token_limit_exceeded", "Enqueued token limit reached for gpt-5.")
    with batch_server(answering(*TEXTS), refused=refused) as server:
        async with batched(server, tmp_path, provider) as asked:
            replies = await asked.ask_all(TEXTS)
    assert words(replies) == ["re: one", "re: two", "re: three"]
    assert live_requests(server) == 3
    assert "Enqueued token limit reached for gpt-5." in asked.said[-1]


@pytest.mark.parametrize("provider", ["openai", "openai-responses"])
async def test_one_whose_account_is_empty_is_not(provider: str, tmp_path: Path) -> None:
    with batch_server(refused=("billing_hard_limit_reached", "Billing hard limit has been reached.")) as server:
        async with batched(server, tmp_path, provider) as asked:
            met = await asked.ask_all(TEXTS)
    assert {each.cause for each in met} == {Cause.QUOTA}
    assert live_requests(server) == 0

"""Conversations through the real SDKs."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from support.model_server import KEY, Answer, Call, Conversation, ModelServer, Script, Tokens, bash, oracle_like
from support.model_server.api import Protocol
from support.model_server.sdk import Said, Speaker
from support.patience import FACTORS

TOKENS = Tokens(input=70, cache_read=20, cache_write=10, output=30, reasoning=12)
STREAM = pytest.mark.parametrize("stream", [False, True], ids=["whole", "stream"])
STOPS: dict[Protocol, tuple[str, str]] = {
    "messages": ("tool_use", "end_turn"),
    "chat": ("tool_calls", "stop"),
    "responses": ("completed", "completed"),
}


async def converse(each: Speaker, prompt: str, **more: Any) -> list[Said]:
    """Until there are no more calls; every call's output is "ok"."""
    history, said = each.start(prompt), list[Said]()
    while not said or said[-1].calls:
        answer = await each.ask(history, **more)
        said.append(each.read(answer))
        history += each.after(answer, {call[0]: "ok" for call in said[-1].calls})
    return said


@STREAM
async def test_tool_conversation(protocol: Protocol, stream: bool, speak: Any) -> None:
    script = oracle_like({"count": ["echo 1", "echo 2"]}, thinking="Hm.", tokens=TOKENS, say="Counted.")
    with ModelServer(script) as server:
        said = await converse(speak(server, protocol), "please count", stream=stream)
    use, end = STOPS[protocol]
    assert [(item.text, [call[1:] for call in item.calls], item.stop) for item in said] == [
        ("", [("bash", {"commands": "echo 1"})], use),
        ("", [("bash", {"commands": "echo 2"})], use),
        ("Counted.", [], end),
    ]
    assert all(item.tokens == TOKENS for item in said)
    assert [item.asked and item.asked.turn for item in server.requests] == [0, 1, 2]


@STREAM
async def test_text_and_parallel_calls(protocol: Protocol, stream: bool, speak: Any) -> None:
    first = Answer(text="Two at once: ünïcödé ☃", calls=(Call({"commands": "a"}), Call({"commands": "b"})))
    with ModelServer(Script((Conversation("both", (first,)),))) as server:
        said = await converse(speak(server, protocol), "both", stream=stream)
    assert said[0].text == "Two at once: ünïcödé ☃"
    assert [call[2] for call in said[0].calls] == [{"commands": "a"}, {"commands": "b"}]
    assert len({call[0] for call in said[0].calls}) == 2
    assert said[1].text == "Done."


async def test_stream_and_whole_are_the_same(protocol: Protocol, server: ModelServer, speak: Any) -> None:
    each = speak(server, protocol)
    whole, streamed = [each.read(await each.ask(each.start("task"), stream=stream)) for stream in (False, True)]
    assert whole == streamed


async def test_same_request_same_answer(protocol: Protocol, server: ModelServer, speak: Any) -> None:
    each = speak(server, protocol)
    first, again = [await each.ask(each.start("task")) for _ in range(2)]
    assert first.model_dump() == again.model_dump()


async def test_first_fitting_conversation(protocol: Protocol, speak: Any) -> None:
    script = Script((Conversation(r"^a+$", (Answer(text="A"),), regex=True), Conversation("b", (Answer(text="B"),))))
    with ModelServer(script) as server:
        each = speak(server, protocol)
        for prompt, text in [("aaa", "A"), ("ab", "B")]:
            assert each.read(await each.ask(each.start(prompt))).text == text
        with pytest.raises(Exception, match="no answer to 'c'"):
            await each.ask(each.start("c"))


async def test_longer_prompt_first(speak: Any) -> None:
    with ModelServer(oracle_like({"list": ["a"], "list all": ["b"]})) as server:
        each = speak(server, "chat")
        assert each.read(await each.ask(each.start("list all files"))).calls[0][2] == {"commands": "b"}


@STREAM
@pytest.mark.parametrize("redacted", [False, True])
async def test_thinking_goes_back(redacted: bool, stream: bool, speak: Any) -> None:
    turns = Answer(calls=(Call({"commands": "a"}),), thinking="Secret.", redacted=redacted)
    with ModelServer(Script((Conversation("x", (turns,)),))) as server:
        assert len(await converse(speak(server, "messages"), "x", stream=stream)) == 2
        more = {"include": ["reasoning.encrypted_content"], "store": False}
        assert len(await converse(speak(server, "responses"), "x", stream=stream, **more)) == 2


@STREAM
@pytest.mark.parametrize("merged", [False, True])
async def test_paused_turn_is_continued(stream: bool, merged: bool, speak: Any) -> None:
    turns = (Answer(text="Wait.", stop="pause"), bash("echo 1"), Answer(text="End."))
    with ModelServer(Script((Conversation("x", turns),))) as server:
        each = speak(server, "messages")
        history = each.start("x")
        paused = await each.ask(history, stream=stream)
        assert (paused.stop_reason, paused.content[-1].type) == ("pause_turn", "server_tool_use")
        history += each.after(paused, {})
        goes_on = await each.ask(history, stream=stream)
        assert goes_on.content[0].input == {"commands": "echo 1"}
        if merged:
            history[-1] = {"role": "assistant", "content": [*paused.content, *goes_on.content]}
            history += each.after(goes_on, {goes_on.content[0].id: "ok"})[1:]
        else:
            history += each.after(goes_on, {goes_on.content[0].id: "ok"})
        assert each.read(await each.ask(history, stream=stream)).text == "End."


async def test_responses_outputs_between_parallel_calls(speak: Any) -> None:
    first = Answer(calls=(Call({"commands": "a"}), Call({"commands": "b"})), thinking="Both.")
    with ModelServer(Script((Conversation("both", (first, Answer(text="Second."))),))) as server:
        each = speak(server, "responses")
        answer = await each.ask(each.start("both"))
        reasoning, one, two, *outputs = each.after(answer, {item.call_id: "ok" for item in answer.output[1:]})
        history = [*each.start("both"), reasoning, one, outputs[0], two, outputs[1]]
        assert each.read(await each.ask(history)).text == "Second."


async def test_responses_without_reasoning_and_ids(speak: Any, server: ModelServer) -> None:
    each = speak(server, "responses")
    answer = await each.ask(each.start("task"))
    _, call, output = each.after(answer, {answer.output[1].call_id: "ok"})
    del call["id"]
    assert each.read(await each.ask([*each.start("task"), call, output])).calls[0][2] == {"commands": "echo two"}


async def test_count_tokens(speak: Any, server: ModelServer) -> None:
    client = speak(server, "messages").client
    short, long = [
        await client.messages.count_tokens(model="claude-haiku-4-5", messages=[{"role": "user", "content": text}])
        for text in ("task", "task" * 100)
    ]
    assert 0 < short.input_tokens < long.input_tokens


async def test_beta_messages(speak: Any, server: ModelServer) -> None:
    client = speak(server, "messages").client
    said = await client.beta.messages.create(
        model="claude-haiku-4-5",
        max_tokens=10,
        messages=[{"role": "user", "content": "task"}],
        context_management={"edits": []},
        betas=["context-management-2025-06-27"],
    )
    assert said.stop_reason == "tool_use"


async def test_fifty_at_once(protocol: Protocol, speak: Any) -> None:
    for factor in FACTORS:  # a busy machine takes longer to ask fifty questions
        with ModelServer(oracle_like({"task": ["a"]}), latency=0.2 * factor) as server:
            each = speak(server, protocol, timeout=600)
            said = await asyncio.gather(*(converse(each, f"task {number}") for number in range(50)))
        if server.max_concurrent >= 30:
            break
    assert all([item.text for item in one] == ["", "Done."] for one in said)
    assert 30 <= server.max_concurrent <= 50
    assert server.log.max_concurrent_of == {protocol: server.max_concurrent}
    assert KEY not in repr(server.requests)

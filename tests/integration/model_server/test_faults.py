"""Every way to misbehave, as the SDKs show it. This is also the record of how they behave."""

from __future__ import annotations

from contextlib import suppress
from typing import Any

import anthropic
import httpx2
import openai
import pytest

from support.model_server import FAULTS, KEY, Fault, ModelServer
from support.model_server.api import Protocol
from support.model_server.reply import HUGE
from support.model_server.sdk import Speaker
from support.patience import patiently

Classes = tuple[str, str, str]  # Messages, Chat, Responses

STATUS: dict[str, tuple[tuple[int, int, int], Classes]] = {
    "rate_limit": ((429, 429, 429), ("RateLimitError",) * 3),
    "rate_limit_date": ((429, 429, 429), ("RateLimitError",) * 3),
    "rate_limit_ms": ((429, 429, 429), ("RateLimitError",) * 3),
    "rate_limit_bare": ((429, 429, 429), ("RateLimitError",) * 3),
    "overload": ((529, 503, 503), ("OverloadedError", "InternalServerError", "InternalServerError")),
    "unavailable": ((503, 503, 503), ("ServiceUnavailableError", "InternalServerError", "InternalServerError")),
    "server_error": ((500, 500, 500), ("InternalServerError",) * 3),
    "bad_gateway": ((502, 502, 502), ("InternalServerError",) * 3),
    "gateway_timeout": ((504, 504, 504), ("GatewayTimeoutError", "InternalServerError", "InternalServerError")),
    "key": ((401, 401, 401), ("AuthenticationError",) * 3),
    "key_echoed": ((401, 401, 401), ("AuthenticationError",) * 3),
    "forbidden": ((403, 403, 403), ("PermissionDeniedError",) * 3),
    "quota": ((400, 429, 429), ("BadRequestError", "RateLimitError", "RateLimitError")),
    "payment": ((402, 402, 402), ("PaymentRequiredError", "APIStatusError", "APIStatusError")),
    "spend_limit": ((429, 429, 429), ("EnforcedSpendLimitReachedError", "RateLimitError", "RateLimitError")),
    "model_not_found": ((404, 404, 400), ("NotFoundError", "NotFoundError", "BadRequestError")),
    "context_length": ((400, 400, 400), ("BadRequestError",) * 3),
    "too_large": ((413, 413, 413), ("ContentTooLargeError", "APIStatusError", "APIStatusError")),
    "unprocessable": ((422, 422, 422), ("UnprocessableEntityError",) * 3),
}
# Messages: whole, stream; OpenAI's two: whole, stream
RAISED: dict[str, tuple[type[Exception], type[Exception], type[Exception], type[Exception]]] = {
    "reset": (anthropic.APIConnectionError,) * 2 + (openai.APIConnectionError,) * 2,
    "reset_after_headers": (anthropic.APIConnectionError, httpx2.ReadError) + (openai.APIConnectionError,) * 2,
    "closed": (anthropic.APIConnectionError,) * 2 + (openai.APIConnectionError,) * 2,
    "stall": (anthropic.APITimeoutError,) * 2 + (openai.APITimeoutError,) * 2,
    "stall_body": (anthropic.APITimeoutError, httpx2.ReadTimeout) + (openai.APITimeoutError,) * 2,
}
STREAM_RAISED: dict[str, tuple[type[Exception], type[Exception]]] = {
    "stream_cut": (httpx2.RemoteProtocolError, openai.APIConnectionError),
    "stream_stall": (httpx2.ReadTimeout, openai.APITimeoutError),
    "stream_broken_event": (ValueError, ValueError),  # json.JSONDecodeError
}
OTHERS = {
    "slow",
    "broken_json",
    "html",
    "empty_body",
    "wrong_shape",
    "stream_early_end",
    "stream_error",
    "stream_error_nested",
    "stream_failed",
    "empty_answer",
    "refusal",
    "content_filter",
    "length",
    "length_in_call",
    "context_window",
    "pause",
    "other_stop",
    "failed",
    "huge",
    "broken_arguments",
    "list_arguments",
    "unknown_tool",
    "extra_block",
    "no_usage",
}
INDEX: dict[Protocol, int] = {"messages": 0, "chat": 1, "responses": 2}
STREAM = pytest.mark.parametrize("stream", [False, True], ids=["whole", "stream"])


async def send(each: Speaker, stream: bool) -> Any:
    """The answer, or the list of its events, without the SDK's accumulator, which adds errors of its own."""
    return await (each.events(each.start("task")) if stream else each.ask(each.start("task")))


def test_every_fault_has_a_test() -> None:
    assert set(STATUS) | set(RAISED) | set(STREAM_RAISED) | OTHERS == set(FAULTS)


@STREAM
@pytest.mark.parametrize("name", STATUS)
async def test_error_status(name: str, protocol: Protocol, stream: bool, server: ModelServer, speak: Any) -> None:
    server.misbehave(Fault(name))
    statuses, classes = STATUS[name]
    with pytest.raises((anthropic.APIStatusError, openai.APIStatusError)) as caught:
        await send(speak(server, protocol), stream)
    error: Any = caught.value
    assert (error.status_code, type(error).__name__) == (statuses[INDEX[protocol]], classes[INDEX[protocol]])
    assert (KEY in str(error)) == (name == "key_echoed")
    assert (server.requests[0].fault, server.requests[0].status) == (name, error.status_code)


async def test_codes_and_texts(server: ModelServer, speak: Any) -> None:
    async def error(protocol: Protocol, name: str) -> Any:
        server.misbehave(Fault(name))
        with pytest.raises(Exception, match="Error code") as caught:
            await send(speak(server, protocol), False)
        return caught.value

    for protocol in ("chat", "responses"):
        assert (await error(protocol, "quota")).code == "insufficient_quota"
        assert (await error(protocol, "rate_limit")).code == "rate_limit_exceeded"
        assert (await error(protocol, "context_length")).code == "context_length_exceeded"
        assert (await error(protocol, "model_not_found")).code == "model_not_found"
    assert "credit balance is too low" in (await error("messages", "quota")).api_message
    assert "prompt is too long" in (await error("messages", "context_length")).api_message
    spent = await error("messages", "spend_limit")
    assert (spent.error_code, spent.type) == ("enforced_spend_limit_reached", "rate_limit_error")
    assert isinstance(spent, anthropic.RateLimitError)  # which is retried, though no wait helps


@pytest.mark.parametrize(
    ("name", "header"),
    [("rate_limit", "retry-after"), ("rate_limit_date", "retry-after"), ("rate_limit_ms", "retry-after-ms")],
)
async def test_when_to_retry(name: str, header: str, protocol: Protocol, server: ModelServer, speak: Any) -> None:
    server.misbehave(Fault(name, retry_after=3600))
    each = speak(server, protocol)
    with pytest.raises((anthropic.RateLimitError, openai.RateLimitError)) as caught:
        await send(each, False)
    error: Any = caught.value
    headers = error.response.headers
    assert {item for item in headers if item.startswith("retry-after")} == {header}
    least = 1800 if name == "rate_limit_date" else 3600  # a date comes nearer while a busy machine does something else
    assert least <= each.client._parse_retry_after_header(headers) <= 3600


@pytest.mark.parametrize(("name", "seconds"), [("rate_limit_bare", None), ("overload", None), ("overload", 5)])
async def test_no_header_unless_wanted(name: str, seconds: float | None, server: ModelServer, speak: Any) -> None:
    server.misbehave(Fault(name, retry_after=seconds))
    with pytest.raises(anthropic.APIStatusError) as caught:
        await send(speak(server, "messages"), False)
    assert caught.value.response.headers.get("retry-after") == (f"{seconds}" if seconds else None)


async def raised(  # noqa: PLR0917 - what is sent, and how
    server: ModelServer, speak: Any, protocol: Protocol, name: str, stream: bool, expected: type[Exception]
) -> Exception | None:
    """The error of a request. Where the server stalls, on a busy machine also sooner than it means to."""

    async def attempt(factor: int) -> Exception | None:
        server.misbehave(Fault(name, tries=1))
        try:
            await send(speak(server, protocol, timeout=0.3 * factor if "stall" in name else 60), stream)
        except Exception as error:
            return error
        return None

    return await patiently(attempt, lambda error: isinstance(error, expected))


@STREAM
@pytest.mark.parametrize("name", RAISED)
async def test_connection(name: str, protocol: Protocol, stream: bool, server: ModelServer, speak: Any) -> None:
    expected = RAISED[name][(protocol != "messages") * 2 + stream]
    assert type(await raised(server, speak, protocol, name, stream, expected)) is expected
    assert await send(speak(server, protocol, timeout=60), stream)  # and the next one works


@pytest.mark.parametrize("name", STREAM_RAISED)
async def test_broken_stream(name: str, protocol: Protocol, server: ModelServer, speak: Any) -> None:
    expected = STREAM_RAISED[name][protocol != "messages"]
    error = await raised(server, speak, protocol, name, True, expected)
    assert isinstance(error, expected)
    assert not isinstance(error, anthropic.AnthropicError)


async def test_early_end_raises_nothing(protocol: Protocol, server: ModelServer, speak: Any) -> None:
    server.misbehave(Fault("stream_early_end"))
    events = await send(speak(server, protocol), True)
    assert events
    if protocol == "chat":
        assert all(choice.finish_reason is None for event in events for choice in event.choices)
    else:
        assert not {event.type for event in events} & {"message_delta", "message_stop", "response.completed"}


async def test_error_in_a_stream(server: ModelServer, speak: Any) -> None:
    server.misbehave(Fault("stream_error"))
    with pytest.raises(anthropic.APIStatusError) as claude:
        await send(speak(server, "messages"), True)
    assert (type(claude.value), claude.value.status_code, claude.value.type) == (
        anthropic.APIStatusError,
        200,
        "overloaded_error",
    )
    with pytest.raises(openai.APIError) as chat:
        await send(speak(server, "chat"), True)
    assert (type(chat.value), chat.value.code) == (openai.APIError, "server_error")
    events = await send(speak(server, "responses"), True)
    assert (events[-1].type, events[-1].code) == ("error", "server_error")  # only yielded
    server.misbehave(Fault("stream_error_nested"))
    with pytest.raises(openai.APIError) as nested:
        await send(speak(server, "responses"), True)
    assert (type(nested.value), nested.value.code) == (openai.APIError, "server_error")


@pytest.mark.parametrize("name", ["stream_failed", "failed"])
async def test_failed_stream_raises_nothing(name: str, server: ModelServer, speak: Any) -> None:
    server.misbehave(Fault(name))
    last = (await send(speak(server, "responses"), True))[-1]
    assert (last.type, last.response.status, last.response.error.code) == ("response.failed", "failed", "server_error")


async def test_failed_response_raises_nothing(server: ModelServer, speak: Any) -> None:
    server.misbehave(Fault("failed"))
    answer = await send(speak(server, "responses"), False)
    assert (answer.status, answer.error.code, answer.output, answer.usage) == ("failed", "server_error", [], None)


@pytest.mark.parametrize("name", ["broken_json", "empty_body"])
async def test_broken_json(name: str, protocol: Protocol, server: ModelServer, speak: Any) -> None:
    server.misbehave(Fault(name))
    with pytest.raises(ValueError, match="line 1 column") as caught:
        await send(speak(server, protocol), False)
    assert type(caught.value).__name__ == "JSONDecodeError"


async def test_html_is_a_str(protocol: Protocol, server: ModelServer, speak: Any) -> None:
    server.misbehave(Fault("html"))
    assert isinstance(await send(speak(server, protocol), False), str)


async def test_wrong_shape_is_an_answer_without_fields(protocol: Protocol, server: ModelServer, speak: Any) -> None:
    server.misbehave(Fault("wrong_shape"))
    answer = await send(speak(server, protocol), False)
    name = {"messages": "content", "chat": "choices", "responses": "output"}[protocol]
    assert getattr(answer, name) is None


@pytest.mark.parametrize("name", ["html", "empty_body", "wrong_shape"])
async def test_no_stream_is_an_empty_stream(name: str, protocol: Protocol, server: ModelServer, speak: Any) -> None:
    server.misbehave(Fault(name))
    assert await send(speak(server, protocol), True) == []


async def test_slow(server: ModelServer, speak: Any) -> None:
    server.misbehave(Fault("slow", delay=0.3))
    with pytest.raises(openai.APITimeoutError):
        await send(speak(server, "chat", timeout=0.1), False)
    assert await send(speak(server, "chat", timeout=60), False)


async def test_huge(protocol: Protocol, server: ModelServer, speak: Any) -> None:
    server.misbehave(Fault("huge"))
    each = speak(server, protocol)
    for stream in (False, True):
        assert each.read(await each.ask(each.start("task"), stream=stream)).text == HUGE
    assert len(HUGE) > 2_000_000


async def test_when_the_rules_apply(speak: Any, server: ModelServer) -> None:
    server.misbehave(
        Fault("broken_json", nth=(2,), protocol="chat"),
        Fault("html", tries=1, match="^twice"),
        Fault("refusal", protocol="messages", turn=0),
        Fault("stream_cut"),  # nobody streams
    )

    async def fault(protocol: Protocol, prompt: str) -> str | None:
        each = speak(server, protocol)
        with suppress(ValueError):
            await each.ask(each.start(prompt))
        return server.requests[-1].fault

    assert [await fault("chat", "task") for _ in range(4)] == [None, "broken_json", None, None]
    assert [await fault("responses", "twice task") for _ in range(3)] == ["html", None, None]
    assert [await fault("responses", "twice the task") for _ in range(2)] == ["html", None]
    assert [await fault("messages", "twice task") for _ in range(3)] == ["html", "refusal", "refusal"]
    with pytest.raises(ValueError, match="there is no fault 'typo'"):
        Fault("typo")


@pytest.mark.parametrize(("every_turn", "expected"), [(False, ["html", None, None]), (True, ["html", None, "html"])])
async def test_tries_of_a_conversation_or_a_turn(
    every_turn: bool, expected: list[str | None], server: ModelServer, speak: Any
) -> None:
    server.misbehave(Fault("html", tries=1, every_turn=every_turn))
    each = speak(server, "chat")
    history = each.start("task")
    await each.ask(history)
    answer = await each.ask(history)
    await each.ask([*history, *each.after(answer, {each.read(answer).calls[0][0]: "ok"})])
    assert [item.fault for item in server.requests] == expected

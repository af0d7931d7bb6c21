"""What a provider may send: too much, too deep, too long, or none. Its fault, tried again, and never ours."""

from __future__ import annotations

import gzip
import json
import zlib
from collections.abc import AsyncIterator, Callable
from typing import Any

import httpx2
import pytest

from evalward.targets.failures import Cause, TargetError
from evalward.targets.models import limits
from evalward.targets.retry import RetryPolicy
from support.fuzzing.answers import ANSWERS, PROVIDERS, Sent, ask, sent_as_events
from support.live import FakeTime

GZIP, JSON = {"content-encoding": "gzip"}, {"content-type": "application/json"}


LIMIT = 1_000_000


@pytest.fixture(autouse=True)
def lower_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    assert 2_000_000 <= limits.ANSWER_LIMIT < limits.STREAM_LIMIT <= 32_000_000
    monkeypatch.setattr(limits, "ANSWER_LIMIT", LIMIT)
    monkeypatch.setattr(limits, "STREAM_LIMIT", 2 * LIMIT)


def answer(provider: str) -> str:
    return json.dumps(ANSWERS[provider])


def with_extra(provider: str, value: str) -> bytes:
    return f'{answer(provider)[:-1]}, "extra": {value}}}'.encode()


class Endless(httpx2.AsyncByteStream):
    """A body that never ends, and how much of it was taken after its `first` bytes."""

    def __init__(self, first: bytes = b"") -> None:
        self.taken, self._first = 0, first

    async def __aiter__(self) -> AsyncIterator[bytes]:
        if self._first:
            yield self._first
        while True:
            self.taken += LIMIT
            yield b" " * LIMIT


def refused(provider: str, response: Callable[[], httpx2.Response], **more: Any) -> TargetError:
    with pytest.raises(TargetError) as caught:
        ask(provider, response, stream=False, **more)
    return caught.value


@pytest.mark.parametrize("provider", PROVIDERS)
@pytest.mark.parametrize(
    ("value", "said"),
    [
        ("9" * 5_000, "a number in the answer has too many digits"),
        ("-" + "9" * 5_000, "a number in the answer has too many digits"),
        ("[" * 5_000 + "]" * 5_000, "the answer is nested too deeply"),
        ('{"a":' * 5_000 + "1" + "}" * 5_000, "the answer is nested too deeply"),
        ("[", "the answer is not a JSON object but the text"),
    ],
    ids=["digits", "negative digits", "lists", "objects", "cut off"],
)
def test_json_that_nobody_can_hold_is_malformed_and_tried_again(provider: str, value: str, said: str) -> None:
    asked: list[None] = []

    def response() -> httpx2.Response:
        asked.append(None)
        return httpx2.Response(200, headers=JSON, stream=Sent(with_extra(provider, value)))

    error = refused(provider, response, policy=RetryPolicy(retries=2), time=FakeTime())
    assert (error.cause, len(asked)) == (Cause.MALFORMED, 3)
    assert said in error.message


@pytest.mark.parametrize("provider", PROVIDERS)
@pytest.mark.parametrize("value", ["[" * 300 + "]" * 300, r'{"\ud800": "\udfff"}', "NaN", str(2**70)], ids="abcd")
def test_what_is_odd_beside_an_answer_does_it_no_harm(provider: str, value: str) -> None:
    trace: Any = ask(provider, lambda: httpx2.Response(200, headers=JSON, stream=Sent(with_extra(provider, value))))
    assert trace.messages[0].tool_uses[0].input == {"commands": "ls"}


@pytest.mark.parametrize("provider", PROVIDERS)
@pytest.mark.parametrize("tokens", [2**63, 2**70, -1, 10**300])
def test_tokens_that_nobody_can_have_used_are_unknown(provider: str, tokens: int) -> None:
    body = answer(provider).replace('tokens": 2', f'tokens": {tokens}').encode()
    trace: Any = ask(provider, lambda: httpx2.Response(200, headers=JSON, stream=Sent(body)))
    assert trace.turns[0].usage.output_tokens is None


@pytest.fixture(scope="module")
def bomb() -> bytes:
    """A hundred times what is read, in a few bytes."""
    packed = gzip.compress(bytes(100 * LIMIT))
    assert len(packed) < 200_000
    return packed


@pytest.mark.parametrize("provider", PROVIDERS)
@pytest.mark.parametrize("stream", [False, True], ids=["whole", "stream"])
def test_a_bomb_of_gzip_is_not_unpacked(provider: str, stream: bool, bomb: bytes) -> None:
    kind = {"content-type": "text/event-stream" if stream else "application/json"}
    with pytest.raises(TargetError) as caught:
        ask(provider, lambda: httpx2.Response(200, headers={**kind, **GZIP}, stream=Sent(bomb)), stream=stream)
    assert caught.value.cause is Cause.MALFORMED
    assert f"the answer is longer than {(2 if stream else 1) * LIMIT:,} bytes" in caught.value.message


@pytest.mark.parametrize("provider", PROVIDERS)
@pytest.mark.parametrize("status", [200, 500])
def test_a_body_without_end_is_left(provider: str, status: int) -> None:
    body = Endless()
    error = refused(provider, lambda: httpx2.Response(status, headers=JSON, stream=body))
    assert error.cause is Cause.MALFORMED
    assert body.taken == 2 * LIMIT


@pytest.mark.parametrize("provider", PROVIDERS)
@pytest.mark.parametrize(
    ("encoding", "content", "said"),
    [
        ("gzip", b"this is no gzip", "can't be unpacked"),
        ("gzip", gzip.compress(b"{}" * 50)[:-12], "packing breaks off"),
        ("deflate", b"\xff" * 50, "can't be unpacked"),
        ("br", b"anything", "encoded as 'br'"),
        ("gzip, gzip", gzip.compress(gzip.compress(b"{}")), "encoded as 'gzip, gzip'"),
    ],
    ids=["none", "cut off", "no deflate", "unknown", "twice"],
)
def test_broken_packing_is_the_providers_fault(provider: str, encoding: str, content: bytes, said: str) -> None:
    headers = {**JSON, "content-encoding": encoding}
    error = refused(provider, lambda: httpx2.Response(200, headers=headers, stream=Sent(content)))
    assert error.cause is Cause.MALFORMED
    assert said in error.message


@pytest.mark.parametrize("provider", PROVIDERS)
def test_what_follows_a_packed_answer_counts(provider: str) -> None:
    """It was gathered without end, and copied each time."""
    body = Endless(gzip.compress(answer(provider).encode()))
    error = refused(provider, lambda: httpx2.Response(200, headers={**JSON, **GZIP}, stream=body))
    assert error.cause is Cause.MALFORMED
    assert f"the answer is longer than {LIMIT:,} bytes" in error.message
    assert body.taken == LIMIT


NO_TEXT = ["hex", "undefined", "idna", "zip", "rot13", "base64", "utf-16"]
"""Codecs of Python's that make no text, or none of this."""


@pytest.mark.parametrize("provider", PROVIDERS)
@pytest.mark.parametrize("codec", NO_TEXT)
@pytest.mark.parametrize(("status", "cause"), [(200, Cause.MALFORMED), (500, Cause.OVERLOAD)])
def test_whatever_codec_a_page_names_it_is_the_providers_fault(
    provider: str, codec: str, status: int, cause: Cause
) -> None:
    headers = {"content-type": f"text/html; charset={codec}"}
    error = refused(provider, lambda: httpx2.Response(status, headers=headers, stream=Sent(b"<html>hi</html>")))
    assert error.cause is cause
    assert "<html>hi</html>" in error.message


@pytest.mark.parametrize("provider", PROVIDERS)
@pytest.mark.parametrize("status", [200, 400])
@pytest.mark.parametrize("part", ["{},", '{"type":"o"},', "0,"])
def test_very_many_values_are_malformed(provider: str, status: int, part: str) -> None:
    many = part * (limits.MOST_VALUES + 1)
    body = with_extra(provider, f"[{many}0]")[:LIMIT]
    error = refused(provider, lambda: httpx2.Response(status, headers=JSON, stream=Sent(body)))
    assert error.cause is Cause.MALFORMED
    assert f"the answer has more than {limits.MOST_VALUES:,} values" in error.message


@pytest.mark.parametrize("provider", PROVIDERS)
def test_an_answer_that_calls_itself_a_stream_has_the_bound_of_an_answer(provider: str) -> None:
    body = with_extra(provider, f'"{"x" * LIMIT}"')
    headers = {"content-type": "text/event-stream"}
    error = refused(provider, lambda: httpx2.Response(200, headers=headers, stream=Sent(body)))
    assert f"the answer is longer than {LIMIT:,} bytes" in error.message


BEGUN = ('{"type": "message_start", "message": {"type": "message"}}', '{"type": "message_stop"}')
ODD_STREAMS = [
    ("anthropic", '{"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": 5}}'),
    (
        "anthropic",
        '{"type": "content_block_start", "index": 0, "content_block": {"type": "tool_use", "partial_json": 5}}',
    ),
    ("openai", '{"choices": [{"delta": {"tool_calls": [{"index": [], "id": 5, "function": 5}, 5]}}]}'),
    ("openai", '{"choices": [{"finish_reason": "stop", "delta": {"tool_calls": [{"function": {"name": 5}}]}}]}'),
    ("openai-responses", '{"type": "response.output_item.done", "output_index": "1", "item": {}}'),
]


@pytest.mark.parametrize(("provider", "event"), ODD_STREAMS)
def test_a_stream_of_other_types_is_malformed(provider: str, event: str) -> None:
    delta = '{"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": "a"}}'
    sent = [BEGUN[0], event, delta, BEGUN[1]] if provider == "anthropic" else [event]
    body = sent_as_events("\n".join(sent).encode())
    headers = {"content-type": "text/event-stream"}
    with pytest.raises(TargetError) as caught:
        ask(provider, lambda: httpx2.Response(200, headers=headers, stream=Sent(body)), stream=True)
    assert caught.value.cause is Cause.MALFORMED


@pytest.mark.parametrize("packed", [gzip.compress, zlib.compress], ids=["gzip", "deflate"])
def test_a_packed_answer_is_read(packed: Callable[[bytes], bytes]) -> None:
    headers = {**JSON, "content-encoding": "gzip" if packed is gzip.compress else "deflate"}
    content = packed(answer("anthropic").encode())
    trace: Any = ask("anthropic", lambda: httpx2.Response(200, headers=headers, stream=Sent(content)))
    assert trace.messages[0].text == "Hm."


@pytest.mark.parametrize("provider", PROVIDERS)
@pytest.mark.parametrize("stream", [False, True], ids=["whole", "stream"])
def test_a_long_retry_after_is_told_with_its_length(provider: str, stream: bool) -> None:
    def response() -> httpx2.Response:
        return httpx2.Response(429, headers={**JSON, "retry-after": "7200"}, stream=Sent(b"{}"))

    with pytest.raises(TargetError) as caught:
        ask(provider, response, stream=stream, policy=RetryPolicy())
    assert caught.value.message.startswith(f"{provider} limits the rate of requests. Lower `concurrency`")
    assert caught.value.message.endswith("(it asks to wait 7,200 s, longer than the 120 s that Evalward waits)")

"""Server-sent events: as the standard says, however they are cut, and within bounds."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evalward.targets.models import events, limits
from evalward.targets.models.events import EventReader, SentEvent, events_in, objects_of, received
from evalward.targets.models.reading import MalformedError, ProviderError

STREAM = b': hi\r\nevent: a\ndata: {"x":\rdata: 1}\r\n\r\ndata:{}\nid: 7\n\n\n:\nevent: none\n\ndata: [DONE]'
TOLD = [SentEvent("a", b'{"x":\n1}'), SentEvent("", b"{}"), SentEvent("", b"[DONE]")]


@given(st.lists(st.integers(0, len(STREAM)), max_size=12))
def test_the_same_is_read_wherever_a_stream_is_cut(cuts: list[int]) -> None:
    reader, places = EventReader(), [0, *sorted(cuts), len(STREAM)]
    found = [event for a, b in pairwise(places) for event in reader.feed(STREAM[a:b])]
    assert [*found, *reader.end()] == TOLD == list(events_in(STREAM))


def test_what_events_say() -> None:
    assert list(objects_of(TOLD)) == [{"x": 1}, {}]
    assert list(objects_of([SentEvent("ping", b"-"), SentEvent("", b"")])) == []
    assert list(objects_of([SentEvent("", b'{"x": "\xff"}')], "replace")) == [{"x": "\ufffd"}]


@pytest.mark.parametrize(
    "data", [b"[1]", b"nope", b'"x"', b'{"x": "\xff"}', b"[" * 5_000, b'{"x": ' + b"9" * 5_000 + b"}"]
)
def test_an_event_that_is_no_object_is_malformed(data: bytes) -> None:
    with pytest.raises(MalformedError):
        list(objects_of([SentEvent("x", data)]))


@pytest.mark.parametrize(
    ("event", "body"),
    [
        (SentEvent("", b'{"error": {"type": "x"}}'), {"type": "x"}),
        (SentEvent("error", b'{"type": "y"}'), {"type": "y"}),
        (SentEvent("error", b"we are full"), "we are full"),
    ],
)
def test_an_error_in_a_stream_is_the_providers(event: SentEvent, body: object) -> None:
    with pytest.raises(ProviderError) as caught:
        list(objects_of([event]))
    assert caught.value.body == body


@pytest.mark.parametrize("line", [b":\n", b"\n", b"data: {}\n\n", b"\r", b"x\r\n"])
def test_a_stream_of_lines_without_end_is_left(line: bytes, monkeypatch: pytest.MonkeyPatch) -> None:
    """One SDK copied what it had seen of an event for each line: 12 s, whatever the time limit was."""
    monkeypatch.setattr(limits, "MOST_LINES", 1_000)
    with pytest.raises(MalformedError, match="more than 1,000 lines"):
        list(events_in(line * 2_000))


async def _endless(first: bytes) -> AsyncIterator[bytes]:
    yield first
    await asyncio.sleep(60)


async def test_what_follows_the_last_event_is_not_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(events, "AFTER_DONE_S", 0.01)
    assert await received(_endless(b"data: {}\n\ndata: [DONE]\n\n")) == TOLD[1:]


async def test_an_end_that_breaks_off_after_the_last_event_does_no_harm() -> None:
    async def broken(data: bytes) -> AsyncIterator[bytes]:
        yield data
        raise ConnectionError("gone")

    assert await received(broken(b"data: {}\n\ndata: [DONE]\n\n")) == TOLD[1:]
    with pytest.raises(ConnectionError):
        await received(broken(b"data: {}\n\n"))

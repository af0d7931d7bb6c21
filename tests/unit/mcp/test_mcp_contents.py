"""What a model reads of a result, and what a line of a server's output is."""

from __future__ import annotations

import json
from typing import Any

import pytest

from evalward.records.problem import InputError
from evalward.suites.mcp.server.contents import NOTHING, outcome_of, text_of
from evalward.suites.mcp.server.failures import SAID, ServerAnswerError, ServerDiedError, both_ends
from evalward.suites.mcp.server.sdk import require_sdk
from evalward.suites.mcp.server.stdio import read_message
from evalward.suites.mcp.server.traffic import LEAST_START_S, ServerBounds, ServerTraffic, bounds_for


@pytest.mark.parametrize(
    ("result", "read"),
    [
        ({"content": [{"type": "text", "text": "a"}, {"type": "text", "text": "b"}]}, "a\nb"),
        ({"content": []}, NOTHING),
        ({}, NOTHING),
        ({"content": [], "structuredContent": {"sum": 3}}, '{"sum": 3}'),
        ({"content": [{"type": "text", "text": "3"}], "structuredContent": {"sum": 3}}, "3"),
        ({"content": [{"type": "image", "mimeType": "image/png", "data": "AAAA"}]}, "[image: image/png, 3 bytes]"),
        ({"content": [{"type": "audio", "mimeType": "audio/wav", "data": "AA=="}]}, "[audio: audio/wav, 1 bytes]"),
        ({"content": [{"type": "resource_link", "uri": "file:///a\nb"}]}, "[resource: file:///a b]"),
        ({"content": [{"type": "resource", "resource": {"uri": "x:y", "text": "words"}}]}, "words"),
        (
            {"content": [{"type": "resource", "resource": {"uri": "x:y", "blob": "AAAA"}}]},
            "[resource: x:y, unnamed, 3 bytes]",
        ),
        ({"content": [{"type": "hologram"}, 3, {"type": "text"}]}, None),
        ({"content": [{"type": "text", "text": "\ud800"}]}, "\ufffd"),
    ],
)
def test_a_result_is_read_as_text(result: dict[str, Any], read: str | None) -> None:
    if read is None:
        read = "[content of type hologram]\n[unreadable content]\n[content of type text]"
    assert text_of(result) == read


def test_structured_content_beyond_reason_is_left_out() -> None:
    deep: dict[str, Any] = {}
    for _ in range(5000):
        deep = {"deeper": deep}
    outcome = outcome_of({"content": [], "structuredContent": deep})
    assert (outcome.structured, outcome.is_error) == (None, False)
    assert outcome.text == "[structured content that is nested too deeply]"


def traffic(**bounds: Any) -> ServerTraffic:
    return ServerTraffic(ServerBounds(**bounds))


def message(**keys: Any) -> bytes:
    return json.dumps({"jsonrpc": "2.0", **keys}).encode()


def test_answers_and_requests_are_passed_on_and_the_rest_is_counted() -> None:
    seen = traffic()
    lines = (
        message(id=1, result={}),
        message(id=2, error={"code": -1, "message": "no"}),
        message(id="x", method="roots/list"),
        message(id="y", method="ping"),
        message(method="notifications/tools/list_changed"),
        message(method="notifications/message", params={"level": "info", "data": "x"}),
        b"Server is listening",
        b'{"level": "info"}',
        b"",
        b"\xff\xfe",
    )
    passed_on = [read_message(line, seen) is not None for line in lines]
    assert passed_on == [True, True, True, True, False, False, False, False, False, False]
    assert dict(seen.refused) == {"roots/list": 1}
    assert (seen.list_changed, seen.notifications, seen.noise, seen.messages) == (1, 2, 3, 10)


@pytest.mark.parametrize(
    "line",
    [
        b'{"jsonrpc":"2.0","id":1,"result":' + b'{"a":' * 5000 + b"1" + b"}" * 5001,
        b'{"jsonrpc":"2.0","id":1,"result":{"a":',
        b'{"id":1,"result":3}',
        b'{"jsonrpc":"1.0","id":1,"result":{}}',
    ],
)
def test_a_message_that_cannot_be_read_ends_the_session__whoever_waits_would_wait_for_ever(line: bytes) -> None:
    with pytest.raises(ServerAnswerError, match=r"^it sent a message that can't be read: "):
        read_message(line, traffic())


def test_bounds_hold_for_messages_and_bytes_together() -> None:
    few = traffic(messages=2)
    read_message(b"noise", few)
    read_message(b"noise", few)
    with pytest.raises(ServerDiedError, match=r"^it sent more than 2 messages$"):
        read_message(b"noise", few)
    small = traffic(total_bytes=9)
    read_message(b"noise", small)
    with pytest.raises(ServerDiedError, match=r"^it sent more than 9 bytes of messages$"):
        read_message(b"noise", small)


def test_input_that_a_server_asks_for_in_an_answer_is_refused_and_counted() -> None:
    seen = traffic()
    asked = {"a": {"method": "sampling/createMessage"}, "b": {"method": "elicitation/create"}, "c": 3}
    assert seen.asked_in_answer({"resultType": "input_required", "inputRequests": asked})
    assert dict(seen.refused) == {"sampling/createMessage": 1, "elicitation/create": 1, "input": 1}
    assert not seen.asked_in_answer({"resultType": "complete", "content": []})


def test_without_the_sdk_one_sentence_says_how_to_install_it() -> None:
    require_sdk()
    with pytest.raises(InputError) as refused:
        require_sdk("a_package_that_nobody_has")
    assert str(refused.value) == (
        "kind: mcp: servers are spoken to with the package a_package_that_nobody_has, which is not installed here. "
        'Install it: pip install "evalward[mcp]".'
    )


def test_of_long_complaints_both_ends_are_shown() -> None:
    trace = "server.js:3 Error: DB_URL is not set\n" + "    at run (server.js:3)\n" * 200 + "Node.js v22"
    said = both_ends(trace)
    assert said.startswith("server.js:3 Error: DB_URL is not set at run")
    assert said.endswith("Node.js v22")
    assert len(said) == 2 * SAID + len(" … ")
    assert both_ends("a\n b") == "a b"


def test_a_server_has_as_long_to_list_its_tools_as_for_a_call() -> None:
    assert (bounds_for(30).start_s, bounds_for(30).call_s) == (30, 30)
    assert (bounds_for(0.5).start_s, bounds_for(0.5).call_s) == (LEAST_START_S, 0.5)


@pytest.mark.parametrize("number", ["9" * 4_000, str(2**40), "-1"])
@pytest.mark.parametrize("what", ['"result":{}', '"error":{"code":1,"message":"no"}'])
def test_an_answer_to_what_nobody_asked_ends_the_session(number: str, what: str) -> None:
    line = f'{{"jsonrpc":"2.0","id":{number},{what}}}'.encode()
    with pytest.raises(ServerAnswerError):
        read_message(line, traffic())

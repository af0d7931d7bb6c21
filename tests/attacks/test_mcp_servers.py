"""MCP servers that do what no server should: each ends as a finding in words, within bounds, and leaves nothing.

No test here waits for a time to pass: what is bounded by time is bounded by so little that no server could be in time.
"""

from __future__ import annotations

import json
from typing import Any
from uuid import uuid4

import pytest

from evalward.suites.mcp.server import connection
from evalward.suites.mcp.server.failures import ServerAnswerError, ServerDiedError, ServerHungError
from evalward.suites.mcp.server.traffic import ServerBounds
from evalward.suites.mcp.state import check_state
from support.mcp import small_session
from support.processes import processes

AT_ONCE = ServerBounds(end_s=0)


def bounds(**kept: Any) -> ServerBounds:
    """Bounds of which only these are unusual."""
    return ServerBounds(end_s=0, **kept)


# --- before it lists its tools ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("moment", ["start", "initialize", "list"])
async def test_one_that_ends_is_dead_and_says_why(moment: str) -> None:
    with pytest.raises(ServerDiedError) as failed:
        async with small_session(f"die={moment}"):
            pass
    assert str(failed.value) == "it ended with exit code 7: no database: the reason stands here"


async def test_one_that_closes_its_output_is_dead(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connection, "_LAST_WORD_S", 0.5)
    with pytest.raises(ServerDiedError, match=r"^it closed its standard output$"):
        async with small_session("close=initialize"):
            pass


@pytest.mark.parametrize("moment", ["discover", "initialize", "list"])
async def test_one_that_never_answers_hangs(moment: str) -> None:
    words = r"^it didn't list its tools within 0\.01 s"
    with pytest.raises(ServerHungError, match=words):
        async with small_session(f"hang={moment}", bounds=bounds(start_s=0.01)):
            pass


async def test_a_flood_ends_at_the_number_of_messages() -> None:
    with pytest.raises(ServerDiedError, match=r"^it sent more than 100 messages$"):
        async with small_session("flood=initialize", bounds=bounds(messages=100)):
            pass


async def test_a_flood_ends_at_its_size() -> None:
    with pytest.raises(ServerDiedError, match=r"^it sent more than 10,000 bytes of messages$"):
        async with small_session("flood=initialize", bounds=bounds(total_bytes=10_000)):
            pass


async def test_a_list_without_an_end_is_cut_off() -> None:
    with pytest.raises(ServerAnswerError, match=r"^its list of tools has no end: more than 7 pages$"):
        async with small_session("endless", bounds=bounds(pages=7)):
            pass


async def test_a_list_in_pages_is_read_whole() -> None:
    async with small_session("paged") as session:
        assert [tool.name for tool in session.catalogue.tools] == ["echo", "add", "write_note"]


async def test_200_tools_are_listed_and_more_than_2000_are_refused() -> None:
    async with small_session("tools=200") as session:
        assert len(session.catalogue.tools) == 200
    with pytest.raises(ServerAnswerError, match=r"there are 2,001 tools, more than 2,000"):
        async with small_session("tools=2001"):
            pass


@pytest.mark.parametrize(
    ("listed", "words"),
    [
        ({}, "its answer isn't what the protocol has: tools: "),
        ({"tools": "all"}, "its answer isn't what the protocol has: tools: "),
        ({"tools": [{"name": "x"}]}, "its answer isn't what the protocol has: tools.0.inputSchema: "),
        (
            {"tools": [{"name": "", "inputSchema": {"type": "object"}}]},
            "its list of tools can't be used: tools[0].name",
        ),
        (
            {"tools": [{"name": "x", "inputSchema": {"type": "object"}}] * 2},
            "its list of tools can't be used: tools[1].name: the tool 'x' occurs in the list twice",
        ),
    ],
)
async def test_a_list_that_is_none_is_a_bad_answer(listed: dict[str, Any], words: str) -> None:
    with pytest.raises(ServerAnswerError) as failed:
        async with small_session(f"list={json.dumps(listed)}"):
            pass
    assert str(failed.value).startswith(words)


async def test_a_schema_that_is_nested_beyond_reason_is_a_bad_answer() -> None:
    schema: dict[str, Any] = {"type": "object"}
    for _ in range(150):
        schema = {"type": "object", "properties": {"deeper": schema}}
    with pytest.raises(ServerAnswerError, match=r"^it sent a message that can't be read: "):
        async with small_session(f"list={json.dumps({'tools': [{'name': 'x', 'inputSchema': schema}]})}"):
            pass


async def test_what_cannot_be_started_is_dead() -> None:
    from dataclasses import replace

    from evalward.suites.mcp.server.session import open_server
    from support.mcp import small_server

    place = replace(small_server(), words=("./no-such-server",))
    with pytest.raises(ServerDiedError, match=r"^it ended with exit code 127: \./no-such-server: not found$"):
        async with open_server(place, AT_ONCE):
            pass


# --- in a call --------------------------------------------------------------------------------------------------------


async def test_one_that_ends_in_a_call_is_dead_and_stays_so() -> None:
    async with small_session("die=call") as session:
        for _ in range(2):
            with pytest.raises(ServerDiedError, match=r"^it ended with exit code 7: no database"):
                await session.call("echo", {"text": "x"})


async def test_one_that_never_answers_a_call_hangs() -> None:
    async with small_session("hang=call", bounds=bounds(call_s=0.01)) as session:
        with pytest.raises(ServerHungError, match=r"^it gave no answer to 'echo' within 0\.01 s$"):
            await session.call("echo", {"text": "x"})


async def test_an_answer_beyond_the_limit_ends_the_session_with_a_reason() -> None:
    async with small_session("size=50000", bounds=bounds(line_bytes=20_000)) as session:
        with pytest.raises(ServerDiedError, match=r"^it sent a message of more than 20,000 bytes$"):
            await session.call("echo", {"text": "x"})


async def test_fifty_megabytes_are_too_much() -> None:
    async with small_session("size=50000000") as session:
        with pytest.raises(ServerDiedError, match=r"^it sent a message of more than 16,777,216 bytes$"):
            await session.call("echo", {"text": "x"})


async def test_an_answer_of_ten_megabytes_is_read() -> None:
    async with small_session("size=10000000") as session:
        assert len((await session.call("echo", {"text": "x"})).text) == 10_000_000


async def test_a_flood_in_a_call_ends_it() -> None:
    async with small_session("flood=call", bounds=bounds(messages=500)) as session:
        with pytest.raises(ServerDiedError, match=r"^it sent more than 500 messages$"):
            await session.call("echo", {"text": "x"})


@pytest.mark.parametrize("moment", ["start", "list", "call"])
async def test_noise_on_standard_output_is_counted_and_passed_over(moment: str) -> None:
    async with small_session(f"noise={moment}") as session:
        assert (await session.call("echo", {"text": "x"})).text == "x"
        assert session.traffic.noise == 3


async def test_bytes_that_are_no_utf8_are_replaced() -> None:
    async with small_session("broken_text") as session:
        assert (await session.call("echo", {"text": "x"})).text == "a\ufffdb"


async def test_answers_that_nobody_asked_for_are_nothing() -> None:
    async with small_session("stray") as session:
        for word in ("x", "y"):
            assert (await session.call("echo", {"text": word})).text == word


@pytest.mark.parametrize(
    ("answer", "why", "words"),
    [
        ({"result": {"content": "no list"}}, "bad_answer", "content: "),
        ({"result": {}}, "bad_answer", "content: "),
        ({"result": {"content": [{"type": "text"}]}}, "bad_answer", "content.0"),
        ({"error": {"code": -32000, "message": "Connection closed"}}, "json_rpc_error", "MCP error -32000: Connection"),
        ({"error": {"code": -32001, "message": "timed out"}}, "json_rpc_error", "MCP error -32001: timed out"),
        ({"result": {"content": [], "isError": True}}, "is_error", "(no output)"),
    ],
)
async def test_a_bad_answer_is_an_error_of_this_call_alone(answer: dict[str, Any], why: str, words: str) -> None:
    async with small_session(f"answer={json.dumps(answer)}") as session:
        for _ in range(2):
            outcome = await session.call("echo", {"text": "x"})
            assert (outcome.is_error, outcome.why) == (True, why)
            assert outcome.text.startswith(words)


async def test_structured_content_that_breaks_the_output_schema_is_no_matter() -> None:
    answer = {"result": {"content": [{"type": "text", "text": "3"}], "structuredContent": {"total": "three"}}}
    async with small_session(f"answer={json.dumps(answer)}") as session:
        outcome = await session.call("add", {"a": 1, "b": 2})
    assert (outcome.text, outcome.is_error, outcome.structured) == ("3", False, {"total": "three"})


@pytest.mark.parametrize("method", ["sampling/createMessage", "elicitation/create", "roots/list"])
async def test_what_a_server_wants_of_a_host_is_refused_and_counted(method: str) -> None:
    async with small_session(f"ask={method}") as session:
        outcome = await session.call("echo", {"text": "x"})
        assert not outcome.is_error
        assert session.refused == {method: 1}


async def test_a_changed_list_is_counted() -> None:
    async with small_session("changed") as session:
        await session.call("echo", {"text": "x"})
        await session.call("echo", {"text": "x"})
        assert session.traffic.list_changed == 2
        assert session.traffic.notifications == 2


async def test_a_server_that_fills_standard_error_is_not_blocked_by_it() -> None:
    async with small_session("stderr=100") as session:
        assert (await session.call("echo", {"text": "x"})).text == "x"


# --- at the end -------------------------------------------------------------------------------------------------------


async def test_nothing_of_a_server_is_left() -> None:
    mark = uuid4().hex
    async with small_session("child", "stay", f"mark={mark}") as session:
        await session.call("echo", {"text": "x"})
        assert len(processes(mark)) >= 2
    assert processes(mark) == []


async def test_a_server_that_dies_leaves_no_children() -> None:
    mark = uuid4().hex
    async with small_session("child", "die=call", f"mark={mark}") as session:
        with pytest.raises(ServerDiedError):
            await session.call("echo", {"text": "x"})
    assert processes(mark) == []


async def test_a_script_sees_no_process_of_the_server() -> None:
    mark = uuid4().hex
    async with small_session("child", "stay", f"mark={mark}") as session:
        assert (await check_state(session, "true", 60)).passed
        assert processes(mark) == []

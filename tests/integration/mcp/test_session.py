"""A session with a server that behaves: what it lists, what calls give, and what is left at the end."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from evalward.suites.mcp.server.failures import ServerDiedError
from evalward.suites.mcp.server.listing import listed
from evalward.suites.mcp.server.session import open_server
from evalward.suites.mcp.state import check_state
from support.mcp import PROGRAM, small_server, small_session


async def test_it_lists_its_tools_and_says_who_it_is() -> None:
    async with small_session() as session:
        catalogue = session.catalogue
    assert (catalogue.server, catalogue.instructions) == ("small", "Use echo for texts.")
    assert catalogue.protocol == "2025-11-25"
    assert [tool.name for tool in catalogue.tools] == ["echo", "add", "write_note"]
    assert catalogue.by_name["add"].annotations == {"readOnlyHint": True}
    assert catalogue.by_name["add"].title == "Add"


async def test_calls_give_text_and_structured_content() -> None:
    async with small_session() as session:
        said = await session.call("echo", {"text": "grüß Gott"})
        added = await session.call("add", {"a": 1, "b": 2})
    assert (said.text, said.is_error, said.why, said.structured) == ("grüß Gott", False, None, None)
    assert (added.text, added.structured) == ("3", {"sum": 3})


async def test_a_refused_call_is_an_error_that_the_model_reads() -> None:
    async with small_session() as session:
        refused = await session.call("nope", {})
        after = await session.call("echo", {"text": "still here"})
    assert (refused.text, refused.is_error) == ("MCP error -32602: Unknown tool: nope", True)
    assert refused.why == "json_rpc_error"
    assert after.text == "still here"


async def test_a_script_looks_at_the_folder_after_the_servers_end() -> None:
    async with small_session() as session:
        await session.call("write_note", {"name": "a.txt", "text": "remember"})
        found = await check_state(session, "grep -qx remember a.txt", 60)
        missing = await check_state(session, "grep -q forget a.txt", 60)
    assert (found.passed, found.detail) == (True, "")
    assert (missing.passed, missing.detail) == (False, "exit code 1")


async def test_who_is_in_an_event_loop_can_list_its_tools_at_once() -> None:
    assert listed(small_server()).server == "small"


async def test_answers_of_a_server_that_ends_at_once_are_read() -> None:
    async with small_session("last=echo") as session:
        assert (await session.call("echo", {"text": "farewell"})).text == "farewell"
        with pytest.raises(ServerDiedError, match=r"^it ended with exit code 0$"):
            await session.call("echo", {"text": "x"})


async def test_a_server_has_files_a_home_and_none_of_our_variables(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-secret")
    place = replace(small_server(files={"notes/a.txt": b"given"}), env={"NOTES": "{folder}/notes", "MINE": "1"})
    async with open_server(place) as session:
        found = json.loads((await session.call("look", {"name": "a.txt"})).text)
    assert found["content"] == "given"
    assert found["cwd"] == found["notes"].removesuffix("/notes")
    assert PROGRAM.name in found["beside"]
    assert found["variables"] == ["HOME", "LANG", "MINE", "NOTES", "PATH", "TMPDIR"]
    assert found["home"] not in {str(Path.home()), ""}

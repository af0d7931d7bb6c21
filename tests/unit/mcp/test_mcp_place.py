"""Where a server is: what it is started with, and what can't be a server."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest

from evalward.records.problem import InputError
from evalward.suites.mcp.server.place import CommandServer, HttpServer, ServerPlace, place_of
from evalward.suites.mcp.spec import McpSuite
from support.mcp_suites import write_suite

PATH = str(Path(sys.executable).parent)


def place(root: Path, **server: Any) -> ServerPlace:
    loaded = write_suite(root, server=server)
    spec = loaded.config.suites[0]
    assert isinstance(spec, McpSuite)
    return place_of(spec, loaded, PATH)


def test_a_program_is_found_along_the_path_and_reads_the_repository_without_its_answers(tmp_path: Path) -> None:
    (tmp_path / "lib" / ".git").mkdir(parents=True)
    found = place(tmp_path, command=["python", "-m", "mine"], env={"DB": "{folder}/x"})
    assert isinstance(found, CommandServer)
    assert found.words == (str(Path(PATH, "python")), "-m", "mine")
    assert (found.linked, found.env) == (tmp_path, {"DB": "{folder}/x"})
    assert (found.workspace.network, found.workspace.path) == ("none", PATH)
    assert tmp_path in found.workspace.readable
    assert {tmp_path / "lib" / ".git", tmp_path / "cases.jsonl"} <= set(found.workspace.hidden)


def test_a_program_with_a_slash_counts_from_its_folder(tmp_path: Path) -> None:
    (tmp_path / "tools").mkdir()
    found = place(tmp_path, command=["./server"], cwd="tools")
    assert isinstance(found, CommandServer)
    assert (found.words, found.linked) == (("./server",), tmp_path / "tools")


@pytest.mark.parametrize(
    ("server", "words"),
    [
        ({"command": ["no-such-program"]}, "server.command: there is no program 'no-such-program' on the PATH."),
        ({"command": ["./x"], "cwd": "gone"}, "server.cwd: there is no folder 'gone', or a link leads to it."),
        ({"command": ["./x"], "cwd": "out"}, "server.cwd: there is no folder 'out', or a link leads to it."),
        ({"command": ["./x"], "cwd": "cases.jsonl"}, "server.cwd: there is no folder 'cases.jsonl', or a link"),
        (
            {"url": "http://x/", "headers": {"Authorization": "Bearer ${TOKEN}"}},
            "server.headers: the header 'Authorization' names a variable, and headers are sent as they stand there.",
        ),
        ({"url": "http://x/", "headers": {"X": "$KEY"}}, "the header 'X' names a variable"),
        ({"url": "http://x/", "headers": {"X": "a\r\nY: b"}}, "the header 'X' can't be sent."),
        ({"url": "http://x/", "headers": {"X Y": "a"}}, "the header 'X Y' can't be sent."),
    ],
)
def test_what_is_no_server_is_said_with_its_key(tmp_path: Path, server: dict[str, Any], words: str) -> None:
    (tmp_path / "out").symlink_to("/")
    with pytest.raises(InputError) as refused:
        place(tmp_path, **server)
    assert words in str(refused.value)
    assert str(refused.value).startswith("evalward.yml:")


def test_headers_are_sent_as_they_stand_there(tmp_path: Path) -> None:
    found = place(tmp_path, url="http://127.0.0.1:1/mcp", headers={"X-Tenant": "blue, 5 $"})
    assert found == HttpServer("http://127.0.0.1:1/mcp", {"X-Tenant": "blue, 5 $"})

"""What a configuration may say of an mcp suite, and what is said of mistakes."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from evalward.config.load import parse_config
from evalward.records.problem import InputError
from evalward.runner.base_files import BaseFilesReader
from evalward.suites.mcp.spec import McpSuite
from evalward.wire.messages import BaseFile

SNAPSHOT = {"snapshot": "tools.json"}


def read(**keys: Any) -> McpSuite:
    given = {"name": "t", "kind": "mcp", "server": SNAPSHOT, "cases": "c.yaml", "targets": "oracle", **keys}
    suite = {key: value for key, value in given.items() if value is not None}
    text = json.dumps({"version": 1, "suites": [suite]}, indent=1)
    spec = parse_config(text, "evalward.yml", Path("/repo")).config.suites[0]
    assert isinstance(spec, McpSuite)
    return spec


def said(**keys: Any) -> list[str]:
    with pytest.raises(InputError) as error:
        read(**keys)
    return [str(problem).partition(": ")[2] for problem in error.value.problems]


def test_what_is_taken_where_nothing_is_said() -> None:
    spec = read()
    assert (spec.mode, spec.scope, spec.instructions, spec.distractors) == ("select", "trial", True, [])
    assert (spec.network, spec.trials, spec.timeout_s, spec.compare_with) == ("none", 1, 60, "baseline")


def test_a_command_is_a_text_or_its_words() -> None:
    assert read(server={"command": "python -m 'my server'"}).server.command == ["python", "-m", "my server"]
    assert read(server={"command": ["a b", "c"]}).server.command == ["a b", "c"]
    assert read(server={"command": "python 'x"}).server.command == ["python 'x"]


def test_the_files_of_a_suite_are_those_that_its_keys_name() -> None:
    spec = read(distractors=["n/*.json"], system="s.md")
    assert [name for key in spec.file_keys for name in spec.named_by(key)] == [
        "c.yaml",
        "s.md",
        "tools.json",
        "n/*.json",
    ]
    assert read(server={"command": ["x"]}).named_by("server.snapshot") == []


@pytest.mark.parametrize(
    ("keys", "words"),
    [
        ({"server": None}, "suites[0].server: the key is missing. Add it: the server: command, url or snapshot."),
        ({"server": {}}, "it is not said where the server is. Give it exactly one of command, url, snapshot."),
        ({"server": {**SNAPSHOT, "command": ["x"]}}, "command and snapshot stand side by side. Give it exactly one of"),
        ({"server": {**SNAPSHOT, "env": {"A": "b"}}}, '"env" belongs to command, not to snapshot. Remove it.'),
        ({"server": {"url": "http://x/", "cwd": "a"}}, '"cwd" belongs to command, not to url. Remove it.'),
        ({"server": {"command": ["x"], "headers": {"a": "b"}}}, '"headers" belongs to url, not to command. Remove it.'),
        ({"server": {"command": []}}, "suites[0].server.command: is empty"),
        ({"server": {"command": ""}}, "suites[0].server.command: is empty"),
        ({"server": {"command": ["x", 3]}}, "suites[0].server.command[1]: must be text, not the number 3."),
        ({"server": {"url": "ftp://x"}}, 'suites[0].server.url: "ftp://x" is no address of a server. Write http:// or'),
        ({"server": {"snapshots": "x"}}, 'unknown key "snapshots". Did you mean snapshot?'),
        ({"server": {"snapshot": "../x.json"}}, 'suites[0].server.snapshot: the path "../x.json" has .. in it'),
        ({"distractors": ["/x.json"]}, 'suites[0].distractors[0]: the path "/x.json" is absolute'),
        ({"mode": "run"}, "a snapshot can't be run: it has the server's tools, not the server."),
        ({"mode": "pick"}, 'suites[0].mode: unknown value "pick". Known: select, run.'),
        ({"targets": ["program:x"]}, 'the target "program:x" can\'t use tools, which suites of kind mcp are about'),
        ({"targets": ["claude-code/x"]}, "is an agent, which works by itself; suites of kind mcp have none"),
        (
            {"server": {"url": "http://x/"}, "compare_with": "base"},
            "this server can't be compared with the base commit's: its server is at an address, and is the same for",
        ),
        (
            {"server": {"command": ["x"]}, "compare_with": "base"},
            "its server is a program of this checkout, and the base's is not built here. Remove the key, or measure",
        ),
    ],
)
def test_mistakes_are_said_with_their_key_and_what_to_do(keys: dict[str, Any], words: str) -> None:
    assert any(words in line for line in said(**keys)), said(**keys)


def test_the_bases_files_are_its_snapshot_and_those_beside_it() -> None:
    there = {"tools.json": b"[]", "n/a.json": b"[]", "n/b.json": b"[]", "n/c.txt": b"", "c.yaml": b"[]"}
    asked: list[str] = []

    def file(path: str) -> bytes | None:
        asked.append(path)
        return there.get(path)

    def below(folder: str) -> list[BaseFile]:
        return [BaseFile(path=path) for path in there if path.startswith(f"{folder}/")]

    BaseFilesReader(file, below).take(read(distractors=["n/*.json"]))
    assert set(asked) & set(there) == {"tools.json", "n/a.json", "n/b.json", "c.yaml"}

"""The nine gates in a real folder with a real shell."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from pydantic import TypeAdapter, ValidationError

from evalward.suites.scenario.details import GateResult
from evalward.suites.scenario.gate_models import CommandSucceeds, Gate
from evalward.suites.scenario.gates import GateEvidence, evaluate_gate, evaluate_gates
from evalward.suites.scenario.interaction import ToolCommand
from support.workplace import FolderPlace

READER: TypeAdapter[Gate] = TypeAdapter(Gate)


def gate(**keys: Any) -> Gate:
    return READER.validate_python(keys)


@pytest.fixture
def place(tmp_path: Path) -> FolderPlace:
    (tmp_path / "store").mkdir()
    (tmp_path / "tasks.txt").write_text("milk\nbread\n")
    (tmp_path / "picture").write_bytes(b"\xff\xfe")
    return FolderPlace(tmp_path)


async def result(place: FolderPlace, commands: Sequence[ToolCommand] | None = (), **keys: Any) -> GateResult:
    return await evaluate_gate(gate(**keys), GateEvidence(place, commands, {"WHO": "me"}))


CASES: list[tuple[dict[str, Any], bool, str]] = [
    ({"type": "command_succeeds", "command": 'test "$WHO" = me'}, True, "exit code 0"),
    ({"type": "command_succeeds", "command": "echo why >&2; exit 3"}, False, "exit code 3: why"),
    ({"type": "command_succeeds", "command": "no-such-tool"}, False, "exit code 127"),
    ({"type": "command_output_contains", "command": "cat tasks.txt", "substring": "milk"}, True, "'milk' is in"),
    ({"type": "command_output_contains", "command": "echo tea", "substring": "milk"}, False, "it has 'tea'"),
    ({"type": "command_output_contains", "command": "true", "substring": "milk"}, False, "it is empty"),
    ({"type": "command_output_contains", "command": "echo milk >&2", "substring": "milk"}, False, "it is empty"),
    ({"type": "command_output_contains", "command": "echo milk; exit 1", "substring": "milk"}, False, "exit code 1"),
    ({"type": "command_output_matches", "command": "cat tasks.txt", "pattern": "(?m)^bread$"}, True, "is in"),
    (
        {"type": "command_output_matches", "command": "cat tasks.txt", "pattern": "^bread$"},
        False,
        "it has 'milk bread'",
    ),
    (
        {"type": "command_json_path", "command": "echo '[1,2]'", "path": "$", "assertion": "len >= 2"},
        True,
        "its length is 2",
    ),
    (
        {"type": "command_json_path", "command": "echo '{}'", "path": "$.a", "assertion": "exists"},
        False,
        "nothing at this path",
    ),
    ({"type": "command_json_path", "command": "echo hi", "path": "$", "assertion": "exists"}, False, "it has 'hi'"),
    ({"type": "command_json_path", "command": "echo NaN", "path": "$", "assertion": "exists"}, False, "is not JSON"),
    (
        {"type": "command_json_path", "command": "echo '[1]'; exit 2", "path": "$", "assertion": "exists"},
        False,
        "exit code 2: [1]",
    ),
    ({"type": "file_exists", "path": "tasks.txt"}, True, "tasks.txt is a file"),
    ({"type": "file_exists", "path": "store"}, True, "store is a directory"),
    ({"type": "file_exists", "path": "nothing"}, False, "nothing doesn't exist"),
    ({"type": "file_contains", "path": "tasks.txt", "substring": "bread"}, True, "'bread' is in tasks.txt"),
    ({"type": "file_contains", "path": "tasks.txt", "substring": "tea"}, False, "it has 'milk bread'"),
    ({"type": "file_contains", "path": "picture", "substring": "x"}, False, "picture is not UTF-8 text"),
    ({"type": "file_contains", "path": "store", "substring": "x"}, False, "store is a directory, no file"),
    ({"type": "file_contains", "path": "nothing", "substring": "x"}, False, "nothing doesn't exist"),
    ({"type": "file_matches", "path": "tasks.txt", "pattern": "mi.k"}, True, "/mi.k/ is in"),
    ({"type": "file_matches", "path": "tasks.txt", "pattern": "te."}, False, "isn't in"),
    ({"type": "script", "command": "true", "description": "all well"}, True, "all well"),
    (
        {"type": "script", "command": "echo oh >&2; false", "description": "all well"},
        False,
        "all well: exit code 1: oh",
    ),
    (
        {"type": "script", "command": """echo '{"passed": true, "message": "fine"}'; exit 1""", "description": "d"},
        True,
        "fine",
    ),
    ({"type": "script", "command": """echo '{"passed": false}'""", "description": "all well"}, False, "all well"),
    ({"type": "script", "command": """echo '{"passed": "yes"}'; exit 1""", "description": "d"}, False, "exit code 1"),
]


@pytest.mark.parametrize(("keys", "passed", "message"), CASES, ids=[f"{c[0]['type']}-{n}" for n, c in enumerate(CASES)])
async def test_gates(place: FolderPlace, keys: dict[str, Any], passed: bool, message: str) -> None:
    found = await result(place, **keys)
    assert (found.gate_type, found.passed) == (keys["type"], passed), found.message
    assert message in found.message


@pytest.mark.parametrize("kind", ["command_succeeds", "script"])
async def test_a_command_that_takes_too_long_fails(place: FolderPlace, kind: str) -> None:
    found = await result(place, type=kind, command="sleep 60", description="d", timeout_secs=0.1)
    assert not found.passed
    assert "it took longer than 0.1 s" in found.message


async def test_a_blank_command_fails(place: FolderPlace) -> None:
    blank = CommandSucceeds.model_construct(type="command_succeeds", command="  ", timeout_secs=1)
    found = await evaluate_gate(blank, GateEvidence(place, ()))
    assert (found.passed, found.message, place.commands) == (False, "the command is empty", [])


WORKED = ToolCommand("add", "todo add", 0)
FAILED = ToolCommand("add", "todo add", 2)


@pytest.mark.parametrize(
    ("commands", "passed", "message"),
    [
        ([], True, "no command of the tool was run"),
        ([WORKED], True, "1 command, no failure"),
        ([WORKED, WORKED], True, "2 commands, no failure"),
        ([FAILED], False, "the only command failed: `todo add` (exit code 2)"),
        ([FAILED, FAILED], False, "all 2 commands failed"),
        ([WORKED, FAILED], False, "1 of 2 commands failed: `todo add` (exit code 2)"),
        ([ToolCommand("add", "todo add", None, killed=True)], False, "ended with the run"),
        ([WORKED, ToolCommand("list", "todo list", None)], False, "1 of 2 commands is unknown"),
        (None, False, "neither events nor a transcript"),
    ],
)
async def test_no_transcript_errors(
    place: FolderPlace, commands: list[ToolCommand] | None, passed: bool, message: str
) -> None:
    found = await result(place, commands, type="no_transcript_errors")
    assert found.passed is passed
    assert message in found.message


async def test_all_gates_run_in_order_whatever_fails(place: FolderPlace) -> None:
    gates = [gate(type="command_succeeds", command=command) for command in ("false", "true", "exit 7")]
    results = await evaluate_gates(gates, GateEvidence(place, ()))
    assert [one.passed for one in results] == [False, True, False]
    assert place.commands == ["false", "true", "exit 7"]


async def test_a_message_is_bounded(place: FolderPlace) -> None:
    found = await result(place, type="command_output_contains", command="yes | head -c 100000", substring="z" * 5000)
    assert len(found.message) <= 500


@pytest.mark.parametrize("path", ["/etc/passwd", "../x", "a/../../x", "~/x", "", " ", "C:\\x", "a\0b"])
def test_paths_that_leave_the_fixture_are_refused(path: str) -> None:
    with pytest.raises(ValidationError):
        gate(type="file_exists", path=path)

"""Cases, scripted chats and shells for tests of bash suites, and configs that lie in a folder."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from evalward.config import LoadedConfig
from evalward.config.load import load_config
from evalward.records.problem import Place
from evalward.records.result import Result
from evalward.records.trace import Message, StopReason, Text, ToolCall, ToolUse, Trace, Turn, Usage
from evalward.sandbox.base import Execution, FileType
from evalward.suites.bash.case import BashCase, BashTask, make_case
from evalward.suites.bash.checks import CheckEvidence
from evalward.targets.base import Reply, Request


def task(**changes: Any) -> dict[str, Any]:
    """One line of a case file, as data."""
    return {
        "id": "hello",
        "category": "basic",
        "prompt": "Print hello.",
        "expectations": [{"check": "stdout_contains:hello"}],
        "solution": "echo hello",
        **changes,
    }


def case(max_turns: int = 10, timeout_s: float = 60.0, **changes: Any) -> BashCase:
    """A case of a suite with these limits."""
    place = Place(file="cases.jsonl", line=1)
    return make_case(BashTask.model_validate(task(**changes)), place, max_turns, timeout_s)


def write_suite(
    folder: Path,
    tasks: Sequence[Mapping[str, Any]],
    *,
    targets: Sequence[str] = ("oracle",),
    recordings: Mapping[str, str] | None = None,
    **suite: Any,
) -> LoadedConfig:
    """A config with one suite of these tasks, written to the folder and loaded."""
    (folder / "cases.jsonl").write_text("".join(json.dumps(item) + "\n" for item in tasks), "utf-8")
    config = {
        "version": 1,
        "suites": [
            {
                "name": "shell",
                "kind": "bash",
                "cases": "cases.jsonl",
                "targets": list(targets),
                "timeout_s": 60,
                **suite,
            }
        ],
        "recordings": dict(recordings or {}),
    }
    path = folder / "evalward.yml"
    path.write_text(json.dumps(config), "utf-8")  # JSON is YAML
    return load_config(path)


def call(stdout: str = "", stderr: str = "", exit_code: int = 0, commands: str = "x") -> ToolCall:
    """One tool call."""
    return ToolCall(commands=commands, stdout=stdout, stderr=stderr, exit_code=exit_code)


class FakeShell:
    """A shell that remembers what it was asked to run, with given files and folders."""

    def __init__(
        self,
        files: Mapping[str, bytes] | None = None,
        folders: Sequence[str] = (),
        answers: Mapping[str, Execution] | None = None,
    ) -> None:
        self.files, self.folders, self.answers = dict(files or {}), set(folders), dict(answers or {})
        self.scripts: list[str] = []

    async def run(self, script: str) -> Execution:
        self.scripts.append(script)
        return self.answers.get(script, Execution(f"<{script}>", "", 0, 1))

    def file_type(self, path: str) -> FileType | None:
        if path in self.files:
            return "file"
        return "directory" if path in self.folders else None

    def read_file(self, path: str) -> bytes | None:
        return self.files.get(path)


def evidence(*calls: ToolCall, files: Mapping[str, bytes] | None = None, folders: Sequence[str] = ()) -> CheckEvidence:
    """What checks look at."""
    return CheckEvidence(calls, FakeShell(files, folders))


def use(commands: Any = "x", *, name: str = "bash", key: str = "commands", use_id: str = "u1") -> ToolUse:
    """A tool use whose `commands` are these."""
    return ToolUse(id=use_id, name=name, input={key: commands})


def says(*blocks: Text | ToolUse, stop: StopReason = "tool_use", usage: Usage | None = None, **turn: Any) -> Reply:
    """One reply of a model."""
    told = usage or Usage(input_tokens=10, output_tokens=1, cost_usd=0.5)
    return Reply(Message(role="assistant", content=list(blocks)), Turn(usage=told, stop=stop, **turn))


class FakeChat:
    """Gives these replies; keeps what it was asked."""

    recording: Trace | None = None

    def __init__(self, *replies: Reply) -> None:
        self._replies = list(replies)
        self.requests: list[Request] = []

    async def send(self, request: Request) -> Reply:
        self.requests.append(request)
        return self._replies.pop(0)


class Silent:
    """Progress that nobody watches, counted."""

    def __init__(self) -> None:
        self.seen: list[Result] = []

    def finished(self, run: str, result: Result, *, kept: bool = False) -> None:
        self.seen.append(result)

"""Suites of kind mcp in a folder: the snapshot of a small server, cases, targets that make given calls."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from evalward.config import LoadedConfig
from evalward.config.load import parse_config
from evalward.records.case import Case
from evalward.records.trace import Message, StopReason, Text, ToolUse, Trace, Turn, Usage
from evalward.suites.mcp.catalogue import Catalogue, make_catalogue
from evalward.suites.mcp.context import McpPrepared
from evalward.suites.mcp.prepare import prepare
from evalward.suites.mcp.spec import McpSuite
from evalward.targets.base import Chat, Free, Reply, Request

SEARCH: Mapping[str, Any] = {
    "name": "search_orders",
    "description": "Find orders by a text.",
    "inputSchema": {
        "type": "object",
        "properties": {"query": {"type": "string"}, "limit": {"type": "integer", "minimum": 1}},
        "required": ["query"],
    },
}
LATEST: Mapping[str, Any] = {
    "name": "list_orders",
    "description": "List the latest orders.",
    "inputSchema": {"type": "object", "properties": {"limit": {"type": "integer"}}},
}
CANCEL: Mapping[str, Any] = {
    "name": "order.cancel",
    "description": "Cancel an order.",
    "inputSchema": {"type": "object", "properties": {"id": {"type": "string"}}, "required": ["id"]},
    "annotations": {"destructiveHint": True},
}
ORDERS = (SEARCH, LATEST, CANCEL)
"""A server's tools; the name of one has a dot, which no provider takes."""

FIND: Mapping[str, Any] = {
    "id": "find",
    "category": "search",
    "prompt": "Which orders are of tulips?",
    "expect": {"calls": [{"tool": "search_orders", "args": {"query": "tulips"}}], "forbid": ["order.cancel"]},
}
NEWEST: Mapping[str, Any] = {
    "id": "newest",
    "prompt": "Show me the 5 newest orders.",
    "expect": {"calls": [{"tool": "list_orders", "args": {"limit": 5}, "match": "exact"}]},
}
STOP: Mapping[str, Any] = {
    "id": "stop",
    "prompt": "Cancel order A-7.",
    "expect": {"calls": [{"tool": "order.cancel", "args": {"id": "A-7"}}]},
}
HELLO: Mapping[str, Any] = {"id": "hello", "prompt": "Say hello.", "expect": {"none": True}}
CASES = (FIND, NEWEST, STOP, HELLO)


def catalogue(tools: Sequence[Mapping[str, Any]] = ORDERS, server: str = "orders", **more: Any) -> Catalogue:
    """A server's tools."""
    return make_catalogue(server, list(tools), **more)


def write_json(root: Path, name: str, content: Any) -> None:
    """A file below `root`: a text as it is, else as JSON."""
    path = root / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(content if isinstance(content, str) else json.dumps(content, indent=1), "utf-8")


def write_suite(
    root: Path, lines: Any = CASES, tools: Any = ORDERS, files: Mapping[str, Any] | None = None, **suite: Any
) -> LoadedConfig:
    """The cases (`lines`) and a snapshot, texts as they are, further files, and a suite of them, read."""
    jsonl = lines if isinstance(lines, str) else "".join(json.dumps(case) + "\n" for case in lines)
    snapshot = tools if isinstance(tools, str | dict) else list(tools)
    for name, content in {"cases.jsonl": jsonl, "orders.json": snapshot, **(files or {})}.items():
        write_json(root, name, content)
    given = {
        "name": "t",
        "kind": "mcp",
        "server": {"snapshot": "orders.json"},
        "cases": "cases.jsonl",
        "targets": ["oracle"],
        **suite,
    }
    more = given.pop("config", {})
    written = json.dumps({"version": 1, "suites": [given], **more}, indent=1)
    write_json(root, "evalward.yml", written)
    return parse_config(written, "evalward.yml", root)


def prepared_suite(
    root: Path, lines: Any = CASES, tools: Any = ORDERS, files: Mapping[str, Any] | None = None, **suite: Any
) -> McpPrepared:
    """The suite, ready to run."""
    loaded = write_suite(root, lines, tools, files, **suite)
    spec = loaded.config.suites[0]
    assert isinstance(spec, McpSuite)
    return prepare(spec, loaded)


def called(name: str, arguments: Any, number: int = 1) -> ToolUse:
    """A tool use of a model's."""
    return ToolUse(id=f"call_{number}", name=name, input=arguments)


class Calling(Free):
    """A target that makes these calls in its only answer, and keeps what it was asked. An exception is raised."""

    random = True
    subject: Mapping[str, str] = {}

    def __init__(
        self,
        *uses: ToolUse,
        text: str = "",
        stop: StopReason = "tool_use",
        error: Exception | None = None,
        id: str = "openai/gpt-5",
    ) -> None:
        self.id = id
        self.requests: list[Request] = []
        self._said = Message(role="assistant", content=[*([Text(text=text)] if text else []), *uses])
        self._stop, self._error = stop, error

    def open(self, case: Case, trial: int) -> Chat:
        return CallingChat(self)

    def reply(self, request: Request) -> Reply:
        self.requests.append(request)
        if self._error is not None:
            raise self._error
        usage = Usage(input_tokens=10, output_tokens=2, cost_usd=0.5)
        return Reply(self._said, Turn(usage=usage, stop=self._stop, wall_ms=7, working_ms=7))


class CallingChat:
    """One question to it."""

    recording: Trace | None = None

    def __init__(self, target: Calling) -> None:
        self._target = target

    async def send(self, request: Request) -> Reply:
        return self._target.reply(request)


class Talking(Free):
    """A target that says one message after the other, and keeps what it was asked. It ends with words."""

    random = True
    subject: Mapping[str, str] = {}

    def __init__(self, *turns: ToolUse | Sequence[ToolUse] | str, id: str = "openai/gpt-5") -> None:
        self.id, self.turns = id, turns
        self.requests: list[Request] = []

    def open(self, case: Case, trial: int) -> Chat:
        return TalkingChat(self)


class TalkingChat:
    """One conversation with it."""

    recording: Trace | None = None

    def __init__(self, target: Talking) -> None:
        self._target, self._turns = target, iter([*target.turns, "Done."])

    async def send(self, request: Request) -> Reply:
        self._target.requests.append(request)
        turn = next(self._turns)
        if isinstance(turn, str):
            return Reply(Message(role="assistant", content=[Text(text=turn)]), Turn(stop="end"))
        uses = [turn] if isinstance(turn, ToolUse) else list(turn)
        return Reply(Message(role="assistant", content=uses), Turn(stop="tool_use"))

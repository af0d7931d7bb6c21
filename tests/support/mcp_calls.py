"""Tools, cases, calls and results of mcp suites, written down briefly."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from evalward.records.problem import Place
from evalward.records.result import Result, Status
from evalward.suites.mcp.case import McpCase, McpTask, Mode, make_case
from evalward.suites.mcp.catalogue import Catalogue, make_catalogue
from evalward.suites.mcp.details import AttemptedCall
from evalward.suites.mcp.judging import ScoredCalls, score_calls

SERVER = "shop"
NAMES = ("search_orders", "list_orders", "delete_order", "echo")


def object_schema(*required: str, **properties: Any) -> dict[str, Any]:
    """The schema of an object with these properties."""
    return {"type": "object", "properties": properties, "required": list(required)}


ANY = object_schema(text={"type": "string"}, customer={"type": "string"})


def shop(schemas: Mapping[str, Any] = {}, names: Sequence[str] = NAMES) -> Catalogue:
    """The catalogue of a server with these tools."""
    return make_catalogue(SERVER, [{"name": name, "inputSchema": schemas.get(name, ANY)} for name in names])


def mcp_case(*calls: Any, id_: str = "one", mode: Mode = "select", category: str = "general", **expect: Any) -> McpCase:
    """A case that expects these calls, each a tool's name or the mapping of a case file."""
    written = [{"tool": call} if isinstance(call, str) else call for call in calls]
    expectation = {**({"calls": written} if written else {}), **expect}
    task = McpTask.model_validate({"id": id_, "category": category, "prompt": "do it", "expect": expectation})
    return make_case(task, Place(file="cases.yaml", line=1), mode)


def call(tool: str = "echo", *, server: str = SERVER, **more: Any) -> AttemptedCall:
    """A call of a known tool with arguments that fit; `arguments` are its own."""
    return AttemptedCall(**{"server": server, "tool": tool, "arguments": {}, "valid": True, **more})


def said(text: str, **more: Any) -> AttemptedCall:
    """A call of echo with this text."""
    return call("echo", arguments={"text": text}, **more)


def undeclared(tool: str = "nope") -> AttemptedCall:
    """A call of a tool that no server declares."""
    return AttemptedCall(tool=tool, arguments={}, known=False, why="no server declares a tool of this name")


def judged(case: McpCase, *calls: AttemptedCall, catalogue: Catalogue | None = None) -> ScoredCalls:
    """The calls of a trial of the case, judged."""
    return score_calls(case, calls, catalogue or shop())


def mcp_result(case: McpCase, *calls: AttemptedCall, trial: int = 1, **changes: Any) -> Result:
    """The result of a trial with these calls; `changes` are fields of the result."""
    scored = judged(case, *calls)
    fields: dict[str, Any] = {
        "id": case.id,
        "category": case.category,
        "definition": case.definition,
        "trial": trial,
        "status": Status.PASSED if scored.passed else Status.FAILED,
        "score": float(sum(check.passed for check in scored.checks)),
        "max_score": float(len(scored.checks)),
        "checks": scored.checks,
        "details": scored.details,
    }
    return Result(**{**fields, **changes})

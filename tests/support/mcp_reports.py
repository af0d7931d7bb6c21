"""Runs and reports of mcp suites, as they would be left, for the tests of whoever shows or compares them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from evalward.records.baseline import BaselineRun
from evalward.records.report import Finding, Report, Run, Subject, Tool
from evalward.records.result import Result
from evalward.suites.mcp.case import McpCase
from evalward.suites.mcp.kind import MCP
from evalward.suites.mcp.metrics import measure
from support.mcp_calls import call, mcp_case, mcp_result
from support.written import make_baseline

ORDERS = [mcp_case("search_orders", id_=f"search-{number}", category="orders") for number in range(1, 4)]
"""Cases that expect a search."""
CALM = mcp_case(none=True, id_="calm", category="small talk")


def trials(case: McpCase, *tools: str | None, **more: Any) -> list[Result]:
    """A trial for each tool that is called; `None` calls none."""
    return [
        mcp_result(case, *([call(tool)] if tool else []), trial=number, **more) for number, tool in enumerate(tools, 1)
    ]


def confused() -> list[Result]:
    """Nine trials that ask for a search, seven of which take the list; two where no call is needed, one of each."""
    searches = [
        *trials(ORDERS[0], "list_orders", "list_orders", "list_orders"),
        *trials(ORDERS[1], "list_orders", "list_orders", "list_orders"),
        *trials(ORDERS[2], "list_orders", "search_orders", "search_orders"),
    ]
    return [*searches, *trials(CALM, "echo", None)]


def fine() -> list[Result]:
    """The same cases, all as they should be."""
    return [each for case in ORDERS for each in trials(case, *["search_orders"] * 3)] + trials(CALM, None, None)


def mcp_run(results: Sequence[Result], target: str = "anthropic/haiku", findings: Sequence[Finding] = ()) -> Run:
    """A run of these trials."""
    measurement = measure(results)
    return Run(
        suite="tools",
        kind="mcp",
        target=target,
        random=True,
        trials=max((each.trial for each in results), default=1),
        planned=len(results),
        subject=Subject(hash="sha256:s"),
        metrics=measurement.metrics,
        categories=measurement.categories,
        findings=list(findings),
        cases=list(results),
    )


def mcp_base(results: Sequence[Result]) -> BaselineRun:
    """The same as a baseline keeps it."""
    return make_baseline(mcp_report(mcp_run(results)), "report.json", None, {"mcp": MCP}).runs[0]


def mcp_report(*runs: Run) -> Report:
    """A report of these runs."""
    return Report(tool=Tool(version="1"), created_at="2026-11-23T08:00:00Z", runs=list(runs))

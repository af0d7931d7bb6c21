"""Loading an mcp suite: its cases, the tools of its server and of those beside it; every problem of every file."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from evalward.config import LoadedConfig
from evalward.records.problem import InputError, Place, Problem, wrong
from evalward.records.words import did_you_mean, one_line, shown
from evalward.suites.files import case_files
from evalward.suites.lines import read_cases
from evalward.suites.mcp.case import McpCase, McpTask, make_case
from evalward.suites.mcp.catalogue import Catalogue, read_catalogue
from evalward.suites.mcp.examples import filled
from evalward.suites.mcp.names import ToolNames
from evalward.suites.mcp.offered import OfferedTools
from evalward.suites.mcp.spec import McpSuite

MOST_LISTED = 12
"""Tools that a message lists."""


def load_cases(spec: McpSuite, config: LoadedConfig) -> list[McpCase]:
    """The cases, in order of files (by name) and lines. Raises `InputError` with every problem of every file."""

    def made(task: McpTask, place: Place) -> McpCase:
        return make_case(task, place, spec.mode)

    return read_cases(spec, config, McpTask, made)


def load_others(spec: McpSuite, config: LoadedConfig) -> tuple[Catalogue, ...]:
    """The servers whose snapshots stand beside the suite's. Raises `InputError` with every problem of every file."""
    problems: list[Problem] = []
    found: dict[str, Catalogue] = {}
    for file in case_files(spec.name, spec.distractors, config, problems, "distractors"):
        try:
            read = read_catalogue(config.root, file)
        except InputError as error:
            problems += error.problems
            continue
        if read.server in found:
            message = f"another snapshot is of a server called {shown(read.server)}, too"
            remedy = 'Give one of the files another name: {"server": "NAME", "tools": […]}.'
            problems.append(Problem(place=Place(file=file), message=message, remedy=remedy))
        found.setdefault(read.server, read)
    if problems:
        raise InputError(problems)
    return tuple(found.values())


def named_together(own: Catalogue, others: Sequence[Catalogue], file: str) -> OfferedTools:
    """The tools of all servers. Raises `InputError` where another one is called as the suite's own."""
    same = next((each.server for each in others if each.server == own.server), None)
    if same is not None:
        message = f"one of the distractors is a server called {shown(same)}, as the suite's own"
        raise wrong(file, message, "Remove its snapshot, or give the suite's server a name: server: {name: …}.")
    if not own.tools:
        raise wrong(file, f"the server {shown(own.server)} lists no tools", "A suite of kind mcp is about tools.")
    return OfferedTools(own, tuple(others), ToolNames(own, others))


def unknown_tools(cases: Sequence[McpCase], tools: OfferedTools) -> list[Problem]:
    """Names of tools that aren't listed: no model can make an expected call of one, and to forbid one forbids nothing.

    Expected calls are of the suite's own server; what is forbidden or allowed may be a distractor's tool.
    """
    own = list(tools.own.by_name)
    every = list(dict.fromkeys(each.tool.name for each in tools.names.tools))
    lists = f"the server {shown(tools.own.server)} lists no tool"
    anywhere = (every, "no server lists a tool", "They have") if tools.others else (own, lists, "It has")
    problems: list[Problem] = []
    for case in cases:
        for key, tool in _named_by(case):
            known, message, heading = (own, lists, "It has") if key.startswith("calls") else anywhere
            if tool not in known:
                field, remedy = f"{case.id}: expect.{key}", _near(tool, known, heading)
                message = f"{message} {shown(tool)}"
                problems.append(Problem(place=case.place, field=field, message=message, remedy=remedy))
    return problems


def _named_by(case: McpCase) -> Iterator[tuple[str, str]]:
    """The tools that a case names, each with its key below `expect`."""
    expect = case.expect
    yield from ((f"calls[{index}].tool", call.tool) for index, call in enumerate(expect.calls))
    yield from ((f"forbid[{index}]", call.tool) for index, call in enumerate(expect.forbid))
    yield from ((f"allow[{index}]", name) for index, name in enumerate(expect.allow))


def without_place(spec: McpSuite, cases: Sequence[McpCase]) -> list[Problem]:
    """Cases whose files, or whose script, need a folder that the server works in where there is none for a case."""
    if spec.mode == "select":
        message = "it needs mode: run, where the server works in a folder; mode select executes nothing"
        remedy = "Remove the key, or measure the case in a suite with mode: run."
    elif spec.server.command is not None and spec.scope == "trial":
        return []
    else:
        why = "at an address" if spec.server.url is not None else "that trials share"
        message = f"a server {why} has no folder for a case"
        remedy = "Remove the key, or measure the case with a command and scope: trial."
    return [
        Problem(place=case.place, field=f"{case.id}: {key}", message=message, remedy=remedy)
        for case in cases
        for key, given in (("files", case.task.files), ("state", case.task.state))
        if given
    ]


def solved(cases: Sequence[McpCase], own: Catalogue) -> list[McpCase]:
    """The cases with the arguments of a solution, for tools that require more than is expected."""
    return [case.model_copy(update={"calls": _arguments(case, own)}) for case in cases]


def _arguments(case: McpCase, own: Catalogue) -> list[dict[str, Any]]:
    return [
        dict(call.args or {}) if call.match == "exact" else filled(call.args or {}, own.by_name[call.tool].input_schema)
        for call in case.expect.calls
    ]


def _near(name: str, known: Sequence[str], heading: str) -> str:
    more = f" and {len(known) - MOST_LISTED} more" if len(known) > MOST_LISTED else ""
    listed = ", ".join(one_line(each) for each in known[:MOST_LISTED])
    return did_you_mean(name, known) or f"{heading}: {listed}{more}."

"""Loading an mcp suite: its cases, the tools of its server and of those beside it; every problem of every file."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any

from evalward.config import LoadedConfig
from evalward.records.problem import InputError, Place, Problem, wrong
from evalward.records.words import did_you_mean, one_line, shown
from evalward.suites.files import case_files
from evalward.suites.lines import read_cases
from evalward.suites.mcp.case import McpCase, McpTask, make_case
from evalward.suites.mcp.catalogue import Catalogue, CatalogueTool, read_catalogue
from evalward.suites.mcp.examples import filled
from evalward.suites.mcp.names import ToolNames
from evalward.suites.mcp.offered import OfferedTools
from evalward.suites.mcp.spec import McpSuite

_WORD = re.compile(r"[a-z]+|[0-9]+")
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


def unlisted_tools(cases: Sequence[McpCase], tools: OfferedTools) -> dict[str, list[Problem]]:
    """The cases that name tools which aren't listed, each with its problems, by its id.

    No model can make an expected call of such a tool, and to forbid one forbids nothing: the case can't be measured.
    Expected calls are of the suite's own server; what is forbidden or allowed may be a distractor's tool.
    """
    own = list(tools.own.by_name)
    every = list(dict.fromkeys(each.tool.name for each in tools.names.tools))
    lists = f"the server {shown(tools.own.server)} lists no tool"
    anywhere = (every, "no server lists a tool", "They have") if tools.others else (own, lists, "It has")
    named = [(case, *each) for case in cases for each in _named_by(case)]
    found: dict[str, list[Problem]] = {}
    for case, key, tool, _ in named:
        known, message, heading = (own, lists, "It has") if key.startswith("calls") else anywhere
        if tool not in known:
            arguments = {name for _, _, other, given in named if other == tool for name in given}
            unnamed = [each for each in tools.own.tools if all(each.name != other for _, _, other, _ in named)]
            remedy = _other_name(tool, arguments, unnamed) or did_you_mean(tool, known) or _known(known, heading)
            message, field = f"{message} {shown(tool)}", f"{case.id}: expect.{key}"
            problem = Problem(place=case.place, field=field, message=message, remedy=remedy)
            found.setdefault(case.id, []).append(problem)
    return found


def named_in_vain(unlisted: Mapping[str, Sequence[Problem]]) -> Iterator[str]:
    """A sentence for each tool that cases name and that isn't listed: which cases are not measured for it."""
    cases: dict[str, dict[str, None]] = {}
    remedies: dict[str, str] = {}
    for case, problems in unlisted.items():
        for problem in problems:
            cases.setdefault(problem.message, {})[case] = None
            remedies.setdefault(problem.message, problem.remedy)
    for message, ids in cases.items():
        who = "1 case names it and is" if len(ids) == 1 else f"{len(ids):,} cases name it and are"
        more = f" and {len(ids) - MOST_LISTED:,} more" if len(ids) > MOST_LISTED else ""
        listed = ", ".join(one_line(each) for each in list(ids)[:MOST_LISTED])
        yield f"{message}; {who} not measured: {listed}{more}. {remedies[message]}"


def _named_by(case: McpCase) -> Iterator[tuple[str, str, Mapping[str, Any]]]:
    """The tools that a case names, each with its key below `expect` and the arguments that it is expected to take."""
    expect = case.expect
    yield from ((f"calls[{index}].tool", call.tool, call.args or {}) for index, call in enumerate(expect.calls))
    yield from ((f"forbid[{index}]", call.tool, call.args or {}) for index, call in enumerate(expect.forbid))
    yield from ((f"allow[{index}]", name, {}) for index, name in enumerate(expect.allow))


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


def solved(cases: Sequence[McpCase], own: Catalogue, unlisted: Collection[str]) -> list[McpCase]:
    """The cases with the arguments of a solution, for tools that require more than is expected.

    Those that name tools which aren't listed stay as they are.
    """
    return [case if case.id in unlisted else case.model_copy(update={"calls": _arguments(case, own)}) for case in cases]


def _arguments(case: McpCase, own: Catalogue) -> list[dict[str, Any]]:
    return [
        dict(call.args or {}) if call.match == "exact" else filled(call.args or {}, own.by_name[call.tool].input_schema)
        for call in case.expect.calls
    ]


def _other_name(name: str, arguments: Collection[str], unnamed: Sequence[CatalogueTool]) -> str:
    """The proposal of the tool that takes the same arguments, and that no case names: as one does that was renamed.

    Of several the one whose name has most of the words; nothing where two have as many.
    """
    if not arguments:
        return ""
    fitting = sorted((-_shared(name, tool.name), tool.name) for tool in unnamed if _takes(tool.input_schema, arguments))
    if not fitting or (len(fitting) > 1 and fitting[0][0] == fitting[1][0]):
        return ""
    return f"Did you mean {one_line(fitting[0][1])}, which takes the same arguments?"


def _shared(name: str, other: str) -> int:
    return len(set(_WORD.findall(name.lower())) & set(_WORD.findall(other.lower())))


def _takes(schema: Mapping[str, Any], arguments: Collection[str]) -> bool:
    """Whether a tool knows all of these arguments, and requires no others."""
    known, required = schema.get("properties"), schema.get("required", [])
    return (
        isinstance(known, Mapping)
        and isinstance(required, list)
        and all(name in known for name in arguments)
        and all(name in arguments for name in required)
    )


def _known(known: Sequence[str], heading: str) -> str:
    more = f" and {len(known) - MOST_LISTED} more" if len(known) > MOST_LISTED else ""
    listed = ", ".join(one_line(each) for each in known[:MOST_LISTED])
    return f"{heading}: {listed}{more}."

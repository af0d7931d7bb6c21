"""Loading an mcp suite: its cases, the tools of its server and of those beside it; every problem of every file."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from evalward.config import LoadedConfig
from evalward.records.problem import InputError, Place, Problem, wrong
from evalward.records.words import did_you_mean, one_line, shown
from evalward.sandbox.base import SandboxError
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


def load_own(spec: McpSuite, config: LoadedConfig) -> Catalogue:
    """The tools of the suite's server: of its snapshot, or as it lists them now. Raises `InputError`."""
    if spec.server.snapshot is not None:
        return read_catalogue(config.root, spec.server.snapshot, spec.server.name)
    found = _asked(spec, config)
    return found if spec.server.name is None else found.model_copy(update={"server": spec.server.name})


def _asked(spec: McpSuite, config: LoadedConfig) -> Catalogue:
    from evalward.suites.mcp.server.failures import ServerError  # noqa: PLC0415 - with a snapshot no server is asked
    from evalward.suites.mcp.server.listing import listed  # noqa: PLC0415
    from evalward.suites.mcp.server.place import place_of  # noqa: PLC0415

    place = place_of(spec, config)
    try:
        return listed(place)
    except ServerError as error:
        message, remedy = f"the server listed no tools: {error}", "Start it by hand to see what is wrong."
    except SandboxError as error:
        message, remedy = f"the server can't be started isolated: {error}", "See docs/mcp-suite.md."
    index = [suite.name for suite in config.config.suites].index(spec.name)
    line = config.line("suites", index, "server")
    raise wrong(config.file, message, remedy, line=line, field=f"suites[{index}].server")


def named_together(own: Catalogue, others: Sequence[Catalogue], file: str) -> OfferedTools:
    """The tools of all servers. Raises `InputError` where another one is called as the suite's own."""
    same = next((each.server for each in others if each.server == own.server), None)
    if same is not None:
        message = f"one of the distractors is a server called {shown(same)}, as the suite's own"
        raise wrong(file, message, "Remove its snapshot, or give the suite's server a name: server: {name: …}.")
    if not own.tools:
        raise wrong(file, f"the server {shown(own.server)} lists no tools", "A suite of kind mcp is about tools.")
    return OfferedTools(own, tuple(others), ToolNames(own, others))


def unknown_tools(cases: Sequence[McpCase], own: Catalogue) -> list[Problem]:
    """Expected calls of tools that the server doesn't list: no model can make them."""
    return [
        Problem(
            place=case.place,
            field=f"{case.id}: expect.calls[{index}].tool",
            message=f"the server {shown(own.server)} lists no tool {shown(call.tool)}",
            remedy=_near(call.tool, own),
        )
        for case in cases
        for index, call in enumerate(case.expect.calls)
        if call.tool not in own.by_name
    ]


def odd_names(cases: Sequence[McpCase], tools: OfferedTools) -> Iterator[str]:
    """Forbidden and allowed tools that no server lists: fine where they are gone, and maybe misspelt."""
    known = {each.tool.name for each in tools.names.tools}
    for case in cases:
        named = [("forbid", each.tool) for each in case.expect.forbid] + [("allow", each) for each in case.expect.allow]
        for key, name in named:
            if name not in known:
                what = f"{case.place}: {case.id}: {key} names the tool {shown(name)}, which no server lists."
                yield f"{what} {did_you_mean(name, known)}".rstrip()


def solved(cases: Sequence[McpCase], own: Catalogue) -> list[McpCase]:
    """The cases with the arguments of a solution, for tools that require more than is expected."""
    return [case.model_copy(update={"calls": _arguments(case, own)}) for case in cases]


def _arguments(case: McpCase, own: Catalogue) -> list[dict[str, Any]]:
    return [
        dict(call.args or {}) if call.match == "exact" else filled(call.args or {}, own.by_name[call.tool].input_schema)
        for call in case.expect.calls
    ]


def _near(name: str, own: Catalogue) -> str:
    known = list(own.by_name)
    more = f" and {len(known) - MOST_LISTED} more" if len(known) > MOST_LISTED else ""
    listed = ", ".join(one_line(each) for each in known[:MOST_LISTED])
    return did_you_mean(name, known) or f"It has: {listed}{more}."

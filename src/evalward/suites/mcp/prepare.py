"""What a suite's trials have in common: its cases, what models are told and offered. Only who runs cases loads this."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TypeVar

from msgspec import structs

from evalward.config import LoadedConfig
from evalward.records.problem import InputError, Problem
from evalward.suites.base import Prepared
from evalward.suites.mcp.call_reader import CallReader
from evalward.suites.mcp.case import McpCase
from evalward.suites.mcp.catalogue import Catalogue
from evalward.suites.mcp.context import McpContext, McpPrepared
from evalward.suites.mcp.load import (
    load_cases,
    load_others,
    named_in_vain,
    named_together,
    solved,
    unlisted_tools,
    without_place,
)
from evalward.suites.mcp.names import ToolNames
from evalward.suites.mcp.offered import SYSTEM_PROMPT, OfferedTools, told_system
from evalward.suites.mcp.own_server import load_own, walls_of
from evalward.suites.mcp.spec import McpSuite
from evalward.suites.mcp.subject import subject_of
from evalward.suites.tool import load_system

T = TypeVar("T")
UNKNOWN = "server"
"""The name of a server that never said its own."""


def prepare(spec: McpSuite, config: LoadedConfig) -> McpPrepared:
    """Cases and tools of a suite. Raises `InputError` with every problem of every file."""
    problems: list[Problem] = []
    cases = _or_problems(problems, lambda: load_cases(spec, config))
    others = _or_problems(problems, lambda: load_others(spec, config))
    words = _or_problems(problems, lambda: load_system(config.root, spec.system, SYSTEM_PROMPT))
    problems += without_place(spec, cases or ())
    if problems and spec.server.snapshot is None:  # a server is started when all else is right
        raise InputError(problems)
    own = _or_problems(problems, lambda: load_own(spec, config))
    if cases is None or others is None or own is None or words is None:
        raise InputError(problems)
    if isinstance(own, Problem):
        return _unlisted(spec, cases, words, own)
    tools = named_together(own, others, spec.server.snapshot or config.file)
    if problems:
        raise InputError(problems)
    prepared = _with_variants(_prepared(spec, cases, tools, words), config)
    return prepared if spec.mode == "select" else _running(prepared, config)


def _or_problems(problems: list[Problem], load: Callable[[], T]) -> T | None:
    try:
        return load()
    except InputError as error:
        problems += error.problems
        return None


def _prepared(spec: McpSuite, cases: Sequence[McpCase], tools: OfferedTools, words: str) -> McpPrepared:
    system = told_system(words, (tools.own, *tools.others) if spec.instructions else ())
    subject = subject_of(tools.own, tools.others, words, tools.own.instructions if spec.instructions else None)
    unlisted = unlisted_tools(cases, tools)
    warnings = [*named_in_vain(unlisted), *tools.left_out(spec.targets), *walls_of(spec)]
    settings = McpContext(tools, system, spec.timeout_s, CallReader(tools), gone=unlisted)
    return Prepared(spec, solved(cases, tools.own, unlisted), subject.parts, settings, warnings, texts=subject.texts)


def _unlisted(spec: McpSuite, cases: Sequence[McpCase], words: str, why: Problem) -> McpPrepared:
    """A suite of which nothing can be measured."""
    none = Catalogue(server=spec.server.name or UNKNOWN, tools=())
    tools = OfferedTools(none, (), ToolNames(none))
    settings = McpContext(tools, words, spec.timeout_s, CallReader(tools), unlisted=why)
    return Prepared(spec, cases, {}, settings, [str(why)])


def _with_variants(prepared: McpPrepared, config: LoadedConfig) -> McpPrepared:
    """The same with the variants of its tools."""
    if not prepared.spec.variants:
        return prepared
    from evalward.suites.mcp.variants import load_variants  # noqa: PLC0415 - few suites have some

    variants = load_variants(prepared.spec, config, prepared.settings.tools.own)
    return structs.replace(prepared, settings=replace(prepared.settings, variants=variants))


def _running(prepared: McpPrepared, config: LoadedConfig) -> McpPrepared:
    """The same with servers that execute the calls."""
    from evalward.suites.mcp.servers import servers_of  # noqa: PLC0415 - only this mode has some

    spec = prepared.spec
    settings = replace(prepared.settings, max_turns=spec.max_turns, servers=servers_of(spec, config))
    return structs.replace(prepared, settings=settings)

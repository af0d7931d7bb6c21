"""What a suite's trials have in common: its cases, what models are told and offered. Only who runs cases loads this."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeAlias, TypeVar

from evalward.config import LoadedConfig
from evalward.records.problem import InputError, Problem
from evalward.suites.base import Prepared
from evalward.suites.mcp.call_reader import CallReader
from evalward.suites.mcp.case import McpCase
from evalward.suites.mcp.load import (
    load_cases,
    load_others,
    load_own,
    named_together,
    odd_names,
    solved,
    unknown_tools,
)
from evalward.suites.mcp.offered import SYSTEM_PROMPT, OfferedTools, told_system
from evalward.suites.mcp.spec import McpSuite
from evalward.suites.mcp.subject import subject_of
from evalward.suites.tool import load_system

T = TypeVar("T")


@dataclass(frozen=True)
class McpContext:
    """What models are told and offered, and how their calls are read."""

    tools: OfferedTools
    system: str
    timeout_s: float
    calls: CallReader


McpPrepared: TypeAlias = Prepared[McpSuite, McpCase, McpContext]


def prepare(spec: McpSuite, config: LoadedConfig) -> McpPrepared:
    """Cases and tools of a suite. Raises `InputError` with every problem of every file."""
    problems: list[Problem] = []
    cases = _or_problems(problems, lambda: load_cases(spec, config))
    others = _or_problems(problems, lambda: load_others(spec, config))
    words = _or_problems(problems, lambda: load_system(config.root, spec.system, SYSTEM_PROMPT))
    if problems and spec.server.snapshot is None:  # a server is started when all else is right
        raise InputError(problems)
    own = _or_problems(problems, lambda: load_own(spec, config))
    if cases is None or others is None or words is None or own is None:
        raise InputError(problems)
    tools = named_together(own, others, spec.server.snapshot or config.file)
    if problems := unknown_tools(cases, own):
        raise InputError(problems)
    return _prepared(spec, solved(cases, own), tools, words)


def _or_problems(problems: list[Problem], load: Callable[[], T]) -> T | None:
    try:
        return load()
    except InputError as error:
        problems += error.problems
        return None


def _prepared(spec: McpSuite, cases: Sequence[McpCase], tools: OfferedTools, words: str) -> McpPrepared:
    system = told_system(words, (tools.own, *tools.others) if spec.instructions else ())
    subject = subject_of(tools.own, tools.others, words, tools.own.instructions if spec.instructions else None)
    warnings = [*odd_names(cases, tools), *tools.left_out(spec.targets)]
    settings = McpContext(tools, system, spec.timeout_s, CallReader(tools))
    return Prepared(spec, cases, subject.parts, settings, warnings, texts=subject.texts)

"""What can be added to Evalward, and where each part lies: ours by name below, others' by their entry points.

A distribution adds a kind of suite, a target, an importer, an exporter, a format of another harness's results, an
output format or a JSON Schema by an entry point of the group; nothing else of ours knows one by its name. A part is
loaded when it is used, so that what is installed costs nothing until then.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from importlib import import_module
from types import MappingProxyType
from typing import Any

KINDS, SPECS, IMPORTERS, EXPORTERS = "evalward.kinds", "evalward.specs", "evalward.importers", "evalward.exporters"
TARGETS = "evalward.targets"
OUTPUTS, SCHEMAS = "evalward.outputs", "evalward.schemas"
FORMATS = "evalward.formats"

_OURS: Mapping[str, Mapping[str, str]] = {
    KINDS: {
        "bash": "evalward.suites.bash.kind:BASH",
        "command": "evalward.suites.command.kind:COMMAND",
        "external": "evalward.suites.external.kind:EXTERNAL",
        "mcp": "evalward.suites.mcp.kind:MCP",
        "prompt": "evalward.suites.prompt.kind:PROMPT",
        "scenario": "evalward.suites.scenario.kind:SCENARIO",
        "skill": "evalward.suites.skill.kind:SKILL",
        "speedup": "evalward.suites.speedup.kind:SPEEDUP",
    },
    SPECS: {  # the record of a kind's suites alone, where loading its kind costs more than reading a configuration may
        "bash": "evalward.suites.bash.spec:BashSuite",
        "command": "evalward.suites.command.spec:CommandSuite",
        "external": "evalward.suites.external.spec:ExternalSuite",
        "mcp": "evalward.suites.mcp.spec:McpSuite",
        "prompt": "evalward.suites.prompt.spec:PromptSuite",
        "scenario": "evalward.suites.scenario.spec:ScenarioSuite",
        "skill": "evalward.suites.skill.spec:SkillSuite",
        "speedup": "evalward.suites.speedup.spec:SpeedupSuite",
    },
    IMPORTERS: {
        "bashkit-eval": "evalward.importers.bashkit_eval:BASHKIT_EVAL",
        "caro": "evalward.importers.caro:CARO",
        "llm-tool-test": "evalward.importers.llm_tool_test:LLM_TOOL_TEST",
        "fc-eval": "evalward.importers.fc_eval:FC_EVAL",
    },
    EXPORTERS: {
        "bashkit-eval": "evalward.importers.bashkit_eval:write",
        "caro": "evalward.importers.caro_export:write",
        "fc-eval": "evalward.importers.fc_eval_export:write",
    },
    TARGETS: {
        "oracle": "evalward.targets.scripted:oracle",
        "nop": "evalward.targets.scripted:nop",
        "replay": "evalward.targets.replay:recorded",
        "program": "evalward.targets.programs:load_program",
        "agent": "evalward.targets.agents.make:own_program",
        "scripted": "evalward.targets.agents.scripted:script",
        "patch": "evalward.targets.per_task:patches",
        "log": "evalward.targets.per_task:logs",
        "model": "evalward.targets.live:model",
        "claude-code": "evalward.targets.agents.claude_code:CLAUDE_CODE",
        "codex": "evalward.targets.agents.codex:CODEX",
        "opencode": "evalward.targets.agents.opencode:OPENCODE",
    },
    FORMATS: {  # of other harnesses' result files, for suites of kind external; found by content, in this order
        "inspect": "evalward.suites.external.formats.inspect:FORMAT",
        "harbor": "evalward.suites.external.formats.harbor:FORMAT",
        "mira": "evalward.suites.external.formats.mira:FORMAT",
        "deepeval": "evalward.suites.external.formats.deepeval:FORMAT",
        "promptfoo": "evalward.suites.external.formats.promptfoo:FORMAT",
        "mcpchecker": "evalward.suites.external.formats.mcpchecker:FORMAT",
        "skill-creator": "evalward.suites.external.formats.skill_creator:FORMAT",
        "rows": "evalward.suites.external.formats.rows:FORMAT",
        "junit": "evalward.suites.external.formats.junit:FORMAT",
        "vitest-evals": "evalward.suites.external.formats.vitest_evals:FORMAT",
        "pydantic-evals": "evalward.suites.external.formats.pydantic_evals:FORMAT",
    },
    OUTPUTS: {
        "terminal": "evalward.render.outputs.terminal:TERMINAL",
        "markdown": "evalward.render.outputs.markdown:MARKDOWN",
        "html": "evalward.render.outputs.html:HTML",
        "junit": "evalward.render.outputs.junit:JUNIT",
        "json": "evalward.render.outputs.json_text:JSON",
        "badge": "evalward.render.outputs.badge:BADGE",
    },
    SCHEMAS: {
        "evalward": "evalward.config:config_schema",
        "report": "evalward.records.report:Report",
        "trial": "evalward.records.result:Trial",
        "baseline": "evalward.records.baseline:Baseline",
        "plan": "evalward.records.plan:CostPlan",
        "judgement": "evalward.records.verdict:Judgement",
        "history": "evalward.records.history:HistoryEntry",
        "checkup": "evalward.records.checkup:Checkup",
        "bash-case": "evalward.suites.bash.case:BashTask",
        "bash-cases": "evalward.suites.bash.schema:CASES",
        "command-cases": "evalward.suites.command.schema:CASES",
        "mcp-case": "evalward.suites.mcp.case:McpTask",
        "mcp-cases": "evalward.suites.mcp.schema:CASES",
        "scenario": "evalward.suites.scenario.model:Scenario",
        "skill-case": "evalward.suites.skill.task:SkillTask",
        "skill-cases": "evalward.suites.skill.schema:CASES",
        "speedup-task": "evalward.suites.speedup.task:SpeedupTask",
        "external-row": "evalward.suites.external.formats.row:ExternalRow",
        "prompt-file": "evalward.suites.prompt.file:PromptFile",
    },
}


GROUPS = frozenset(_OURS)
"""All groups of entry points."""


def ours(group: str) -> Mapping[str, str]:
    """Name → `module:attribute` of our own parts of a group; asks nothing of the distributions that are installed."""
    return _OURS[group]


@cache
def installed(group: str) -> Mapping[str, str]:
    """Name → `module:attribute` of every part of a group; ours first, and no other takes one of our names."""
    from importlib.metadata import entry_points  # noqa: PLC0415 - most commands need no names but ours

    others = {point.name: point.value for point in entry_points(group=group)}
    return MappingProxyType({**_OURS[group], **others, **_OURS[group]})


def has(group: str, name: str) -> bool:
    """Whether a group has a part of this name. Those of others are looked for only where none of ours has it."""
    return name in _OURS[group] or name in installed(group)


def added(group: str) -> tuple[str, ...]:
    """The names of the parts of a group that others have added."""
    return tuple(name for name in installed(group) if name not in _OURS[group])


class BrokenPartError(Exception):
    """What another distribution has added and can't be loaded: why not."""


@cache
def load(group: str, name: str) -> Any:
    """The part of this name. Raises `KeyError` when there is none, `BrokenPartError` for one of others."""
    if name in _OURS[group]:
        return _at(_OURS[group][name])
    place = installed(group)[name]
    try:
        return _at(place)
    except (Exception, SystemExit) as error:  # one that exits would end our process with an exit code of its own
        raise BrokenPartError(f"{type(error).__name__}: {error}") from error


def _at(place: str) -> Any:
    module, _, attribute = place.partition(":")
    return getattr(import_module(module), attribute)

"""Forms of a scenario file that are read although they aren't the documented ones; each with a word of advice.

The tree is changed in place, lines with it, so that later problems are told where the author wrote the thing.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from pydantic import BaseModel

from evalward.config.reading import get
from evalward.config.words import KeyPath, Value
from evalward.config.yaml_positions import Mistake, YamlTree
from evalward.records.words import did_you_mean, near_or_known, shown
from evalward.suites.scenario.gate_models import GATES
from evalward.suites.scenario.model import (
    Composite,
    Cost,
    Evaluation,
    Evaluator,
    JudgeLayer,
    PostScript,
    RunSettings,
    Scenario,
    ScenarioTool,
    Scripts,
    Setup,
    Task,
    ToolModels,
    Variant,
)


@dataclass
class Adapted:
    """What adapting a file found: hints, and mistakes that no reading can mend."""

    hints: list[Mistake] = field(default_factory=list)
    mistakes: list[Mistake] = field(default_factory=list)


def adapt(tree: YamlTree, stem: str) -> Adapted:
    """Turn tolerated forms into the documented ones. `stem` is the file's name without its suffix."""
    adapted = Adapted()
    scenario = tree.value
    if not isinstance(scenario, dict):
        return adapted
    _tool(scenario, adapted)
    _task(scenario, tree, adapted)
    _top_level_gates(scenario, tree, adapted)
    _solution(scenario)
    if "template_folder" not in scenario:
        scenario["template_folder"] = stem
        hint = f"the key is missing; the folder {shown(stem)} next to the file is used, after the file's own name"
        adapted.hints.append(Mistake(("template_folder",), hint, f"Write template_folder: {stem}."))
    gates = get(get(scenario, "evaluation"), "gates")
    if isinstance(gates, list):
        _gates(gates, scenario, adapted)
    adapted.hints += _unknown_keys(scenario, ())
    return adapted


def tool_key(scenario: Value) -> str:
    """The key that names the tool in this file: `tool`, or `target` as the format once had it."""
    return "target" if isinstance(scenario, dict) and "target" in scenario and "tool" not in scenario else "tool"


def _tool(scenario: dict[str, Value], adapted: Adapted) -> None:
    if "tool" in scenario and "target" in scenario:
        scenario.pop("target")
        adapted.mistakes.append(Mistake(("target",), "tool is also there under its old name", "Keep tool: only."))


def _task(scenario: dict[str, Value], tree: YamlTree, adapted: Adapted) -> None:
    task = scenario.get("task")
    if isinstance(task, str):
        scenario["task"] = {"prompt": task}
        _move(tree, ("task",), ("task", "prompt"))
        adapted.hints.append(Mistake(("task",), "the task is a plain text", "Write task: {prompt: …}."))


def _top_level_gates(scenario: dict[str, Value], tree: YamlTree, adapted: Adapted) -> None:
    if "gates" not in scenario:
        return
    evaluation = scenario.setdefault("evaluation", {})
    if not isinstance(evaluation, dict) or "gates" in evaluation:
        message = "gates are both at the top level and in evaluation"
        adapted.mistakes.append(Mistake(("gates",), message, "Keep those in evaluation.gates only."))
        scenario.pop("gates")
        return
    evaluation["gates"] = scenario.pop("gates")
    adapted.hints.append(Mistake(("gates",), "gates are at the top level", "Write them under evaluation: gates:."))
    _move(tree, ("gates",), ("evaluation", "gates"))


def _solution(scenario: dict[str, Value]) -> None:
    """One command is a list of one: our own key, both are documented."""
    if isinstance(scenario.get("solution"), str):
        scenario["solution"] = [scenario["solution"]]


def _move(tree: YamlTree, old: KeyPath, new: KeyPath) -> None:
    """The lines of what stands at `old`, known at `new` as well."""
    for lines in (tree.lines, tree.written):
        moved = {(*new, *path[len(old) :]): value for path, value in lines.items() if path[: len(old)] == old}
        lines.update(moved)  # type: ignore[arg-type]  # each gets back what it has


# ------------------------------------------------------------------------------------------- gates

_SUBSTRING = 'substring: "…"'


def _gates(gates: list[Value], scenario: dict[str, Value], adapted: Adapted) -> None:
    binary = get(get(scenario, tool_key(scenario)), "binary")
    tool = binary if isinstance(binary, str) and binary else "my-tool"
    for index, written in enumerate(gates):
        path: KeyPath = ("evaluation", "gates", index)
        gate = written
        if isinstance(written, str):
            gates[index] = gate = {"type": written}
            adapted.hints.append(Mistake(path, "the gate is a plain text", f"Write {{type: {shown(written)[1:-1]}}}."))
        kind = get(gate, "type")
        if not isinstance(gate, dict) or not isinstance(kind, str):
            continue
        name = _snake(kind)
        if name in GATES and name != kind:
            gate["type"] = name
            adapted.hints.append(Mistake((*path, "type"), f"the gate is called {shown(name)}", f"Write type: {name}."))
        elif name in _OLD_GATES:
            adapted.mistakes.append(_old(name, kind, gate, tool, path))
        elif name not in GATES:
            remedy = near_or_known(name, GATES, "Known gates")
            adapted.mistakes.append(Mistake((*path, "type"), f"there is no gate {shown(kind)}", remedy))


def _snake(name: str) -> str:
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", name).lower()


_OLD_GATES = {
    "min_notes": '{{type: command_json_path, command: "{tool} list --format json", path: "$", '
    'assertion: "len >= {count}"}}',
    "min_links": '{{type: command_json_path, command: "{tool} export --format json", path: "$.links", '
    'assertion: "len >= {count}"}}',
    "search_hit": "{{type: command_output_contains, command: \"{tool} search '{query}'\", " + _SUBSTRING + "}}",
    "note_exists": '{{type: command_succeeds, command: "{tool} show {id}"}}',
    "link_exists": '{{type: command_output_contains, command: "{tool} show {from}", substring: "{to}"}}',
    "tag_exists": '{{type: command_output_contains, command: "{tool} list --format json", substring: "{tag}"}}',
    "content_contains": '{{type: command_output_contains, command: "{tool} show {id}", substring: "{substring}"}}',
    "doctor_passes": '{{type: command_succeeds, command: "{tool} doctor"}}',
}
"""The gates of one tool that the format once had, and what says the same of any tool."""


class _Given(dict[str, str]):
    """The gate's own parameters; one that it lacks stays a name to fill in."""

    def __missing__(self, key: str) -> str:
        return key.upper()


def _old(name: str, kind: str, gate: dict[str, Value], tool: str, path: KeyPath) -> Mistake:
    given = {key: str(value) for key, value in gate.items() if isinstance(value, str | int)}
    instead = _OLD_GATES[name].format_map(_Given({**given, "tool": tool}))
    return Mistake((*path, "type"), f"the gate {shown(kind)} was one tool's own", f"Write {shown(instead, 240)[1:-1]}.")


# ------------------------------------------------------------------------------------------- unknown keys


def misspelt_assertions(value: Value) -> Iterator[Mistake]:
    """Of a scenario that asserts nothing: the keys by which it probably meant to."""
    for key in value if isinstance(value, dict) else ():
        if key == "judge":
            yield _asserts_nothing((key,), "Write it below evaluation:, as evaluation: {judge: …}.")
        elif key not in Scenario.model_fields and did_you_mean(key, ["evaluation"]):
            yield _asserts_nothing((key,), "Did you mean evaluation?")
    evaluation = get(value, "evaluation")
    for key in evaluation if isinstance(evaluation, dict) else ():
        if key not in Evaluation.model_fields:
            yield _asserts_nothing(("evaluation", key), near_or_known(key, Evaluation.model_fields, "Known keys"))


def _asserts_nothing(path: KeyPath, remedy: str) -> Mistake:
    message = f"unknown key {shown(str(path[-1]))}, and without it the scenario asserts nothing: no gate and no judge"
    return Mistake(path, message, remedy)


_RECORDS: dict[tuple[str, ...], type[BaseModel]] = {
    (): Scenario,
    ("tool",): ScenarioTool,
    ("target",): ScenarioTool,
    ("task",): Task,
    ("evaluation",): Evaluation,
    ("evaluation", "judge"): JudgeLayer,
    ("evaluation", "composite"): Composite,
    ("setup",): Setup,
    ("run",): RunSettings,
    ("scripts",): Scripts,
    ("scripts", "post", "*"): PostScript,
    ("scripts", "evaluators", "*"): Evaluator,
    ("tool_matrix", "*"): ToolModels,
    ("cost",): Cost,
    ("variants", "*"): Variant,
}


def _unknown_keys(value: Value, path: KeyPath) -> Iterator[Mistake]:
    """Keys that nobody reads: probably misspelt, so they are told, though the format says to pass over them."""
    if isinstance(value, list):
        for index, item in enumerate(value):
            yield from _unknown_keys(item, (*path, index))
        return
    if path == ("variants",) and isinstance(value, dict):
        for name, item in value.items():
            yield from _unknown_keys(item, (*path, name))
        return
    record = _record_at(value, path)
    if not isinstance(value, dict) or record is None:
        return
    for key, item in value.items():
        if key not in record.model_fields and (*path, key) not in _RECORDS:
            hint = did_you_mean(key, record.model_fields)
            yield Mistake((*path, key), f"unknown key {shown(key)}, which is passed over", hint)
        else:
            yield from _unknown_keys(item, (*path, key))


def _record_at(value: Value, path: KeyPath) -> type[BaseModel] | None:
    named = path[:1] == ("variants",) and len(path) == 2  # its keys are names of people's own
    place = ("variants", "*") if named else tuple("*" if isinstance(part, int) else part for part in path)
    if place == ("evaluation", "gates", "*"):
        kind = get(value, "type")
        return GATES.get(kind) if isinstance(kind, str) else None
    return _RECORDS.get(place)

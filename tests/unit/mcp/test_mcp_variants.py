"""Other descriptions of the same tools: read, refused, and compared by what models make of them."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest

from evalward.config import LoadedConfig
from evalward.engine.plan import Plan, PlannedRun
from evalward.engine.scheduler import Executed, ExecutionSettings, execute
from evalward.records.case import Case
from evalward.records.guidance import GuidanceComparison
from evalward.records.problem import InputError
from evalward.records.trace import Message, Text, Turn
from evalward.runner.suite_variants import compare_suite_variants
from evalward.suites.mcp.context import McpPrepared
from evalward.suites.mcp.kind import MCP
from evalward.targets.base import Chat, Free, Reply, Request
from evalward.targets.scripted import Nop, Oracle
from support.cases import Silent
from support.mcp_suites import (
    CANCEL,
    FIND,
    HELLO,
    LATEST,
    NEWEST,
    ORDERS,
    SEARCH,
    Calling,
    called,
    prepared_suite,
    write_suite,
)

FILE = "better.json"
SAID = "Looks for words."


def suite(root: Path, content: Any, file: str = FILE, **more: Any) -> McpPrepared:
    return prepared_suite(root, files={file: content}, variants={"better": file}, **more)


def problems(root: Path, content: Any, file: str = FILE) -> list[str]:
    with pytest.raises(InputError) as error:
        suite(root, content, file)
    return [str(problem) for problem in error.value.problems]


@pytest.mark.parametrize(
    ("file", "content"),
    [
        ("a.json", {"search_orders": SAID}),
        ("a.yaml", f"search_orders: |\n  {SAID}\n"),
        ("a.json", [{**SEARCH, "description": SAID}]),
        ("a.json", {"tools": [{**SEARCH, "description": SAID}, LATEST, CANCEL]}),
        ("a.json", {"jsonrpc": "2.0", "id": 1, "result": {"tools": [{**SEARCH, "description": SAID}]}}),
    ],
)
def test_a_file_says_what_tools_are_described_as(file: str, content: Any, tmp_path: Path) -> None:
    prepared = suite(tmp_path, content, file)
    (varied,) = MCP.variants(prepared).values()
    described = {tool.name: tool.description for tool in varied.settings.tools.own.tools}
    assert described == {
        "search_orders": SAID,
        "list_orders": LATEST["description"],
        "order.cancel": CANCEL["description"],
    }
    assert varied.settings.tools.to("openai/gpt-5").tools[0].description == SAID
    assert prepared.settings.tools.own.by_name["search_orders"].description == SEARCH["description"]


def test_only_the_changed_tool_is_another_part_of_the_subject(tmp_path: Path) -> None:
    prepared = suite(tmp_path, {"list_orders": None})
    varied = MCP.variants(prepared)["better"]
    assert {part for part, key in varied.subject.items() if prepared.subject.get(part) != key} == {"tool:list_orders"}
    assert varied.texts[varied.subject["tool:list_orders"]].startswith("(no description)")
    assert [case.definition for case in varied.cases] == [case.definition for case in prepared.cases]
    assert varied.settings.tools.own.tokens < prepared.settings.tools.own.tokens


def test_a_variant_changes_descriptions_and_no_schema(tmp_path: Path) -> None:
    other = {**SEARCH, "description": SAID, "inputSchema": {"type": "object"}}
    (varied,) = MCP.variants(suite(tmp_path, [other])).values()
    assert varied.settings.tools.own.by_name["search_orders"].input_schema == SEARCH["inputSchema"]


def test_a_suite_without_variants_has_none(tmp_path: Path) -> None:
    assert MCP.variants(prepared_suite(tmp_path)) == {}


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ({"search_order": SAID}, 'lists no tool "search_order". Did you mean search_orders?'),
        ({"x": SAID, "y": SAID}, 'lists no tool "x"'),
        ({"search_orders": 1}, 'the description of "search_orders" is not a text'),
        ({"search_orders": "x" * 200_001}, "longer than 200,000 characters"),
        ({}, "not a map of tools' names"),
        ("3", "not a map of tools' names"),
        ("{", "the variant is not JSON"),
        ('{"a": "1", "a": "2"}', "the variant is not JSON"),
        ({"tools": [{"name": "search_orders"}]}, "input"),
        ({tool["name"]: tool["description"] for tool in ORDERS}, "every description is the server's own"),
    ],
)
def test_a_file_that_is_no_variant_is_refused(content: Any, said: str, tmp_path: Path) -> None:
    found = problems(tmp_path, content)
    assert said in found[0]
    assert all(each.startswith(FILE) for each in found)


def test_a_yaml_file_that_is_none_is_refused(tmp_path: Path) -> None:
    assert "the variant is not YAML" in problems(tmp_path, "a: [", "a.yaml")[0]


def test_a_file_that_is_not_there_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="can't be read"):
        prepared_suite(tmp_path, variants={"better": "gone.json"})


def test_every_mistake_of_every_file_is_said(tmp_path: Path) -> None:
    files = {"a.json": {"x": "1"}, "b.json": {"y": "1"}}
    with pytest.raises(InputError) as error:
        prepared_suite(tmp_path, files=files, variants={"a": "a.json", "b": "b.json"})
    assert {problem.place.file for problem in error.value.problems} == {"a.json", "b.json"}


def test_a_link_is_not_followed(tmp_path: Path) -> None:
    (tmp_path / "secret.json").write_text(json.dumps({"search_orders": SAID}), "utf-8")
    (tmp_path / "link.json").symlink_to(tmp_path / "secret.json")
    with pytest.raises(InputError, match="link"):
        prepared_suite(tmp_path, variants={"better": "link.json"})


@pytest.mark.parametrize(
    ("variants", "said"),
    [
        ({"current": FILE}, "current is how the server's own descriptions are called"),
        ({"better": "../x.json"}, "has .. in it"),
        ({"better": "/etc/passwd"}, "is absolute"),
        ({"a b": FILE}, "variants"),
    ],
)
def test_the_configuration_is_checked(variants: dict[str, str], said: str, tmp_path: Path) -> None:
    with pytest.raises(InputError) as error:
        write_suite(tmp_path, variants=variants)
    assert said in str(error.value)


def test_the_files_are_among_those_of_the_suite(tmp_path: Path) -> None:
    config: LoadedConfig = write_suite(tmp_path, variants={"a": "a.json", "b": "b.json"})
    (spec,) = config.config.suites
    assert spec.named_by("variants.*") == ["a.json", "b.json"]


# --- what models make of them ---------------------------------------------------------------------------------------


class Reader(Free):
    """A model that searches where the description says that this looks for words, and lists orders else."""

    random = True
    subject: dict[str, str] = {}
    id = "openai/gpt-5"

    def open(self, case: Case, trial: int) -> Chat:
        return _ReaderChat(case)


class _ReaderChat:
    recording = None

    def __init__(self, case: Case) -> None:
        self._case = case

    async def send(self, request: Request) -> Reply:
        if self._case.id == "hello":
            return Reply(Message(role="assistant", content=[Text(text="Hello!")]), Turn(stop="end"))
        words = any(SAID in tool.description for tool in request.tools)
        use = called("search_orders", {"query": "tulips"}) if words else called("list_orders", {})
        return Reply(Message(role="assistant", content=[use]), Turn(stop="tool_use"))


def run(plan: Plan, name: str) -> Executed:
    return asyncio.run(execute(plan, ExecutionSettings(None, Silent())))


def compared(root: Path, target: Any, trials: int = 6, content: Any = None) -> list[GuidanceComparison]:
    prepared = suite(root, content or {"search_orders": SAID}, lines=(FIND, NEWEST, HELLO))
    planned = PlannedRun(MCP, prepared, target, prepared.cases, trials)
    return compare_suite_variants(Plan([planned]), run)


def test_what_models_take_decides_and_by_more_than_chance(tmp_path: Path) -> None:
    (found,) = compared(tmp_path, Reader(), trials=8)
    assert [column.name for column in found.columns] == ["current", "better"]
    assert found.cases == ["find", "hello", "newest"]
    standing = {d.metric: (d.standing, d.delta) for d in found.of("better")}
    assert standing["abstention_accuracy"] == ("same", 0.0)
    one_for_the_other = {column.name: column.numbers[0].value.numerator for column in found.columns}
    assert one_for_the_other == {"current": 8.0, "better": 8.0}  # one case is won, one is lost
    assert all(list(column.files) == ["tool:search_orders"] for column in found.columns)
    current, better = found.columns
    assert "confused_tools" in " ".join(finding.id for finding in (*current.findings, *better.findings))


def test_a_description_that_helps_every_case_is_better(tmp_path: Path) -> None:
    prepared = suite(tmp_path, {"search_orders": SAID}, lines=(FIND, HELLO))
    planned = PlannedRun(MCP, prepared, Reader(), prepared.cases, 8)
    (found,) = compare_suite_variants(Plan([planned]), run)
    standing = {d.metric: d.standing for d in found.of("better")}
    assert standing["tool_selection_accuracy"] == "better"
    assert standing["pass_rate"] == "better"
    assert standing["abstention_accuracy"] == "same"


def test_too_few_trials_show_nothing_and_say_so(tmp_path: Path) -> None:
    (found,) = compared(tmp_path, Reader(), trials=1)
    assert {d.standing for d in found.differences} <= {"thin", "same", "unknown"}


@pytest.mark.parametrize("target", [Oracle(), Nop(), Calling(id="replay:x")])
def test_a_target_that_reads_no_descriptions_is_not_run(target: Any, tmp_path: Path) -> None:
    (found,) = compared(tmp_path, target)
    assert found.not_measured == "this target reads no descriptions: name a model under `targets`"


@pytest.mark.parametrize("begun", [0, 1])
def test_after_a_signal_nothing_is_compared(begun: int, tmp_path: Path) -> None:
    left = begun

    def until(plan: Plan, name: str) -> Executed:
        nonlocal left
        left -= 1
        return run(plan, name) if left >= 0 else Executed([], "interrupted by SIGINT", "signal")

    prepared = suite(tmp_path, {"search_orders": SAID})
    (found,) = compare_suite_variants(Plan([PlannedRun(MCP, prepared, Reader(), prepared.cases, 1)]), until)
    assert found.not_measured == "the run ended early: interrupted by SIGINT"


def test_of_three_sides_those_that_were_run_are_compared(tmp_path: Path) -> None:
    def until(plan: Plan, name: str) -> Executed:
        return Executed([], "interrupted by SIGINT", "signal") if name == "worse" else run(plan, name)

    files = {FILE: {"search_orders": SAID}, "worse.json": {"search_orders": "Anything."}}
    prepared = prepared_suite(tmp_path, files=files, variants={"better": FILE, "worse": "worse.json"})
    (found,) = compare_suite_variants(Plan([PlannedRun(MCP, prepared, Reader(), prepared.cases, 2)]), until)
    assert [column.name for column in found.columns] == ["current", "better"]
    assert found.notes[-1] == "worse was not run: interrupted by SIGINT."


def test_a_suite_without_variants_is_not_run(tmp_path: Path) -> None:
    prepared = prepared_suite(tmp_path)
    assert compare_suite_variants(Plan([PlannedRun(MCP, prepared, Reader(), prepared.cases, 1)]), run) == []

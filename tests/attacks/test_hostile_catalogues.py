"""Lists of tools, cases and calls that somebody wrote to hurt: one sentence, bounded, and nothing passes by it."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from evalward.records.json_text import read_json
from evalward.records.problem import InputError
from evalward.records.result import Result, Status
from evalward.records.trace import ToolUse, Trace
from evalward.suites.mcp.catalogue import make_catalogue
from evalward.suites.mcp.names import ToolNames
from evalward.suites.mcp.select import run_select
from support.hostile import SNIPPETS
from support.live_runs import Repo
from support.mcp_suites import FIND, ORDERS, Calling, called, prepared_suite, write_json
from support.model_server import ModelServer, Script

OBJECT = {"type": "object"}
DEEP = '{"properties": ' * 5_000 + "{}" + "}" * 5_000


@pytest.mark.parametrize(
    "text",
    [
        "[" * 1_000_000,
        f'[{{"name": "a", "inputSchema": {DEEP}}}]',
        '[{"name": "a", "inputSchema": {"x": NaN}}]',
        '[{"name": "a", "inputSchema": {"x": 1' + "0" * 10_000 + "}}]",
        '[{"name": "a", "inputSchema": {"x": "\\ud800"}}]',
        json.dumps([{"name": "a\x1b[2J\n::error::x", "inputSchema": 1}] * 2),
        json.dumps([{"name": "x" * 1_000_000, "inputSchema": {}}] * 2),
        json.dumps([{"name": f"t{n}", "inputSchema": {}} for n in range(3_000)]),
        json.dumps([{"name": "a"}] * 2_000),
        "\0",
        "\x1b[2J",
    ],
    ids=["brackets", "deep", "nan", "digits", "half", "escape", "long", "many", "wrong", "nul", "colour"],
)
def test_a_hostile_snapshot_is_refused_in_lines_that_can_be_read(tmp_path: Path, text: str) -> None:
    with pytest.raises(InputError) as caught:
        prepared_suite(tmp_path, tools=text)
    assert len(caught.value.problems) <= 1_001
    for problem in caught.value.problems:
        assert str(problem).isprintable()
        assert str(problem).startswith("orders.json")
        assert len(str(problem)) < 2_000


@pytest.mark.parametrize("tool", ["x\x1b[2J", "x\n::error::y", "x" * 200, "\u202ex", "@octocat", "`x`"])
def test_a_case_with_a_hostile_name_is_named_in_one_line(tmp_path: Path, tool: str) -> None:
    prepared = prepared_suite(tmp_path, [{**FIND, "expect": {"calls": [{"tool": tool}]}}])
    ((problem,),) = prepared.settings.gone.values()
    (warning,) = prepared.warnings
    for said in (str(problem), warning):
        assert said.isprintable()
        assert len(said) < 500


def test_any_names_get_ones_that_providers_take() -> None:
    names = [
        *dict.fromkeys(each[:200] for each in SNIPPETS if each.isascii()),
        *(f"{'x' * 250}{n}" for n in range(100)),
    ]
    found = ToolNames(make_catalogue("s", [{"name": name, "inputSchema": OBJECT} for name in names]))
    assert len({each.sent for each in found.tools}) == len(names)
    assert all(each.sent.isascii() and 0 < len(each.sent) <= 64 for each in found.tools)


NESTED: Any = {}
for _ in range(2_000):
    NESTED = {"a": NESTED}
HOSTILE: tuple[Any, ...] = (
    NESTED,
    {"query": "tulips", "more": NESTED},
    {"query": "x" * 5_000_000},
    {"query": "\ud800\x1b[2J\u202e"},
    {f"k{n}": n for n in range(200_000)},
    [1] * 200_000,
    "tulips",
    None,
    {"query": 10**30},
    {"\ud800": 1},
)


@pytest.mark.parametrize("given", HOSTILE, ids=range(len(HOSTILE)))
async def test_whatever_a_model_sends_fails__and_is_kept_as_a_file_can_hold_it(tmp_path: Path, given: Any) -> None:
    suite = prepared_suite(tmp_path)
    target = Calling(ToolUse.model_construct(type="tool_use", id="1", name="search_orders", input=given))
    outcome = await run_select(suite, suite.cases[0], target, 1)
    result = outcome.result
    assert result.status is Status.FAILED
    text = result.model_dump_json()
    assert len(text) < 60_000
    assert Result.model_validate(read_json(text)) == result
    assert Trace.model_validate_json(outcome.trace.model_dump_json()) == outcome.trace
    assert "\x1b" not in "".join(check.detail for check in result.checks)


async def test_ten_thousand_calls_are_counted__and_few_are_kept(tmp_path: Path) -> None:
    suite = prepared_suite(tmp_path)
    uses = [called("search_orders", {"query": "tulips"}, number) for number in range(10_000)]
    result = (await run_select(suite, suite.cases[0], Calling(*uses), 1)).result
    assert (result.status, result.reason) == (Status.FAILED, "extra_call")
    assert len(result.model_dump_json()) < 60_000


HURTING = (
    "</td></tr></table><script>alert(1)</script>",
    "\x1b[2Jx",
    "x\n::error::y",
    "![i](https://evil.example/i.png)",
)


def test_names_and_descriptions_stay_words_wherever_they_are_shown(tmp_path: Path) -> None:
    def tools(description: str) -> list[Any]:
        return [*ORDERS, *({"name": name, "description": description, "inputSchema": OBJECT} for name in HURTING)]

    cases = [
        {
            "id": f"c{n}",
            "prompt": name,
            "category": name,
            "expect": {"calls": [{"tool": name}]},
            "answer": [{"equals": name}],
        }
        for n, name in enumerate(HURTING)
    ]
    with ModelServer(Script()) as server:
        repo = Repo(tmp_path, server)
        suite = {"name": "t", "kind": "mcp", "server": {"snapshot": "s.json"}, "cases": "c.jsonl"}
        repo.write(["oracle", "nop"], (), suite=suite)
        write_json(tmp_path, "c.jsonl", "".join(json.dumps(case) + "\n" for case in cases))
        write_json(tmp_path, "s.json", tools("before"))
        said = [repo.run("check")]
        assert repo.run("baseline", "update", "--report", "evalward-out/report.json").code == 0
        write_json(tmp_path, "s.json", tools("".join(HURTING)))
        said += [repo.run("check"), repo.run("show", "c0", "--target", "oracle"), repo.run("validate")]
    pages = [repo.path(name).read_text("utf-8") for name in ("comment.md", "report.html")]
    assert "evil.example" in "".join(pages)
    for text in (*pages, *(done.out + done.err for done in said)):
        assert "\x1b" not in text
    assert "\n::error" not in "".join(f"\n{done.out}\n{done.err}" for done in said)
    assert "\n::error" not in pages[0]
    assert "<script>alert" not in pages[1]
    outside = re.sub(r"`[^`\n]+`", "", re.sub(r"^(`{3,})\w*\n.*?^\1$", "", pages[0], flags=re.DOTALL | re.MULTILINE))
    assert "<script>alert" in pages[0]  # as code, where nothing is read as HTML
    assert "<script>alert" not in outside
    assert "![i](https" not in outside

"""Cases of an mcp suite: what a file may say, what is wrong with it, the definition, the reference solution."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from pydantic import ValidationError

from evalward.records.problem import InputError, Place
from evalward.records.trace import ToolUse
from evalward.suites.mcp.answer import check_answer
from evalward.suites.mcp.case import AnswerCheck, McpCase, McpTask, make_case
from evalward.suites.mcp.prove import prove_cases
from support.mcp_suites import CANCEL, FIND, HELLO, LATEST, SEARCH, prepared_suite, write_json


def case(mode: Any = "select", **task: Any) -> McpCase:
    return make_case(McpTask.model_validate({**FIND, **task}), Place(file="cases.yaml", line=1), mode)


def expecting(**expect: Any) -> McpTask:
    return McpTask.model_validate({**FIND, "expect": expect})


@pytest.mark.parametrize(
    ("expect", "said"),
    [
        ({}, "nothing is expected: write `calls`, `forbid` or `none: true`"),
        ({"allow": ["a"]}, "nothing is expected"),
        ({"none": True, "calls": [{"tool": "a"}]}, "`none: true` and `calls` exclude each other"),
        ({"none": True, "max_extra": 1}, "`none: true` and `max_extra` exclude each other"),
        ({"calls": [{"tool": "a", "match": "exact"}]}, "match: exact needs the key `args`"),
        ({"calls": [{"tool": "a", "match": "schema", "args": {}}]}, "match: schema doesn't look at `args`"),
        ({"calls": [{"tool": "a"}], "forbid": ["a"]}, "the tool 'a' is both expected and forbidden"),
        ({"calls": [{"tool": "a"}], "allow": ["a"]}, "the tool 'a' is both in `calls` and in `allow`"),
        ({"calls": [{"tool": ""}]}, "at least 1 character"),
        ({"calls": [{"tool": "a", "args": [1]}]}, "valid dictionary"),
        ({"forbid": [7]}, "valid dictionary"),
        ({"calls": [{"tool": "a"}], "order": "random"}, "'any', 'in_order' or 'exact'"),
    ],
)
def test_what_contradicts_itself_is_refused(expect: dict[str, Any], said: str) -> None:
    with pytest.raises(ValidationError, match=said):
        expecting(**expect)


def test_a_forbidden_tool_is_written_by_its_name_or_with_arguments() -> None:
    found = expecting(forbid=["a", {"tool": "b", "args": {"x": 1}}]).expect.forbid
    assert [(each.tool, each.args) for each in found] == [("a", None), ("b", {"x": 1})]
    both = expecting(calls=[{"tool": "a"}], forbid=[{"tool": "a", "args": {"all": True}}])
    assert both.expect.calls[0].tool == both.expect.forbid[0].tool == "a"


@pytest.mark.parametrize("path", ["/a", "../a", "a/../b", "a//b", ".", "a/", "", "a\0b"])
def test_files_lie_below_the_servers_folder(path: str) -> None:
    with pytest.raises(ValidationError, match="isn't a plain path below the server's folder"):
        case(files={path: "x"})


def test_a_file_is_no_folder_of_another() -> None:
    with pytest.raises(ValidationError, match="'a' can't be both a file and the folder of 'a/b'"):
        case(files={"a": "x", "a/b": "y"})


def test_the_definition_is_what_is_asked_and_how_it_is_judged() -> None:
    known = case().definition
    assert case(id="other", category="x", notes="n", tags=["t"], solution="s").definition == known
    assert case(prompt="Other?").definition != known
    assert case(mode="run").definition != known
    assert case(expect={"none": True}).definition != known
    assert case(expect={**FIND["expect"], "order": "any", "max_extra": None}).definition == known
    assert case(answer=[{"contains": "x"}]).definition != known


def test_more_calls_are_wrong_in_one_turn_only__where_a_case_says_nothing() -> None:
    assert [case(mode).max_extra for mode in ("select", "run")] == [0, None]
    expect = {**FIND["expect"], "max_extra": 2}
    assert [case(mode, expect=expect).max_extra for mode in ("select", "run")] == [2, 2]


def test_the_reference_makes_the_calls_at_once__or_one_a_turn() -> None:
    expect = {"calls": [{"tool": "a", "args": {"x": 1}}, {"tool": "b"}]}
    uses = [
        ToolUse(id="oracle_1", name="a", input={"x": 1}),
        ToolUse(id="oracle_2", name="b", input={}),
    ]
    assert [message.content for message in case(expect=expect).reference()] == [uses]
    run = case("run", expect=expect, solution="Two.").reference()
    assert [message.tool_uses for message in run] == [uses[:1], uses[1:], []]
    assert run[-1].text == "Two."
    nothing = make_case(McpTask.model_validate(HELLO), Place(file="f"), "select").reference()
    assert nothing[0].text
    assert not nothing[0].tool_uses


def test_a_case_is_written_as_its_file_has_it() -> None:
    assert case().written() == {**FIND, "expect": {**FIND["expect"], "forbid": [{"tool": "order.cancel"}]}}
    assert case().taken_from_elsewhere() == {"mode": "select"}


# ------------------------------------------------------------------------------------------- the answer


@pytest.mark.parametrize(
    ("check", "answer", "holds"),
    [
        ({"contains": "7"}, "There are 7.", True),
        ({"contains": "Seven"}, "seven", False),
        ({"lacks": "error"}, "fine", True),
        ({"lacks": "error"}, "an error", False),
        ({"equals": " 7\n"}, "7 ", True),
        ({"equals": "7"}, "7.", False),
        ({"matches": "^[0-9]+ orders"}, "12 orders", True),
        ({"matches": "(?i)none"}, "NONE", True),
        ({"matches": "x"}, "", False),
    ],
)
def test_checks_of_the_answer(check: dict[str, str], answer: str, holds: bool) -> None:
    (found,) = check_answer([AnswerCheck.model_validate(check)], answer)
    assert found.passed is holds
    assert found.check.startswith(f"answer {next(iter(check))} ")


def test_a_check_has_one_key__and_a_pattern_that_is_one() -> None:
    for wrong in ({}, {"contains": "a", "lacks": "b"}):
        with pytest.raises(ValidationError, match="exactly one of the keys"):
            AnswerCheck.model_validate(wrong)
    with pytest.raises(ValidationError, match="is not an RE2 pattern"):
        AnswerCheck.model_validate({"matches": "("})


# ------------------------------------------------------------------------------------------- files and messages


def problems(root: Path, lines: str, **suite: Any) -> list[str]:
    """What is said of the suite whose cases are these lines of JSONL, or others that it names itself."""
    with pytest.raises(InputError) as error:
        prepared_suite(root, lines, **suite)
    return [str(problem) for problem in error.value.problems]


def mistakes(root: Path, lines: str, **suite: Any) -> list[str]:
    """What `validate` says of a suite whose files can be read."""
    return [str(problem) for problem in prove_cases(prepared_suite(root, lines, **suite)).problems]


def test_every_mistake_of_a_file_is_said_at_its_line(tmp_path: Path) -> None:
    write_json(
        tmp_path,
        "cases.yaml",
        """- id: one
  prompt: p
  expect:
    calls:
      - tool: search_orders
        arg: {query: x}
    forbids: [list_orders]
- id: two
  prompt: p
  expect: {calls: [{tool: search_orders, match: fuzzy}]}
- id: three
  prompt: p
  expect: {}
- id: four
  expect: {none: true}
  prompts: p
""",
    )
    assert problems(tmp_path, "", cases="cases.yaml") == [
        "cases.yaml:6: expect.calls[0].arg: unknown key. Did you mean args?",
        "cases.yaml:7: expect.forbids: unknown key. Did you mean forbid?",
        'cases.yaml:10: expect.calls[0].match: unknown value "fuzzy". Known: partial, exact, schema.',
        "cases.yaml:13: expect: nothing is expected: write `calls`, `forbid` or `none: true`.",
        "cases.yaml:14: prompt: the key is missing. Add it.",
        "cases.yaml:16: prompts: unknown key. Did you mean prompt?",
    ]


def test_the_key_of_a_call_that_is_forbidden_is_near_its_own(tmp_path: Path) -> None:
    line = '{"id": "a", "prompt": "p", "expect": {"forbid": [{"tool": "x", "arg": {}}]}}'
    assert problems(tmp_path, line) == ["cases.jsonl:1: expect.forbid[0].arg: unknown key. Did you mean args?"]


@pytest.mark.parametrize(
    ("tool", "remedy"),
    [
        ("serch_orders", "Did you mean search_orders?"),
        ("fly", "It has: search_orders, list_orders, order.cancel."),
    ],
)
def test_a_call_of_a_tool_that_there_is_not(tmp_path: Path, tool: str, remedy: str) -> None:
    line = f'{{"id": "a", "prompt": "p", "expect": {{"calls": [{{"tool": "{tool}"}}]}}}}'
    said = f'cases.jsonl:1: a: expect.calls[0].tool: the server "orders" lists no tool "{tool}". {remedy}'
    assert mistakes(tmp_path, line) == [said]


def test_the_only_tool_that_takes_the_same_arguments_is_proposed(tmp_path: Path) -> None:
    line = '{"id": "a", "prompt": "p", "expect": {"calls": [{"tool": "fly", "args": {"query": "x"}}]}}'
    (said,) = mistakes(tmp_path, line)
    assert said.endswith('lists no tool "fly". Did you mean search_orders, which takes the same arguments?')
    (said,) = mistakes(tmp_path, line.replace('"query": "x"', '"limit": 5'))
    assert said.endswith("Did you mean list_orders, which takes the same arguments?")  # the other one requires more
    (said,) = mistakes(tmp_path, line.replace('"query": "x"', '"speed": 5'))
    assert said.endswith("It has: search_orders, list_orders, order.cancel.")


def test_a_forbidden_tool_that_was_renamed_is_a_mistake(tmp_path: Path) -> None:
    """Nothing would be forbidden any longer, and every trial would pass."""
    renamed = [SEARCH, LATEST, {**CANCEL, "name": "order.remove"}]
    says = 'cases.jsonl:1: find: expect.forbid[0]: the server "orders" lists no tool "order.cancel".'
    (found,) = mistakes(tmp_path, json.dumps(FIND), tools=renamed)
    assert found.startswith(says)


def test_forbidden_and_allowed_tools_that_no_server_lists(tmp_path: Path) -> None:
    line = """{"id": "a", "prompt": "p", "expect": {"forbid": ["order.cancle", {"tool": "fly", "args": {}}],
        "allow": ["search_orders", "sing"]}}""".replace("\n", "")
    assert mistakes(tmp_path, line) == [
        'cases.jsonl:1: a: expect.forbid[0]: the server "orders" lists no tool "order.cancle". '
        "Did you mean order.cancel?",
        'cases.jsonl:1: a: expect.forbid[1]: the server "orders" lists no tool "fly". '
        "It has: search_orders, list_orders, order.cancel.",
        'cases.jsonl:1: a: expect.allow[1]: the server "orders" lists no tool "sing". '
        "It has: search_orders, list_orders, order.cancel.",
    ]


def test_a_distractors_tool_may_be_forbidden_or_allowed_and_not_expected(tmp_path: Path) -> None:
    mail: dict[str, Any] = {"files": {"mail.json": [{**LATEST, "name": "send"}]}, "distractors": "mail.json"}
    fine = '{"id": "a", "prompt": "p", "expect": {"none": true, "forbid": ["send"], "allow": ["send"]}}'
    assert len(prepared_suite(tmp_path, fine, **mail).cases) == 1
    line = '{"id": "a", "prompt": "p", "expect": {"calls": [{"tool": "send"}], "forbid": ["fly"]}}'
    assert mistakes(tmp_path, line, **mail) == [
        'cases.jsonl:1: a: expect.calls[0].tool: the server "orders" lists no tool "send". '
        "It has: search_orders, list_orders, order.cancel.",
        'cases.jsonl:1: a: expect.forbid[0]: no server lists a tool "fly". '
        "They have: search_orders, list_orders, order.cancel, send.",
    ]


@pytest.mark.parametrize(("key", "value"), [("files", {"a.txt": "b"}), ("state", "test -e a.txt")])
def test_what_only_mode_run_uses_is_a_mistake_in_mode_select(tmp_path: Path, key: str, value: Any) -> None:
    said = (
        f"cases.jsonl:1: find: {key}: it needs mode: run, where the server works in a folder; mode select executes "
        "nothing. Remove the key, or measure the case in a suite with mode: run."
    )
    assert problems(tmp_path, json.dumps({**FIND, key: value})) == [said]


def test_all_files_are_looked_at__whatever_is_wrong_with_one(tmp_path: Path) -> None:
    found = problems(
        tmp_path,
        '{"id": 1}',
        tools="nonsense",
        files={"a.json": "[]", "b.json": "7", "c.json": '{"server": "a", "tools": []}'},
        distractors=["a.json", "b.json", "c.json", "none/*.json"],
        system="no.md",
    )
    assert [line.split(": ")[0] for line in found] == [
        *["cases.jsonl:1"] * 3, "evalward.yml:18", "b.json", "c.json", "no.md", "orders.json:1",
    ]  # fmt: skip


def test_servers_have_names_of_their_own(tmp_path: Path) -> None:
    (said,) = problems(
        tmp_path,
        '{"id": "a", "prompt": "p", "expect": {"none": true}}',
        files={"x/orders.json": "[]"},
        distractors="x/*",
    )
    assert 'one of the distractors is a server called "orders", as the suite\'s own' in said
    assert "server: {name: …}" in said


def test_a_server_without_tools_has_nothing_to_choose(tmp_path: Path) -> None:
    (said,) = problems(tmp_path, '{"id": "a", "prompt": "p", "expect": {"none": true}}', tools=[])
    assert said == 'orders.json: the server "orders" lists no tools. A suite of kind mcp is about tools.'

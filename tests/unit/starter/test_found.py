"""What the files of a repository are, by names and beginnings."""

from __future__ import annotations

import json
from collections.abc import Mapping

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from evalward.starter.contents import MOST_TEXT, prompt_flags, task_flags
from evalward.starter.found import MOST_SCRIPTS, Finds, Origin, find
from evalward.starter.skills import FoundSkills
from support.cases import task

INSPECT = "from inspect_ai import Task, task\n\n@task\ndef bot():\n    return Task()\n"
PROMPT = {
    "messages": [{"role": "user", "content": "Say {{input}}."}],
    "testData": [{"input": "a", "expected": "a"}],
    "evaluators": [{"name": "same", "string": {"contains": "{{expected}}"}}],
}


def found(files: Mapping[str, str]) -> Finds:
    return find(list(files), lambda path: files.get(path, ""))


@pytest.mark.parametrize(
    ("path", "text", "origin"),
    [
        ("promptfooconfig.yaml", "", Origin("promptfoo", ("promptfooconfig.yaml",))),
        ("evals/promptfooconfig.ts", "", Origin("promptfoo", ("evals/promptfooconfig.ts",))),
        ("evals/bot.py", INSPECT, Origin("inspect", ("evals/bot.py",))),
        ("test_orders.py", "import deepeval\n", Origin("deepeval", ("test_orders.py",))),
        ("mail.py", "from pydantic_evals import Dataset\n", Origin("pydantic-evals", ("mail.py",))),
        ("evals/test_bot.py", "def test_bot(): ...\n", Origin("pytest", ("evals/test_bot.py",))),
        ("a.prompt.yml", yaml.safe_dump(PROMPT), Origin("prompts", ("a.prompt.yml",), frozenset({"expected"}))),
        ("t.jsonl", json.dumps(task()), Origin("tasks", ("t.jsonl",), frozenset({"solved"}))),
        ("t.jsonl", "# why\n" + json.dumps(task(solution=None)), Origin("tasks", ("t.jsonl",))),
    ],
)
def test_one_file_says_what_the_suite_is_made_of(path: str, text: str, origin: Origin) -> None:
    assert found({"README.md": "", path: text}).origins == (origin,)


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("bot.py", "@task\ndef deploy(): ...\n"),  # a task of something else
        ("bot.py", "# from inspect_ai import task\n"),
        ("test_unit.py", "def test_unit(): ...\n"),
        ("tests/test_unit.py", "import pytest\n"),
        ("orders.py", "import deepeval\n"),
        ("package.json", '{"devDependencies": {"vitest": "4"}}'),
        ("a.prompt.yml", yaml.safe_dump({"messages": PROMPT["messages"]})),
        ("a.prompt.yml", "{"),
        ("data.jsonl", '{"prompt": "a", "answer": "b"}'),
        ("data.jsonl", json.dumps(task()) + "\n" + json.dumps({"id": "x"})),
        ("data.jsonl", "not json"),
        ("-rf.py", INSPECT),
        ("evals/a b.py", INSPECT),
        ("evals/$(id).py", INSPECT),
        ("evals/a: b.py", INSPECT),
        ("evals/{dir}.py", INSPECT),
        (f"evals/{'x' * 300}.py", INSPECT),
    ],
)
def test_what_only_looks_alike_is_none(path: str, text: str) -> None:
    assert found({path: text}) == Finds()


def test_vitest_is_one_where_evaluations_are() -> None:
    package = '{"devDependencies": {"vitest": "4"}}'
    assert found({"package.json": package, "src/bot.eval.ts": ""}).origins == (
        Origin("vitest-evals", ("src/bot.eval.ts",)),
    )
    assert found({"package.json": '{"devDependencies": {"vitest-evals": "0.16"}}'}).origins == (Origin("vitest-evals"),)


def test_pytest_repeat_is_used_where_it_is_named() -> None:
    files = {"evals/test_a.py": "", "pyproject.toml": 'dependencies = ["pytest-repeat"]'}
    assert found(files).origins == (Origin("pytest", ("evals/test_a.py",), frozenset({"repeat"})),)


def test_several_have_an_order_and_each_its_files() -> None:
    files = {
        "t.jsonl": json.dumps(task()),
        "b.prompt.yml": yaml.safe_dump({**PROMPT, "testData": [{"input": "a"}]}),
        "a.prompt.yml": yaml.safe_dump(PROMPT),
        "evals/test_a.py": "",
        "evals/b.py": INSPECT,
        "a.py": INSPECT,
        "promptfooconfig.yaml": "",
        "deeper/promptfooconfig.yaml": "",
    }
    assert found(files).origins == (
        Origin("promptfoo", ("promptfooconfig.yaml",)),
        Origin("inspect", ("evals/b.py", "a.py")),
        Origin("pytest", ("evals/test_a.py",)),
        Origin("prompts", ("b.prompt.yml", "a.prompt.yml")),
        Origin("tasks", ("t.jsonl",), frozenset({"solved"})),
    )


def test_what_else_there_is() -> None:
    assert found({"AGENTS.md": "", "CLAUDE.md": "", "docs/AGENTS.md": ""}).guidance == ("AGENTS.md", "CLAUDE.md")
    assert found({"skills/a/SKILL.md": "", "evals/evals.json": "[]"}).untried is None
    assert (
        found({".claude/skills/a/SKILL.md": "", "tests/skills/b/SKILL.md": ""}).untried == ".claude/skills/*/SKILL.md"
    )


def test_skills_and_their_evals() -> None:
    at_top = {"SKILL.md": "", "trigger-evals.json": "[]", ".claude/skills/other/SKILL.md": ""}
    (one,) = found(at_top).origins
    assert one == Origin("skills", ("SKILL.md",), frozenset({"solved"}), skills=FoundSkills("", 1, queries=True))
    assert one.skills is not None
    assert (one.skills.pattern, one.skills.evals) == ("SKILL.md", "evals/**")
    several = {
        "skills/a/SKILL.md": "",
        "skills/b/SKILL.md": "",
        ".agents/skills/a/SKILL.md": "",
        "skills/b/evals/evals.json": "{}",
        "skills/b/evals/triggers.json": "[]",
        "evals/evals.json": '{"skill_name": "a", "evals": []}',
    }
    (found_skills,) = (origin.skills for origin in found(several).origins)
    assert found_skills == FoundSkills("skills", 2, queries=True, tasks=True, cases="evals/evals.json")
    assert found({**several, "evals/evals.json": '{"skill_name": "c"}'}).origins[0].skills == FoundSkills(
        "skills", 2, queries=True, tasks=True
    )
    assert found({"node/skills/a/SKILL.md": "", "x y/skills/b/SKILL.md": ""}).untried == "node/skills/*/SKILL.md"


def test_evaluations_are_found_behind_any_number_of_other_programs() -> None:
    files = {f"src/a{number}.py": "" for number in range(2 * MOST_SCRIPTS)} | {"evals/bot.py": INSPECT}
    assert found(files).origins == (Origin("inspect", ("evals/bot.py",)),)


@pytest.mark.parametrize(
    ("change", "flags"),
    [
        ({}, {"expected"}),
        ({"testData": [{"input": "a"}]}, set()),
        ({"evaluators": [{"name": "tone", "llm": {}}]}, {"judged"}),
        ({"evaluators": [{"name": "near", "uses": "github/similarity"}]}, {"judged"}),
    ],
)
def test_what_a_prompt_file_has(change: Mapping[str, object], flags: set[str]) -> None:
    assert prompt_flags(yaml.safe_dump({**PROMPT, **change})) == frozenset(flags)


def test_a_text_that_was_cut_is_not_believed_to_be_solved() -> None:
    lines = (json.dumps(task()) + "\n") * (MOST_TEXT // 100)
    assert task_flags(lines[:MOST_TEXT]) == frozenset()
    assert task_flags(lines[:1000].rsplit("\n", 1)[0]) == frozenset({"solved"})


@given(st.text(max_size=200))
def test_any_text_is_something_or_nothing(text: str) -> None:
    for path in ("evals/test_a.py", "a.prompt.yml", "a.jsonl", "package.json", "pyproject.toml", ".mcp.json"):
        assert isinstance(found({path: text}), Finds)

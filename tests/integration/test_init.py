"""`evalward init` in folders of its own: what it asks, writes, leaves, and says."""

from __future__ import annotations

import json
import shutil
from collections.abc import Mapping
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
import yaml

from evalward.cli import guarded
from evalward.commands.init import init
from evalward.commands.validate import validate
from evalward.commands.world import World
from evalward.edge import SET
from support.cases import task
from support.fuzzing.folders import write_files

SHELL_FILES = ["evalward.yml", "evals/bash/first.yaml", "prompts/bash.md", ".github/workflows/evalward.yml"]
INSPECT = b"from inspect_ai import task\n@task\ndef bot(): ...\n"
KEY = {"ANTHROPIC_API_KEY": "sk-ant-canary-0123456789"}


def begun(folder: Path, answers: str | None = None, env: Mapping[str, str] | None = None) -> tuple[int, str]:
    """Exit code and all that is said; `answers` is what is typed, `None`: nobody is there, as with --yes."""
    (folder / ".git").mkdir(exist_ok=True)
    out = StringIO()
    world = World(out, out, lambda: "2026-11-23T08:00:00Z", dict(env or {}), folder)
    typed = StringIO(answers or "")
    code = guarded(world, lambda world: init(world, None if answers is None else typed.readline, silent=True))
    return code, out.getvalue()


def config(folder: Path) -> dict[str, Any]:
    value = yaml.safe_load((folder / "evalward.yml").read_text("utf-8"))
    assert isinstance(value, dict)
    return value


def written(folder: Path) -> list[str]:
    return sorted(str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file())


def valid(folder: Path) -> str:
    """What `evalward validate` says of it, every solution and wrong answer tried."""
    out = StringIO()
    world = World(out, out, lambda: "2026-11-23T08:00:00Z", {}, folder)
    assert validate(world, [folder / "evalward.yml"]) == 0
    return out.getvalue()


def test_an_empty_repository_gets_three_cases_that_are_proved(tmp_path: Path) -> None:
    code, said = begun(tmp_path)
    assert code == 0
    assert written(tmp_path) == sorted([*SHELL_FILES, ".gitignore"])
    assert config(tmp_path)["suites"][0]["targets"] == ["oracle"]
    assert (tmp_path / ".gitignore").read_text() == "evalward-out/\n"
    assert "3 of 3 solutions run" in valid(tmp_path)
    commands = [line.split("#")[0].strip() for line in said.splitlines() if line.startswith("  evalward")]
    assert commands == ["evalward run", "evalward baseline update"]
    assert "  git add evalward.yml evals/bash/first.yaml prompts/bash.md .github" in said


@pytest.mark.parametrize("env", [KEY, {SET: "ANTHROPIC_API_KEY"}], ids=["here", "named"])
def test_with_a_key_a_model_is_measured_and_the_key_is_nowhere(tmp_path: Path, env: dict[str, str]) -> None:
    _, said = begun(tmp_path, env=env)
    assert config(tmp_path)["suites"][0]["targets"] == ["oracle", "anthropic/claude-haiku-4-5"]
    assert "evalward run --trials 5" in said
    assert "It needs the repository's secret ANTHROPIC_API_KEY." in said
    texts = [(tmp_path / name).read_text("utf-8") for name in written(tmp_path)]
    assert not any(KEY["ANTHROPIC_API_KEY"] in text for text in [said, *texts])
    assert "no problem" in valid(tmp_path)


def test_an_empty_variable_is_no_key(tmp_path: Path) -> None:
    begun(tmp_path, env={"ANTHROPIC_API_KEY": "", SET: ""})
    assert config(tmp_path)["suites"][0]["targets"] == ["oracle"]


# --- questions ------------------------------------------------------------------------------------------------------


def test_answers_are_taken_and_wrong_ones_asked_for_again(tmp_path: Path) -> None:
    write_files(tmp_path, {"evals/bot.py": INSPECT, "promptfooconfig.yaml": b""})
    typed = "gpt-5\nopenai/gpt-5.5\n7\n2\nmaybe\nno\n"
    _, said = begun(tmp_path, typed, {**KEY, "OPENAI_API_KEY": "sk-x"})
    (suite,) = config(tmp_path)["suites"]
    assert (suite["name"], suite["env"]) == ("inspect", ["OPENAI_API_KEY"])
    assert "--model openai/gpt-5.5 " in suite["run"]
    assert not (tmp_path / ".github").exists()
    assert "  Write PROVIDER/NAME, such as anthropic/claude-haiku-4-5, or none." in said
    assert "  1  promptfoo: promptfooconfig.yaml\n  2  inspect: evals/bot.py\n  3  three example shell tasks" in said
    assert "  A number from 1 to 3." in said
    assert "  Write yes or no." in said
    assert said.count(" [") <= 2 * 5


@pytest.mark.parametrize("typed", ["", "\n\n\n\n\n", "x\n" * 20])
def test_no_answer_and_answers_that_never_fit_are_the_defaults(tmp_path: Path, typed: str) -> None:
    asked, silent = tmp_path / "asked", tmp_path / "silent"
    for folder, answers in ((asked, typed), (silent, None)):
        write_files(folder, {"evals/bot.py": INSPECT})
        begun(folder, answers, KEY)
    assert written(asked) == written(silent)
    assert config(asked) == config(silent)


def test_without_a_model_nothing_is_asked_of_one(tmp_path: Path) -> None:
    begun(tmp_path, "none\n", KEY)
    assert config(tmp_path)["suites"][0]["targets"] == ["oracle"]


def test_where_nobody_can_answer_it_is_said(tmp_path: Path) -> None:
    out = StringIO()
    world = World(out, out, lambda: "", {}, tmp_path)
    assert init(world, None) == 0
    assert "Standard input is not a terminal, so the defaults are used" in out.getvalue()


def test_an_interrupted_question_has_written_nothing(tmp_path: Path) -> None:
    def interrupted() -> str:
        raise KeyboardInterrupt

    out = StringIO()
    world = World(out, out, lambda: "", {}, tmp_path)
    assert guarded(world, lambda world: init(world, interrupted)) == 130
    assert written(tmp_path) == []


# --- what is there stays --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["evalward.yml", "evalward.yaml"])
def test_a_configuration_that_is_there_is_left_and_no_suite_begun(tmp_path: Path, name: str) -> None:
    (tmp_path / name).write_text("mine\n")
    code, said = begun(tmp_path)
    assert code == 0
    assert (tmp_path / name).read_text() == "mine\n"
    assert written(tmp_path) == [".gitignore", name]
    assert f"{name} is there already" in said


@pytest.mark.parametrize("name", SHELL_FILES[1:])
def test_no_other_file_is_overwritten(tmp_path: Path, name: str) -> None:
    write_files(tmp_path, {name: b"mine\n"})
    _, said = begun(tmp_path)
    assert (tmp_path / name).read_text() == "mine\n"
    assert f"left      {name}: it is there already" in said
    assert set(SHELL_FILES) <= set(written(tmp_path))
    assert name not in said.split("git add ", 1)[1].split()


def test_a_second_time_changes_nothing(tmp_path: Path) -> None:
    begun(tmp_path)
    before = {name: (tmp_path / name).read_bytes() for name in written(tmp_path)}
    code, said = begun(tmp_path)
    assert (code, "Nothing was written." in said) == (0, True)
    assert {name: (tmp_path / name).read_bytes() for name in written(tmp_path)} == before


def test_gitignore_gets_one_line_more(tmp_path: Path) -> None:
    (tmp_path / ".gitignore").write_bytes(b"*.log\n\xc3\xa4")
    begun(tmp_path)
    assert (tmp_path / ".gitignore").read_bytes() == b"*.log\n\xc3\xa4\nevalward-out/\n"


def test_below_the_top_of_a_repository_there_is_no_workflow(tmp_path: Path) -> None:
    (tmp_path / ".git").mkdir()
    folder = tmp_path / "service"
    folder.mkdir()
    out = StringIO()
    init(World(out, out, lambda: "", {}, folder), None, silent=True)
    assert (folder / "evalward.yml").exists()
    assert not (folder / ".github").exists()


# --- what the suite is made of --------------------------------------------------------------------------------------


def test_tasks_that_are_there_become_the_suite(tmp_path: Path) -> None:
    lines = "".join(json.dumps(task(id=name)) + "\n" for name in ("a", "b")).encode()
    write_files(tmp_path, {"evals/tasks.jsonl": lines})
    _, said = begun(tmp_path)
    assert config(tmp_path)["suites"][0]["cases"] == ["evals/tasks.jsonl"]
    assert "found     tasks: evals/tasks.jsonl" in said
    assert "2 of 2 solutions run" in valid(tmp_path)


def test_tasks_without_solutions_need_a_model(tmp_path: Path) -> None:
    without, with_model = tmp_path / "without", tmp_path / "with"
    for folder, env in ((without, {}), (with_model, KEY)):
        write_files(folder, {"evals/tasks.jsonl": json.dumps(task(solution=None)).encode()})
        begun(folder, env=env)
    assert config(without)["suites"][0]["name"] == "shell"
    assert config(with_model)["suites"][0]["targets"] == ["anthropic/claude-haiku-4-5"]
    assert "no problem" in valid(with_model)


def test_prompt_files_become_the_suite(tmp_path: Path) -> None:
    prompt = {
        "messages": [{"role": "user", "content": "Say {{input}}."}],
        "testData": [{"id": "one", "input": "hello", "expected": "hello"}],
        "evaluators": [{"name": "same", "string": {"contains": "{{expected}}"}}],
    }
    write_files(tmp_path, {"prompts/say.prompt.yml": yaml.safe_dump(prompt).encode()})
    begun(tmp_path)
    assert config(tmp_path)["suites"][0]["cases"] == ["prompts/say.prompt.yml"]
    assert "1 suite, 1 case" in valid(tmp_path)


def test_what_there_is_no_suite_for_is_said_in_a_line(tmp_path: Path) -> None:
    write_files(tmp_path, {"AGENTS.md": b"", ".mcp.json": b"{}", "skills/a/SKILL.md": b""})
    _, said = begun(tmp_path)
    assert "found     AGENTS.md: `evalward guidance` compares two versions of it" in said
    assert "found     skills/*/SKILL.md: skills without evals. Add evals/trigger-evals.json" in said
    assert config(tmp_path)["suites"][0]["name"] == "shell"


def test_skills_with_evals_become_the_suite(tmp_path: Path) -> None:
    skill = b"---\nname: csv\ndescription: Counts the columns of tables.\n---\nCount them.\n"
    queries = [{"query": "How many columns?", "should_trigger": True}, {"query": "Hello", "should_trigger": False}]
    without, both = tmp_path / "queries", tmp_path / "both"
    for folder in (without, both):
        lists = {".claude/skills/csv/evals/trigger-evals.json": json.dumps(queries).encode()}
        write_files(folder, {".claude/skills/csv/SKILL.md": skill, **lists})
    tasks = {"evals": [{"id": 0, "prompt": "Count.", "expectations": ["There is a number."]}]}
    write_files(both, {".claude/skills/csv/evals/evals.json": json.dumps(tasks).encode()})
    begun(without)
    said = " ".join(begun(both)[1].split())
    assert "left out skills: .claude/skills/*/SKILL.md: its suite needs a model. Set ANTHROPIC_API_KEY or " in said
    (both / "evalward.yml").unlink()
    shutil.rmtree(both / ".github")
    begun(both, env=KEY)
    (suite,) = config(without)["suites"]
    assert (suite["kind"], suite["skills"], suite["targets"]) == ("skill", ".claude/skills/*/SKILL.md", ["oracle"])
    assert "1 suite, 2 cases, 2 trials, no problem" in valid(without)
    assert config(both)["suites"][0]["targets"] == ["oracle", "anthropic/claude-haiku-4-5"]
    assert config(both)["protect"] == [".claude/skills/*/evals/**", ".claude/skills/*/trigger*.json"]
    beaten = {"metric": "uplift_pass_rate", "must_beat": "without"}
    assert beaten in config(both)["policy"]
    assert beaten not in config(without)["policy"]
    assert "1 suite, 3 cases, 5 trials, no problem" in valid(both)

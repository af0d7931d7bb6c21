"""What would fail every check, or assert nothing, is said by `evalward validate` as what it is."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
import yaml

from evalward.cli import guarded
from evalward.commands.validate import validate
from evalward.commands.world import World
from evalward.records.problem import InputError
from evalward.records.result import Trial
from evalward.targets.replay import load_recording
from support.cases import task, write_suite
from support.kept_trials import conversation
from support.results import result
from support.scenarios import TEXT, write_scenario

SCENARIO = TEXT.replace("tool_matrix:\n  - {tool: claude-code, models: [a, b]}\n  - {tool: codex}\n", "")


def said(folder: Path, env: Mapping[str, str] | None = None) -> tuple[int, str]:
    """Exit code and words of `evalward validate`, without the proofs."""
    out = StringIO()
    world = World(out, out, lambda: "2026-11-23T08:00:00Z", env or {}, folder)
    code = guarded(world, lambda world: validate(world, [folder / "evalward.yml"], prove=False))
    return code, out.getvalue().replace(f"{folder}/", "")


# --- what the environment has ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("env", [{"ANTHROPIC_API_KEY": "sk-1"}, {"EVALWARD_SET": "ANTHROPIC_API_KEY,OTHER"}])
def test_a_key_that_an_address_of_ones_own_does_not_get_is_a_warning(tmp_path: Path, env: dict[str, str]) -> None:
    write_suite(tmp_path, [task()], targets=["oracle"])
    config = json.loads((tmp_path / "evalward.yml").read_text("utf-8"))
    config["providers"] = {"anthropic": {"base_url": "https://llm.example"}}
    (tmp_path / "evalward.yml").write_text(json.dumps(config), "utf-8")
    code, text = said(tmp_path, env)
    assert (code, said(tmp_path)[1].count("warning")) == (0, 0)
    assert "providers.anthropic.base_url: ANTHROPIC_API_KEY is set and not sent" in text
    assert "sk-1" not in text


def test_an_address_in_the_environment_that_is_not_asked_is_a_warning(tmp_path: Path) -> None:
    write_suite(tmp_path, [task()], targets=["oracle", "openai/m"])
    assert "warning: OPENAI_BASE_URL is set and not used" in said(tmp_path, {"OPENAI_BASE_URL": "http://x.example"})[1]


# --- no solution ----------------------------------------------------------------------------------------------------


def test_a_case_without_a_solution_under_the_oracle_is_a_mistake(tmp_path: Path) -> None:
    write_suite(tmp_path, [task(), task(id="bare", solution=None)], targets=["nop", "oracle"])
    assert said(tmp_path) == (
        2,
        "error: cases.jsonl:2: bare: the case has no reference solution, and the target oracle has nothing else to "
        "run. Write its solution, or remove oracle from the suite's targets.\n",
    )


def test_without_the_oracle_no_case_needs_one(tmp_path: Path) -> None:
    write_suite(tmp_path, [task(solution=None)], targets=["nop"])
    assert said(tmp_path)[0] == 0


# --- scenarios ------------------------------------------------------------------------------------------------------


def scenarios(folder: Path, text: str = SCENARIO, steps: Any = None, targets: Sequence[str] = ("oracle",)) -> None:
    write_scenario(folder, text)
    suite = {"name": "todo", "kind": "scenario", "cases": "add_task.yaml", "targets": list(targets), "network": "none"}
    config: dict[str, Any] = {"version": 1, "suites": [suite]}
    if steps is not None:
        (folder / "steps.yaml").write_text(yaml.safe_dump(steps), "utf-8")
        config["scripts"] = {"tidy": "steps.yaml"}
    (folder / "evalward.yml").write_text(yaml.safe_dump(config), "utf-8")


def test_a_scenario_without_a_solution_under_the_oracle_is_a_mistake(tmp_path: Path) -> None:
    scenarios(tmp_path, SCENARIO.partition("solution:")[0])
    code, words = said(tmp_path)
    assert code == 2
    assert "add_task.yaml:1: add_task: the case has no reference solution" in words


def test_steps_for_a_scenario_that_does_not_exist_are_a_mistake(tmp_path: Path) -> None:
    scenarios(tmp_path, steps={"add-task": ["./todo add milk"]}, targets=["scripted:tidy"])
    assert said(tmp_path) == (
        2,
        "error: steps.yaml: there are no steps for the case 'add_task'. Did you mean add-task? "
        "Write them under the id of the case, or some as `default`.\n",
    )


def test_steps_that_no_case_takes_are_a_warning(tmp_path: Path) -> None:
    scenarios(tmp_path, steps={"default": ["true"], "add-task": ["false"]}, targets=["scripted:tidy"])
    code, words = said(tmp_path)
    assert code == 0
    warning = "warning: steps.yaml: no case of scripted:tidy is called 'add-task', so its steps are never taken."
    assert f"{warning} Did you mean add_task?" in words


@pytest.mark.parametrize("name", ["add_task", "default"])
def test_steps_that_fit_are_as_they_should_be(tmp_path: Path, name: str) -> None:
    scenarios(tmp_path, steps={name: ["./todo add milk"]}, targets=["scripted:tidy"])
    code, words = said(tmp_path)
    assert (code, words.splitlines()[0]) == (0, "evalward.yml: 1 suite, 1 case, 1 trial, no problem")
    assert "steps" not in words


@pytest.mark.parametrize(
    ("text", "place", "remedy"),
    [
        (SCENARIO.replace("  gates:", "  gtaes:"), "evaluation.gtaes", "Did you mean gates?"),
        (
            SCENARIO.replace("  gates:", "  assertions:"),
            "evaluation.assertions",
            "Known keys: gates, judge,",
        ),
        (SCENARIO.replace("\nevaluation:", "\nevalution:"), "evalution", "Did you mean evaluation?"),
        (
            SCENARIO.partition("evaluation:")[0] + "judge: {enabled: true}\nsolution: ['true']\n",
            "judge",
            "Write it below evaluation:, as evaluation: {judge: …}.",
        ),
    ],
)
def test_gates_that_are_misspelt_are_a_mistake(tmp_path: Path, text: str, place: str, remedy: str) -> None:
    scenarios(tmp_path, text)
    code, words = said(tmp_path)
    assert code == 2
    assert f": {place}: unknown key " in words
    assert f"without it the scenario asserts nothing: no gate and no judge. {remedy}" in words


def test_a_scenario_that_means_to_assert_nothing_is_a_warning(tmp_path: Path) -> None:
    begin, _, rest = SCENARIO.partition("evaluation:\n")
    scenarios(tmp_path, begin + rest[rest.index("scripts:") :])
    code, words = said(tmp_path)
    assert code == 0
    assert "nothing is asserted: neither gates nor a judge. Add a gate." in words


# --- recordings -----------------------------------------------------------------------------------------------------


def recorded(folder: Path, *targets: str, suite: str = "shell") -> Path:
    """A folder as `evalward run --record` leaves it: a file for each target."""
    folder.mkdir(exist_ok=True)
    for target in targets:
        name = f"{suite}.{target.replace('/', '-')}.jsonl"
        trace = conversation("Print hello.", "echo hello", "hello\n")
        trial = Trial(suite=suite, kind="bash", target=target, subject="s", result=result("hello"), trace=trace)
        (folder / name).write_text(trial.model_dump_json(by_alias=True) + "\n", "utf-8")
    return folder


@pytest.mark.parametrize("targets", [("anthropic/a",), ("oracle", "anthropic/a"), ("nop", "oracle", "anthropic/a")])
def test_what_record_leaves_is_a_recording_of_the_model(tmp_path: Path, targets: Sequence[str]) -> None:
    alone = load_recording("it", recorded(tmp_path / "alone", "anthropic/a")).subject
    assert load_recording("it", recorded(tmp_path / "all", *targets)).subject == alone


def test_of_several_models_one_has_to_be_named_and_the_files_are_shown(tmp_path: Path) -> None:
    folder = recorded(tmp_path / "evals", "oracle", "anthropic/a", "openai/b")
    with pytest.raises(InputError) as caught:
        load_recording("it", folder, "evals", tmp_path)
    message = str(caught.value)
    assert (
        "several targets (anthropic/a: evals/shell.anthropic-a.jsonl; openai/b: evals/shell.openai-b.jsonl)" in message
    )
    assert "oracle" not in message


def test_a_pattern_takes_the_files_of_several_suites(tmp_path: Path) -> None:
    recorded(tmp_path / "evals", "anthropic/a", "openai/b")
    recorded(tmp_path / "evals", "anthropic/a", "openai/b", suite="other")
    pattern = "evals/*.anthropic-a.jsonl"
    one = load_recording("it", tmp_path / "evals" / "shell.anthropic-a.jsonl").subject
    both = load_recording("it", tmp_path / pattern, pattern, tmp_path).subject
    assert both != one
    with pytest.raises(InputError, match="holds no trial"):
        load_recording("it", tmp_path / "evals/*.none.jsonl", "evals/*.none.jsonl", tmp_path)


def test_a_pattern_follows_no_link(tmp_path: Path) -> None:
    recorded(tmp_path / "outside", "anthropic/a")
    (tmp_path / "root" / "evals").mkdir(parents=True)
    link = tmp_path / "root" / "evals" / "a.jsonl"
    link.symlink_to(next((tmp_path / "outside").iterdir()))
    with pytest.raises(InputError, match="symbolic link"):
        load_recording("it", tmp_path / "root" / "evals" / "*.jsonl", "evals/*.jsonl", tmp_path / "root")

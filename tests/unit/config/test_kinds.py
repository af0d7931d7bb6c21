"""Suites of a kind that somebody else's distribution brings: read and refused as ours are."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from evalward import registry
from evalward.config import ComparedSuite, IsolatedSuite, LoadedConfig, SandboxedSuite, Suite
from evalward.config.kinds import spec_of
from evalward.config.load import parse_config
from evalward.config.model import Config
from evalward.engine.plan import make_plan
from evalward.engine.selection import Selection
from evalward.records.problem import InputError
from evalward.sandbox.process import Isolation, SandboxLimits, WorkspaceSettings
from evalward.suites.base import Kind, kind_named
from evalward.suites.bash.kind import BASH
from evalward.suites.command.kind import COMMAND
from evalward.suites.external.kind import EXTERNAL
from evalward.suites.isolation import settings_of, shortcomings
from evalward.suites.mcp.kind import MCP
from evalward.suites.prompt.kind import PROMPT
from evalward.suites.scenario.kind import SCENARIO
from evalward.suites.skill.kind import SKILL
from evalward.suites.speedup.kind import SPEEDUP
from support.plugins import ANSWERS, installed_here

SUITE = {"name": "s", "kind": "answer", "cases": "a.jsonl", "targets": ["oracle"]}


@pytest.fixture
def answers(tmp_path: Path) -> Iterator[None]:
    with installed_here(ANSWERS, tmp_path / "site"):
        yield


@pytest.fixture
def changed(tmp_path: Path) -> Path:
    """The plugin, for a test to break."""
    return Path(shutil.copytree(ANSWERS, tmp_path / "changed"))


def read(**keys: Any) -> LoadedConfig:
    return parse_config(json.dumps({"version": 1, "suites": [{**SUITE, **keys}]}), "evalward.yml", Path("/repo"))


def told(**keys: Any) -> str:
    with pytest.raises(InputError) as caught:
        read(**keys)
    return str(caught.value)


@pytest.mark.usefixtures("answers")
def test_a_kind_that_is_installed__has_its_own_keys() -> None:
    suite = read(max_turns=3, sandbox="process", shell=["sh", "-c"]).config.suites[0]
    assert isinstance(suite, SandboxedSuite)
    assert (type(suite).__name__, suite.kind, suite.shell) == ("AnswerSuite", "answer", ["sh", "-c"])
    assert suite.model_dump()["max_turns"] == 3


@pytest.mark.usefixtures("answers")
def test_it_is_written_and_read_again_as_a_whole() -> None:
    config = read(max_turns=3).config
    assert Config.model_validate_json(config.model_dump_json(by_alias=True)) == config


def test_a_kind_that_is_not_installed__is_refused_with_those_that_are() -> None:
    assert 'unknown value "answer". Known: bash, command, external, mcp, prompt, scenario, skill, speedup.' in told()


@pytest.mark.usefixtures("answers")
def test_those_that_are_installed__are_named_after_ours() -> None:
    assert (
        'unknown value "poem". Known: bash, command, external, mcp, prompt, scenario, skill, speedup, answer.'
        in told(kind="poem")
    )


@pytest.mark.usefixtures("answers")
@pytest.mark.parametrize(
    ("keys", "words"),
    [
        ({"turns": 3}, 'suites[0].turns: unknown key "turns". Did you mean max_turns?'),
        ({"rounds": 3}, 'suites[0].rounds: unknown key "rounds". Known keys: name, kind, cases, targets,'),
        ({"max_turns": "3"}, 'suites[0].max_turns: must be a whole number, not the text "3". Remove the quotes: 3.'),
        ({"max_turns": 0}, "suites[0].max_turns: must be at least 1, not 0."),
        ({"shell": ["sh"]}, "suites[0].shell: only real processes have a shell that can be chosen."),
        ({"cases": "../a.jsonl"}, 'suites[0].cases: the path "../a.jsonl" has .. in it.'),
        ({"targets": ["patch:x"]}, 'suites of kind answer don\'t take the target "patch:x". Here: oracle, nop,'),
        ({"targets": ["codex/m"]}, 'suites of kind answer don\'t take the target "codex/m". Here: oracle, nop,'),
        ({"targets": ["replay:x"]}, 'there is no recording "x". Add it: recordings: {x: FOLDER}.'),
        ({"targets": ["poet/x"]}, 'unknown target "poet/x".'),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_its_mistakes_are_told_as_those_of_ours(keys: dict[str, Any], words: str) -> None:
    assert words in told(**keys)


def test_a_distribution_that_is_broken__is_named(changed: Path, tmp_path: Path) -> None:
    (changed / "evalward_answers.py").write_text("import no_such_module\n")
    with installed_here(changed, tmp_path / "site"):
        said = told()
    assert "suites[0]: the kind answer can't be loaded: ModuleNotFoundError: No module named 'no_such_module'" in said


def test_a_kind_whose_spec_is_none__is_named(changed: Path, tmp_path: Path) -> None:
    (changed / "evalward_answers.py").write_text("class ANSWER:\n    spec = dict\n")
    with installed_here(changed, tmp_path / "site"):
        assert "the kind answer can't be used: its spec is not a subclass of evalward.config.Suite" in told()


@pytest.mark.parametrize("raised", ["SystemExit(0)", "KeyError('HOME')"])
def test_a_distribution_that_ends_the_process_or_misses_a_key__is_broken_all_the_same(
    changed: Path, tmp_path: Path, raised: str
) -> None:
    (changed / "evalward_answers.py").write_text(f"raise {raised}\n")
    with installed_here(changed, tmp_path / "site"):
        assert "suites[0]: the kind answer can't be loaded: " + raised.partition("(")[0] in told()
        with pytest.raises(InputError, match=r"entry point answer of evalward\.kinds: can't be loaded"):
            kind_named("answer")


@pytest.mark.parametrize(
    ("object_", "words"),
    [
        ("AnswerKind", "is the class AnswerKind, and a kind is an object of it"),
        ("type('Other', (AnswerKind,), {'name': 'other'})()", 'names a kind that calls itself "other"'),
        (
            "type('Half', (), {'name': 'answer', 'spec': AnswerSuite})()",
            "is not a kind of suite: it has no as_failed, ",
        ),
    ],
)
def test_what_is_no_kind__is_named(changed: Path, tmp_path: Path, object_: str, words: str) -> None:
    module = changed / "evalward_answers.py"
    module.write_text(module.read_text("utf-8").replace("ANSWER = AnswerKind()", f"ANSWER = {object_}"))
    with installed_here(changed, tmp_path / "site"), pytest.raises(InputError) as caught:
        kind_named("answer")
    assert f"entry point answer of evalward.kinds: {words}" in str(caught.value)


def test_nobody_takes_the_name_of_one_of_ours(changed: Path, tmp_path: Path) -> None:
    project = (changed / "pyproject.toml").read_text("utf-8")
    (changed / "pyproject.toml").write_text(project.replace("answer = ", "bash = "))
    with installed_here(changed, tmp_path / "site"):
        suite = read(kind="bash", tool="t.md").config.suites[0]
    assert type(suite).__module__ == "evalward.suites.bash.spec"


# ------------------------------------------------------------------------------------------- what a kind asks for


SPEC_APART = """\
from evalward.config import IsolatedSuite

class AnswerSuite(IsolatedSuite):
    rounds: int = 2
"""


def test_a_configuration_is_read__without_loading_the_kind(changed: Path, tmp_path: Path) -> None:
    (changed / "evalward_answers.py").write_text("raise RuntimeError\n")
    (changed / "evalward_answers_spec.py").write_text(SPEC_APART)
    project = (changed / "pyproject.toml").read_text("utf-8")
    points = '[project.entry-points."evalward.specs"]\nanswer = "evalward_answers_spec:AnswerSuite"\n'
    (changed / "pyproject.toml").write_text(project + points)
    with installed_here(changed, tmp_path / "site"):
        suite = read(rounds=3, network="loopback").config.suites[0]
    assert suite.model_dump()["rounds"] == 3


@pytest.mark.parametrize("kind", ["bash", "command", "scenario", "speedup"])
def test_the_spec_of_one_of_ours__loads_nothing_else_of_it(kind: str) -> None:
    program = f"""
import json, sys
from evalward.config.kinds import spec_of
spec_of({kind!r})
print(json.dumps([name for name in sys.modules if name.startswith("evalward.suites.")]))
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    own = {f"evalward.suites.{kind}", f"evalward.suites.{kind}.spec", "evalward.suites.target_forms"}
    assert set(json.loads(done.stdout)) - {"evalward.suites.command.safety_rules"} <= own


def test_ours_are_kinds_whose_spec_is_the_one_that_is_named_apart() -> None:
    ours: list[Kind] = [BASH, COMMAND, EXTERNAL, MCP, PROMPT, SCENARIO, SKILL, SPEEDUP]
    assert {kind.name: kind.spec for kind in ours} == {name: spec_of(name) for name in registry.ours(registry.KINDS)}


class Isolated(IsolatedSuite):
    """A suite of a kind that starts programs."""


def isolated(network: str) -> Isolated:
    keys = {"name": "s", "kind": "x", "cases": "a", "targets": "nop"}
    return Isolated.model_validate({**keys, "network": network, "allow_unisolated": True})


def test_any_kind_gets_walls_as_its_suite_says() -> None:
    settings = settings_of(isolated("loopback"), SandboxLimits(memory_mb=100), [Path("/opt/tool")])
    assert settings == WorkspaceSettings(
        limits=SandboxLimits(memory_mb=100), network="loopback", readable=(Path("/opt/tool"),), allow_unisolated=True
    )


def test_walls_that_are_too_low_are_told() -> None:
    open_here = Isolation(user=False, processes=False, files=True, network="open", how="Landlock")
    partly, reached = shortcomings(isolated("none"), open_here, "programs")
    assert partly.startswith("s: programs work here with partial isolation")
    assert reached == "s: `network: none` can't be enforced here: programs reach the network"


def test_any_kind_gets_the_judge_that_it_wants(changed: Path, tmp_path: Path) -> None:
    module = changed / "evalward_answers.py"
    text = module.read_text("utf-8").replace("=prompting.texts)", "=prompting.texts, judging=JudgeNeeds())")
    module.write_text(text.replace("SYSTEM =", "from evalward.suites.judge.who import JudgeNeeds\n\nSYSTEM =", 1))
    line = {"id": "q", "question": "What?", "expected": "That."}
    (tmp_path / "a.jsonl").write_text(json.dumps(line), "utf-8")
    config = {"version": 1, "suites": [SUITE], "judge": {"model": "openai/gpt-5-mini"}}
    with installed_here(changed, tmp_path / "site"):
        (run,) = make_plan(parse_config(json.dumps(config), "evalward.yml", tmp_path), Selection()).runs
    judge = run.suite.judges.of() if run.suite.judges is not None else None
    assert judge is not None
    assert judge.model == "openai/gpt-5-mini"
    assert "judge" in run.suite.subject


# ------------------------------------------------------------------------------------------- docs/plugins.md

PAGE = (Path(__file__).parents[3] / "docs" / "plugins.md").read_text("utf-8")


def test_the_page_shows_the_kind_that_is_tried() -> None:
    assert (ANSWERS / "evalward_answers.py").read_text("utf-8") in PAGE
    point = 'answer = "evalward_answers:ANSWER"'
    assert point in PAGE
    assert point in (ANSWERS / "pyproject.toml").read_text("utf-8")


@pytest.mark.usefixtures("answers")
def test_the_pages_suite_is_one() -> None:
    (text,) = re.findall(r"```yaml\n(.*?)```", PAGE, re.DOTALL)
    assert parse_config(text, "evalward.yml", Path("/repo")).config.suites[0].model_dump()["max_turns"] == 3


def test_the_page_names_all_that_a_kind_has() -> None:
    named = [name for name in dir(Kind) if not name.startswith("_")]
    assert [name for name in named if f"`{name}" not in PAGE] == []
    keys = [key for spec in (Suite, SandboxedSuite, IsolatedSuite, ComparedSuite) for key in spec.model_fields]
    assert [key for key in keys if f"`{key}" not in PAGE and key != "listed"] == []

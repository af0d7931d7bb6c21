"""Suites of a kind that somebody else's distribution brings: read and refused as ours are."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from evalward.config import LoadedConfig, SandboxedSuite
from evalward.config.load import parse_config
from evalward.config.model import Config
from evalward.records.problem import InputError
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
    assert 'unknown value "answer". Known: bash, command, scenario, speedup.' in told()


@pytest.mark.usefixtures("answers")
def test_those_that_are_installed__are_named_after_ours() -> None:
    assert 'unknown value "poem". Known: bash, command, scenario, speedup, answer.' in told(kind="poem")


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
        ({"targets": ["patch:x"]}, 'suites of kind answer have no target like "patch:x". Here: oracle, nop,'),
        ({"targets": ["codex/m"]}, 'suites of kind answer have no target like "codex/m". Here: oracle, nop,'),
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
        assert "the kind answer can't be used: its spec is no subclass of evalward.config.Suite" in told()


def test_nobody_takes_the_name_of_one_of_ours(changed: Path, tmp_path: Path) -> None:
    project = (changed / "pyproject.toml").read_text("utf-8")
    (changed / "pyproject.toml").write_text(project.replace("answer = ", "bash = "))
    with installed_here(changed, tmp_path / "site"):
        suite = read(kind="bash", tool="t.md").config.suites[0]
    assert type(suite).__module__ == "evalward.suites.bash.spec"

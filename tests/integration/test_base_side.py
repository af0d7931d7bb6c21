"""The base commit prepared from real git objects: what it asks is what a checkout of it would ask, to the last bit."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from evalward.commands.commit_files import FilesOfCommit, base_of_baseline
from evalward.config.load import load_config
from evalward.engine.beside import NewHereError, NotMeasuredError, equally_defined
from evalward.engine.plan import PlannedRun, make_plan
from evalward.engine.selection import Selection
from evalward.git import GitTree
from evalward.records.baseline import Baseline, BaselineProvenance
from evalward.records.problem import InputError
from evalward.runner.base_side import BaseCommit
from evalward.suites.scenario.case import ScenarioCase
from evalward.wire import messages as m
from support.cases import task
from support.git_repo import commit, git, init
from support.prompt_files import CAPITALS

CLAUDE = "anthropic/claude-haiku-4-5"
SCENARIO = {
    "name": "add_task",
    "template_folder": "../fixtures/todo",
    "target": {"binary": "./todo"},
    "task": {"prompt": "Add milk."},
    "evaluation": {
        "gates": [{"type": "file_contains", "path": "tasks.txt", "substring": "milk"}],
        "judge": {"enabled": True, "rubric": "../rubric.yaml", "pass_threshold": 0.5},
    },
}
RUBRIC = {"criteria": [{"id": "tidy", "weight": 1.0, "description": "It is tidy."}], "output": {"format": "json"}}


def suite(**changes: Any) -> dict[str, Any]:
    return {"name": "s", "kind": "bash", "cases": "cases.jsonl", "targets": [CLAUDE], **changes}


def files(*suites: dict[str, Any], **more: str) -> dict[str, str]:
    """A repository's files: the configuration, two cases, a prompt."""
    config = {"version": 1, "suites": list(suites), "judge": {"model": CLAUDE}, "programs": PROGRAMS}
    cases = "".join(json.dumps(task(id=name)) + "\n" for name in ("one", "two"))
    if not any("program:p" in each["targets"] for each in suites):
        del config["programs"]
    if not any(each["kind"] == "scenario" for each in suites):
        del config["judge"]
    return {"evalward.yml": json.dumps(config), "cases.jsonl": cases, "prompt.md": "The base's way.", **more}


PROGRAMS = {"p": {"command": ["cat", "{prompt}"]}}
TODO = {
    "evals/s/add.yaml": json.dumps(SCENARIO),
    "evals/rubric.yaml": json.dumps(RUBRIC),
    "evals/fixtures/todo/todo": "#!/bin/sh\n",
    "evals/fixtures/todo/AGENTS.md": "Use the base's way.",
    "evals/fixtures/todo/docs/more.md": "more",
}


class Sides:
    """A repository whose base is committed, and whose checkout is the head."""

    def __init__(self, folder: Path, base: Mapping[str, str], head: Mapping[str, str] | None = None) -> None:
        self.folder = init(folder / "repo")
        for path, text in base.items():
            self.put(path, text)
        self.base = commit(self.folder, {})
        for path, text in (head or {}).items():
            self.put(path, text)
        self.into = folder / "base"
        self.into.mkdir()

    def put(self, path: str, text: str) -> None:
        place = self.folder / path
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(text, "utf-8")
        if text.startswith("#!"):
            place.chmod(0o755)

    def commit(self, file: str = "evalward.yml", **changes: Any) -> BaseCommit:
        """The base, as the runner has it."""
        loaded = load_config(self.folder / file)
        tree = GitTree(loaded.root, search_path=os.environ["PATH"])
        there = FilesOfCommit.at(tree, self.base, tree.prefix() or "")

        def listed(folder: str) -> list[m.BaseFile] | None:
            found = there.listed(folder)
            return None if found is None else [m.BaseFile(path=f.path, program=f.program, link=f.link) for f in found]

        side = m.BaseSide(commit=self.base, config="evalward.yml").model_copy(update=changes)
        return BaseCommit(side, loaded, {"ANTHROPIC_API_KEY": "held"}, None, there.read, listed, self.into)

    def head(self, target: str = CLAUDE) -> PlannedRun:
        plan = make_plan(load_config(self.folder / "evalward.yml"), Selection(targets=[target]))
        return plan.runs[0]


def test_prompt_of_the_base__and_cases_of_the_same_definition(tmp_path: Path) -> None:
    one = suite(system="prompt.md")
    sides = Sides(tmp_path, files(one), {"prompt.md": "The head's way."})
    base, head = sides.commit().run("s", CLAUDE), sides.head()
    assert base.suite.settings.prompting.system == "The base's way."
    assert head.suite.settings.prompting.system == "The head's way."
    assert sorted(equally_defined(head.cases, base.cases)) == ["one", "two"]
    assert base.target.id == CLAUDE


def test_prompt_files_of_the_base__with_cases_of_the_same_definition(tmp_path: Path) -> None:
    one = suite(kind="prompt", cases="prompts/*.prompt.yml")
    path = "prompts/capitals.prompt.yml"
    edited = {**CAPITALS, "messages": [{"role": "user", "content": "The head's way: {{input}}"}]}
    sides = Sides(tmp_path, files(one, **{path: json.dumps(CAPITALS)}), {path: json.dumps(edited)})
    base, head = sides.commit().run("s", CLAUDE), sides.head()
    assert sorted(equally_defined(head.cases, base.cases)) == ["capitals/1", "capitals/italy"]
    asked = [run.suite.settings.prompting["capitals"].request({"input": "X"}) for run in (base, head)]
    assert [request.messages[0].text for request in asked] == ["What is the capital of X?", "The head's way: X"]


def test_models_are_asked_where_the_judging_configuration_says(tmp_path: Path) -> None:
    """An older commit may name hosts that nobody would send a key to any more."""
    base, head = files(suite()), files(suite())
    config = json.loads(base["evalward.yml"])
    base["evalward.yml"] = json.dumps({**config, "providers": {"anthropic": {"base_url": "https://old.example"}}})
    sides = Sides(tmp_path, base, head)
    found = sides.commit()
    assert found.run("s", CLAUDE).target.subject == sides.head().target.subject
    assert found._config.config.providers == found.loaded.config.providers


def test_scenario_of_the_base__with_its_guidance__programs_and_links(tmp_path: Path) -> None:
    one = suite(kind="scenario", cases="evals/s/*.yaml")
    sides = Sides(tmp_path, files(one, **TODO))
    (sides.folder / "evals/fixtures/todo/link").symlink_to("docs/more.md")
    sides.base = commit(sides.folder, {})
    sides.put("evals/fixtures/todo/AGENTS.md", "Use the head's way.")
    base, head = sides.commit().run("s", CLAUDE), sides.head()
    assert list(equally_defined(head.cases, base.cases)) == ["add_task"]  # mode, link and rubric are in the definition
    (case,) = base.cases
    assert isinstance(case, ScenarioCase)
    assert (case.fixture / "AGENTS.md").read_text() == "Use the base's way."
    assert case.fixture.is_relative_to(sides.into)
    assert case.guidance != head.cases[0].guidance  # type: ignore[attr-defined]


def test_config_in_a_folder__paths_count_from_there(tmp_path: Path) -> None:
    inner = {f"ai/{path}": text for path, text in files(suite(cases="*.jsonl", system="prompt.md")).items()}
    sides = Sides(tmp_path, {**inner, "cases.jsonl": "not this one"})
    assert [case.id for case in sides.commit("ai/evalward.yml").run("s", CLAUDE).cases] == ["one", "two"]
    assert sorted(path.name for path in sides.into.iterdir()) == ["cases.jsonl", "prompt.md"]


def test_files_of_the_head__are_not_in_the_bases_folder(tmp_path: Path) -> None:
    """Neither what is uncommitted, nor what a link of the checkout leads to, nor what a pattern finds there only."""
    sides = Sides(tmp_path, files(suite(cases="*.jsonl")), {"more.jsonl": json.dumps(task(id="three")), "x": "y"})
    (sides.folder / "cases.jsonl").unlink()
    (sides.folder / "cases.jsonl").symlink_to("more.jsonl")
    assert [case.id for case in sides.commit().run("s", CLAUDE).cases] == ["one", "two"]
    assert [path.name for path in sides.into.iterdir()] == ["cases.jsonl"]
    assert not (sides.into / "cases.jsonl").is_symlink()


@pytest.mark.parametrize(
    ("base", "head", "target", "told"),
    [
        (suite(name="t"), suite(), CLAUDE, "the base commit has no such suite"),
        (suite(targets=["oracle"]), suite(), CLAUDE, f"the base commit's suite has no target {CLAUDE}"),
        (suite(system="gone.md"), suite(), CLAUDE, "gone.md"),
        (suite(cases="gone/*.jsonl"), suite(), CLAUDE, "no file matches 'gone/*.jsonl'"),
        (suite(sandbox="process"), suite(), CLAUDE, "its shell is a program of this machine"),
        (suite(sandbox="process", shell=["./sh", "-c"]), suite(), CLAUDE, "its shell is a program of this machine"),
        (
            suite(kind="command", cases="c.yaml", targets=["program:p"]),
            suite(),
            "program:p",
            "is a program of this checkout",
        ),
        (suite(kind="mcp", server={"command": ["x"]}), suite(), CLAUDE, "its server is a program of this checkout"),
        (suite(kind="mcp", server={"url": "http://x/"}), suite(), CLAUDE, "its server is at an address"),
        (suite(kind="speedup", targets=["nop"]), suite(), "nop", "of the kind speedup"),
    ],
)
def test_base_that_cant_be_measured__says_why(
    tmp_path: Path, base: dict[str, Any], head: dict[str, Any], target: str, told: str
) -> None:
    sides = Sides(tmp_path, files(base), files(head))
    with pytest.raises(NotMeasuredError) as caught:
        sides.commit().run("s", target)
    assert told in str(caught.value)
    assert isinstance(caught.value, NewHereError) == ("has no" in told)


def test_tool_that_is_installed__is_the_heads_on_both_sides__so_it_is_not_measured(tmp_path: Path) -> None:
    installed = json.dumps({**SCENARIO, "target": {"binary": "todo-of-this-machine"}})
    one = suite(kind="scenario", cases="evals/s/*.yaml")
    sides = Sides(tmp_path, files(one, **{**TODO, "evals/s/add.yaml": installed}))
    with pytest.raises(NotMeasuredError, match="the tool is installed on this machine"):
        sides.commit().run("s", CLAUDE)


def test_config_of_the_base_that_is_broken_or_not_there__says_why(tmp_path: Path) -> None:
    sides = Sides(tmp_path, {**files(suite()), "evalward.yml": "version: 2"}, files(suite()))
    with pytest.raises(NotMeasuredError, match=r"evalward\.yml \(base [0-9a-f]{12}\).*[^.]$"):  # a part of a sentence
        sides.commit().run("s", CLAUDE)
    with pytest.raises(NotMeasuredError, match=r"the base commit has no other\.yml"):
        sides.commit(config="other.yml").run("s", CLAUDE)


def test_no_base__its_reason_is_the_note(tmp_path: Path) -> None:
    sides = Sides(tmp_path, files(suite()))
    with pytest.raises(NotMeasuredError, match="a schedule has none"):
        sides.commit(why_not="a schedule has none").run("s", CLAUDE)


# --- which commit, on the command line --------------------------------------------------------------------------------


def test_commit_that_the_baseline_is_of__or_the_one_that_is_named(tmp_path: Path) -> None:
    sides = Sides(tmp_path, files(suite()))
    git(sides.folder, "tag", "v1")
    loaded = load_config(sides.folder / "evalward.yml")
    tree = GitTree(loaded.root, search_path=os.environ["PATH"])
    assert base_of_baseline(tree, loaded, known(sides.base), None)[1].commit == sides.base
    assert base_of_baseline(tree, loaded, None, "v1")[1].commit == sides.base
    assert base_of_baseline(tree, loaded, None, None)[1].why_not == "there is no baseline; name a commit with --base"
    gone, side = base_of_baseline(tree, loaded, known("c" * 40), None)
    why = "the commit of the baseline, cccccccccccc, is not in the repository here; fetch it"
    assert (gone, side.why_not) == (None, why)
    assert "doesn't say which commit it is from" in str(base_of_baseline(tree, loaded, known(None), None)[1].why_not)
    for name in ("nothing", ""):  # an empty variable of a script names no commit, and isn't left out
        with pytest.raises(InputError, match=f"there is no commit '{name}' here"):
            base_of_baseline(tree, loaded, known(sides.base), name)


def known(sha: str | None) -> Baseline:
    """A baseline of this commit."""
    return Baseline(provenance=BaselineProvenance(created_at="2026-11-21T08:00:00Z", commit=sha, evalward="0"))

"""On a laptop, too, a stranger's branch that is checked out does not say which command gets a key."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from evalward.commands.foreign_commands import VARIABLE, refuse_foreign_commands
from evalward.config.load import load_config
from evalward.records.problem import InputError
from support.git_repo import git, init, pull_request_repo, write_files

ENV = {"MY_KEY": "sk-0123456789abcdef", "PATH": "/usr/bin:/bin"}
OURS: dict[str, Any] = {"run": "inspect eval bot.py", "env": ["MY_KEY"]}


def config(name: str = "bot", **keys: Any) -> str:
    suite = {"name": name, "kind": "external", "results": "logs/*.json", **keys}
    return json.dumps({"version": 1, "suites": [suite]})


def cloned(folder: Path, default: dict[str, str], branch: str) -> Path:
    """A clone whose default branch has these files, with a branch checked out that has another configuration."""
    origin = init(folder / "origin")
    write_files(origin, {"README.md": "x\n", **default})
    git(origin, "add", ".")
    git(origin, "commit", "--quiet", "-m", "one")
    git(folder, "clone", "--quiet", str(origin), "clone")
    write_files(folder / "clone", {"evalward.yml": branch})
    return folder / "clone" / "evalward.yml"


@pytest.mark.parametrize(
    "branch",
    [
        config(**{**OURS, "run": "curl evil"}),
        config(**OURS, rerun="curl evil {dir}"),
        config(**OURS, shell=True),
        config("new", **OURS),
        config("new", **{**OURS, "run": "curl evil"}, replaces="bot"),
    ],
)
def test_a_command_that_the_checkout_alone_has(tmp_path: Path, branch: str) -> None:
    path = cloned(tmp_path, {"evalward.yml": config(**OURS)}, branch)
    with pytest.raises(InputError) as caught:
        refuse_foreign_commands(load_config(path), ENV)
    told = str(caught.value)
    assert "suites[0].env: MY_KEY would go to a command that this checkout alone has" in told
    assert f"set {VARIABLE}=" in told
    assert ENV["MY_KEY"] not in told
    refuse_foreign_commands(load_config(path), {**ENV, VARIABLE: "x, bot, new"})
    refuse_foreign_commands(load_config(path), {**ENV, "MY_KEY": ""})
    refuse_foreign_commands(load_config(path), ENV, ["others-*"])


@pytest.mark.parametrize(
    "branch", [config(**OURS), config(**OURS, score="match"), config("new", **OURS, replaces="bot"), config(run="x")]
)
def test_one_of_the_default_branch__or_without_keys(tmp_path: Path, branch: str) -> None:
    refuse_foreign_commands(load_config(cloned(tmp_path, {"evalward.yml": config(**OURS)}, branch)), ENV)


def test_a_default_branch_without_a_configuration_has_nothing_to_change(tmp_path: Path) -> None:
    refuse_foreign_commands(load_config(cloned(tmp_path, {}, config(**OURS))), ENV)
    (tmp_path / "evalward.yml").write_text(config(**OURS))
    refuse_foreign_commands(load_config(tmp_path / "evalward.yml"), ENV)


def proposed(folder: Path, base: dict[str, str], head: dict[str, str]) -> tuple[Path, dict[str, str]]:
    """A pull request's checkout in a workflow, and the variables of the step."""
    repo = pull_request_repo(folder, {"README.md": "x\n", **base}, head)
    env = {**ENV, "GITHUB_ACTIONS": "true", "GITHUB_EVENT_NAME": "pull_request", "GITHUB_SHA": repo.merge}
    return repo.folder / "evalward.yml", env


def test_a_pull_requests_own_command__gets_no_key_of_its_workflow(tmp_path: Path) -> None:
    path, env = proposed(
        tmp_path / "a", {"evalward.yml": config(**OURS)}, {"evalward.yml": config(run="evil", env=["MY_KEY"])}
    )
    with pytest.raises(InputError, match="not the base of the pull request") as caught:
        refuse_foreign_commands(load_config(path), env)
    assert "fetch-depth: 2" in str(caught.value)
    refuse_foreign_commands(load_config(path), {**env, VARIABLE: "bot"})
    refuse_foreign_commands(load_config(path), {**env, "MY_KEY": ""})


def test_the_bases_command__gets_its_key_in_a_pull_request(tmp_path: Path) -> None:
    path, env = proposed(tmp_path / "a", {"evalward.yml": config(**OURS)}, {"README.md": "new\n"})
    refuse_foreign_commands(load_config(path), env)


@pytest.mark.parametrize("sha", ["", "0" * 40, "HEAD"])
def test_a_base_that_can_not_be_read__gives_no_key(tmp_path: Path, sha: str) -> None:
    """Nor does one without a configuration."""
    path, env = proposed(tmp_path / "a", {}, {"evalward.yml": config(**OURS)})
    for each in (sha, env["GITHUB_SHA"]):
        with pytest.raises(InputError, match="not the base of the pull request"):
            refuse_foreign_commands(load_config(path), {**env, "GITHUB_SHA": each})


def test_a_head_that_is_checked_out_on_the_bases_event__does_not_say_what_gets_keys(tmp_path: Path) -> None:
    path, env = proposed(
        tmp_path / "a", {"evalward.yml": config(**OURS)}, {"evalward.yml": config(run="evil", env=["MY_KEY"])}
    )
    base = git(path.parent, "rev-parse", "HEAD^1")
    target = {**env, "GITHUB_EVENT_NAME": "pull_request_target", "GITHUB_SHA": base}
    with pytest.raises(InputError, match="not the base of the pull request"):
        refuse_foreign_commands(load_config(path), target)

"""On a laptop, too, a stranger's branch that is checked out does not say where a key goes."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from evalward.commands.hosts import VARIABLE, refuse_foreign_hosts
from evalward.config.load import load_config
from evalward.records.problem import InputError
from support.git_repo import git, init, write_files
from support.live_runs import Repo
from support.model_server import ModelServer

KEY = {"MY_KEY": "sk-0123456789abcdef", "PATH": "/usr/bin:/bin"}


def config(url: str | None, **provider: Any) -> str:
    suite = {"name": "s", "kind": "bash", "cases": "c.jsonl", "targets": ["oracle", "openai/gpt-5"]}
    given = {"key_env": "MY_KEY", **({"base_url": url} if url else {}), **provider}
    return json.dumps({"version": 1, "suites": [suite], "providers": {"openai": given}})


def cloned(folder: Path, default: str, branch: str) -> Path:
    """A clone whose default branch has one configuration, with a branch checked out that has another."""
    origin = init(folder / "origin")
    write_files(origin, {"evalward.yml": default})
    git(origin, "add", ".")
    git(origin, "commit", "--quiet", "-m", "one")
    git(folder, "clone", "--quiet", str(origin), "clone")
    write_files(folder / "clone", {"evalward.yml": branch})
    return folder / "clone" / "evalward.yml"


def refused(path: Path, env: dict[str, str] = KEY) -> str:
    with pytest.raises(InputError) as caught:
        refuse_foreign_hosts(load_config(path), env)
    return str(caught.value)


def test_a_host_that_the_checkout_alone_names(tmp_path: Path) -> None:
    path = cloned(tmp_path, config(None), config("https://elsewhere.example/v1"))
    told = refused(path)
    assert "providers.openai.base_url: a key would go to elsewhere.example" in told
    assert f"set {VARIABLE}=elsewhere.example" in told
    assert KEY["MY_KEY"] not in told


def test_a_host_of_the_default_branch_is_known(tmp_path: Path) -> None:
    ours = config("https://gateway.example:8443/v1")
    refuse_foreign_hosts(load_config(cloned(tmp_path, ours, ours)), KEY)
    (tmp_path / "clone" / "evalward.yml").write_text(config("https://gateway.example:9/v1"))
    assert "gateway.example:9" in refused(tmp_path / "clone" / "evalward.yml")


def test_whoever_calls_us_may_name_it(tmp_path: Path) -> None:
    (tmp_path / "evalward.yml").write_text(config("https://gateway.example/v1"))
    refused(tmp_path / "evalward.yml")
    refuse_foreign_hosts(load_config(tmp_path / "evalward.yml"), {**KEY, VARIABLE: "x.example, gateway.example"})


@pytest.mark.parametrize(
    ("url", "env"),
    [
        (None, KEY),
        ("http://127.0.0.1:8000/v1", KEY),
        ("http://[::1]:8000/v1", KEY),
        ("http://localhost/v1", KEY),
        ("https://elsewhere.example/v1", {"PATH": "/usr/bin"}),
    ],
)
def test_where_no_key_leaves_for_a_stranger(url: str | None, env: dict[str, str], tmp_path: Path) -> None:
    (tmp_path / "evalward.yml").write_text(config(url))
    refuse_foreign_hosts(load_config(tmp_path / "evalward.yml"), env)


@pytest.mark.parametrize("url", ["http://127.0.0.1.elsewhere.example/v1", "http://localhost.elsewhere.example/v1"])
def test_names_that_only_look_like_this_machine(url: str, tmp_path: Path) -> None:
    (tmp_path / "evalward.yml").write_text(config(url))
    assert "elsewhere.example" in refused(tmp_path / "evalward.yml")


@pytest.mark.parametrize("command", ["run", "check"])
def test_commands_ask_nobody_before_that(command: str, tmp_path: Path) -> None:
    with ModelServer() as server:
        repo = Repo(tmp_path, server)
        repo.write(["openai/gpt-5"], base_url="http://elsewhere.example/v1")
        done = repo.run(command)
    assert (done.code, len(server.requests)) == (2, 0)
    assert "a key would go to elsewhere.example" in done.err
    assert not repo.path().exists()

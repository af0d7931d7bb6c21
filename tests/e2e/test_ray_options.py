"""`--on ray` and what goes with it, where no cluster is asked for anything."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from support.live_runs import CLAUDE, VARIABLE, Repo, model_of, task
from support.model_server import ModelServer


@pytest.fixture
def repo(tmp_path: Path) -> Iterator[Repo]:
    with ModelServer(model_of([task("one")])) as server:
        found = Repo(tmp_path, server)
        found.write((CLAUDE,), [task("one")])
        yield found


@pytest.mark.parametrize("words", [["--shard", "1/2"], ["--resume"], ["--failed"]])
def test_a_cluster_runs_the_whole_plan_anew(repo: Repo, words: list[str]) -> None:
    done = repo.run("run", "--on", "ray", *words)
    assert (done.code, f"{words[0]}: can't be used with --on ray" in done.err) == (2, True)


def test_bundles_are_those_of_a_cluster(repo: Repo) -> None:
    done = repo.run("run", "--shards", "4")
    assert (done.code, "--shards: is of a run on a cluster" in done.err) == (2, True)
    assert repo.run("run", "--on", "ray", "--shards", "257").code == 2
    assert repo.run("run", "--on", "mars").code == 2


def test_the_plan_of_a_run_on_a_cluster__asks_no_cluster_and_no_key(repo: Repo) -> None:
    done = repo.run("run", "--on", "ray", "--plan", env={VARIABLE: "", "RAY_ADDRESS": "127.0.0.1:1"})
    assert done.code == 0, done.err
    assert not repo.path().parent.exists()


def test_a_suite_that_is_measured_here__needs_its_key_before_the_cluster_is_asked(repo: Repo) -> None:
    repo.write((CLAUDE,), [task("one")], suite={"compare_with": "base"})
    done = repo.run("run", "--on", "ray", env={VARIABLE: "", "RAY_ADDRESS": "127.0.0.1:1"})
    said = f"live is measured here, not on the cluster, and {VARIABLE} is not set"
    assert (done.code, said in done.err) == (2, True), done.err
    whole = repo.run("run", "--on", "ray", env={"RAY_ADDRESS": "127.0.0.1:1"})
    assert whole.code == 0, whole.err  # nothing is left for a cluster

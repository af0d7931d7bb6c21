"""Real runs on a Ray cluster of two nodes: the report of one machine, also where a node is lost on the way."""

from __future__ import annotations

import os
import shutil
import signal
from collections import Counter
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path

import pytest

from support.live_runs import CLAUDE, VARIABLE, Done, Repo, ended, model_of, task, timeless
from support.model_server import KEY, Fault, ModelServer
from support.needs import missing
from support.patience import wait_until
from support.ray_cluster import LocalCluster

pytestmark = pytest.mark.ray

NAMES = ("one", "two", "three", "four", "five", "six", "seven")
TASKS = [task(name) for name in NAMES]
STUCK = "five"
ATTEMPTS = 4
IMPORTED = ("sitecustomize", "usercustomize", "evalward", "zipfile", "json", "numpy", "tempfile", "setproctitle")


@pytest.fixture(scope="module")
def measured(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Repo]:
    """A repository with the report of a run on one machine, and a baseline made of it."""
    found = find_spec("ray")
    if found is None or found.origin is None:  # what is found is this folder, which has the same name
        missing("ray", "Ray is not installed: make ray-test installs it")
    with ModelServer(model_of(TASKS)) as server:
        repo = Repo(tmp_path_factory.mktemp("measured"), server)
        repo.write((CLAUDE,), TASKS, suite={"trials": 2})
        assert repo.run("run", "--output", "whole").code == 0
        assert repo.run("baseline", "update", "--report", "whole/report.json").code == 0
        yield repo


@pytest.fixture
def cluster(measured: Repo, tmp_path: Path) -> Iterator[LocalCluster]:
    """Two nodes, which have the key."""
    env = {"PATH": os.environ["PATH"], "HOME": str(tmp_path), VARIABLE: KEY}
    found = LocalCluster(env, tmp_path)
    yield found
    found.close()


@pytest.fixture
def repo(measured: Repo, cluster: LocalCluster, tmp_path: Path) -> Repo:
    """A copy of the repository, with the address of the cluster, and without the key."""
    measured.server.misbehave()
    shutil.copytree(measured.root, tmp_path / "repo")
    return Repo(tmp_path / "repo", measured.server, {"RAY_ADDRESS": cluster.address, VARIABLE: ""})


def asked_first(repo: Repo, since: int) -> Counter[str]:
    """How often each conversation was begun."""
    return Counter(one.asked.prompt for one in repo.server.requests[since:] if one.asked and one.asked.turn == 0)


def same_as_on_one_machine(repo: Repo) -> None:
    """The same report, case by case, with the trials beside it."""
    assert timeless(repo.report()["runs"]) == timeless(repo.report("whole")["runs"])
    assert repo.report()["part"] is None
    assert len(repo.trials()) == len(repo.trials("whole")) == 2 * len(NAMES)


def patient(repo: Repo, *words: str) -> Done:
    return ended(repo.start(*words), timeout=240)


def test_a_cluster__gives_the_report_of_one_machine_and_runs_nothing_of_the_checkout(repo: Repo) -> None:
    """A worker has the keys: it imports nothing that lies in the checkout, whatever its name."""
    mark = repo.root.parent / "mark"
    for name in IMPORTED:
        (repo.root / f"{name}.py").write_text(f"open({str(mark)!r}, 'w').write({name!r})\n", "utf-8")
    since = len(repo.server.requests)
    done = patient(repo, "run", "--on", "ray", "--shards", "3")
    assert done.code == 0, done.err
    assert "Ray: 3 bundles on 3 nodes with 2 CPUs." in done.err
    assert "3 of 3 done" in done.err
    same_as_on_one_machine(repo)
    assert set(asked_first(repo, since).values()) == {2}  # two trials of each case
    assert KEY not in done.out + done.err
    assert not mark.exists()
    assert repo.run("compare").code == 0


def test_a_lost_node__loses_nothing_and_doubles_nothing(repo: Repo, cluster: LocalCluster) -> None:
    since = len(repo.server.requests)
    repo.server.misbehave(Fault("stall", tries=1, match=f"the word {STUCK}"))
    run = repo.start("run", "--on", "ray", "--shards", "7")
    stuck = cluster.the_only_bundle(lambda: asked_first(repo, since).total() >= 2 * len(NAMES) - 1)
    cluster.lose_node_of(stuck)
    done = ended(run, timeout=240)
    assert done.code == 0, done.err
    assert done.err.count(" done\n") == 7, done.err
    same_as_on_one_machine(repo)
    begun = asked_first(repo, since)
    assert begun.pop(f"Print the word {STUCK}.") > 2  # the attempt that was lost, and the one that holds
    assert set(begun.values()) == {2}
    wait_until(lambda: not cluster.bundles())  # the lost attempt doesn't go on beside


def test_a_bundle_that_never_ends_well__is_named_and_no_report_is_made(repo: Repo, cluster: LocalCluster) -> None:
    repo.server.misbehave(Fault("stall", tries=2 * ATTEMPTS, match=f"the word {STUCK}"))
    since = len(repo.server.requests)
    run = repo.start("run", "--on", "ray", "--shards", "7")
    killed = 0
    for _ in range(ATTEMPTS):
        killed = cluster.the_only_bundle(lambda: asked_first(repo, since).total() >= 2 * len(NAMES) - 1, killed)
        os.kill(killed, signal.SIGKILL)
    done = ended(run, timeout=240)
    assert done.code == 3
    assert "6 of 7 bundles came back whole (exit code -9 on " in done.err
    assert f"Not measured: {STUCK}." in done.err
    assert not repo.path().exists()
    assert len(repo.trials()) == 2 * (len(NAMES) - 1)
    repo.server.misbehave()
    resumed = repo.run("run", "--resume", env={VARIABLE: KEY})
    assert resumed.code == 0, resumed.err
    same_as_on_one_machine(repo)


def test_what_is_wrong_with_the_input_on_a_node__is_one_message(repo: Repo) -> None:
    config = repo.root / "evalward.yml"
    config.write_text(config.read_text("utf-8").replace(VARIABLE, "NO_SUCH_KEY"), "utf-8")
    done = patient(repo, "run", "--on", "ray", "--shards", "2")
    assert done.code == 2
    assert "needs a key, and NO_SUCH_KEY is not set" in done.err
    assert done.err.count("error:") == 1
    assert not repo.path().exists()


def test_an_interrupted_run__ends_what_runs_on_the_nodes_and_keeps_what_is_finished(
    repo: Repo, cluster: LocalCluster
) -> None:
    repo.server.misbehave(Fault("stall", tries=2 * ATTEMPTS, match=f"the word {STUCK}"))
    run = repo.start("run", "--on", "ray", "--shards", "7")
    finished = 2 * (len(NAMES) - 1)
    wait_until(lambda: len(repo.trials()) == finished, 240)
    assert cluster.bundles()
    run.send_signal(signal.SIGINT)
    done = ended(run, timeout=240)
    assert (done.code, "interrupted: finished trials are kept" in done.err) == (130, True)
    wait_until(lambda: not cluster.bundles())
    assert not repo.path().exists()
    assert len(repo.trials()) == finished

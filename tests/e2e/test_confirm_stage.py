"""The confirm stage from end to end: real processes, a model that fails when the test says so."""

from __future__ import annotations

import contextlib
import io
import json
import os
import runpy
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from support import warm
from support.live_runs import Repo, model_of, repo_with, task, timeless
from support.model_server import ModelServer
from support.moody import moody_model

ROOT = Path(__file__).parents[2]
NAMES = ("one", "two", "three", "four", "five", "six")
TASKS = [task(name) for name in NAMES]
POLICY = {"policy": [{"metric": "pass_rate", "max_drop": 0.02}]}
COST = 2 * (70 * 1 + 20 * 0.1 + 30 * 10) / 1e6  # of a trial, in dollars: two turns


@pytest.fixture(scope="module")
def known(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    """The baseline: five trials of each case, all passed."""
    with ModelServer(model_of(TASKS)) as server:
        repo = Repo(tmp_path_factory.mktemp("baseline"), server)
        repo.write(tasks=TASKS, more=POLICY)
        assert repo.run("run", "--trials", "5").code == 0
        assert repo.run("baseline", "update").code == 0
        return (repo.root / ".evalward" / "baseline.json").read_bytes()


@pytest.fixture
def repo(tmp_path: Path, known: bytes) -> Iterator[Repo]:
    with ModelServer(model_of(TASKS)) as server:
        yield repo_with(tmp_path, server, known, TASKS, POLICY)


def moody(repo: Repo, **failures: int) -> None:
    script = moody_model(TASKS, failures)
    repo.server.settings = replace(repo.server.settings, script=script)


def fresh(repo: Repo) -> list[tuple[str, int, str]]:
    """Case, number and outcome of the fresh trials."""
    (run,) = repo.report()["runs"]
    return [(trial["id"], trial["trial"], trial["status"]) for trial in run["confirmation"]]


def files(repo: Repo) -> Counter[str]:
    """How many trial files each case has."""
    return Counter(path.name.split(".")[0] for path in repo.trials())


def evidence(repo: Repo) -> dict[str, Any]:
    """What the first rule's decision rests on."""
    judgement = json.loads(repo.path("judgement.json").read_text("utf-8"))
    found: dict[str, Any] = judgement["verdict"]["rules"][0]["evidence"]
    return found


def test_failures_that_dont_repeat__pass(repo: Repo) -> None:
    moody(repo, one=1, two=1)
    done = repo.run("check")
    assert done.code == 0, done.err
    assert "Confirming: 6 retrials of 2 cases that failed, before a drop is reported." in done.err
    assert fresh(repo) == [(case, trial, "passed") for case in ("one", "two") for trial in (2, 3, 4)]
    assert files(repo) == Counter({name: 4 if name in {"one", "two"} else 1 for name in NAMES})
    assert sorted(path.name for path in repo.trials() if path.name.startswith("one.")) == [
        f"one.{number}.json" for number in (1, 2, 3, 4)
    ]
    comment = repo.path("comment.md").read_text("utf-8")
    assert "2 cases that failed were retried: 6 of 6 retrials passed." in comment
    assert "Flaky failures: 2" in comment
    assert repo.report()["runs"][0]["metrics"]["pass_rate"]["value"] == pytest.approx(4 / 6)  # of the planned trials
    assert len(repo.asked()) == 2 * (6 + 6)


def test_failures_that_repeat__fail(repo: Repo) -> None:
    moody(repo, one=99)
    done = repo.run("check")
    assert done.code == 1, done.err
    assert fresh(repo) == [("one", trial, "failed") for trial in (2, 3, 4, 5)]
    assert "one of 6 cases that always passed now fails in 4 of 4 retrials" in done.out
    assert (evidence(repo)["confirmed"], evidence(repo)["p"]) == (True, pytest.approx(1 / 126))


def test_nothing_failed__nothing_is_tried_again(repo: Repo) -> None:
    done = repo.run("check")
    assert (done.code, fresh(repo), len(repo.asked())) == (0, [], 2 * 6)
    assert "Confirming" not in done.err


def test_budget_spent_in_the_stage__the_planned_trials_decide(repo: Repo) -> None:
    repo.write(tasks=TASKS, more={**POLICY, "budget_usd": 7.5 * COST}, concurrency=1)
    moody(repo, one=99, two=99)
    done = repo.run("check")
    assert done.code == 1, done.err  # two of six: 1/6 · 1/6
    (run,) = repo.report()["runs"]
    assert run["confirm_note"].startswith("it ended early: budget")
    assert repo.report()["interrupted"] is None
    assert (evidence(repo)["confirmed"], evidence(repo)["p"]) == (False, pytest.approx(1 / 36))
    comment = repo.path("comment.md").read_text("utf-8")
    assert "The retrials don't count: 1 of 2 failed cases has no valid retrial (it ended early: budget" in comment
    assert "The planned trials alone decide." in comment


def test_the_planned_trials_leave_the_stage_its_part(repo: Repo) -> None:
    repo.write(tasks=TASKS, more={**POLICY, "budget_usd": 6.1 * COST}, concurrency=1)
    done = repo.run("check")
    assert done.code == 3, done.err
    assert "`budget_usd` will stop the run: $0.0045 planned, $0.0034 allowed; $0.0011 of $0.0045 is kept" in done.err
    assert "is spent; the rest is kept for the confirm stage" in done.out
    assert len(repo.asked()) == 2 * 5
    assert repo.run("run").code == 0  # which nothing follows
    assert repo.report()["interrupted"] is None


def test_a_budget_less_the_stage_s_part_suffices(repo: Repo) -> None:
    repo.write(tasks=TASKS, more={**POLICY, "budget_usd": 10.1 * COST}, concurrency=1)
    moody(repo, one=99)
    done = repo.run("check")
    assert fresh(repo) == [("one", number, "failed") for number in (2, 3, 4, 5)], done.err
    assert repo.report()["interrupted"] is None
    assert repo.report()["runs"][0].get("confirm_note") is None


@pytest.mark.parametrize("off", ["off", False])
def test_off__nothing_is_tried_again(repo: Repo, off: object) -> None:
    repo.write(tasks=TASKS, more={**POLICY, "confirm": off})
    moody(repo, one=99)
    done = repo.run("check")
    assert (done.code, fresh(repo)) == (0, []), done.err
    assert "inconclusive" in done.out
    assert len(repo.asked()) == 2 * 6


def test_configured__that_many_trials(repo: Repo) -> None:
    repo.write(tasks=TASKS, more={**POLICY, "confirm": {"trials": 9, "at_most": 3}})
    moody(repo, one=99)
    assert repo.run("check").code == 1
    assert len(fresh(repo)) == 9


def test_resumed_after_the_stage__no_trial_is_repeated(repo: Repo) -> None:
    moody(repo, one=99, two=1)
    first = repo.run("check")
    before, asked = repo.report(), len(repo.asked())
    again = repo.run("check", "--resume")
    assert (first.code, again.code) == (1, 1), again.err
    assert len(repo.asked()) == asked
    assert timeless(repo.report()) == timeless(before)


def test_run_alone__judges_nothing_and_tries_nothing_again(repo: Repo) -> None:
    moody(repo, one=99)
    assert repo.run("run").code == 0
    assert (fresh(repo), len(repo.asked())) == ([], 2 * 6)


# --- the scenes of the example ----------------------------------------------------------------------------------------

SCENES = {
    "noise": (0, "passed", "pass_rate fell 5.9 pp at first: the failures didn't repeat (11 of 16 retrials"),
    "regression": (1, "failed", "three of 37 cases that always passed now fail in 11 of 12 retrials"),
    "open": (0, "inconclusive", "so it is not proof"),
    "cleared": (0, "passed", "the failures didn't repeat (11 of 12 retrials of the 3 failed cases passed)"),
    "convicted": (1, "failed", "three of 37 cases that passed 11 of 15 times now fail in 12 of 12 retrials"),
    "thin": (0, "inconclusive", "this baseline (1 trial per case) can't prove a drop of fewer than five cases"),
    "outage": (3, "could not be judged", "7 of 37 trials ended in an error (18.9 %)"),
    "upgrade": (1, "failed", "cost per case $0.0020 → $0.0060 (+200 %) · time per case unknown"),
}


SCRIPT = ROOT / "examples" / "decisions" / "show.py"
WIDE = {"PATH": os.environ["PATH"], "COLUMNS": "300"}


def scenes(printed: str) -> dict[str, str]:
    """What the script says of each scene, by name."""
    return {part.split(":", 1)[0]: " ".join(part.split()) for part in printed.split("=== ")[1:]}


@pytest.fixture(scope="module")
def told(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """What the script says of all its scenes; the commands that it starts run in forks."""
    folder = tmp_path_factory.mktemp("scenes")
    out = io.StringIO()

    def run(words: Sequence[str], *, check: bool, capture_output: bool = False) -> subprocess.CompletedProcess[str]:
        done = warm.evalward(*words[1:], cwd=folder, env=WIDE)
        assert not (check and done.returncode), done.stderr
        out.write("" if capture_output else done.stdout)
        return done

    known = runpy.run_path(str(SCRIPT))
    known["main"].__globals__["subprocess"] = SimpleNamespace(run=run)
    with contextlib.chdir(folder), contextlib.redirect_stdout(out):
        assert known["main"]([]) == 0
    return scenes(out.getvalue())


def test_scenes__are_judged_as_they_say(told: dict[str, str]) -> None:
    assert list(told) == list(SCENES)
    for name, (code, word, sentence) in SCENES.items():
        assert f"Evalward: {word} — " in told[name], told[name]
        assert sentence in told[name], told[name]
        assert told[name].endswith(f"exit code {code}")


def test_scenes__are_the_same_as_people_run_them(told: dict[str, str], tmp_path: Path) -> None:
    """One of them, each command in a process that starts from nothing."""
    env = {**WIDE, "PATH": f"{warm.EVALWARD.parent}:{WIDE['PATH']}"}
    words = [sys.executable, str(SCRIPT), "regression"]
    done = subprocess.run(words, cwd=tmp_path, env=env, capture_output=True, encoding="utf-8", check=True)
    assert scenes(done.stdout) == {"regression": told["regression"]}

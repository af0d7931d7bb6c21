"""A distribution of somebody else's adds a kind and an importer, and goes through everything that ours go through."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from support.git_repo import write_files
from support.live_runs import CHAT, VARIABLE
from support.model_server import KEY, Answer, Conversation, ModelServer, Script, bash
from support.plugins import ANSWERS, environment

pytestmark = pytest.mark.cold

NAMES = [f"{number:02}" for number in range(12)]
SUITE = {"name": "answers", "kind": "answer", "cases": "answers.jsonl", "targets": ["oracle", CHAT], "max_turns": 3}
KNOWS = Script(
    tuple(Conversation(f"note {name}", (bash("cat /note"), Answer(text=f"It says {name}."))) for name in NAMES)
)
WORSE = Script(default=(Answer(text="I would rather not say."),))

Command = Callable[..., subprocess.CompletedProcess[str]]


def questions() -> str:
    lines = [
        {"id": f"q{name}", "question": f"Read note {name}.", "expected": f"says {name}", "files": {"/note": name}}
        for name in NAMES
    ]
    return "".join(json.dumps(line) + "\n" for line in lines)


def config(server: ModelServer) -> str:
    """The suite, with the model that the server has."""
    providers = {"openai": {"base_url": server.openai_url, "key_env": VARIABLE}}
    return json.dumps({"version": 1, "suites": [SUITE], "providers": providers})


@pytest.fixture(scope="module")
def started(tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    """The words that start our command where the plugin is installed."""
    return environment(tmp_path_factory.mktemp("environment") / "venv", ANSWERS)


@pytest.fixture
def evalward(started: list[str], tmp_path: Path) -> Command:
    """The command, in a folder with a suite of the plugin's kind."""
    write_files(tmp_path, {"answers.jsonl": questions()})
    env = {"PATH": os.environ["PATH"], "HOME": str(tmp_path), VARIABLE: KEY}

    def call(*words: str) -> subprocess.CompletedProcess[str]:
        done = subprocess.run([*started, *words], cwd=tmp_path, env=env, capture_output=True, text=True, check=False)
        assert "Traceback" not in done.stderr, done.stderr
        return done

    return call


def written(folder: Path, name: str) -> Any:
    return json.loads((folder / name).read_text("utf-8"))


def test_a_kind_of_somebody_elses__goes_through_everything(evalward: Command, tmp_path: Path) -> None:
    with ModelServer(KNOWS) as server:
        (tmp_path / "evalward.yml").write_text(config(server))
        told = evalward("validate")
        assert (told.returncode, "12 cases read" in told.stdout + told.stderr) == (0, True), told

        assert evalward("run").returncode == 0
        runs = written(tmp_path, "evalward-out/report.json")["runs"]
        rates = {run["target"]: run["metrics"]["answer_rate"]["value"] for run in runs}
        assert rates == {"oracle": 1.0, CHAT: 1.0}

        assert evalward("baseline", "update").returncode == 0
        assert evalward("check").returncode == 0

    with ModelServer(WORSE) as server:
        (tmp_path / "evalward.yml").write_text(config(server))
        failed = evalward("check")
        assert failed.returncode == 1, failed
    comment = (tmp_path / "evalward-out" / "comment.md").read_text("utf-8")
    assert "answer_rate" in comment

    compared = evalward("compare", "--report", "evalward-out/report.json", "--baseline", ".evalward/baseline.json")
    assert compared.returncode == 1
    assert "answer_rate" in compared.stdout


def test_what_the_shell_gave_is_in_the_trial(evalward: Command, tmp_path: Path) -> None:
    with ModelServer(KNOWS) as server:
        (tmp_path / "evalward.yml").write_text(config(server))
        assert evalward("run", "--case", "q07", "--target", CHAT).returncode == 0
    (trial,) = (tmp_path / "evalward-out" / "trials").rglob("q07.1.json")
    (call,) = json.loads(trial.read_text("utf-8"))["trace"]["tool_calls"]
    assert (call["commands"], call["stdout"]) == ("cat /note", "07")


def test_a_format_of_somebody_elses__is_read_and_compared(evalward: Command, tmp_path: Path) -> None:
    for name, said in (("old", "right"), ("new", "wrong")):
        (tmp_path / f"{name}.txt").write_text("".join(f"q{number} {said}\n" for number in NAMES))
        told = evalward("import", "answer-lines", f"{name}.txt", "--output", f"{name}/report.json")
        assert told.returncode == 0, told
    assert evalward("baseline", "update", "--report", "old/report.json", "--baseline", "b.json").returncode == 0
    compared = evalward("compare", "--report", "new/report.json", "--baseline", "b.json")
    assert (compared.returncode, "answer_rate" in compared.stdout) == (1, True), compared


def test_a_format_of_somebody_elses__tells_its_mistakes_as_ours_do(evalward: Command, tmp_path: Path) -> None:
    (tmp_path / "odd.txt").write_text("q1 right\nq2 perhaps\n")
    told = evalward("import", "answer-lines", "odd.txt", "--output", "odd/report.json")
    assert told.returncode == 2
    assert "odd.txt:2: 'q2 perhaps' is no answered question. Write ID right, or ID wrong." in told.stderr

"""A distribution of somebody else's adds a kind and an importer, and goes through everything that ours go through."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from support.git_repo import pull_request_repo, write_files
from support.github_api import REPOSITORY, TOKEN, FakeGitHub
from support.live_runs import CHAT, VARIABLE
from support.model_server import KEY, Answer, Conversation, ModelServer, Script, bash
from support.plugins import ANSWERS, environment
from support.scenes import pull_event

pytestmark = pytest.mark.cold

NAMES = [f"{number:02}" for number in range(12)]
SUITE = {"name": "answers", "kind": "answer", "cases": "answers.jsonl", "targets": ["oracle", CHAT], "max_turns": 3}
GOOD, BAD = {"system.md": "Answer in one sentence."}, {"system.md": "Say nothing."}

Command = Callable[..., subprocess.CompletedProcess[str]]


class Obedient(Script):
    """A model that reads the note and says what is in it, unless its system prompt forbids that."""

    def answer_to(self, body: object, prompt: str, turn: int) -> Answer | None:
        return Answer(text="No.") if BAD["system.md"] in json.dumps(body) else self.answer(prompt, turn)


READER = Obedient(
    tuple(Conversation(f"note {name}", (bash("cat /note"), Answer(text=f"It says {name}."))) for name in NAMES)
)


def questions() -> str:
    lines = [
        {"id": f"q{name}", "question": f"Read note {name}.", "expected": f"says {name}", "files": {"/note": name}}
        for name in NAMES
    ]
    return "".join(json.dumps(line) + "\n" for line in lines)


@pytest.fixture(scope="module")
def started(tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    """The words that start our command where the plugin is installed."""
    return environment(tmp_path_factory.mktemp("environment") / "venv", ANSWERS)


@pytest.fixture
def files() -> Iterator[dict[str, str]]:
    """A repository with a suite of the plugin's kind, whose model is served here."""
    with ModelServer(READER) as server:
        providers = {"openai": {"base_url": server.openai_url, "key_env": VARIABLE}}
        config = {"version": 1, "suites": [{**SUITE, "system": "system.md"}], "providers": providers}
        yield {"evalward.yml": json.dumps(config), "answers.jsonl": questions(), **GOOD}


@pytest.fixture
def evalward(started: list[str], tmp_path: Path, files: dict[str, str]) -> Command:
    """The command, called in a folder with these files."""
    write_files(tmp_path, files)

    def call(*words: str, **more: str) -> subprocess.CompletedProcess[str]:
        env = {"PATH": os.environ["PATH"], "HOME": str(tmp_path), VARIABLE: KEY, **more}
        done = subprocess.run([*started, *words], cwd=tmp_path, env=env, capture_output=True, text=True, check=False)
        assert "Traceback" not in done.stderr, done.stderr
        return done

    return call


def assert_told(comment: str) -> None:
    """Which metric of which suite failed, and a case that broke."""
    heading = next(line for line in comment.splitlines() if line.startswith("###"))
    assert "failed" in heading
    assert f"answers × {CHAT}" in heading
    assert "answer_rate" in heading
    assert "q07" in comment


def written(folder: Path, name: str) -> Any:
    return json.loads((folder / name).read_text("utf-8"))


def test_a_kind_of_somebody_elses__goes_through_everything(evalward: Command, tmp_path: Path) -> None:
    told = evalward("validate")
    assert (told.returncode, "12 cases read" in told.stdout + told.stderr) == (0, True), told

    assert evalward("run").returncode == 0
    runs = written(tmp_path, "evalward-out/report.json")["runs"]
    rates = {run["target"]: run["metrics"]["answer_rate"]["value"] for run in runs}
    assert rates == {"oracle": 1.0, CHAT: 1.0}
    (trial,) = (path for path in (tmp_path / "evalward-out").rglob("q07.1.json") if "gpt" in str(path))
    (call,) = json.loads(trial.read_text("utf-8"))["trace"]["tool_calls"]
    assert (call["commands"], call["stdout"]) == ("cat /note", "07")

    assert evalward("baseline", "update").returncode == 0
    assert evalward("check").returncode == 0

    write_files(tmp_path, BAD)
    assert evalward("check").returncode == 1
    comment = (tmp_path / "evalward-out" / "comment.md").read_text("utf-8")
    assert_told(comment)

    compared = evalward("compare", "--report", "evalward-out/report.json", "--baseline", ".evalward/baseline.json")
    assert compared.returncode == 1
    assert "answer_rate" in compared.stdout


def test_the_action_comments_on_it(evalward: Command, tmp_path: Path, files: dict[str, str]) -> None:
    assert evalward("run").returncode == 0
    assert evalward("baseline", "update").returncode == 0
    baseline = (tmp_path / ".evalward" / "baseline.json").read_text("utf-8")
    repo = pull_request_repo(tmp_path / "workspace", {**files, ".evalward/baseline.json": baseline}, BAD)
    (tmp_path / "event.json").write_text(json.dumps(pull_event(repo)), "utf-8")
    with FakeGitHub() as github:
        github.heads[7] = repo.head
        acted = evalward(
            "action",
            **{
                "GITHUB_WORKSPACE": str(repo.folder),
                "GITHUB_EVENT_PATH": str(tmp_path / "event.json"),
                "GITHUB_EVENT_NAME": "pull_request",
                "GITHUB_REPOSITORY": REPOSITORY,
                "GITHUB_SHA": repo.merge,
                "GITHUB_API_URL": github.url,
                "GITHUB_RUN_ID": "1",
                "GITHUB_OUTPUT": str(tmp_path / "outputs"),
                "GITHUB_STEP_SUMMARY": str(tmp_path / "summary"),
                "INPUT_GITHUB-TOKEN": TOKEN,
            },
        )
        (comment,) = github.bodies()
    assert acted.returncode == 1
    assert_told(comment)


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


def test_results_of_somebody_elses_harness__are_a_suite(evalward: Command, tmp_path: Path) -> None:
    suite = {"name": "sheet", "kind": "external", "results": "out/*.sheet"}
    config = {"version": 1, "suites": [suite], "policy": [{"metric": "pass_rate", "max_drop": 0.02}]}
    (tmp_path / "evalward.yml").write_text(json.dumps(config))
    (tmp_path / "out").mkdir()
    sheet = tmp_path / "out" / "now.sheet"
    sheet.write_text("ANSWERS\n" + "".join(f"q{number} right\n" for number in NAMES))
    assert evalward("check").returncode == 0
    assert evalward("baseline", "update").returncode == 0
    sheet.write_text("ANSWERS\n" + "".join(f"q{number} wrong\n" for number in NAMES))
    checked = evalward("check")
    assert checked.returncode == 1, checked
    sheet.write_text("ANSWERS\nq1 perhaps\n")
    checked = evalward("check")
    assert checked.returncode == 2
    assert "a sheet of answers can't be read: 'q1 perhaps' is no answered question" in checked.stderr

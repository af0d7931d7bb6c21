"""`evalward history` as people use it: a report goes in, trends and flaky cases come out."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from evalward.commands.pipeline import dump_report
from support import warm
from support.git_repo import commit, git, init
from support.histories import TARGET, days

Call = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture
def repo(tmp_path: Path) -> Path:
    """A repository with the reports of three days, in which a case came and went."""
    init(tmp_path)
    commit(tmp_path, {"README.md": "hello\n"})
    for day, report in enumerate(days({"shaky": "+-+", "fine": "+++", "lost": "+--"}), 1):
        (tmp_path / f"r{day}.json").write_text(dump_report(report), "utf-8")
    return tmp_path


@pytest.fixture
def evalward(repo: Path) -> Call:
    def call(*words: str, **env: str) -> subprocess.CompletedProcess[str]:
        environment = {"PATH": os.environ["PATH"], "HOME": str(repo), "COLUMNS": "120", **env}
        return warm.evalward(*words, cwd=repo, env=environment)

    return call


@pytest.mark.parametrize(
    "place", [["--folder", "data"], ["--branch", "evalward-data"], []], ids=["folder", "branch", "default"]
)
def test_history__append_and_show(evalward: Call, place: list[str]) -> None:
    for day in (1, 2, 3, 3):
        done = evalward("history", "append", "--report", f"r{day}.json", *place, GITHUB_REF_NAME="main")
        assert (done.returncode, done.stdout) == (0, "")
    assert "has this report already" in done.stderr
    shown = evalward("history", "show", *place, "--metric", "pass_rate")
    assert shown.returncode == 0
    assert f"tools × {TARGET} (3 runs, 2026-01-01 to 2026-01-03)" in shown.stdout
    assert "█▁▄" in shown.stdout
    assert "~ shaky: passes 66.7 % (2 of 3 trials in 3 runs), since 2026-01-02 (0000000) or earlier" in shown.stdout
    assert "x lost: fails since 2026-01-02 (0000000), 2 runs; passed last 2026-01-01" in shown.stdout
    assert "fine" not in shown.stdout


def test_history__ascii_where_the_terminal_knows_no_more(evalward: Call) -> None:
    for day in (1, 2, 3):
        evalward("history", "append", "--report", f"r{day}.json")
    shown = evalward("history", "show", "--metric", "pass_rate", LC_ALL="C")
    assert "#_-" in shown.stdout
    assert "█" not in shown.stdout


def test_history__machine_formats(evalward: Call, repo: Path) -> None:
    evalward("history", "append", "--report", "r1.json", "--ref", "main")
    summary = json.loads(evalward("history", "show", "--format", "json").stdout)
    assert summary["schema"] == "evalward.history-summary/1"
    assert summary["runs"][0]["trends"][0]["points"][0]["at"] == "2026-01-01T08:00:00Z"
    evalward("history", "show", "--format", "markdown", "--output", "h.md")
    assert "```mermaid" in (repo / "h.md").read_text("utf-8")
    assert json.loads((repo / ".evalward" / "history.jsonl").read_text("utf-8"))["ref"] == "main"


def test_history__a_broken_line_is_told_and_passed_over(evalward: Call, repo: Path) -> None:
    evalward("history", "append", "--report", "r1.json")
    path = repo / ".evalward" / "history.jsonl"
    path.write_bytes(b"<<<<<<< HEAD\n\xff\xfe\n" + path.read_bytes())
    shown = evalward("history", "show")
    assert shown.returncode == 0
    assert "warning: history.jsonl: 2 lines are not readable and passed over" in shown.stderr
    assert "1 run" in shown.stdout


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["show"], "there is no history"),
        (["show", "--branch", "nothing"], "there is no history"),
        (["show", "--branch", "a b"], "is not a name that a branch can have"),
        (["append", "--report", "r1.json", "--branch", "main"], "is checked out"),
        (["append", "--report", "none.json"], "there is no such report"),
        (["append", "--report", "r1.json", "--judgement", "r1.json"], "this is not a judgement"),
    ],
)
def test_history__mistakes(evalward: Call, repo: Path, words: list[str], says: str) -> None:
    git(repo, "checkout", "--quiet", "-B", "main")
    done = evalward("history", *words)
    assert done.returncode == 2
    assert says in done.stderr


def test_history__unknown_names_are_told_with_the_known(evalward: Call) -> None:
    evalward("history", "append", "--report", "r1.json")
    done = evalward("history", "show", "--suite", "nothing")
    assert (done.returncode, f"Known: tools × {TARGET}." in done.stderr) == (2, True)
    done = evalward("history", "show", "--metric", "nothing")
    assert (done.returncode, "Known: overall_rate, pass_rate," in done.stderr) == (2, True)


def test_history__draws_a_releases_level(evalward: Call) -> None:
    assert evalward("baseline", "update", "--report", "r1.json", "--baseline", "v1.json").returncode == 0
    for day in (1, 2, 3):
        evalward("history", "append", "--report", f"r{day}.json")
    shown = evalward("history", "show", "--metric", "pass_rate", "--anchor", "v1.json", "--format", "markdown").stdout
    assert "| 100.0 % (v1.json) |" in shown
    assert "anchor v1.json at 100" in shown
    assert "line [100, 100, 100]" in shown

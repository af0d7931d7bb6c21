"""The life of a baseline on the command line."""

from __future__ import annotations

import json
import os
import shlex
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from support import warm

CONFIG = """\
version: 1
suites:
  - {name: tools, kind: bash, cases: cases.jsonl, targets: [oracle]}
policy:
  - {metric: pass_rate, max_drop: 0.1}
"""
Call = Callable[..., subprocess.CompletedProcess[str]]


def cases(*broken: str) -> str:
    rows = [
        {
            "id": name,
            "category": "echo",
            "prompt": f"Print {name}.",
            "expectations": [{"check": f"stdout_contains:{name}"}],
            "solution": f"echo {'other' if name in broken else name}",
        }
        for name in ("one", "two")
    ]
    return "".join(json.dumps(row) + "\n" for row in rows)


def calling(folder: Path) -> Call:
    """The command line in a folder."""

    def evalward(*words: str) -> subprocess.CompletedProcess[str]:
        env = {"PATH": os.environ["PATH"], "HOME": str(folder), "COLUMNS": "120"}
        env |= {"PYTHONPATH": os.environ["PYTHONPATH"]} if "PYTHONPATH" in os.environ else {}
        return warm.evalward(*words, cwd=folder, env=env)

    return evalward


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with two cases and their baseline."""
    folder = tmp_path_factory.mktemp("made")
    (folder / "evalward.yml").write_text(CONFIG, "utf-8")
    (folder / "cases.jsonl").write_text(cases(), "utf-8")
    for words in (["run"], ["baseline", "update"]):
        assert calling(folder)(*words).returncode == 0
    return folder


@pytest.fixture
def call(made: Path, tmp_path: Path) -> Call:
    """The command line in such a folder, for one test."""
    return calling(shutil.copytree(made, tmp_path, dirs_exist_ok=True))


def baseline(folder: Path) -> dict[str, Any]:
    data: dict[str, Any] = json.loads((folder / ".evalward" / "baseline.json").read_text("utf-8"))
    return data


def test_update__refuses_a_drop_until_somebody_takes_it(call: Call, tmp_path: Path) -> None:
    before = baseline(tmp_path)
    (tmp_path / "cases.jsonl").write_text(cases("two"), "utf-8")
    assert call("run").returncode == 0
    report = tmp_path / "evalward-out" / "report.json"
    data = json.loads(report.read_text("utf-8"))
    for case, old in zip(data["runs"][0]["cases"], before["runs"][0]["cases"], strict=True):
        case["definition"] = old["definition"]  # the answer got worse, not the question
    report.write_text(json.dumps(data), "utf-8")
    refused = call("baseline", "update")
    assert refused.returncode == 1
    assert "pass_rate" in refused.stdout
    assert "--accept" in refused.stdout
    assert baseline(tmp_path) == before
    dry = call("baseline", "update", "--accept", "the shell is stricter", "--dry-run")
    assert (dry.returncode, "two" in dry.stdout) == (0, True)
    assert baseline(tmp_path) == before
    (tmp_path / "old.json").write_text(json.dumps(before), "utf-8")
    assert call("baseline", "update", "--accept", "the shell is stricter").returncode == 0
    (accepted,) = baseline(tmp_path)["provenance"]["accepted"]
    assert accepted["reason"] == "the shell is stricter"
    assert "pass_rate" in accepted["what"][0]
    for form in ("terminal", "markdown", "json"):
        told = call("baseline", "diff", "old.json", ".evalward/baseline.json", "--format", form)
        assert told.returncode == 0
        assert "the shell is stricter" in told.stdout
        assert "two" in told.stdout
    assert "the shell is stricter" in call("baseline", "show").stdout


def test_update__a_bad_reason_is_wrong_input(call: Call) -> None:
    assert call("baseline", "update", "--accept", " ").returncode == 2
    assert call("baseline", "update", "--accept", "x" * 501).returncode == 2
    assert call("baseline", "update", "--pool", "--replace").returncode == 2


def test_update__the_same_report_is_not_pooled_again(call: Call, tmp_path: Path) -> None:
    before = (tmp_path / ".evalward" / "baseline.json").read_bytes()
    done = call("baseline", "update", "--pool")
    assert (done.returncode, "no change" in done.stdout) == (0, True)
    assert (tmp_path / ".evalward" / "baseline.json").read_bytes() == before


def test_diff__of_equal_baselines_says_so(call: Call) -> None:
    done = call("baseline", "diff", ".evalward/baseline.json", ".evalward/baseline.json")
    assert "No change: tools × oracle" in done.stdout


def printed(text: str) -> list[str]:
    """The words of the command that is printed for accepting, as a shell reads them."""
    (line,) = [line.strip() for line in text.splitlines() if line.strip().startswith("evalward baseline update")]
    return shlex.split(line)[1:]


def test_accept__the_printed_command_runs_as_it_stands(call: Call, tmp_path: Path) -> None:
    """Copied from the terminal, and from the page; in a folder and with names that a shell would split."""
    (tmp_path / "my own.yml").write_text(CONFIG.replace(".jsonl", " 2.jsonl"), "utf-8")
    (tmp_path / "cases 2.jsonl").write_text(cases("one"), "utf-8")
    checked = ("check", "--config", "my own.yml", "--output", "out 1")
    refused = call(*checked)
    assert refused.returncode == 1
    command = printed(refused.stdout)
    assert printed((tmp_path / "out 1" / "comment.md").read_text("utf-8")) == command
    assert "The check then says: passed." in " ".join(refused.stdout.split())
    assert call(*command).returncode == 0
    assert baseline(tmp_path)["provenance"]["accepted"][0]["reason"] == "intended"
    assert call(*checked).returncode == 0

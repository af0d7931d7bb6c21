"""`evalward judge check` and judged cases as users have them: real processes, exit codes, what they read."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path
from typing import Any

import pytest

from support import warm
from support.model_server import KEY, Answer, ModelServer, Script

ROOT = Path(__file__).parents[2]
RUBRIC = ROOT / "examples" / "rubrics" / "guidance.yaml"
LABELLED = ROOT / "examples" / "judge" / "labelled-hand-written.jsonl"
RECORDED = "recorded:examples/judge/answers-hand-written.jsonl"


def run(folder: Path, *words: str | Path, env: dict[str, str] | None = None) -> subprocess.CompletedProcess[str]:
    basic = {"PATH": os.environ["PATH"], "HOME": str(folder), "COLUMNS": "160"}
    basic |= {name: os.environ[name] for name in ("PYTHONPATH",) if name in os.environ}
    return warm.evalward(*words, cwd=folder, env={**basic, **(env or {})})


def test_the_example_runs_as_it_stands() -> None:
    done = run(ROOT, "judge", "check", RUBRIC, LABELLED, "--model", RECORDED)
    assert done.returncode == 0, done.stderr
    assert "Agreement          100.0 % (8 of 8)" in done.stdout
    assert "Injected orders    0 of 8 verdicts turned" in done.stdout


def test_json_and_the_file(tmp_path: Path) -> None:
    words = ("judge", "check", RUBRIC, LABELLED, "--model", RECORDED, "--format", "json")
    shown = run(ROOT, *words)
    kept = run(ROOT, *words, "--output", tmp_path / "c.json")
    assert (kept.returncode, kept.stdout) == (0, "")
    assert json.loads(shown.stdout) == json.loads((tmp_path / "c.json").read_text("utf-8"))
    assert json.loads(shown.stdout)["kappa"]["value"] == 1.0


def answers(folder: Path, scores: dict[str, Any]) -> str:
    criteria = ("sufficiency", "workflow", "recovery", "conventions", "completion")
    lines = []
    for name, score in scores.items():
        said: Any = dict.fromkeys(criteria, score)
        full = {"scores": said, "weighted_score": score, "confidence": 1, "issues": [], "highlights": []}
        lines.append(json.dumps({"id": name, "answers": [full if score is not None else "no"]}))
    (folder / "answers.jsonl").write_text("\n".join(lines), "utf-8")
    return "recorded:answers.jsonl"


def labelled(folder: Path) -> Path:
    items = [
        {"id": name, "task": "t", "transcript": f"{name} \u001b[31m", "label": "pass" if name < "c" else "fail"}
        for name in "abcd"
    ]
    (folder / "labelled.jsonl").write_text("".join(json.dumps(item) + "\n" for item in items), "utf-8")
    return folder / "labelled.jsonl"


def scores(**changed: float | None) -> dict[str, Any]:
    given: dict[str, Any] = {}
    for name in "abcd":
        for variant in ("", "+reversed", "+injected"):
            given[name + variant] = changed.get(name + variant.replace("+", "_"), 1 if name < "c" else 0)
    return given


@pytest.mark.parametrize(
    ("changed", "code", "told"),
    [
        ({}, 0, "1.00 (every verdict is right"),
        ({"c_injected": 1.0}, 1, "lifted to a pass: c"),
        ({"a": 0.0, "c": 1.0}, 1, "Passed wrongly     c"),
        ({"a": None, "b": None}, 3, "error: a: the judge's answer can't be used"),
    ],
)
def test_exit_codes(tmp_path: Path, changed: dict[str, Any], code: int, told: str) -> None:
    model = answers(tmp_path, scores(**changed))
    done = run(tmp_path, "judge", "check", RUBRIC, labelled(tmp_path), "--model", model)
    assert done.returncode == code, done.stdout + done.stderr
    assert told in done.stdout


def test_mistakes_are_told_in_lines(tmp_path: Path) -> None:
    cases: list[tuple[tuple[str | Path, ...], str]] = [
        (("judge", "check", "missing.yaml", LABELLED), "missing.yaml: there is no such rubric"),
        (("judge", "check", LABELLED, LABELLED), "labelled-hand-written.jsonl"),
        (("judge", "check", RUBRIC, LABELLED), "there is no judge. Name one with --model"),
        (("judge", "check", RUBRIC, LABELLED, "--model", "openai/gpt-5-mini"), "OPENAI_API_KEY is not set"),
        (("judge", "check", RUBRIC, LABELLED, "--threshold", "nan"), "must be a number from 0 to 1"),
    ]
    for words, told in cases:
        done = run(tmp_path, *words)
        assert done.returncode == 2
        assert told in done.stderr, done.stderr


def test_a_model_is_asked_as_the_config_says(tmp_path: Path) -> None:
    said: Any = dict.fromkeys(("sufficiency", "workflow", "recovery", "conventions", "completion"), 1.0)
    full = {"scores": said, "weighted_score": 1, "confidence": 1, "issues": [], "highlights": []}
    with ModelServer(Script(default=(Answer(text=json.dumps(full)),))) as server:
        config = {
            "version": 1,
            "suites": [{"name": "s", "kind": "bash", "cases": "c.jsonl", "targets": ["oracle"]}],
            "providers": {"openai": {"base_url": server.openai_url, "key_env": "GATEWAY_KEY"}},
            "judge": {"model": "openai/gpt-5-mini", "pass_threshold": 0.9},
        }
        (tmp_path / "evalward.yml").write_text(json.dumps(config), "utf-8")
        words = ("judge", "check", RUBRIC, labelled(tmp_path))
        done = run(tmp_path, *words, env={"GATEWAY_KEY": KEY})
        again = run(tmp_path, *words, env={"GATEWAY_KEY": KEY})
        assert len(server.requests) == 12
    assert (done.returncode, again.returncode) == (1, 1)  # it passes everything
    assert "openai/gpt-5-mini, threshold 0.9" in done.stdout
    assert "Failed wrongly     none" in done.stdout
    assert "Passed wrongly     c, d" in done.stdout
    assert "unknown" in done.stdout
    assert "$0.00" in again.stdout  # from the cache

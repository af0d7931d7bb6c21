"""The example of an MCP server as users have it: it passes, its pull request goes red, and it needs no key."""

from __future__ import annotations

import json
import os
import runpy
import shutil
import sys
from pathlib import Path

import pytest

from evalward.records.result import Trial
from support import warm
from support.mcp import checkout

EXAMPLE = Path(__file__).parents[2] / "examples" / "mcp"
NONE_NEEDED = {"greeting", "how-long-tulips-last", "no-tool-for-it", "thanks"}


def evalward(*arguments: str) -> tuple[int, str]:
    """Exit code and everything that it said, run without any key."""
    done = warm.evalward(*arguments, env={"PATH": os.environ["PATH"], "COLUMNS": "160"})
    return done.returncode, done.stdout + done.stderr


def copied(tmp_path: Path, *changes: tuple[str, str]) -> Path:
    """The example, with its configurations changed."""
    copy = tmp_path / "mcp"
    shutil.copytree(EXAMPLE, copy)
    for config in copy.glob("*.yml"):
        text = config.read_text("utf-8")
        for before, now in changes:
            text = text.replace(before, now)
        config.write_text(text, "utf-8")
    return copy


def test_the_example__proves_itself() -> None:
    code, said = evalward("validate", str(EXAMPLE / "evalward.yml"))
    assert code == 0, said
    assert '17 expected calls made as the oracle makes them, none of them executed; 12 tools of "flower-shop"' in said


def test_the_example__passes_with_the_oracle_and_the_recording(tmp_path: Path) -> None:
    code, said = evalward("check", "--config", str(EXAMPLE / "evalward.yml"), "--output", str(tmp_path))
    assert code == 0, said
    assert "tools × oracle: 20 passed" in said
    assert "nothing got worse" in said


def test_who_calls_nothing__passes_where_nothing_is_needed(tmp_path: Path) -> None:
    copy = copied(tmp_path, ('[oracle, "replay:model"]', "[nop]"))
    evalward("run", "--config", str(copy / "evalward.yml"), "--output", str(tmp_path / "out"))
    report = json.loads((tmp_path / "out" / "report.json").read_text("utf-8"))
    assert {case["id"] for case in report["runs"][0]["cases"] if case["status"] == "passed"} == NONE_NEEDED


def test_its_pull_request__fails_and_says_first_what_it_changed(tmp_path: Path) -> None:
    code, said = evalward("check", "--config", str(EXAMPLE / "pull-request.yml"), "--output", str(tmp_path))
    assert code == 1, said
    assert "tool_selection_accuracy fell 37.5 pp (100.0 % → 62.5 %)" in " ".join(said.split())
    comment = (tmp_path / "comment.md").read_text("utf-8")
    surface = comment.index("**Tools: 2 changed; ≈ 684 → 662 tokens in every request (−22)**")
    assert surface < comment.index("<b>Broken: 6</b>") < comment.index("`search_orders → list_orders` | 6 of 7")
    assert "- Use it whenever the request says what an order is about.\n+ Searches the orders." in comment
    judgement = json.loads((tmp_path / "judgement.json").read_text("utf-8"))
    (changed, same) = judgement["comparison"]["runs"][1]["surface"]["changes"]
    assert (changed["name"], same["name"]) == ("list_orders", "search_orders")
    page = (tmp_path / "report.html").read_text("utf-8")
    assert "Tools: 2 changed" in page


def test_a_tool_that_gets_another_name__fails_with_the_comment(tmp_path: Path) -> None:
    copy = copied(tmp_path)
    for file in (copy / "tools.json", copy / "tools-after.json"):
        file.write_text(file.read_text("utf-8").replace('"search_orders"', '"find_orders_by_text"'), "utf-8")
    code, said = evalward("check", "--config", str(copy / "evalward.yml"), "--output", str(tmp_path / "out"))
    assert code == 1, said
    comment = (tmp_path / "out" / "comment.md").read_text("utf-8")
    assert "`search_orders` is called `find_orders_by_text` now\n" in comment
    assert 'lists no tool "search_orders". Did you mean find_orders_by_text, which takes the same' in comment
    code, said = evalward("validate", str(copy / "evalward.yml"))
    assert code == 2, said
    assert 'lists no tool "search_orders"' in said


def test_a_description_that_only_a_replay_looked_at__is_not_passed(tmp_path: Path) -> None:
    copy = copied(tmp_path, ("tools.json", "tools-after.json"))
    code, said = evalward("check", "--config", str(copy / "evalward.yml"), "--output", str(tmp_path / "out"))
    assert code == 0, said
    judgement = json.loads((tmp_path / "out" / "judgement.json").read_text("utf-8"))
    assert judgement["verdict"]["outcome"] == "inconclusive"


def test_the_snapshot__is_what_the_server_lists(tmp_path: Path) -> None:
    server = [sys.executable, "-I", "-S", str(EXAMPLE / "server.py")]
    code, said = evalward("mcp", "snapshot", "--output", str(tmp_path / "tools.json"), "--", *server)
    assert code == 0, said
    assert (tmp_path / "tools.json").read_bytes() == (EXAMPLE / "tools.json").read_bytes()


def test_its_server__is_called_and_leaves_what_was_asked_for() -> None:
    with checkout() as folder:
        copy = copied(folder, ("[python3, server.py]", json.dumps([sys.executable, "-I", "-S", "server.py"])))
        code, said = evalward("run", "--config", str(copy / "run.yml"), "--output", str(folder / "out"))
        report = json.loads((folder / "out" / "report.json").read_text("utf-8"))
    assert code == 0, said
    (run,) = report["runs"]
    assert [case["status"] for case in run["cases"]] == ["passed", "passed"]
    assert run["metrics"]["tool_call_success_rate"]["value"] == 1.0
    assert {check["check"] for case in run["cases"] for check in case["checks"]} >= {"state"}
    assert not (EXAMPLE / "orders.json").exists()


def test_recordings__are_what_the_script_writes(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    copy = copied(tmp_path)
    runpy.run_path(str(copy / "write_recordings.py"), run_name="__main__")
    assert "20 trials" in capsys.readouterr().out
    for version in ("before", "after"):
        written, committed = (
            [_said(line) for line in (folder / f"recordings/hand-written-{version}.jsonl").read_text().splitlines()]
            for folder in (copy, EXAMPLE)
        )
        assert written == committed


def _said(line: str) -> object:
    """What a replay needs."""
    trial = Trial.model_validate(json.loads(line))
    result = trial.result
    return trial.case, trial.trace.messages, result.id, result.definition, result.status, result.reason

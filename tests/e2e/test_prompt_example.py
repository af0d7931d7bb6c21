"""The example of prompt files as users have it: it passes, its pull request goes red, and it needs no key."""

from __future__ import annotations

import json
import os
import shutil
import sys
from pathlib import Path

import pytest

from evalward.records.result import Trial
from support import warm

EXAMPLE = Path(__file__).parents[2] / "examples" / "prompt-files"


def evalward(*arguments: str) -> tuple[int, str]:
    """Exit code and everything that it said, run without any key."""
    done = warm.evalward(*arguments, env={"PATH": os.environ["PATH"], "COLUMNS": "160"})
    return done.returncode, done.stdout + done.stderr


def check(config: str, output: Path) -> tuple[int, str]:
    return evalward("check", "--config", str(EXAMPLE / config), "--output", str(output))


def test_the_example__proves_itself() -> None:
    code, said = evalward("validate", str(EXAMPLE / "evalward.yml"))
    assert code == 0, said
    assert "3 of 5 expected answers compared, an empty answer tried on each, 2 rows need a judge" in said


def test_the_example__passes(tmp_path: Path) -> None:
    code, said = check("evalward.yml", tmp_path)
    assert code == 0, said
    assert "nothing got worse" in said


def test_its_pull_request__fails_and_says_where(tmp_path: Path) -> None:
    code, said = check("pull-request.yml", tmp_path)
    assert code == 1, said
    comment = (tmp_path / "comment.md").read_text("utf-8")
    for case in ("release-note/crash", "release-note/python-38", "support-reply/refund"):
        assert case in comment
    judgement = json.loads((tmp_path / "judgement.json").read_text("utf-8"))
    assert judgement["verdict"]["outcome"] == "fail"
    assert "score:promises nothing is 0.50, below its floor of 1" in said
    assert 'chose "it promises": Money by tomorrow.' in said


def test_a_prompt_that_only_a_replay_looked_at__is_not_passed(tmp_path: Path) -> None:
    copy = tmp_path / "prompt-files"
    shutil.copytree(EXAMPLE, copy)
    prompt = copy / "prompts" / "support-reply.prompt.yml"
    prompt.write_text(prompt.read_text("utf-8").replace("promise nothing.", "reassure people."), "utf-8")
    code, said = evalward("check", "--config", str(copy / "evalward.yml"), "--output", str(tmp_path / "out"))
    assert code == 0, said
    judgement = json.loads((tmp_path / "out" / "judgement.json").read_text("utf-8"))
    assert judgement["verdict"]["outcome"] == "inconclusive"
    assert "the prompt support-reply of prompts changed, and a replay can't measure that" in said
    page = (tmp_path / "out" / "report.html").read_text("utf-8")
    assert "<del>promise nothing</del>" in page
    assert "<ins>reassure people</ins>" in page


def test_recordings__are_what_the_script_writes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    copy = tmp_path / "prompt-files"
    shutil.copytree(EXAMPLE, copy)
    monkeypatch.setattr(sys, "path", [str(copy), *sys.path])
    namespace: dict[str, object] = {"__file__": str(copy / "write_recordings.py"), "__name__": "write_recordings"}
    exec(compile((copy / "write_recordings.py").read_text("utf-8"), "write_recordings.py", "exec"), namespace)
    main = namespace["main"]
    assert callable(main)
    main()
    for version in ("before", "after"):
        judged = f"judge-hand-written-{version}.jsonl"
        assert (copy / judged).read_text("utf-8") == (EXAMPLE / judged).read_text("utf-8")
        recording = f"recordings/hand-written-{version}.jsonl"
        written, committed = (
            [_said(line) for line in (folder / recording).read_text("utf-8").splitlines()] for folder in (copy, EXAMPLE)
        )
        assert written == committed


def _said(line: str) -> object:
    """What a replay needs."""
    trial = Trial.model_validate(json.loads(line))
    result = trial.result
    return trial.case, trial.trace.messages, result.id, result.definition, result.status, result.reason

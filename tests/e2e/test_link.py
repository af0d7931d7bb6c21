"""`mode: link` as a step of a workflow: a process of its own, where every file that it could open would hang it."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Mapping
from pathlib import Path

from evalward.github.comment import Marker, comment_body
from evalward.render.markdown import comment
from support import judgements
from support.github_api import HEAD, REPOSITORY, TOKEN, FakeGitHub
from support.github_events import pull_request
from support.warm import EVALWARD

URL = f"https://github.com/{REPOSITORY}/actions/runs/20/artifacts/3001"
MARKER = Marker("evalward", HEAD, 20, 1)
PATIENCE_S = 300


def hanging(folder: Path) -> None:
    """A workspace of pipes that nobody writes to: whoever opens one waits for ever."""
    for name in ("evalward.yml", "evalward-out/report.json", "evalward-out/judgement.json", "evalward-out/report.html"):
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        os.mkfifo(path)
    (folder / "evalward").mkdir()
    (folder / "evalward" / "__init__.py").write_text("raise SystemExit('imported from the workspace')")


def step(folder: Path, api: FakeGitHub, inputs: Mapping[str, str]) -> tuple[int, str, str]:
    """Exit code, log and outputs."""
    (folder / "event.json").write_text(json.dumps(pull_request()))
    env = {
        "PATH": os.environ["PATH"],
        "HOME": str(folder),
        "GITHUB_ACTIONS": "true",
        "GITHUB_WORKSPACE": str(folder / "workspace"),
        "GITHUB_EVENT_PATH": str(folder / "event.json"),
        "GITHUB_EVENT_NAME": "pull_request",
        "GITHUB_REPOSITORY": REPOSITORY,
        "GITHUB_SHA": "d" * 40,
        "GITHUB_API_URL": api.url,
        "GITHUB_RUN_ID": "20",
        "GITHUB_RUN_ATTEMPT": "1",
        "GITHUB_OUTPUT": str(folder / "outputs"),
        "GITHUB_STEP_SUMMARY": str(folder / "summary"),
        "INPUT_MODE": "link",
        "INPUT_GITHUB-TOKEN": TOKEN,
        **inputs,
    }
    done = subprocess.run(
        [EVALWARD, "action"],
        cwd=folder / "workspace",
        env=env,
        capture_output=True,
        text=True,
        check=False,
        timeout=PATIENCE_S,
    )
    return done.returncode, done.stdout + done.stderr, (folder / "outputs").read_text("utf-8")


def test_step__links_the_comment_and_opens_nothing(tmp_path: Path) -> None:
    hanging(tmp_path / "workspace")
    with FakeGitHub() as api:
        api.add_comment(comment_body(comment(judgements.failed(), judgements.context(marker=MARKER.format())), MARKER))
        code, log, outputs = step(tmp_path, api, {"INPUT_REPORT-URL": URL})
        [body] = api.bodies()
    assert code == 0, log
    assert f"[Report]({URL})" in body
    assert "#issuecomment-1001" in outputs
    assert log.replace(f"::add-mask::{TOKEN}\n", "") == ""
    assert (tmp_path / "summary").read_text("utf-8").startswith(f"[Report]({URL})")


def test_step__another_address_is_the_workflows_mistake(tmp_path: Path) -> None:
    hanging(tmp_path / "workspace")
    with FakeGitHub() as api:
        code, log, outputs = step(tmp_path, api, {"INPUT_REPORT-URL": "https://evil.example/x"})
        assert api.log() == []
    assert (code, log.count("::error")) == (2, 1)
    assert "verdict<<" in outputs

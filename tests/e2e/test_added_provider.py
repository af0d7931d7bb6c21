"""A provider is one row: with it, and nothing else, its models are measured."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import evalward
from evalward.edge import PROGRAM
from evalward.render.templates import template_folder
from support.live_runs import TASKS, model_of
from support.model_server import KEY, ModelServer
from support.patience import PATIENCE_S

ROW = """    ProviderRow(
        name="made-up",
        maker="Made Up",
        api="Chat Completions",
        protocol="openai_chat",
        url="{url}",
        key_env="MADE_UP_API_KEY",
    ),
)

PROVIDERS: """


def copied(into: Path, url: str) -> Path:
    """Our sources with a row more."""
    source = into / "src"
    shutil.copytree(Path(evalward.__file__).parent, source / "evalward")
    shutil.copytree(template_folder(), source / "evalward" / "templates", dirs_exist_ok=True)
    table = source / "evalward" / "records" / "providers.py"
    text = table.read_text("utf-8")
    assert text.count(")\n\nPROVIDERS: ") == 1
    table.write_text(text.replace(")\n\nPROVIDERS: ", ROW.format(url=url)), "utf-8")
    return source


@pytest.mark.cold
def test_a_row_is_all_that_a_provider_with_a_known_protocol_needs(tmp_path: Path) -> None:
    repository = tmp_path / "repository"
    repository.mkdir()
    suite = {"name": "live", "kind": "bash", "cases": "cases.jsonl", "targets": ["made-up/gpt-5"]}
    settings = {"max_tokens": 500, "prices": {"gpt-5": {"input": 1.0, "output": 2.0, "cache_read": 0.1}}}
    config = {"version": 1, "suites": [suite], "providers": {"made-up": settings}, "budget_usd": 5}
    (repository / "evalward.yml").write_text(json.dumps(config), "utf-8")
    (repository / "cases.jsonl").write_text("\n".join(map(json.dumps, TASKS)) + "\n", "utf-8")
    with ModelServer(model_of(TASKS)) as server:
        source = copied(tmp_path, server.openai_url)
        env = {"PATH": "/usr/bin:/bin", "HOME": str(tmp_path), "MADE_UP_API_KEY": KEY}
        command = [sys.executable, "-I", "-X", "utf8", "-c", PROGRAM, str(source), "run"]
        done = subprocess.run(
            command, cwd=repository, env=env, capture_output=True, text=True, timeout=PATIENCE_S, check=False
        )
        assert done.returncode == 0, done.stderr
        asked = [logged.path for logged in server.requests]
    (run,) = json.loads((repository / "evalward-out" / "report.json").read_text("utf-8"))["runs"]
    assert run["target"] == "made-up/gpt-5"
    assert {case["id"]: case["status"] for case in run["cases"]} == {
        "alpha": "passed",
        "beta": "passed",
        "gamma": "passed",
        "delta": "failed",
    }
    assert set(asked) == {"/v1/chat/completions"}
    assert run["metrics"]["cost_usd"]["value"] > 0

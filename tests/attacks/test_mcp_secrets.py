"""A server of the pull request looks for keys: in its environment, in other processes, in files of ours."""

from __future__ import annotations

import json
import sys

import pytest

from support.git_repo import git
from support.live_runs import CHAT, Repo
from support.mcp import checkout
from support.mcp_suites import write_json
from support.model_server import Answer, Call, Conversation, ModelServer, Script

pytestmark = pytest.mark.cold

CANARY = "canary-of-a-key-7d1e"
TOOL = {"name": "spy", "description": "Spies.", "inputSchema": {"type": "object"}}
CASE = {"id": "spy", "prompt": "Look around.", "expect": {"calls": [{"tool": "spy"}]}}


def test_a_server_finds_no_key_and_no_answer() -> None:
    script = Script((Conversation("Look around", (Answer(calls=(Call({}, "spy"),)), Answer("Done."))),))
    command = [sys.executable, "-I", "-S", "./server.py", f"list={json.dumps({'tools': [TOOL]})}"]
    suite = {"name": "t", "kind": "mcp", "server": {"command": command}, "mode": "run", "cases": "c.jsonl"}
    with checkout() as root, ModelServer(script) as models:
        git(root, "init", "-q")
        repo = Repo(root, models)
        repo.write((CHAT,), (), suite=suite)
        write_json(root, "c.jsonl", json.dumps(CASE))
        write_json(root, "open.txt", CANARY)  # what is found shows that it looks
        write_json(root, "sub/.git/config", CANARY)
        write_json(root, ".git/secret", CANARY)
        done = repo.run("run", env={"OPENAI_API_KEY": CANARY, "MY_TOKEN": CANARY})
        assert done.code == 0, done.err
        (trial,) = repo.trials()
        spied = json.loads(json.loads(trial.read_text("utf-8"))["trace"]["tool_calls"][0]["stdout"])
    assert spied["found"] == ["open.txt"]
    assert min(spied["processes"], spied["files"]) > 0

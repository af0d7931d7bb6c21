"""A program that uses `evalward.api` and holds keys opens nothing of the checkout, as the command line doesn't."""

from __future__ import annotations

import json
import os
import secrets
import subprocess
import sys
from pathlib import Path

import pytest

from support.checkouts import copy_examples

pytestmark = pytest.mark.cold

CANARY = f"sk-canary-{secrets.token_hex(12)}"  # others look for theirs at the same time

WATCH = """
import ctypes, json, os, sys
from evalward import api
root, seen, how, config, out = sys.argv[1], open(sys.argv[2], "a"), *sys.argv[3:]

def hook(event, arguments):
    if event in ("open", "os.listdir", "os.scandir", "os.chdir", "os.mkdir", "os.rename", "os.remove", "os.symlink"):
        name = arguments[0]
        if isinstance(name, (str, bytes, os.PathLike)):
            path = os.path.normpath(os.path.join(os.getcwd(), os.fsdecode(name)))
            if path == root or path.startswith(root + "/"):
                seen.write(json.dumps([event, path]) + "\\n")
    elif event == "subprocess.Popen":
        environment = arguments[3]
        seen.write(json.dumps([event, " ".join(map(str, arguments[1]))[:200], dict(environment or {})]) + "\\n")

sys.addaudithook(hook)
report = getattr(api, how)(config, out)
if sys.platform == "linux":
    seen.write(json.dumps(["dumpable", str(ctypes.CDLL(None).prctl(3, 0, 0, 0, 0))]) + "\\n")
"""


@pytest.mark.parametrize("how", ["run", "check"])
def test_no_path_of_the_checkout_is_opened_beside_the_keys(how: str, tmp_path: Path) -> None:
    checkout, seen, out = tmp_path / "checkout", tmp_path / "seen", tmp_path / "out"
    copy_examples(checkout)
    config = checkout / "commands" / "pull-request.yml"
    words = [sys.executable, "-I", "-c", WATCH, *map(str, (checkout, seen)), how, str(config), str(out)]
    env = {"PATH": os.environ["PATH"], "OPENAI_API_KEY": CANARY, "MY_DATABASE": CANARY}
    elsewhere = tmp_path / "elsewhere"  # names below an open folder would look like names of the checkout
    elsewhere.mkdir()
    done = subprocess.run(words, cwd=elsewhere, env=env, capture_output=True, text=True, check=False, timeout=600)
    assert done.returncode == 0, done.stderr
    events = [json.loads(line) for line in seen.read_text().splitlines()]
    assert [event for event in events if event[0] not in {"subprocess.Popen", "dumpable"}] == []
    started = [event for event in events if event[0] == "subprocess.Popen"]
    assert any("evalward.runner.service" in event[1] for event in started)
    assert [event for event in started if CANARY in json.dumps(event)] == []
    if sys.platform == "linux":
        assert ["dumpable", "0"] in events  # nobody of our user reads the environment that we began with

"""Who holds the keys opens nothing of the checkout, and whoever opens it holds no key: seen from outside."""

from __future__ import annotations

import ast
import json
import os
import re
import secrets
import subprocess
import sys
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from support.checkouts import copy_examples
from support.live_runs import CHAT, Repo, model_of, task
from support.model_server import KEY, ModelServer
from support.patience import wait_until

pytestmark = pytest.mark.cold

WATCH = """
import json, os, sys
root, seen = sys.argv[1], open(sys.argv[2], "a")

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

sys.argv = ["evalward", *sys.argv[3:]]
sys.addaudithook(hook)
from evalward.cli import main
main()
"""
ANSWERS = "recorded:judge/answers-hand-written.jsonl"
CANARY = f"sk-canary-{secrets.token_hex(12)}"  # others look for theirs at the same time


@pytest.mark.parametrize(
    "words",
    [
        ("check", "--config", "scenarios/pull-request.yml"),
        ("check", "--config", "commands/pull-request.yml"),
        ("run", "--config", "bash-tools/pull-request.yml", "--suite", "smoke"),
        ("judge", "check", "rubrics/guidance.yaml", "judge/labelled-hand-written.jsonl", "--model", ANSWERS),
    ],
)
def test_no_path_of_the_checkout_is_opened_beside_the_keys(words: tuple[str, ...], tmp_path: Path) -> None:
    checkout, seen, out = tmp_path / "checkout", tmp_path / "seen", tmp_path / "out"
    copy_examples(checkout)
    output = [] if words[0] == "judge" else ["--output", str(out)]
    done = subprocess.run(
        [sys.executable, "-I", "-c", WATCH, str(checkout), str(seen), *words, *output],
        cwd=checkout,
        env={"PATH": os.environ["PATH"], "OPENAI_API_KEY": CANARY, "MY_DATABASE": CANARY},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode in {0, 1}, done.stderr
    events = [json.loads(line) for line in seen.read_text().splitlines()]
    assert [event for event in events if event[0] != "subprocess.Popen"] == []
    started = [event for event in events if event[0] == "subprocess.Popen"]
    assert any("evalward.runner.service" in event[1] for event in started)
    assert [event for event in started if CANARY in json.dumps(event)] == []


@pytest.fixture
def server() -> Iterator[ModelServer]:
    with ModelServer(model_of([task("alpha")])) as running:
        yield running


def test_the_runner_knows_no_secret(server: ModelServer, tmp_path: Path) -> None:
    """While a model is asked, nothing in the environment and memory of whoever opens the checkout is the key."""
    tasks = [task("alpha")]
    server.settings = replace(server.settings, latency=300)
    repo = Repo(tmp_path, server)
    repo.write((CHAT,), tasks)
    process = repo.start("run", env={"GITHUB_TOKEN": "ghs_" + "a" * 36})
    try:
        wait_until(lambda: bool(server.requests))
        keeper = process.pid
        (runner,) = [pid for pid in children(keeper) if b"evalward.runner.service" in read(pid, "cmdline")]
        below = [runner, *descendants(runner)]
        assert len(below) > 1  # the shell's process, too
        for pid in below:
            assert KEY.encode() not in read(pid, "environ")
            assert b"ghs_aaaa" not in read(pid, "environ")
        found = {pid: holds(pid, KEY.encode()) for pid in below}
        assert set(found.values()) <= {False, None}
        if found[runner] is None or os.geteuid() != 0:
            pytest.skip("only root may look into the memory of a process that hides it")
        assert holds(keeper, KEY.encode()) is True  # so looking does find it
    finally:
        process.kill()
        process.communicate()


def children(pid: int) -> list[int]:
    found: list[int] = []
    with suppress(OSError):  # it may end while we look
        for task in list(Path(f"/proc/{pid}/task").iterdir()):
            with suppress(OSError):
                found += map(int, (task / "children").read_text().split())
    return found


def descendants(pid: int) -> list[int]:
    below = children(pid)
    return [*below, *(deeper for child in below for deeper in descendants(child))]


def read(pid: int, name: str) -> bytes:
    try:
        return Path(f"/proc/{pid}/{name}").read_bytes()
    except OSError:
        return b""


def holds(pid: int, secret: bytes) -> bool | None:
    """Whether a secret is in the memory of a process; `None` where it can't be looked at."""
    try:
        with Path(f"/proc/{pid}/maps").open() as maps, Path(f"/proc/{pid}/mem").open("rb", 0) as memory:
            return any(secret in _part(memory, line) for line in maps if " rw" in line)
    except OSError:
        return None


def _part(memory: Any, line: str) -> bytes:
    start, end = (int(number, 16) for number in re.match(r"(\w+)-(\w+)", line).groups())  # type: ignore[union-attr]
    try:
        memory.seek(start)
        return bytes(memory.read(min(end - start, 1 << 28)))
    except OSError:
        return b""


def test_a_process_that_has_keys_lets_nobody_look_into_it() -> None:
    say = "import ctypes; from evalward.edge import hide; hide(); print(ctypes.CDLL(None).prctl(3, 0, 0, 0, 0))"
    done = subprocess.run([sys.executable, "-c", say], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "0"


def test_keys_leave_the_environment_that_children_inherit() -> None:
    say = (
        "import os; from evalward.edge import taken_environment; "
        "e = taken_environment(); print(sorted(os.environ), len(e))"
    )
    secrets = dict.fromkeys(("ANTHROPIC_API_KEY", "MY_DATABASE", "INPUT_GITHUB-TOKEN"), CANARY)
    env = {"PATH": os.defpath, "CI": "1", **secrets}
    done = subprocess.run([sys.executable, "-c", say], env=env, capture_output=True, text=True, check=True)
    assert CANARY not in done.stdout
    assert "'CI', " in done.stdout
    assert "ANTHROPIC" not in done.stdout
    assert int(done.stdout.split()[-1]) >= len(env)


@pytest.mark.parametrize("words", [("validate",), ("compare", "--report", "r", "--baseline", "b"), ("report", "r")])
def test_a_command_that_needs_no_key_has_none(words: tuple[str, ...], tmp_path: Path) -> None:
    """It opens files of strangers by itself: so it begins anew without whatever could be a secret."""
    (tmp_path / "sitecustomize.py").write_text("raise SystemExit(9)")
    trace = tmp_path / "trace.py"
    trace.write_text(
        "import os, sys\n"
        "def execve(program, words, env):\n"
        "    print(sorted(env))\n"
        "    raise SystemExit(0)\n"
        "os.execve = execve\n"
        "from evalward.cli import main\n"
        f"sys.argv = ['evalward', *{list(words)!r}]\n"
        "main()\n"
    )
    env = {"PATH": os.defpath, "HOME": str(tmp_path), "OPENAI_API_KEY": CANARY, "MY_DATABASE": CANARY}
    done = subprocess.run([sys.executable, str(trace)], env=env, capture_output=True, text=True, check=False)
    assert done.stderr == ""
    assert set(ast.literal_eval(done.stdout)) <= {"HOME", "PATH", "LC_CTYPE", "EVALWARD_SET"}  # names alone

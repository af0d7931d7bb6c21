"""Hostile text commands no runner, and keys reach nothing that the action leaves behind."""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from evalward.action import run_action
from evalward.commands.world import World
from evalward.records.base import clean_text
from support.example_reports import report
from support.git_repo import pull_request_repo, write_files
from support.github_api import REPOSITORY, TOKEN, FakeGitHub
from support.github_events import ZERO, pull_request, push
from support.hostile import EVERYTHING, SNIPPETS, fill
from support.model_server import ModelServer, oracle_like
from support.runner_log import is_ours, live_commands

CONFIG = """\
version: 1
suites:
  - {name: tools, kind: bash, cases: cases.jsonl, targets: [TARGET]}
"""
COMMANDS = [
    "::error::x",
    "::set-env name=x::y",
    "::add-mask::x",
    "::stop-commands::x",
    "::x::",
    "##[add-mask]x",
    "##[error x=y]z",
    " ",
    "\t",
    "\n",
    "\r",
    "\r\n",
    "\x0b",
    "\u2028",
    "\x1b[0m",
    "\u200b",
    ":",
    "::",
    "#",
    "##",
    "[",
    "%0A",
    "x",
]
HOSTILE = st.lists(st.sampled_from([*COMMANDS, *SNIPPETS]), max_size=12).map("".join)
FEW = settings(max_examples=40, deadline=None)
AT_ONCE = 8  # cases in a suite, each with a text of its own


@dataclass(frozen=True)
class Seen:
    """What one run left."""

    code: int
    log: str
    left: str  # outputs, summary and every file in the output folder


def act(folder: Path, event_name: str, event: Mapping[str, Any], env: Mapping[str, str]) -> Seen:
    """The action in process; both streams are one log, as the runner has it."""
    (folder / "event.json").write_text(json.dumps(event))
    log = StringIO()
    variables = {
        "GITHUB_ACTIONS": "true",
        "GITHUB_WORKSPACE": str(folder / "workspace"),
        "GITHUB_EVENT_PATH": str(folder / "event.json"),
        "GITHUB_EVENT_NAME": event_name,
        "GITHUB_REPOSITORY": REPOSITORY,
        "GITHUB_SHA": "d" * 40,
        "GITHUB_OUTPUT": str(folder / "outputs"),
        "GITHUB_STEP_SUMMARY": str(folder / "summary"),
        "PATH": os.environ["PATH"],
        "INPUT_GITHUB-TOKEN": TOKEN,
        **env,
    }
    code = run_action(World(out=log, err=log, now=lambda: "2026-11-21T08:00:00Z", env=variables))
    files = [folder / "outputs", folder / "summary", *(folder / "workspace" / "evalward-out").rglob("*")]
    return Seen(code, log.getvalue(), "".join(f.read_text("utf-8") for f in files if f.is_file()))


def assert_harmless(seen: Seen) -> None:
    assert [command for command in live_commands(seen.log) if not is_ours(command, TOKEN)] == []
    assert TOKEN not in seen.left


def case(text: str) -> str:
    checks = [{"check": f"stdout_contains:{text}1"}, {"check": "exit_code:0"}]
    task = {"id": f"x{text}", "category": f"x{text}", "prompt": f"x{text}", "expectations": checks}
    return json.dumps({**task, "solution": f"cat <<'END'\n{text}\nEND\n{text}"}) + "\n"


@FEW
@given(text=HOSTILE)
@example(EVERYTHING)
@example("\n::error::x")
@example("x ##[error]y")
def test_report__commands_no_runner(text: str) -> None:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        evil = fill(report(), clean_text(text)).model_copy(update={"schema_": "evalward.report/1"})
        measured = evil.provenance.model_copy(update={"commit": "d" * 40})
        evil = evil.model_copy(update={"provenance": measured})
        write_files(
            folder / "workspace",
            {
                "evalward.yml": CONFIG.replace("TARGET", "oracle"),
                "cases.jsonl": case("x"),
                "report.json": evil.model_dump_json(by_alias=True),
            },
        )
        seen = act(folder, "push", push(ZERO, "d" * 40), {"INPUT_REPORT": "report.json"})

    assert "evalward" in seen.left.lower()
    assert_harmless(seen)


@settings(FEW, max_examples=FEW.max_examples // AT_ONCE)
@given(texts=st.lists(HOSTILE, min_size=AT_ONCE, max_size=AT_ONCE))
@example([EVERYTHING])
@example(["\n::error::x"])
@example(["x"])
def test_cases__command_no_runner(texts: list[str]) -> None:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        # Texts that are equal once they are clean would be one case twice: such a suite is refused.
        lines = "".join(case(text) for text in dict.fromkeys(clean_text(text) for text in texts))
        write_files(folder / "workspace", {"evalward.yml": CONFIG.replace("TARGET", "oracle"), "cases.jsonl": lines})
        seen = act(folder, "push", push(ZERO, "d" * 40), {})

    assert seen.code in {0, 1, 2, 3}
    assert_harmless(seen)


@FEW
@given(text=HOSTILE)
@example(EVERYTHING)
def test_configuration_and_inputs__command_no_runner(text: str) -> None:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        config = {"version": 1, text: text, "suites": [{"name": text, "kind": text, "cases": text, "targets": [text]}]}
        write_files(folder / "workspace", {"evalward.yml": json.dumps(config)})
        wrong_config = act(folder, "push", push(ZERO, "d" * 40, ref=f"refs/heads/{text}"), {})
        wrong_inputs = act(folder, "push", push(ZERO, "d" * 40), {"INPUT_FAIL-ON": f"x{text}", "INPUT_CONFIG": text})

    assert (wrong_config.code, wrong_inputs.code) == (2, 2)
    assert_harmless(wrong_config)
    assert_harmless(wrong_inputs)


@pytest.mark.parametrize("line", ["::error::x", "  ::x::", "a ##[x]y", "##[x y=z]"])
def test_live_command__is_seen(line: str) -> None:
    assert live_commands(f"a\n{line}\nb") == [line]
    assert live_commands(f"::stop-commands::t\n{line}\n::t::\nb") == []
    assert live_commands(f"::stop-commands::t\n::t::\n{line}") == [line]
    assert live_commands(f"::stop-commands::t\n::u::\n{line}") == []


# --- keys -------------------------------------------------------------------------------------------------------------

CANARY = "canary-0123456789-not-a-usual-form"
LIVE = CONFIG.replace("TARGET", "openai/gpt-5")


@pytest.fixture
def api() -> Iterator[FakeGitHub]:
    with FakeGitHub() as server:
        yield server


@pytest.mark.parametrize("variable", ["MODEL_KEY", "ACCESS_TO_THE_MODEL"])
def test_key__is_masked_and_left_nowhere(variable: str, api: FakeGitHub, tmp_path: Path) -> None:
    """A model that somehow knows the key types it, prints it, and fails with it."""
    answers = {"secret": [f'echo {CANARY}; echo \'{{"k": "{CANARY}"}}\'; echo {CANARY} >&2; false']}
    checks = [{"check": "stdout_contains:never"}]
    task = {"id": CANARY, "category": CANARY, "prompt": "secret", "expectations": checks}
    with ModelServer(oracle_like(answers), key=CANARY) as server:
        config = LIVE + f"providers: {{openai: {{base_url: '{server.openai_url}', key_env: {variable}}}}}\n"
        config += "policy: [{metric: pass_rate, floor: 0.9}]\n"
        base = {"evalward.yml": config, "cases.jsonl": json.dumps(task) + "\n"}
        repo = pull_request_repo(tmp_path / "workspace", base, {"README.md": f"{CANARY}\n"})
        api.heads[7] = repo.head
        event = pull_request(head=repo.head, base=repo.base)
        env = {variable: CANARY, "GITHUB_API_URL": api.url, "GITHUB_SHA": repo.merge}
        seen = act(tmp_path, "pull_request", event, env)
        assert server.requests

    log = seen.log.splitlines()
    mask = f"::add-mask::{CANARY}"
    assert mask in log
    assert CANARY not in "".join(line for line in log if line != mask)
    assert CANARY not in seen.left
    [comment] = api.bodies()
    assert CANARY not in comment
    assert "[redacted]" in comment
    assert seen.left.count("[redacted]") > 10

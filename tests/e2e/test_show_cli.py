"""`evalward show` and `view` as they are started: without keys, with a pager at a terminal, on what examples leave."""

from __future__ import annotations

import json
import os
import pty
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from support import warm
from support.showing import COLOUR, assert_seen, shown, shown_whole

EXAMPLES = Path(__file__).parents[2] / "examples"
PAGER = "import json, os, sys; json.dump([sys.stdin.read(), dict(os.environ)], open('seen.json', 'w'))"


def evalward(*words: str, cwd: Path, code: int = 0) -> str:
    done = warm.evalward(*words, cwd=cwd, env={"PATH": os.environ["PATH"]})
    assert done.returncode == code, done.stderr
    return done.stdout if code == 0 else done.stderr


@pytest.fixture(scope="module")
def out(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder above the output of a replay that fails one of its tasks."""
    folder = tmp_path_factory.mktemp("show")
    words = ["--target", "replay:*", "--case", "archive_*", "--output", str(folder / "evalward-out")]
    evalward("run", "--config", "evalward.yml", *words, cwd=EXAMPLES / "bash-tools")
    return folder


def test_the_list_leads_to_the_trial_and_the_trial_to_its_end(out: Path) -> None:
    listed = evalward("show", cwd=out)
    command = listed.splitlines()[1].partition("evalward ")[2]
    text = evalward(*command.split(), cwd=out)

    assert text.startswith("✗ failed: archive_filtered_backup, trial 1 · bash-tools × replay:agent\n")
    parts = [
        "Checks held: 4 of 6",
        "System prompt",
        "Tool description",
        "User",
        "Tool bash · exit code 0",
        "turn 1",
        "Model",
        "Replay",
    ]
    assert sorted(parts, key=text.index) == parts
    assert "\x1b" not in text


def test_an_unknown_case_is_one_line_with_exit_code_2(out: Path) -> None:
    said = evalward("show", "archive_filtered_backups", cwd=out, code=2)
    assert said.count("\n") == 1
    assert "Near: archive_filtered_backup" in said


def test_at_a_terminal_it_is_paged_with_colours_and_nothing_secret_is_left(out: Path) -> None:
    pager = shlex.join([sys.executable, "-c", PAGER])
    env = {
        "PATH": os.environ["PATH"],
        "TERM": "xterm",
        "PAGER": pager,
        "ANTHROPIC_API_KEY": "sk-ant-1",
        "MY_TOKEN": "t",
    }
    ours, theirs = pty.openpty()
    done = subprocess.run(
        [warm.EVALWARD, "show", "archive_filtered_backup"], cwd=out, env=env, stdout=theirs, check=False
    )
    os.close(theirs)
    os.close(ours)
    text, seen = json.loads((out / "seen.json").read_text("utf-8"))

    assert done.returncode == 0
    assert "\x1b[31m✗\x1b[0m" in text
    assert COLOUR.sub("", text).startswith("✗ failed: archive_filtered_backup")
    assert not {"ANTHROPIC_API_KEY", "MY_TOKEN"} & set(seen)
    assert seen["LESS"] == "FRX"


def test_the_page_is_named_where_there_is_no_display(out: Path) -> None:
    page = out / "evalward-out" / "report.html"
    page.unlink(missing_ok=True)
    assert "there is no such page" in evalward("view", cwd=out, code=2)

    page.write_text("<!doctype html>", "utf-8")
    assert evalward("view", cwd=out) == f"{page}\n"
    page.unlink()


@pytest.mark.parametrize(
    ("example", "words"),
    [
        ("bash-tools", ["--suite", "smoke"]),
        ("commands", ["--case", "worked-*"]),
        ("graders", []),
        ("guidance", ["--trials", "1"]),
    ],
)
def test_everything_that_an_example_measures_can_be_shown(example: str, words: list[str], tmp_path: Path) -> None:
    evalward("run", "--config", "evalward.yml", *words, "--output", str(tmp_path), cwd=EXAMPLES / example)
    text = shown_whole(tmp_path / "report.json")
    assert " · " in text
    assert_seen(text)


def test_colours_and_pages_are_for_terminals_alone(out: Path) -> None:
    assert "\x1b" not in shown(out, "evalward-out/report.json", case="archive_filtered_backup")

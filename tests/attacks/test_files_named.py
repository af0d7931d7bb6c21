"""Every command with what is no file, or one without end, in the place of each file that it takes: told, and exit 2."""

from __future__ import annotations

import os
from argparse import Namespace
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from evalward.cli import build_parser, guarded
from evalward.commands.world import World
from evalward.records.exits import EXIT_INPUT
from evalward.records.problem import InputError
from evalward.suites.judge.labelled import load_labelled
from evalward.suites.judge.rubric import one_criterion
from support.fuzzing.folders import quiet_world, write_files
from support.fuzzing.projects import write_project
from support.fuzzing.records import baseline_bytes, reports

COMMANDS = (
    "report BAD",
    "report GOOD BAD",
    "compare --report BAD --baseline BASELINE",
    "compare --report GOOD --baseline BAD",
    "compare --report GOOD --baseline BASELINE --policy BAD",
    "baseline update --report BAD --baseline new.json",
    "baseline update --report GOOD --baseline BAD",
    "baseline show --baseline BAD",
    "baseline diff BAD BASELINE",
    "history append --report BAD --folder HERE",
    "history append --report GOOD --judgement BAD --folder HERE",
    "history show --folder HERE --baseline BAD",
    "import bashkit-eval BAD --output HERE/i.json",
    "import caro BAD --output HERE/i.json",
    "import llm-tool-test BAD --output HERE/i.json",
    "import fc-eval BAD --output HERE/i.json",
    "export caro BAD --output HERE/x.json",
    "validate BAD",
)
IN_A_PROJECT = (
    *(
        "cases.jsonl",
        "cases.yaml",
        "commands.yaml",
        "022.json",
        "steps.yaml",
        "recording.jsonl",
        "baseline.json",
        "tool.json",
    ),
    *("system.txt", "add_task.yaml", "task.yaml", "oracle.patch", "answers.jsonl", "rubric.yaml"),
)


def sparse(path: Path) -> None:
    path.write_bytes(b"")
    os.truncate(path, 50_000_000_000)


BAD: dict[str, Callable[[Path], object]] = {
    "a device": lambda path: path.symlink_to("/dev/zero"),
    "a sparse file": sparse,
    "a pipe": os.mkfifo,
    "a folder": lambda path: path.mkdir(),
}


def told(world: World, handler: Callable[[World, Namespace], int], args: Namespace) -> tuple[int, Sequence[str]]:
    code = guarded(world, lambda world: handler(world, args))
    return code, world.err.getvalue().splitlines()  # type: ignore[attr-defined]  # a StringIO


@pytest.mark.parametrize("bad", BAD)
@pytest.mark.parametrize("command", COMMANDS)
def test_what_is_no_file_is_told(command: str, bad: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    write_files(tmp_path, {"good.json": reports()[2], "baseline.json": baseline_bytes(), "history.jsonl": b"{}\n"})
    BAD[bad](tmp_path / "bad.json")
    names = {"BAD": "bad.json", "GOOD": "good.json", "BASELINE": "baseline.json", "HERE": str(tmp_path)}
    words = [names.get(word, word.replace("HERE", str(tmp_path))) for word in command.split()]
    args = build_parser().parse_args(words)
    code, lines = told(quiet_world(tmp_path), args.handler, args)
    assert code == EXIT_INPUT, lines
    assert any("bad.json" in line for line in lines), lines


@pytest.mark.parametrize("bad", [name for name in BAD if name != "a folder"])
@pytest.mark.parametrize("name", IN_A_PROJECT)
def test_what_a_project_names_is_told(name: str, bad: str, tmp_path: Path) -> None:
    write_project(tmp_path)
    (tmp_path / name).unlink()
    BAD[bad](tmp_path / name)
    args = build_parser().parse_args(["validate", "--no-prove", str(tmp_path / "evalward.yml")])
    code, lines = told(quiet_world(tmp_path), args.handler, args)
    assert code == EXIT_INPUT
    assert any(name in line or "no file matches" in line for line in lines), lines


@pytest.mark.parametrize("bad", BAD)
def test_labelled_transcripts(bad: str, tmp_path: Path) -> None:
    BAD[bad](tmp_path / "bad.jsonl")
    with pytest.raises(InputError, match=r"bad\.jsonl"):
        load_labelled(tmp_path / "bad.jsonl", one_criterion("It is good."))

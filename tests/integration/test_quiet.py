"""`-q`: of all that a command says for people, one line on standard output; the exit code is the same."""

from __future__ import annotations

import argparse
import json
import subprocess
from dataclasses import replace
from io import StringIO
from pathlib import Path

import pytest

from evalward.cli import build_parser, guarded
from evalward.commands.parsing import all_parsers
from support.cases import task, write_suite
from support.showing import world_of

PARSERS = dict(all_parsers(build_parser()))
QUIET = ["check", "compare", "release", "run", "validate"]


def said(folder: Path, line: str, monkeypatch: pytest.MonkeyPatch) -> tuple[int, str, str]:
    """Exit code, standard output and standard error of a command in this process."""
    monkeypatch.chdir(folder)
    args = build_parser().parse_args(line.split())
    world = replace(world_of(folder), quiet=args.quiet)
    code = guarded(world, lambda world: args.handler(world, args))
    assert isinstance(world.out, StringIO)
    assert isinstance(world.err, StringIO)
    return code, world.out.getvalue(), world.err.getvalue()


def test_the_commands_that_end_with_a_verdict_take_it() -> None:
    def takes(parser: argparse.ArgumentParser) -> bool:
        return any("--quiet" in action.option_strings and "-q" in action.option_strings for action in parser._actions)

    assert sorted(words for words, parser in PARSERS.items() if takes(parser)) == QUIET


def test_one_line_each_and_the_same_exit_codes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_suite(tmp_path, [task(), task(id="b")])
    assert said(tmp_path, "validate -q", monkeypatch) == (
        0,
        "evalward.yml: 1 suite, 2 cases, 2 trials, no problem\n",
        "",
    )
    assert said(tmp_path, "run -q", monkeypatch) == (0, "Evalward run: 2 trials, 2 passed\n", "")

    report = tmp_path / "evalward-out" / "report.json"
    monkeypatch.chdir(tmp_path)
    update = build_parser().parse_args(["baseline", "update"])
    assert guarded(world_of(tmp_path), lambda world: update.handler(world, update)) == 0
    broken = json.loads((tmp_path / "cases.jsonl").read_text("utf-8").splitlines()[0])
    write_suite(tmp_path, [{**broken, "solution": ["false"]}, task(id="b")])

    failed = "✗ Evalward: failed — "
    code, out, err = said(tmp_path, "check -q", monkeypatch)
    assert (code, out.count("\n"), err) == (1, 1, "")
    assert out.startswith(failed)
    assert json.loads(report.read_text("utf-8"))["runs"][0]["metrics"]["pass_rate"]["value"] == 0.5
    assert said(tmp_path, "compare -q", monkeypatch) == (1, out, "")
    assert said(tmp_path, "compare -q --format junit --output x.xml", monkeypatch) == (1, out, "")
    assert "<testsuite" in (tmp_path / "x.xml").read_text("utf-8")
    assert said(tmp_path, "release -q --report evalward-out", monkeypatch)[:2] == (1, "✗ Release: blocked\n")


def test_machine_formats_are_whole(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_suite(tmp_path, [task()])
    assert said(tmp_path, "run -q", monkeypatch)[0] == 0
    code, out, err = said(tmp_path, "compare -q --format json", monkeypatch)
    assert (code, json.loads(out)["verdict"]["outcome"], err) == (0, "pass", "")


def test_from_a_folder_below_results_lie_next_to_the_config(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_suite(tmp_path, [task()])
    below = tmp_path / "below"
    below.mkdir()
    subprocess.run(["git", "init", "--quiet"], cwd=tmp_path, check=True)
    assert said(below, "run -q", monkeypatch)[0] == 0
    assert not list(below.iterdir())
    assert said(below, "compare -q", monkeypatch)[0] == 0
    assert (tmp_path / "evalward-out" / "report.json").is_file()


def test_a_mistake_is_still_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_suite(tmp_path, [task()])
    code, out, err = said(tmp_path, "run -q --target x", monkeypatch)
    assert (code, out) == (2, "")
    assert "no target matches 'x'" in err

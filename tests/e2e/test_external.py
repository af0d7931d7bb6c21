"""A suite of another harness from end to end: real processes, a harness of the test's own that writes JUnit XML."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from support import warm

CASES = ("count", "find", "greet", "sum", "date", "weather")
KEY = "sk-0123456789abcdef0123456789"

HARNESS = '''
"""harness.py OUTPUT [--only ID,ID] [--trials N]: runs the cases of state.json and writes JUnit XML."""
import argparse, json, os, pathlib, sys

parser = argparse.ArgumentParser()
parser.add_argument("output")
parser.add_argument("--only")
parser.add_argument("--trials", type=int, default=1)
args = parser.parse_args()
here = pathlib.Path(__file__).parent
state = json.loads((here / "state.json").read_text())
(here / "seen.json").write_text(json.dumps(sorted(os.environ)))
if state.get("crash"):
    print("Fatal: no route to the model")
    sys.exit(9)
elements = []
for case, luck in state["cases"].items():
    if args.only and "test_bot[%s" % case not in args.only.split(" or "):
        continue
    for number in range(1, args.trials + 1):
        bad = luck.pop(0) if luck else False
        inside = '<failure message="AssertionError: no ' + case + '">x</failure>' if bad else ""
        suffix = "-%d-%d" % (number, args.trials) if args.trials > 1 else ""
        elements.append('<testcase classname="bot" name="test_bot[%s%s]" time="0.001">%s</testcase>'
                        % (case, suffix, inside))
(here / "state.json").write_text(json.dumps(state))
pathlib.Path(args.output).parent.mkdir(exist_ok=True)
pathlib.Path(args.output).write_text(
    '<testsuites><testsuite name="pytest" errors="0" failures="0" skipped="0" tests="%d" time="0" '
    'timestamp="2026-11-22T03:59:04.712544+00:00" hostname="h">%s</testsuite></testsuites>'
    % (len(elements), "".join(elements)))
sys.exit(1 if any("failure" in each for each in elements) else 0)
'''


@dataclass(frozen=True)
class Done:
    code: int
    out: str
    err: str


@dataclass(frozen=True)
class Project:
    """A repository whose evaluations are another harness's."""

    root: Path

    def write(self, **suite: Any) -> None:
        """The configuration."""
        keys = {
            "name": "bot",
            "kind": "external",
            "run": [sys.executable, "harness.py", "logs/results.xml", "--trials", "{trials}"],
            "trials": 5,
            "rerun": [sys.executable, "harness.py", "{dir}/results.xml", "--only", "{ids_or}", "--trials", "{trials}"],
            "results": "logs/*.xml",
            **suite,
        }
        kept = {key: value for key, value in keys.items() if value is not None}
        config = {"version": 1, "suites": [kept], "policy": [{"metric": "pass_rate", "max_drop": 0.02}]}
        (self.root / "evalward.yml").write_text(json.dumps(config), "utf-8")

    def fails(self, *, crash: bool = False, **cases: list[bool]) -> None:
        """Which of the next tries of a case fail; those after them pass."""
        state = {"crash": crash, "cases": {case: cases.get(case, []) for case in CASES}}
        (self.root / "state.json").write_text(json.dumps(state), "utf-8")

    def evalward(self, *words: str, env: dict[str, str] | None = None) -> Done:
        done = warm.evalward(*words, cwd=self.root, env={**os.environ, **(env or {})})
        return Done(done.returncode, done.stdout, done.stderr)

    def run_of_report(self) -> dict[str, Any]:
        (run,) = json.loads((self.root / "evalward-out" / "report.json").read_text("utf-8"))["runs"]
        found: dict[str, Any] = run
        return found


@pytest.fixture(scope="module")
def known(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    """The baseline: five trials of each case, all passed."""
    project = Project(tmp_path_factory.mktemp("known"))
    (project.root / "harness.py").write_text(HARNESS, "utf-8")
    project.write()
    project.fails()
    assert project.evalward("run").code == 0
    assert project.evalward("baseline", "update").code == 0
    return (project.root / ".evalward" / "baseline.json").read_bytes()


@pytest.fixture
def project(tmp_path: Path, known: bytes) -> Project:
    project = Project(tmp_path)
    (tmp_path / "harness.py").write_text(HARNESS, "utf-8")
    (tmp_path / ".evalward").mkdir()
    (tmp_path / ".evalward" / "baseline.json").write_bytes(known)
    project.write()
    return project


def test_nothing_changed__passes(project: Project) -> None:
    project.fails()
    done = project.evalward("check")
    assert done.code == 0, done.err
    assert "✓ Evalward: passed" in done.out
    assert "bot: 30 trials of junit" in done.err


def test_broken_cases__are_tried_again_by_the_harness_and_fail_the_check(project: Project) -> None:
    project.fails(greet=[True] * 99, sum=[True] * 99)
    done = project.evalward("check")
    assert done.code == 1, done.err
    assert "✗ Evalward: failed" in done.out
    fresh = project.run_of_report()["confirmation"]
    assert {(each["id"], each["trial"], each["status"]) for each in fresh} == {
        (f"bot::test_bot[{case}]", number, "failed") for case in ("greet", "sum") for number in (6, 7, 8, 9)
    }


def test_failures_that_do_not_repeat__are_bad_luck(project: Project) -> None:
    project.write(trials=1, run=[sys.executable, "harness.py", "logs/results.xml", "--trials", "{trials}"])
    project.fails(greet=[True], sum=[True])
    done = project.evalward("check")
    assert done.code == 0, done.err
    assert [each["status"] for each in project.run_of_report()["confirmation"]] == ["passed"] * 6


def test_without_a_rerun__the_verdict_says_what_one_would_add(project: Project) -> None:
    project.write(rerun=None)
    project.fails(greet=[True] * 99, sum=[True] * 99)
    done = project.evalward("check")
    assert done.code == 1
    assert "the suite has no rerun, so the harness can't retry failed cases" in " ".join(done.out.split())


def test_a_harness_that_leaves_nothing__gives_no_verdict(project: Project) -> None:
    project.fails(crash=True)
    done = project.evalward("check")
    assert done.code == 3
    assert "  | Fatal: no route to the model" in done.err
    words = " ".join(done.out.split())
    assert "bot: the harness ended with exit code 9 and left nothing in logs/*.xml: Fatal: no route" in words


def test_results_that_are_older_than_the_run__are_none_of_it(project: Project) -> None:
    project.fails(crash=True)
    (project.root / "logs").mkdir()
    old = project.root / "logs" / "old.xml"
    old.write_text("<testsuites/>")
    os.utime(old, (1, 1))
    done = project.evalward("check")
    assert done.code == 3
    assert "left nothing new in logs/*.xml, only 1 older file" in " ".join(done.out.split())


def test_files_of_an_earlier_step__are_read_without_a_run(project: Project) -> None:
    project.fails()
    subprocess.run([sys.executable, "harness.py", "logs/results.xml", "--trials", "5"], cwd=project.root, check=True)
    project.write(run=None, rerun=None, trials=None)
    assert project.evalward("check").code == 0
    (project.root / "logs" / "results.xml").unlink()
    done = project.evalward("check")
    assert done.code == 2
    assert "suite bot, results logs/*.xml: there is no result file. Run the harness first" in done.err


@pytest.mark.cold  # what the harness finds in its environment is what processes were started with
def test_the_command__has_the_keys_that_the_suite_names_and_no_others(project: Project) -> None:
    project.write(env=["BOT_KEY"])
    project.fails()
    done = project.evalward("check", env={"BOT_KEY": KEY, "OPENAI_API_KEY": KEY, "GITHUB_TOKEN": KEY})
    assert done.code == 0, done.err
    seen = json.loads((project.root / "seen.json").read_text("utf-8"))
    assert "BOT_KEY" in seen
    assert not {"OPENAI_API_KEY", "GITHUB_TOKEN"} & set(seen)


def test_a_key_that_is_not_set__is_a_mistake(project: Project) -> None:
    project.write(env=["BOT_KEY"])
    project.fails()
    done = project.evalward("check")
    assert done.code == 2
    assert "the command of bot needs a key, and BOT_KEY is not set" in done.err


def test_a_selection__chooses_among_the_results(project: Project) -> None:
    project.fails(greet=[True] * 99)
    done = project.evalward("check", "--case", "*sum*")
    assert done.code == 0, done.err
    assert {each["id"] for each in project.run_of_report()["cases"]} == {"bot::test_bot[sum]"}
    done = project.evalward("check", "--case", "nosuch")
    assert done.code == 2
    assert "nothing matches 'nosuch'. Patterns match suite names, target ids and case ids." in done.err

"""A pull request that changes guidance: the base's is run, too, without being asked, and leads the comment."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from io import StringIO
from pathlib import Path
from typing import Any

from evalward.action import run_action
from evalward.commands.world import World
from evalward.config.load import load_config
from evalward.engine.plan import Plan
from evalward.engine.scheduler import Executed
from evalward.engine.selection import Selection
from evalward.records.guidance import GuidanceComparison
from evalward.records.report import Report, Tool
from evalward.runner.guidance_base import OtherCommit, against_base
from evalward.runner.measure import prepare
from evalward.wire.errors import RemoteFilesError
from support.git_repo import pull_request_repo, shallow_clone, write_files
from support.github_api import REPOSITORY, TOKEN, FakeGitHub
from support.github_events import pull_request

# Reads AGENTS.md and runs what stands in it after "RUN:". No model, but its work depends on the guidance alone.
READER = r"""
while read -r line; do
  case "$line" in
    "RUN: "*)
      command=${line#RUN: }
      said=$(sh -c "$command" 2>&1); code=$?
      printf '{"event":"tool_call","tool":"bash","command":"%s"}\n' "$command"
      printf '{"event":"tool_result","output":"%s","exit_code":%s}\n' "$said" "$code" ;;
  esac
done < AGENTS.md
"""
TOOL = 'case "$1" in add) echo "$2" >> tasks.txt ;; *) echo "todo: unknown command $1"; exit 2 ;; esac\n'
WRONG = "RUN: sh todo create milk\nRUN: sh todo new milk\nRUN: sh todo add milk\n"
RIGHT = "RUN: sh todo add milk\n"
SCENARIO = {
    "name": "add_task",
    "description": "one task",
    "template_folder": "fixture",
    "target": {"binary": "todo", "command_pattern": r"todo\s+(\w+)"},
    "task": {"prompt": "Add milk."},
    "evaluation": {"gates": [{"type": "file_contains", "path": "tasks.txt", "substring": "milk"}]},
}
GUIDE = "evals/fixture/AGENTS.md"


def config(**more: Any) -> str:
    suite = {
        "name": "todo",
        "kind": "scenario",
        "cases": "evals/*.yaml",
        "targets": ["agent:reader"],
        "trials": 6,
        "network": "none",
    }
    agents = {"reader": {"command": ["sh", "-c", READER, "reader", "{prompt}"], "output": "events"}}
    return json.dumps({"version": 1, "suites": [suite], "agents": agents, **more}, indent=1)


BASE = {
    "evalward.yml": config(),
    "evals/add_task.yaml": json.dumps(SCENARIO),
    "evals/fixture/todo": TOOL,
    GUIDE: WRONG,
}


@dataclass(frozen=True)
class Seen:
    """What the action left."""

    code: int
    log: str
    comment: str
    report: Report
    folder: Path


def act(folder: Path, head: Mapping[str, str], base: Mapping[str, str] = BASE, *, shallow: bool = False) -> Seen:
    """The action on a pull request. `shallow`: the clone lacks the base, whose files GitHub has."""
    repo = pull_request_repo(folder / "workspace", base, head)
    workspace = shallow_clone(repo, folder / "shallow") if shallow else repo.folder
    with FakeGitHub() as api:
        api.heads[7] = repo.head
        for path, content in base.items() if shallow else ():
            api.add_file(repo.base, path, content.encode())
        (folder / "event.json").write_text(json.dumps(pull_request(head=repo.head, base=repo.base)))
        variables = {
            "PATH": os.environ["PATH"],
            "GITHUB_WORKSPACE": str(workspace),
            "GITHUB_EVENT_PATH": str(folder / "event.json"),
            "GITHUB_EVENT_NAME": "pull_request",
            "GITHUB_REPOSITORY": REPOSITORY,
            "GITHUB_SHA": repo.merge,
            "GITHUB_API_URL": api.url,
            "GITHUB_OUTPUT": str(folder / "outputs"),
            "GITHUB_STEP_SUMMARY": str(folder / "summary"),
            "INPUT_GITHUB-TOKEN": TOKEN,
        }
        log = StringIO()
        code = run_action(World(out=log, err=log, now=lambda: "2026-11-21T08:00:00Z", env=variables))
        output = workspace / "evalward-out"
        report = Report.model_validate_json((output / "report.json").read_bytes())
        return Seen(code, log.getvalue(), api.bodies()[0], report, output)


def test_the_comparison_leads_the_comment_and_is_in_no_metric(tmp_path: Path) -> None:
    seen = act(tmp_path, {GUIDE: RIGHT})
    assert seen.code == 0, seen.log
    (found,) = seen.report.guidance
    assert [column.name for column in found.columns] == ["base", "head"]
    assert [column.trials for column in found.columns] == [6, 6]
    errors = {d.name: d for d in found.differences}["error_rate"]
    assert (errors.delta, errors.standing) == (-12 / 18, "better")
    (run,) = seen.report.runs
    assert len(run.cases) == run.planned == 6
    assert run.metrics["error_rate"].value == 0
    assert run.metrics["total_commands"].value == 1
    assert (seen.folder / "guidance" / "base" / "trials").is_dir()
    headline = "`head` against `base`"
    assert headline in seen.comment
    assert "better on `error_rate`" in seen.comment
    assert "`todo create milk` failed in 6 of 6 trials" in seen.comment
    assert seen.comment.index("Evalward:") < seen.comment.index(headline) < seen.comment.index("outcome_pass_rate")
    assert (tmp_path / "workspace" / GUIDE).read_text("utf-8") == RIGHT


def test_the_bases_guidance_is_read_through_the_api_where_the_clone_lacks_it(tmp_path: Path) -> None:
    seen = act(tmp_path, {GUIDE: RIGHT}, {**BASE, "evals/fixture/CLAUDE.md": "old\n"}, shallow=True)
    (found,) = seen.report.guidance
    assert list(found.columns[0].files) == ["AGENTS.md"]
    assert {d.name: d for d in found.differences}["error_rate"].standing == "better"


def test_guidance_that_is_new_or_gone_is_compared_with_none(tmp_path: Path) -> None:
    skill = "evals/fixture/.claude/skills/todo/SKILL.md"
    base = {**BASE, GUIDE: RIGHT, "evals/fixture/CLAUDE.md": "old\n"}
    seen = act(tmp_path, {skill: "RUN: sh todo add\n", "evals/fixture/CLAUDE.md": ""}, base)
    (found,) = seen.report.guidance
    before, now = found.columns
    assert set(before.files) == {".claude/skills/todo/SKILL.md", "CLAUDE.md"}
    assert (before.files[".claude/skills/todo/SKILL.md"], now.files[".claude/skills/todo/SKILL.md"] != "") == ("", True)
    assert all(d.standing == "same" for d in found.differences)


def test_nothing_is_run_where_the_guidance_is_the_same(tmp_path: Path) -> None:
    seen = act(tmp_path, {"README.md": "new\n", "evals/other.yaml": json.dumps({**SCENARIO, "name": "other"})})
    assert seen.report.guidance == []
    assert not (seen.folder / "guidance").exists()
    assert "Guidance" not in seen.comment


def test_only_the_base_can_switch_it_off(tmp_path: Path) -> None:
    off = act(
        tmp_path / "one", {GUIDE: RIGHT, "evalward.yml": config()}, {**BASE, "evalward.yml": config(guidance="off")}
    )
    assert off.report.guidance == []
    on = act(tmp_path / "two", {GUIDE: RIGHT, "evalward.yml": config(guidance="off")})
    assert len(on.report.guidance) == 1


def beside(folder: Path, read: Callable[[str], bytes | None], report: Report) -> list[GuidanceComparison]:
    """What is compared beside a report; nothing may be run for it."""
    write_files(folder, {**BASE, GUIDE: RIGHT})
    plan = prepare(load_config(folder / "evalward.yml"), Selection(), {"PATH": os.environ["PATH"]})
    other = OtherCommit("base", folder, read, lambda _: [])

    def run(plan: Plan, name: str) -> Executed:
        raise AssertionError(f"{name} was run: {plan.size} trials")

    return against_base(other, "why")(plan, report, run)


REPORT = Report(tool=Tool(version="1"), created_at="2026-11-21T08:00:00Z")


def test_a_run_that_ended_early_says_why_there_is_no_comparison(tmp_path: Path) -> None:
    stopped = REPORT.model_copy(update={"interrupted": "budget: $1.00 of $1 is spent"})
    (found,) = beside(tmp_path, lambda path: BASE.get(path, "").encode() or None, stopped)
    assert found.not_measured == "the run ended early: budget: $1.00 of $1 is spent"
    assert beside(tmp_path, lambda path: {**BASE, GUIDE: RIGHT}.get(path, "").encode() or None, stopped) == []


def test_a_base_that_can_not_be_read_changes_no_verdict(tmp_path: Path) -> None:
    def read(path: str) -> bytes | None:
        raise RemoteFilesError(f"{path} could not be read.")

    (found,) = beside(tmp_path, read, REPORT)
    assert "evals/add_task.yaml could not be read" in (found.not_measured or "")

"""A change of one skill has its evals run; the cases of the others stand as in the baseline."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from support import warm
from support.git_repo import commit, git, init, write_files
from support.live_runs import OUTPUT, Done, ended
from support.two_skills import ALL, CSV, FILES, OF_CSV, RUN


def evalward(root: Path, *words: str) -> Done:
    env = {"PATH": os.environ["PATH"], "HOME": str(root), "COLUMNS": "200"}
    return ended(warm.start_evalward(*words, cwd=root, env=env))


@pytest.fixture(scope="module")
def committed(tmp_path_factory: pytest.TempPathFactory) -> Mapping[str, str]:
    """A repository of two skills, with its baseline."""
    root = tmp_path_factory.mktemp("committed")
    write_files(root, FILES)
    assert evalward(root, "run").code == 0
    done = evalward(root, "baseline", "update")
    assert done.code == 0, done.err
    return {**FILES, ".evalward/baseline.json": (root / ".evalward/baseline.json").read_text("utf-8")}


@pytest.fixture
def repo(tmp_path: Path, committed: Mapping[str, str]) -> Path:
    """A branch of it; nothing is changed."""
    init(tmp_path)
    commit(tmp_path, committed)
    git(tmp_path, "checkout", "--quiet", "-b", "topic")
    return tmp_path


def measured(repo: Path, folder: str = OUTPUT) -> tuple[list[str], dict[str, Any]]:
    """The cases that were measured, and the run."""
    (run,) = json.loads((repo / folder / "report.json").read_text("utf-8"))["runs"]
    return sorted(case["id"] for case in run["cases"]), run


def test_a_skills_body__has_its_own_evals_run__and_the_others_stand(repo: Path) -> None:
    write_files(repo, {"skills/csv/SKILL.md": f"{CSV}Then write the number.\n"})
    done = evalward(repo, "check", "--changed-since", "main")
    assert done.code == 0, done.err + done.out
    assert f": 2 of 5 cases of {RUN}. The baseline of" in done.err
    cases, run = measured(repo)
    assert (cases, run["planned"], run["metrics"]["pass_rate"]["denominator"]) == (OF_CSV, 3, 3.0)
    assert sorted(case["id"] for case in run["standing"]["of"]) == ["notes-query", "notes-task"]
    said = " ".join(done.out.split())
    assert "Measured 3 of 5 cases, and only what was measured is compared. 2 stand as in the baseline of" in said
    for name in ("comment.md", "report.html"):
        assert "2 stand as in the baseline of" in " ".join((repo / OUTPUT / name).read_text("utf-8").split())
    judgement = json.loads((repo / OUTPUT / "judgement.json").read_text("utf-8"))
    rule = next(rule for rule in judgement["verdict"]["rules"] if rule["rule"]["metric"] == "pass_rate")
    assert (rule["value"]["denominator"], rule["before"]["denominator"], rule["now"]["denominator"]) == (5.0, 3.0, 3.0)
    again = evalward(repo, "compare")
    assert (again.code, "2 of 5 cases" in again.out) == (0, True), again.out
    refused = evalward(repo, "baseline", "update")
    assert refused.code == 2
    assert f"{RUN}: cases were not measured (2): unchanged since the baseline, $0. Measure all of them." in refused.err


def test_a_drop_in_one_skill__is_held_against_its_own_cases(repo: Path) -> None:
    """Over all five cases the policy would allow it. The floor is judged on all five."""
    write_files(repo, {"skills/csv/scripts/columns.sh": "echo broken\n"})
    done = evalward(repo, "check", "--changed-since", "main")
    assert (done.code, measured(repo)[0]) == (1, OF_CSV), done.err
    judgement = json.loads((repo / OUTPUT / "judgement.json").read_text("utf-8"))
    rule = next(rule for rule in judgement["verdict"]["rules"] if rule["rule"]["metric"] == "pass_rate")
    assert (rule["stage"], rule["value"]["value"]) == ("drop", 0.8)
    assert rule["delta"] == pytest.approx(-1 / 3)


def test_shards_measure_the_others__and_who_judges_takes_what_stands(repo: Path) -> None:
    write_files(repo, {"skills/csv/SKILL.md": f"{CSV}Then write the number.\n"})
    shares = []
    for number in (1, 2):
        words = ("--shard", f"{number}/2", "--output", f"part-{number}", "--changed-since", "main")
        done = evalward(repo, "run", *words)
        assert done.code == 0, done.err
        shares += measured(repo, f"part-{number}")[0]
    assert sorted(shares) == OF_CSV
    done = evalward(repo, "check", "--parts", "part-1", "part-2", "--changed-since", "main")
    assert (done.code, measured(repo)[0]) == (0, OF_CSV), done.err
    refused = evalward(repo, "check", "--parts", "part-1", "part-2")
    assert refused.code == 2
    assert "the case notes-query has 0 trials, not 1" in refused.err
    assert evalward(repo, "merge", "part-1", "part-2", "--output", "part-3/report.json").code == 0
    assert measured(repo, "part-3")[1]["standing"]["cases"] == 2


def test_what_an_earlier_run_has_finished__is_resumed(repo: Path) -> None:
    write_files(repo, {"skills/csv/SKILL.md": f"{CSV}Then write the number.\n"})
    assert evalward(repo, "run", "--changed-since", "main").code == 0
    done = evalward(repo, "check", "--changed-since", "main", "--resume")
    assert (done.code, measured(repo)[0]) == (0, OF_CSV), done.err
    assert "Kept 3 of 3 trials of the earlier run." in done.err
    done = evalward(repo, "check", "--resume")
    assert (done.code, measured(repo)[0]) == (0, ALL), done.err

"""A release check: blocked at CSR .89, warned at .93, against the branch's baseline and the last tag."""

from __future__ import annotations

import json
from dataclasses import dataclass
from io import StringIO
from pathlib import Path

import pytest

from evalward.commands.baseline_ci import accepted_text
from evalward.commands.pipeline import dump_report, kinds_of
from evalward.commands.release import ReleaseOptions, release
from evalward.commands.tags import last_release
from evalward.commands.world import World
from evalward.decide.baseline import dump_baseline, update_baseline
from evalward.decide.pooling import NamedReport
from evalward.records.baseline import Acceptance
from evalward.records.policy import Policy
from evalward.records.problem import InputError
from evalward.records.report import Provenance, Report, Run, Subject, Tool
from evalward.records.result import Result, Status
from evalward.render.outputs import RELEASE_FILE, RELEASE_MARKDOWN
from evalward.suites.base import kind_named
from evalward.suites.command.details import CommandDetails
from support.git_repo import commit, git, init

CONFIG = """\
version: 1
suites:
  - {name: commands, kind: command, cases: evals/c.yaml, targets: [oracle]}
policy:
  - {metric: csr, floor: 0.5}
profiles:
  release:
    branches: ["release/**"]
    baseline: .evalward/release.json
    policy:
      - {metric: csr, floor: 0.90, goal: 0.948, max_drop: 0.05}
"""
MAIN, RELEASE = ".evalward/baseline.json", ".evalward/release.json"


def report(right: int, at: str = "2026-11-21T08:00:00Z") -> Report:
    """A run of 100 cases of which so many are right."""
    results = []
    for number in range(100):
        good = number < right
        details = CommandDetails(answer="ls" if good else "cat", expected="ls", safe_expected=True, safe_actual=True)
        status, score = (Status.PASSED, 1.0) if good else (Status.FAILED, 0.0)
        results.append(
            Result(
                id=f"c{number:03}", category="files", definition="sha256:same", trial=1, status=status, score=score,
                max_score=1.0, reason=None if good else "incorrect_command", details=details,
            )
        )  # fmt: skip
    found = kind_named("command").measure(results)
    run = Run(
        suite="commands", kind="command", target="oracle", trials=1, planned=100, subject=Subject(hash="sha256:s"),
        metrics=found.metrics, categories=found.categories, cases=results,
    )  # fmt: skip
    return Report(tool=Tool(version="1"), created_at=at, provenance=Provenance(commit="c" * 40), runs=[run])


def baseline(right: int, accepted: str = "") -> str:
    if not accepted:
        measured = report(right, "2026-11-20T08:00:00Z")
        return dump_baseline(update_baseline([NamedReport(measured, "r.json")], None, kinds_of(measured)).baseline)
    acceptance = Acceptance(
        at="2026-11-20T08:00:00Z", commit="d" * 40, reason=accepted, by="mona", verified=True, report="e" * 64
    )
    return accepted_text(None, report(right, "2026-11-20T08:00:00Z"), None, acceptance, Policy())


@dataclass(frozen=True)
class Seen:
    """What a release check left."""

    code: int
    text: str
    data: dict[str, object]
    told: str


@pytest.fixture
def repo(tmp_path: Path) -> Path:
    """Two releases, then work on release/2.0."""
    folder = init(tmp_path / "repo")
    commit(folder, {"evalward.yml": CONFIG, "evals/c.yaml": "[]", MAIN: baseline(99), RELEASE: baseline(94)}, "1.9")
    git(folder, "tag", "v1.9.0")
    commit(folder, {RELEASE: baseline(95)}, "1.10")
    git(folder, "tag", "-a", "-m", "1.10", "v1.10.0")
    git(folder, "checkout", "--quiet", "-b", "release/2.0")
    commit(folder, {"more.txt": "x", RELEASE: baseline(92, "slower, but safer")}, "work")
    git(folder, "tag", "v2.0.0-rc.1")
    git(folder, "tag", "not-a-version")
    return folder


def check(repo: Path, right: int, **options: str) -> Seen:
    (repo.parent / "r.json").write_text(dump_report(report(right)), "utf-8")
    out = repo.parent / "out"
    told = StringIO()
    world = World(out=told, err=StringIO(), now=lambda: "2026-11-21T08:00:00Z", env={"PATH": "/usr/bin:/bin"})
    code = release(
        world,
        ReleaseOptions(repo.parent / "r.json", repo / "evalward.yml", out, **options),  # type: ignore[arg-type]
    )
    data = json.loads((out / RELEASE_FILE).read_text("utf-8"))
    return Seen(code, (out / RELEASE_MARKDOWN).read_text("utf-8"), data, told.getvalue())


def test_release__is_blocked_at_89(repo: Path) -> None:
    seen = check(repo, 89)
    assert seen.code == 1
    assert "# Release report: blocked" in seen.text
    assert "csr" in seen.text
    assert (seen.data["tag"], seen.data["profile"], seen.data["branch"]) == ("v1.10.0", "release", "release/2.0")


def test_release__is_warned_at_93(repo: Path) -> None:
    seen = check(repo, 93)
    assert seen.code == 0, seen.told
    assert "# Release report: may be released" in seen.text
    warnings = seen.text.split("## Warnings")[1].split("##")[0]
    assert "csr" in warnings
    assert "94.8" in warnings


def test_release__has_no_warning_at_95(repo: Path) -> None:
    seen = check(repo, 95)
    assert seen.code == 0
    assert "## Warnings" not in seen.text


def test_release__the_worse_of_both_verdicts_counts(repo: Path) -> None:
    """Against the branch's baseline nothing fell; against the release it did, and more than chance explains."""
    config = CONFIG.replace("floor: 0.90, goal: 0.948, max_drop: 0.05", "floor: 0.5, max_drop: 0.05")
    commit(repo, {"evalward.yml": config, RELEASE: baseline(70)}, "lower")
    seen = check(repo, 70)
    assert seen.code == 1
    branch = seen.data["against_branch"]["verdict"]  # type: ignore[index]
    assert {reason["stage"] for reason in branch["reasons"]} == {"anchor"}
    assert branch["reasons"][0]["statements"][0]["code"] == "anchor.lost"
    assert branch["reasons"][0]["message"].startswith("since ")
    assert (seen.data["against_tag"]["verdict"]["outcome"]) == "fail"  # type: ignore[index]


def test_release__tells_what_was_accepted_since_the_tag(repo: Path) -> None:
    part = check(repo, 93).text.split("## Accepted since the last release")[1].split("##")[0]
    assert "by mona: slower, but safer (verified" in part
    assert "Nothing." in check(repo, 93, tag="v2.0.0-rc.1").text


def test_release__the_profile_is_the_branchs(repo: Path) -> None:
    assert check(repo, 89, branch="main").data["profile"] is None
    assert check(repo, 89, branch="main", profile="release").data["profile"] == "release"


def test_release__the_first_has_nothing_to_compare_with(repo: Path) -> None:
    for tag in git(repo, "tag").split():
        git(repo, "tag", "-d", tag)
    seen = check(repo, 95)
    assert (seen.code, seen.data["tag"], seen.data["against_tag"]) == (0, None, None)
    assert "There is no earlier release" in seen.text


def test_release__a_shallow_clone_is_no_first_release(repo: Path, tmp_path: Path) -> None:
    shallow = init(tmp_path / "shallow")
    git(shallow, "fetch", "--quiet", "--depth=1", f"file://{repo}", "release/2.0")
    git(shallow, "checkout", "--quiet", "-b", "release/2.0", "FETCH_HEAD")
    with pytest.raises(InputError, match="fetch-depth: 0"):
        check(shallow, 95)


def test_release__an_unknown_tag_is_told(repo: Path) -> None:
    with pytest.raises(InputError, match="there is no tag 'v9'"):
        check(repo, 95, tag="v9")


def test_release__a_tag_without_a_baseline_is_told(repo: Path) -> None:
    git(repo, "rm", "--quiet", RELEASE, MAIN)
    git(repo, "commit", "--quiet", "-m", "none")
    git(repo, "tag", "v3.0")
    commit(repo, {RELEASE: baseline(95)}, "again")
    seen = check(repo, 95)
    assert seen.code == 0
    assert "The release v3.0 has no baseline" in seen.text


@pytest.mark.parametrize(
    ("tags", "last"),
    [
        ({"v1.9.0": "a", "v1.10.0": "b"}, "v1.10.0"),
        ({"1.0": "a", "v2.0-rc.1": "b"}, "1.0"),
        ({"v2.0-rc.9": "b", "v2.0-rc.10": "c"}, "v2.0-rc.10"),
        ({"v1.0": "a", "v2.0": "head"}, "v1.0"),
        ({"nightly": "a"}, None),
        ({}, None),
    ],
)
def test_last_release(tags: dict[str, str], last: str | None) -> None:
    assert last_release(tags, "head") == last

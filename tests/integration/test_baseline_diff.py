"""Which baselines `baseline diff` compares: HEAD's, the working tree's, revisions of git, files."""

from __future__ import annotations

import os
from io import StringIO
from pathlib import Path

import pytest

from evalward.cli import build_parser
from evalward.commands.parsing import read_arguments
from evalward.decide.baseline import dump_baseline
from evalward.records.problem import InputError
from support.git_repo import commit, git
from support.results import KINDS, passes, report, run
from support.showing import world_of
from support.written import make_baseline

CONFIG = """\
version: 1
baseline: base/line.json
suites:
  - {name: tools, kind: bash, cases: cases.jsonl, targets: [oracle]}
"""


def baseline(*ids: str) -> str:
    made = report(run(passes(*ids)))
    return dump_baseline(make_baseline(made, "report.json", None, KINDS))


@pytest.fixture
def repo(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A repository with a baseline of one case in v1, of two in HEAD, and of three in the working tree."""
    top = tmp_path / "repo"
    top.mkdir()
    git(top, "init", "--quiet")
    commit(top, {"sub/evalward.yml": CONFIG})
    commit(top, {"sub/base/line.json": baseline("one")})
    git(top, "tag", "v1")
    commit(top, {"sub/base/line.json": baseline("one", "two")})
    (top / "sub/base/line.json").write_text(baseline("one", "two", "three"), "utf-8")
    monkeypatch.chdir(top / "sub")
    return top / "sub"


def diff(folder: Path, *words: str) -> str:
    args = read_arguments(build_parser(), ["baseline", "diff", *words, "--format", "markdown"])
    out = StringIO()
    assert args.handler(world_of(folder, out, PATH=os.environ["PATH"]), args) == 0
    return out.getvalue()


def refused(folder: Path, *words: str) -> str:
    with pytest.raises(InputError) as raised:
        diff(folder, *words)
    (problem,) = raised.value.problems
    return str(problem)


def added(text: str) -> set[str]:
    return {name for name in ("one", "two", "three") if f"`{name}`" in text}


@pytest.mark.parametrize(
    ("words", "names"),
    [
        ([], {"three"}),
        (["HEAD"], {"three"}),
        (["v1"], {"two", "three"}),
        (["v1", "HEAD"], {"two"}),
        (["HEAD~1", "main"], {"two"}),
        (["HEAD", "base/line.json"], {"three"}),
        (["v1", "./base/line.json"], {"two", "three"}),
        (["base/line.json", "base/line.json"], set()),
    ],
)
def test_sides(repo: Path, words: list[str], names: set[str]) -> None:
    assert added(diff(repo, *words)) == names


def test_from_a_folder_below(repo: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    below = repo / "deep"
    below.mkdir()
    monkeypatch.chdir(below)
    assert added(diff(below)) == {"three"}


def test_before_the_first_is_committed__all_is_new(repo: Path) -> None:
    git(repo, "rm", "--quiet", "--cached", "base/line.json")
    git(repo, "commit", "--quiet", "--message", "none")
    text = diff(repo)
    assert text.startswith("### Baseline\n\nFrom nothing to the baseline")
    assert "(added)" in text
    assert "3 cases" in text


def test_word_that_is_a_file_and_a_revision(repo: Path) -> None:
    (repo / "v1").write_text(baseline("one", "two", "three"), "utf-8")
    assert refused(repo, "v1") == (
        "v1: this is both a file and a revision of git. Write ./v1 for the file, or v1^0 for the revision."
    )
    assert added(diff(repo, "./v1", "./v1")) == set()
    assert added(diff(repo, "v1^0")) == {"two", "three"}


def test_folder_of_a_branch_s_name__is_the_branch(repo: Path) -> None:
    (repo / "main").mkdir()
    assert added(diff(repo, "main")) == {"three"}


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (
            ["nope"],
            "nope: there is no such file, and no such revision of git. "
            "Name a baseline, or a branch, tag or commit that has one.",
        ),
        (["./nope"], "./nope: there is no such file. Name a baseline, or a branch, tag or commit that has one."),
        (["HEAD~2"], "HEAD~2: base/line.json is not in this revision. Name one in which it was committed."),
    ],
)
def test_what_is_not_there(repo: Path, words: list[str], message: str) -> None:
    assert refused(repo, *words) == message


def test_hostile_baseline_of_a_commit__is_named_by_revision_and_path(repo: Path) -> None:
    commit(repo.parent, {"sub/base/line.json": "{"})
    assert refused(repo, "HEAD", "v1").startswith("HEAD:sub/base/line.json:1: ")


def test_without_a_config__files_can_be_compared(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for name in ("old.json", "new.json"):
        Path(name).write_text(baseline("one"), "utf-8")
    assert added(diff(tmp_path, "old.json", "new.json")) == set()
    assert (
        refused(tmp_path) == "HEAD: there is no commit to compare with. Name two files: evalward baseline diff OLD NEW."
    )
    assert refused(tmp_path, "old.json") == (
        "baseline diff: no evalward.yml in this folder or above names the baseline. "
        "Name two files: evalward baseline diff OLD NEW."
    )

"""The output folder: what a pull request commits there, or puts there, is neither followed nor taken for ours."""

from __future__ import annotations

import json
import os
import shutil
import stat
import subprocess
import sys
from collections.abc import Callable
from io import StringIO
from pathlib import Path

import pytest

from evalward.action import run_action
from evalward.commands.baseline import UpdateOptions, update
from evalward.commands.check import check
from evalward.commands.emitting import write_file
from evalward.commands.guidance import GuidanceOptions, guidance
from evalward.commands.options import CheckOptions
from evalward.commands.release import ReleaseOptions, release
from evalward.commands.run import RunOptions, run
from evalward.commands.world import World
from evalward.keeper.outputs import FILES, OutputFolder
from evalward.records.problem import InputError
from evalward.suites.judge.cache import JudgeCache
from evalward.writing import MOST_HELD, Folder
from support.comments import without_tries
from support.git_repo import git, pull_request_repo, write_files
from support.github_api import REPOSITORY, TOKEN, FakeGitHub
from support.github_events import pull_request

CONFIG = """\
version: 1
suites:
  - {name: tools, kind: bash, cases: cases.jsonl, targets: [oracle]}
"""
TASK = {
    "id": "one",
    "category": "echo",
    "prompt": "Print one.",
    "solution": "echo one",
    "expectations": [{"check": "stdout_contains:one"}],
}
BASE: dict[str, str | bytes] = {"evalward.yml": CONFIG, "cases.jsonl": json.dumps(TASK) + "\n"}
OUT = "evalward-out"

Plant = Callable[[Path, Path], None]


def link(name: str, to: str) -> Plant:
    def plant(folder: Path, outside: Path) -> None:
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).symlink_to(outside / to)

    return plant


def text(name: str) -> Plant:
    def plant(folder: Path, outside: Path) -> None:
        write_files(folder, {name: "not ours"})

    return plant


COMMITTED: dict[str, Plant] = {
    "the folder is a link": link(OUT, ""),
    "the folder is a link to nothing": link(OUT, "missing"),
    "the comment is a link to a file": link(f"{OUT}/comment.md", "victim"),
    "the report is a link to a file": link(f"{OUT}/report.json", "victim"),
    "the trials are a link to a folder": link(f"{OUT}/trials", ""),
    "a suite's target is a link to a folder": link(f"{OUT}/trials/tools/oracle", ""),
    "an artifact is a link to a file": link(f"{OUT}/artifacts/tools/notes", "victim"),
    "a link that nobody writes to": link(f"{OUT}/more/environ", "victim"),
    "a committed comment": text(f"{OUT}/comment.md"),
    "a committed trial": text(f"{OUT}/trials/tools/oracle/zero.1.json"),
    "a committed release report": text(f"{OUT}/release-report.md"),
    "a committed file of any name": text(f"{OUT}/more/any.txt"),
}


def fifo(folder: Path, outside: Path) -> None:
    (folder / OUT).mkdir()
    os.mkfifo(folder / OUT / "report.json")


def hard_link(folder: Path, outside: Path) -> None:
    (folder / OUT).mkdir()
    (folder / OUT / "comment.md").hardlink_to(outside / "victim")


def report_folder(folder: Path, outside: Path) -> None:
    (folder / OUT / "report.json").mkdir(parents=True)


def foreign_artifacts(folder: Path, outside: Path) -> None:
    write_files(folder, {f"{OUT}/artifacts/build.bin": "somebody's own build"})


FOREIGN: dict[str, Plant] = {
    "a file of another program": text(f"{OUT}/notes.txt"),
    "artifacts of another program": foreign_artifacts,
}
LEFT: dict[str, Plant] = {
    "the report is a pipe": fifo,
    "the comment is a hard link": hard_link,
    "the report is a folder": report_folder,
    **FOREIGN,
}


@pytest.fixture
def outside(tmp_path: Path) -> Path:
    folder = tmp_path / "outside"
    write_files(folder, {"victim": "precious"})
    return folder


def content(folder: Path) -> dict[str, str]:
    return {str(path.relative_to(folder)): path.read_text() for path in folder.rglob("*") if path.is_file()}


def world(**env: str) -> World:
    return World(out=StringIO(), err=StringIO(), now=lambda: "2026-11-21T08:00:00Z", env=env)


# --- the action -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", [*COMMITTED, *LEFT])
def test_the_action_refuses_it_and_says_so(name: str, tmp_path: Path, outside: Path) -> None:
    workspace = tmp_path / "workspace"
    workspace.mkdir()
    if name in COMMITTED:
        COMMITTED[name](workspace, outside)
    repo = pull_request_repo(workspace, BASE, {"README.md": "new\n"})
    if name in LEFT:
        LEFT[name](workspace, outside)
    (tmp_path / "event.json").write_text(json.dumps(pull_request(head=repo.head, base=repo.fork_point)))
    with FakeGitHub() as api:
        api.heads[7] = repo.head
        here = world(
            PATH=os.environ["PATH"],
            GITHUB_WORKSPACE=str(workspace),
            GITHUB_EVENT_PATH=str(tmp_path / "event.json"),
            GITHUB_EVENT_NAME="pull_request",
            GITHUB_REPOSITORY=REPOSITORY,
            GITHUB_SHA=repo.merge,
            GITHUB_API_URL=api.url,
            GITHUB_OUTPUT=str(tmp_path / "outputs"),
            **{"INPUT_GITHUB-TOKEN": TOKEN},
        )
        code = run_action(here)
        [comment] = api.bodies()

    assert code == 2
    assert content(outside) == {"victim": "precious"}
    assert "can't be the output folder" in comment or "is a symbolic link" in comment
    kept = (tmp_path / "outputs").read_text().split("comment-file<<")[1].splitlines()[1]
    assert not (workspace / kept).is_relative_to(workspace)
    assert Path(kept).read_text() == without_tries(comment)


def test_a_committed_link_above_the_output_folder_is_refused(tmp_path: Path, outside: Path) -> None:
    (tmp_path / "workspace").mkdir()
    (tmp_path / "workspace" / "build").symlink_to(outside)
    with pytest.raises(InputError, match="build: is a symbolic link"):
        OutputFolder.open(Path("build/out"), anchor=tmp_path / "workspace")
    assert content(outside) == {"victim": "precious"}


# --- the command line -----------------------------------------------------------------------------------------------

COMMANDS: dict[str, Callable[[], int]] = {
    "run": lambda: run(world(), RunOptions(Path("evalward.yml"), Path(OUT))),
    "run --resume": lambda: run(world(), RunOptions(Path("evalward.yml"), Path(OUT), resume=True)),
    "check": lambda: check(world(), CheckOptions(Path("evalward.yml"), Path(OUT))),
    "guidance": lambda: guidance(world(), GuidanceOptions(Path("evalward.yml"), Path(OUT))),
    "release": lambda: release(world(), ReleaseOptions(Path("r/report.json"), Path("evalward.yml"), Path(OUT))),
}


@pytest.fixture(scope="module")
def measured(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder in which suites have run."""
    folder = tmp_path_factory.mktemp("measured")
    write_files(folder, BASE)
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        assert run(world(), RunOptions(Path("evalward.yml"), Path("r"))) == 0
    return folder


@pytest.fixture
def checkout(measured: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A copy of it that we run in; not a repository yet."""
    folder = shutil.copytree(measured, tmp_path / "checkout")
    monkeypatch.chdir(folder)
    return folder


def commands_that_refuse(name: str) -> list[str]:
    """A release check measures nothing and removes nothing: it shares a folder with other programs."""
    return [command for command in COMMANDS if name not in FOREIGN or command != "release"]


def test_a_release_check_shares_the_folder_with_its_report_and_others(checkout: Path) -> None:
    write_files(checkout, {"r/notes.txt": "mine"})
    pull_request_repo(checkout, {".gitignore": "r/\n"}, {"README.md": "new\n"})
    git(checkout, "rm", "-r", "--quiet", "--cached", "r")
    options = ReleaseOptions(Path("r/report.json"), Path("evalward.yml"), Path("r"))
    assert release(world(), options) in {0, 1}
    assert (checkout / "r" / "notes.txt").read_text() == "mine"
    assert (checkout / "r" / "release-report.md").exists()


@pytest.mark.parametrize("name", [*COMMITTED, *LEFT])
def test_commands_refuse_it_before_they_run_anything(name: str, checkout: Path, outside: Path) -> None:
    if name in COMMITTED:
        COMMITTED[name](checkout, outside)
    pull_request_repo(checkout, {"x": ""}, {"README.md": "new\n"})
    if name in LEFT:
        LEFT[name](checkout, outside)
    before = entries(checkout)
    for command in commands_that_refuse(name):
        with pytest.raises(InputError) as error:
            COMMANDS[command]()
        assert OUT in str(error.value), command
        assert "--output" in str(error.value) or "folder of its own" in str(error.value), command
        assert content(outside) == {"victim": "precious"}, command
        assert entries(checkout) == before, command  # the next one meets the same


def entries(folder: Path) -> list[tuple[str, int]]:
    """What is in it, links and pipes as such; git's own files aside."""
    found = [path for path in folder.rglob("*") if ".git" not in path.relative_to(folder).parts]
    return sorted((str(path), path.lstat().st_mode) for path in found)


def test_a_recording_goes_through_no_link_and_replaces_committed_ones(checkout: Path, outside: Path) -> None:
    options = RunOptions(Path("evalward.yml"), Path(OUT), record=Path("recordings"))
    assert run(world(), options) == 0
    pull_request_repo(checkout, {"x": ""}, {"README.md": "new\n"})
    [recording] = (checkout / "recordings").iterdir()
    before = recording.read_bytes()
    recording.write_text("old")
    with pytest.raises(InputError, match="holds committed files"):  # of the output folder; the recordings may be
        run(world(), options)
    options = RunOptions(Path("evalward.yml"), Path("other"), record=Path("recordings"))
    assert run(world(), options) == 0
    assert len(recording.read_bytes()) > len(before) // 2

    recording.unlink()
    recording.symlink_to(outside / "victim")
    with pytest.raises(InputError, match="is a symbolic link"):
        run(world(), options)
    (checkout / "elsewhere").symlink_to(outside)
    with pytest.raises(InputError, match="is a symbolic link"):
        run(world(), RunOptions(Path("evalward.yml"), Path("other"), record=Path("elsewhere")))
    assert content(outside) == {"victim": "precious"}


def test_a_baseline_is_not_written_through_a_link(checkout: Path, outside: Path) -> None:
    (checkout / ".evalward").symlink_to(outside)
    with pytest.raises(InputError, match="is a symbolic link"):
        update(world(), Path("r/report.json"), Path(".evalward/baseline.json"), UpdateOptions())
    assert content(outside) == {"victim": "precious"}


def test_answers_of_judges_are_not_kept_through_a_link(checkout: Path, outside: Path) -> None:
    (checkout / "cache").symlink_to(outside)
    JudgeCache(Path("cache")).put(JudgeCache.key("x"), "answer")
    assert content(outside) == {"victim": "precious"}


# --- what is uploaded is this run's -----------------------------------------------------------------------------------


def test_what_an_earlier_run_left_is_removed_unless_it_goes_on(checkout: Path) -> None:
    options = CheckOptions(Path("evalward.yml"), Path(OUT))
    check(world(), options)
    write_files(checkout / OUT, dict.fromkeys(FILES, "{}"))
    more = {"trials/old/oracle/x.1.json": "old", ".report.json.0123456789abcdef": "half", "demo/report.json": "other"}
    write_files(checkout / OUT, more)
    check(world(), CheckOptions(Path("evalward.yml"), Path(OUT), resume=True))
    assert (checkout / OUT / "trials" / "old").exists()
    check(world(), options)
    assert {path.name for path in (checkout / OUT).iterdir()} == {
        "report.json",
        "judgement.json",
        "comment.md",
        "report.html",
        "junit.xml",
        "badge.json",
        "trials",
        "demo",
    }
    assert [path.name for path in (checkout / OUT / "trials").iterdir()] == ["tools"]


# --- the descriptor ---------------------------------------------------------------------------------------------------


def test_a_folder_that_is_exchanged_while_we_run_is_not_followed(tmp_path: Path, outside: Path) -> None:
    outputs = OutputFolder.open(tmp_path / OUT)
    outputs.write("trials/a/b.json", "{}")
    (tmp_path / OUT).rename(tmp_path / "moved")
    (tmp_path / OUT).symlink_to(outside)
    outputs.write("report.json", "ours")
    (tmp_path / "moved" / "trials" / "a" / "b.json").unlink()
    (tmp_path / "moved" / "trials" / "a").rmdir()
    (tmp_path / "moved" / "trials" / "a").symlink_to(outside)
    with pytest.raises(InputError, match="is a symbolic link"):
        outputs.write("trials/a/b.json", "{}")
    outputs.folder.give(os.geteuid(), os.getegid())
    assert (tmp_path / "moved" / "report.json").read_text() == "ours"
    assert content(outside) == {"victim": "precious"}


def test_a_folder_that_is_moved_or_removed_while_we_run_is_made_anew(tmp_path: Path) -> None:
    folder = Folder(tmp_path / OUT)
    folder.write("trials/a/1.json", b"one")
    (tmp_path / OUT / "trials").rename(tmp_path / OUT / "moved")
    folder.write("trials/a/2.json", b"two")
    shutil.rmtree(tmp_path / OUT / "trials")
    folder.write("trials/a/3.json", b"three")
    folder.remove("trials")
    assert not folder.has("trials/a/3.json")
    folder.write("trials/a/4.json", b"four")
    assert content(tmp_path / OUT) == {"moved/a/1.json": "one", "trials/a/4.json": "four"}


def test_few_descriptors_are_held_however_many_folders_there_are(tmp_path: Path) -> None:
    def opened() -> int:
        ours = str(tmp_path)
        return sum(os.path.realpath(one).startswith(ours) for one in Path("/proc/self/fd").iterdir())

    folder = Folder(tmp_path / OUT)
    for number in range(3 * MOST_HELD):
        folder.write(f"trials/{number}/a.json", b"{}")
    assert 1 < opened() <= 1 + MOST_HELD
    del folder
    assert opened() == 0


def test_a_file_that_is_exchanged_for_a_link_is_replaced(tmp_path: Path, outside: Path) -> None:
    folder = Folder(tmp_path / OUT)
    folder.write("comment.md", b"one")
    (tmp_path / OUT / "comment.md").unlink()
    (tmp_path / OUT / "comment.md").symlink_to(outside / "victim")
    with pytest.raises(OSError, match="symbolic link"):
        folder.read("comment.md")
    folder.write("comment.md", b"two")
    assert stat.S_ISREG((tmp_path / OUT / "comment.md").lstat().st_mode)
    folder.remove("comment.md")
    assert content(outside) == {"victim": "precious"}


def test_artifacts_are_kept_without_links_and_pipes(tmp_path: Path, outside: Path) -> None:
    write_files(tmp_path / "left", {"a/b": "text"})
    (tmp_path / "left" / "a" / "link").symlink_to(outside / "victim")
    (tmp_path / "left" / "folder").symlink_to(outside)
    os.mkfifo(tmp_path / "left" / "pipe")
    Folder(tmp_path / OUT).put(tmp_path / "left", "artifacts/x", lambda data: data)
    assert content(tmp_path / OUT) == {"artifacts/x/a/b": "text"}


@pytest.mark.parametrize("name", ["../x", "/x", "a//b", "a/./b", "", "a/"])
def test_a_name_is_never_a_way_out(tmp_path: Path, name: str) -> None:
    with pytest.raises(ValueError, match="not a path below a folder"):
        Folder(tmp_path).write(name, b"")


def test_a_file_that_a_user_names_is_not_written_through_a_repositorys_link(tmp_path: Path, outside: Path) -> None:
    (tmp_path / "repo" / ".git").mkdir(parents=True)
    (tmp_path / "repo" / "reports").symlink_to(outside)
    with pytest.raises(InputError, match="is a symbolic link"):
        write_file(tmp_path / "repo" / "reports" / "victim", b"x")
    (tmp_path / "mine").symlink_to(outside)
    write_file(tmp_path / "mine" / "new", b"x")  # a link of the user's own, in no repository
    assert content(outside) == {"victim": "precious", "new": "x"}


CLAIM = """\
import sys
from pathlib import Path
from evalward.keeper.outputs import OutputFolder

folder = OutputFolder.open(Path(sys.argv[1]))
folder.claim()
print("claimed", flush=True)
sys.stdin.read()
"""


def test_a_folder_in_which_a_run_is_at_work__is_refused_and_keeps_all(tmp_path: Path) -> None:
    """The second run would remove the first one's trials, and both would end well."""
    folder = tmp_path / "out"
    write_files(folder, {"report.json": "{}", "trials/tools/oracle/one.json": "{}"})
    first = subprocess.Popen(
        [sys.executable, "-c", CLAIM, os.fspath(folder)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    with first:
        assert first.stdout is not None
        assert first.stdout.readline() == "claimed\n"
        second = OutputFolder.open(folder)
        for refused in (second.clear, second.claim):
            with pytest.raises(InputError, match="another run is writing into it"):
                refused()
        assert (folder / "trials/tools/oracle/one.json").exists()
        first.kill()
    second.clear()
    OutputFolder.open(folder).clear()  # our own process has it
    assert list(folder.iterdir()) == []
    del second, refused
    words = [sys.executable, "-c", CLAIM, os.fspath(folder)]
    after = subprocess.run(words, input="", stdout=subprocess.PIPE, text=True, check=True)
    assert after.stdout == "claimed\n"  # as soon as nothing of ours has it any more, while we live

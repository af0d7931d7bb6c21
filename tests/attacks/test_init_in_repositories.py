"""`evalward init` where a stranger was: no link is followed, nothing is read without bounds, nothing is run."""

from __future__ import annotations

import os
from io import StringIO
from pathlib import Path

import pytest
import yaml

from evalward.cli import guarded
from evalward.commands import init as command
from evalward.commands.init import init
from evalward.commands.world import World
from evalward.opening import files_near
from support.fuzzing.folders import write_files

INSPECT = b"from inspect_ai import task\n@task\ndef bot(): ...\n"


def begun(folder: Path) -> tuple[int, str]:
    (folder / ".git").mkdir(parents=True, exist_ok=True)
    out = StringIO()
    world = World(out, out, lambda: "2026-11-23T08:00:00Z", {}, folder)
    return guarded(world, lambda world: init(world, None, silent=True)), out.getvalue()


@pytest.mark.parametrize("link", ["evals", "prompts", ".github", ".github/workflows", "evals/bash"])
def test_nothing_is_written_through_a_linked_folder(tmp_path: Path, link: str) -> None:
    outside, folder = tmp_path / "outside", tmp_path / "repository"
    outside.mkdir()
    (folder / link).parent.mkdir(parents=True)
    (folder / link).symlink_to(outside)
    code, said = begun(folder)
    assert code == 0
    assert list(outside.iterdir()) == []
    assert "is a symbolic link" in said
    assert "written   evalward.yml" in said


@pytest.mark.parametrize("link", ["evalward.yml", "prompts/bash.md", "evals/bash/first.yaml", ".gitignore"])
@pytest.mark.parametrize("leads", ["to a file", "to nothing"])
def test_nothing_is_written_through_a_linked_file(tmp_path: Path, link: str, leads: str) -> None:
    outside, folder = tmp_path / "outside", tmp_path / "repository"
    if leads == "to a file":
        outside.write_text("theirs\n")
    (folder / link).parent.mkdir(parents=True)
    (folder / link).symlink_to(outside)
    code, said = begun(folder)
    assert code == 0, said
    assert outside.exists() == (leads == "to a file")
    assert leads == "to nothing" or outside.read_text() == "theirs\n"
    assert (folder / link).is_symlink()


def test_nothing_is_read_through_a_link(tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    write_files(outside, {"bot.py": INSPECT, "deep/bot.py": INSPECT})
    folder = tmp_path / "repository"
    (folder / "evals").mkdir(parents=True)
    (folder / "evals" / "bot.py").symlink_to(outside / "bot.py")
    (folder / "more").symlink_to(outside)
    _, said = begun(folder)
    assert "inspect" not in said


def test_pipes_devices_and_files_without_end_are_passed_over(tmp_path: Path) -> None:
    (tmp_path / "evals").mkdir()
    os.mkfifo(tmp_path / "evals" / "pipe.py")
    for name in ("evals/huge.py", "huge.jsonl", "huge.prompt.yml", "package.json", "pyproject.toml", "big/.gitignore"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).touch()
        os.truncate(tmp_path / name, 50_000_000_000)
    (tmp_path / ".gitignore").touch()
    os.truncate(tmp_path / ".gitignore", 50_000_000_000)
    code, said = begun(tmp_path)
    assert code == 0
    assert "left      .gitignore: it can't be read. Add the line evalward-out/ to it." in said
    assert "written   evalward.yml" in said


@pytest.mark.parametrize(
    "name", ["a b.py", "$(touch x).py", "`id`.py", "a\nb.py", "a;b.py", "a'b.py", 'a"b.py', "{dir}.py", "\x1b[31m.py"]
)
def test_a_hostile_name_gets_into_no_file_and_no_line(tmp_path: Path, name: str) -> None:
    write_files(tmp_path, {f"evals/{name}": INSPECT})
    _, said = begun(tmp_path)
    assert name not in said
    assert "\x1b" not in said
    (suite,) = yaml.safe_load((tmp_path / "evalward.yml").read_text("utf-8"))["suites"]
    assert suite["name"] == "shell"


def test_a_name_that_is_no_text_is_passed_over(tmp_path: Path) -> None:
    (tmp_path / "evals").mkdir()
    (Path(os.fsdecode(os.fsencode(tmp_path / "evals") + b"/\xff\xfe.py"))).write_bytes(INSPECT)
    code, said = begun(tmp_path)
    assert code == 0
    assert "inspect" not in said


def test_no_more_is_looked_at_than_there_may_be(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(command, "MOST_ENTRIES", 50)
    write_files(tmp_path, {f"data/{number:04}.txt": b"" for number in range(100)})
    write_files(tmp_path, {"evals/bot.py": INSPECT, "zzz/late.py": INSPECT})
    _, said = begun(tmp_path)
    assert "note: only the nearest 50 files" in said


def test_folders_in_each_other_are_entered_so_far_and_no_further(tmp_path: Path) -> None:
    deep = Path(*["d"] * 200)
    write_files(tmp_path, {str(deep / "bot.py"): INSPECT, "near.py": b""})
    found = files_near(tmp_path, 1_000, 3)
    assert (found.files, found.whole) == (("near.py",), False)
    code, said = begun(tmp_path)
    assert code == 0
    assert "at most 8 folders deep" in said


def test_what_is_nearest_is_found_first_and_git_and_what_is_left_out_never(tmp_path: Path) -> None:
    write_files(tmp_path, dict.fromkeys(("b/c/x", "b/y", "a/z", "top", ".git/x", "node_modules/x", "a/.git"), b""))
    found = files_near(tmp_path, 1_000, 8, {"node_modules"})
    assert (found.files, found.whole) == (("top", "a/z", "b/y", "b/c/x"), True)
    assert files_near(tmp_path, 5, 8, {"node_modules"}).whole is False


def test_nothing_of_the_repository_is_run(tmp_path: Path) -> None:
    mark = tmp_path / "ran"
    program = f"open({str(mark)!r}, 'w')\n".encode()
    write_files(
        tmp_path,
        dict.fromkeys(("evals/bot.py", "conftest.py", "sitecustomize.py", "inspect_ai.py"), program + INSPECT),
    )
    assert begun(tmp_path)[0] == 0
    assert not mark.exists()

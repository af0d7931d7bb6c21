"""`evalward init` where a stranger was: no link is followed, nothing is read without bounds, nothing is run."""

from __future__ import annotations

import errno
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
from evalward.writing import Folder
from support.fuzzing.folders import write_files

INSPECT = b"from inspect_ai import task\n@task\ndef bot(): ...\n"


def begun(folder: Path) -> tuple[int, str]:
    (folder / ".git").mkdir(parents=True, exist_ok=True)
    out = StringIO()
    world = World(out, out, lambda: "2026-11-23T08:00:00Z", {}, folder)
    return guarded(world, lambda world: init(world, None, silent=True)), out.getvalue()


def left_alone(folder: Path, there: set[str]) -> bool:
    """Whether nothing lies in the folder but `.git` and what was there before."""
    return {str(path.relative_to(folder)) for path in folder.rglob("*")} == {".git", *there}


@pytest.mark.parametrize("link", ["evals", "prompts", ".github", ".github/workflows", "evals/bash"])
@pytest.mark.parametrize("leads", ["to a folder", "to nothing"])
def test_a_linked_folder_is_refused_before_anything_is_written(tmp_path: Path, link: str, leads: str) -> None:
    outside, folder = tmp_path / "outside", tmp_path / "repository"
    if leads == "to a folder":
        outside.mkdir()
    (folder / link).parent.mkdir(parents=True)
    (folder / link).symlink_to(outside)
    code, said = begun(folder)
    assert code == 2
    (error,) = [line for line in said.splitlines() if line.startswith("error: ")]
    assert error.startswith(f"error: {link}: is a symbolic link, and links are not followed: {link}/")
    assert error.endswith(
        "would be written behind it. Replace the link by the folder itself, and run `evalward init` again."
    )
    assert "written" not in said.replace(error, "")
    assert not outside.exists() or list(outside.iterdir()) == []
    assert left_alone(folder, {link, *map(str, Path(link).parents)} - {"."})


@pytest.mark.parametrize(
    "link",
    [
        "evalward.yml",
        "evalward.yaml",
        "prompts/bash.md",
        "evals/bash/first.yaml",
        ".gitignore",
        ".github/workflows/evalward.yml",
    ],
)
@pytest.mark.parametrize("leads", ["to a file", "to nothing"])
def test_a_linked_file_is_refused_before_anything_is_written(tmp_path: Path, link: str, leads: str) -> None:
    outside, folder = tmp_path / "outside", tmp_path / "repository"
    if leads == "to a file":
        outside.write_text("theirs\n")
    (folder / link).parent.mkdir(parents=True)
    (folder / link).symlink_to(outside)
    code, said = begun(folder)
    assert code == 2, said
    (error,) = [line for line in said.splitlines() if line.startswith("error: ")]
    assert error == (
        f"error: {link}: is a symbolic link, and links are not followed. "
        "Replace the link by the file itself, or remove it, and run `evalward init` again."
    )
    assert outside.exists() == (leads == "to a file")
    assert leads == "to nothing" or outside.read_text() == "theirs\n"
    assert (folder / link).is_symlink()
    assert left_alone(folder, {link, *map(str, Path(link).parents)} - {"."})


def test_all_links_are_named_at_once_and_each_once(tmp_path: Path) -> None:
    for link in ("evals", "prompts", ".gitignore"):
        (tmp_path / link).symlink_to(tmp_path / "nowhere")
    code, said = begun(tmp_path)
    assert code == 2
    problems = [line for line in said.splitlines() if "is a symbolic link" in line]
    assert [line.removeprefix("error: ").split(":")[0].strip() for line in problems] == [
        "evals",
        "prompts",
        ".gitignore",
    ]


def test_a_link_that_is_not_in_the_way_is_no_concern(tmp_path: Path) -> None:
    (tmp_path / "docs").symlink_to(tmp_path / "nowhere")
    (tmp_path / "evalward.yml").write_text("version: 1\n")
    (tmp_path / "evals").symlink_to(tmp_path / "nowhere")
    code, said = begun(tmp_path)
    assert code == 0, said
    assert "evalward.yml is there already" in said


def test_a_file_where_a_folder_is_needed_is_refused_before_anything_is_written(tmp_path: Path) -> None:
    (tmp_path / "evals").write_text("mine")
    code, said = begun(tmp_path)
    assert code == 2
    assert (
        "error: evals: is not a folder, and evals/bash/first.yaml would be written in it. "
        "Move it away, and run `evalward init` again." in said
    )
    assert left_alone(tmp_path, {"evals"})


def test_what_fails_later_leaves_nothing_half_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    create = Folder.create

    def full(self: Folder, name: str, data: bytes) -> None:
        if name.startswith("prompts/"):
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), name)
        create(self, name, data)

    monkeypatch.setattr(Folder, "create", full)
    code, said = begun(tmp_path)
    assert code == 3
    assert "prompts/bash.md: can't be written" in said
    assert "written   " not in said
    assert [path for path in tmp_path.rglob("*") if path.is_file()] == []


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

"""The demo's folder: the example as it comes with the package, and nobody else's files."""

from __future__ import annotations

import stat
from pathlib import Path

import pytest

from evalward.commands.demo_folder import OUTPUT, example_files, lay_out
from evalward.records.problem import InputError


def tree(folder: Path) -> dict[str, bytes]:
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def refused(folder: Path) -> str:
    with pytest.raises(InputError) as told:
        lay_out(folder, folder.parent)
    (problem,) = told.value.problems
    assert "--output" in str(problem)
    return str(problem)


def test_the_example_is_whole() -> None:
    files = example_files()
    assert {"evalward.yml", "pull-request.yml", "prompts/prefer-python.md", ".evalward/baseline.json"} <= files.keys()
    assert len([name for name in files if name.startswith("cases/")]) == 10
    recordings = [name for name in files if name.startswith("recordings/")]
    assert len(recordings) == 2
    assert all("hand-written" in name for name in recordings)


def test_it_is_copied_with_what_hides_it_from_git(tmp_path: Path) -> None:
    lay_out(Path("demo"), tmp_path)
    assert tree(tmp_path / "demo") == example_files()
    assert (tmp_path / "demo/.gitignore").read_bytes() == b"*\n"
    assert not stat.S_IMODE((tmp_path / "demo/evalward.yml").stat().st_mode) & 0o111


def test_a_second_demo_finds_what_the_first_one_left(tmp_path: Path) -> None:
    lay_out(tmp_path / "demo", tmp_path)
    (tmp_path / "demo" / OUTPUT / "trials").mkdir(parents=True)
    (tmp_path / "demo" / OUTPUT / "report.json").write_text("{}")
    (tmp_path / "demo/evalward.yml").unlink()
    lay_out(tmp_path / "demo", tmp_path)
    assert tree(tmp_path / "demo") == {**example_files(), f"{OUTPUT}/report.json": b"{}"}


def test_an_empty_folder_will_do(tmp_path: Path) -> None:
    (tmp_path / "demo").mkdir()
    lay_out(tmp_path / "demo", tmp_path)
    assert tree(tmp_path / "demo") == example_files()


def test_a_file_that_was_edited_is_kept(tmp_path: Path) -> None:
    lay_out(tmp_path / "demo", tmp_path)
    (tmp_path / "demo/evalward.yml").write_text("mine")
    assert "evalward.yml" in refused(tmp_path / "demo")
    assert (tmp_path / "demo/evalward.yml").read_text() == "mine"


def test_a_folder_of_somebody_else_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "demo").mkdir()
    (tmp_path / "demo/notes.txt").write_text("mine")
    assert "notes.txt" in refused(tmp_path / "demo")
    assert tree(tmp_path / "demo") == {"notes.txt": b"mine"}


@pytest.mark.parametrize("name", ["evalward.yml", "cases", "elsewhere"])
def test_no_link_in_it_is_followed(tmp_path: Path, name: str) -> None:
    (tmp_path / "aim").mkdir()
    (tmp_path / "demo").mkdir()
    (tmp_path / "demo" / name).symlink_to(tmp_path / "aim")
    assert name in refused(tmp_path / "demo")
    assert list((tmp_path / "aim").iterdir()) == []


def test_the_folder_itself_is_no_link(tmp_path: Path) -> None:
    (tmp_path / "aim").mkdir()
    (tmp_path / "demo").symlink_to(tmp_path / "aim")
    with pytest.raises(InputError):
        lay_out(Path("demo"), tmp_path)
    assert list((tmp_path / "aim").iterdir()) == []


def test_a_file_in_its_place(tmp_path: Path) -> None:
    (tmp_path / "demo").write_text("mine")
    refused(tmp_path / "demo")
    assert (tmp_path / "demo").read_text() == "mine"

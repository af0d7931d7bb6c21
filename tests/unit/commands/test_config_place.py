"""Where a configuration is looked for when none is named."""

from __future__ import annotations

from pathlib import Path

import pytest

from evalward.commands.config_place import config_file, find_config, output_folder, usual_report
from evalward.records.problem import InputError


@pytest.fixture
def deep(tmp_path: Path) -> Path:
    """A folder two below the top of what looks like a repository."""
    (tmp_path / "repo/.git").mkdir(parents=True)
    folder = tmp_path / "repo/a/b"
    folder.mkdir(parents=True)
    return folder


@pytest.mark.parametrize("name", ["evalward.yml", "evalward.yaml"])
def test_here(deep: Path, name: str) -> None:
    (deep / name).touch()
    assert find_config(deep) == Path(name)


def test_in_a_folder_above(deep: Path) -> None:
    (deep.parents[1] / "evalward.yaml").touch()
    assert find_config(deep) == Path("../../evalward.yaml")


def test_the_nearest_one_is_meant(deep: Path) -> None:
    (deep.parents[1] / "evalward.yml").touch()
    (deep.parent / "evalward.yaml").touch()
    assert find_config(deep) == Path("../evalward.yaml")


def test_not_above_the_repository(deep: Path) -> None:
    (deep.parents[2] / "evalward.yml").touch()
    assert find_config(deep) is None


def test_outside_of_a_repository_only_here(tmp_path: Path) -> None:
    folder = tmp_path / "loose"
    folder.mkdir()
    (tmp_path / "evalward.yml").touch()
    assert find_config(folder) is None, "what another user left above is not ours"
    (folder / "evalward.yml").touch()
    assert find_config(folder) == Path("evalward.yml")


def test_a_work_tree_has_a_file_for_its_git(tmp_path: Path) -> None:
    (tmp_path / "tree/a").mkdir(parents=True)
    (tmp_path / "tree/.git").write_text("gitdir: elsewhere", "utf-8")
    (tmp_path / "tree/evalward.yml").touch()
    assert find_config(tmp_path / "tree/a") == Path("../evalward.yml")


def test_a_broken_link_is_found_too(deep: Path) -> None:
    """Its reader refuses it; a file above must not take its place without a word."""
    (deep / "evalward.yml").symlink_to("nowhere")
    (deep.parent / "evalward.yml").touch()
    assert find_config(deep) == Path("evalward.yml")


def test_both_names_are_an_error(deep: Path) -> None:
    for name in ("evalward.yml", "evalward.yaml"):
        (deep.parent / name).touch()
    with pytest.raises(InputError) as raised:
        find_config(deep)
    assert str(raised.value.problems[0]) == (
        "../evalward.yml: evalward.yaml exists too, and only one can be used. Remove one, or choose one with --config."
    )


def test_a_named_file_is_not_looked_for(deep: Path) -> None:
    for name in ("evalward.yml", "evalward.yaml"):
        (deep / name).touch()
    assert config_file(deep, Path("ci/gate.yml")) == Path("ci/gate.yml")


def test_without_any_the_usual_name_is_missed(deep: Path) -> None:
    assert config_file(deep, None) == Path("evalward.yml")


def test_results_go_next_to_the_config_that_is_found(tmp_path: Path) -> None:
    below = tmp_path / "a" / "b"
    below.mkdir(parents=True)
    (tmp_path / ".git").mkdir()
    assert output_folder(below, None) == Path("evalward-out")
    (tmp_path / "evalward.yml").write_text("version: 1\n", "utf-8")
    assert output_folder(below, None) == Path("../../evalward-out")
    assert output_folder(tmp_path, None) == Path("evalward-out")
    assert usual_report(below, None) == Path("../../evalward-out/report.json")


def test_results_go_where_the_command_says(tmp_path: Path) -> None:
    below = tmp_path / "a"
    below.mkdir()
    (tmp_path / ".git").mkdir()
    (tmp_path / "evalward.yml").write_text("version: 1\n", "utf-8")
    assert output_folder(below, Path("x")) == Path("x")
    assert output_folder(below, None, Path("../evalward.yml")) == Path("evalward-out")
    assert usual_report(below, Path("x.json")) == Path("x.json")
    assert usual_report(below, None, Path("../evalward.yml")) == Path("evalward-out/report.json")

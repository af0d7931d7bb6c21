"""What a program of the repository may read beside it: what is installed along the PATH."""

from __future__ import annotations

from pathlib import Path

import pytest

from evalward.targets.repository import installed_along


def test_a_version_managers_programs_are_found_through_its_shims(tmp_path: Path) -> None:
    shims = tmp_path / ".pyenv" / "shims"
    shims.mkdir(parents=True)
    assert {shims, shims.parent} <= set(installed_along(str(shims)))


def test_a_virtual_environment_is_there_as_a_whole(tmp_path: Path) -> None:
    (tmp_path / "venv" / "bin").mkdir(parents=True)
    (tmp_path / "venv" / "pyvenv.cfg").touch()
    assert tmp_path / "venv" in set(installed_along(str(tmp_path / "venv" / "bin")))


def test_a_home_is_not_readable_because_it_is_on_the_path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    home = tmp_path / "home"
    home.mkdir()
    monkeypatch.setenv("HOME", str(home))
    assert {home, tmp_path}.isdisjoint(installed_along(f"{home}:{tmp_path}"))


def test_a_user_without_a_home__has_programs_all_the_same(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Who opens the head's files in a container has a number and nothing else."""

    def homeless() -> Path:
        raise RuntimeError("Could not determine home directory.")

    monkeypatch.setattr(Path, "home", homeless)
    assert tmp_path in set(installed_along(str(tmp_path)))

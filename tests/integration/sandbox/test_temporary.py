"""Our folders for what commands read and leave go with us, whatever happens."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

import pytest

from evalward.sandbox.process import temporary
from evalward.sandbox.process.temporary import new_folder, remove_given, remove_left, temporary_folder


@pytest.fixture(autouse=True)
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    monkeypatch.setattr(temporary, "_made", {})
    return tmp_path


def test_a_folder_goes_at_the_end_of_what_needs_it(place: Path) -> None:
    with temporary_folder("judging") as folder:
        assert folder.parent == place
        assert folder.name.startswith("evalward-judging-")
        assert folder.stat().st_mode & 0o777 == 0o700
        (folder / "closed").mkdir()
        (folder / "closed" / "file").touch()
        (folder / "closed").chmod(0o000)
    assert list(place.iterdir()) == []


def test_it_goes_when_that_breaks(place: Path) -> None:
    with pytest.raises(ValueError, match="ours"), temporary_folder("judging"):
        raise ValueError("ours")
    assert list(place.iterdir()) == []


def test_what_could_not_be_removed_goes_at_our_end(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A thread was still copying into it."""
    with monkeypatch.context() as busy:
        busy.setattr(temporary, "remove", lambda _: False)
        with temporary_folder("judging") as folder:
            (folder / "fixture").mkdir()
    other = new_folder("artifacts")
    remove_left()
    assert list(place.iterdir()) == []
    other.mkdir()
    remove_left()  # it was removed, and is somebody else's now
    assert other.is_dir()


@pytest.mark.parametrize("when", ["within", "before the end"])
def test_a_link_or_folder_in_its_place_is_left_alone(place: Path, when: str) -> None:
    """Whoever may write there plants something for us to empty."""
    victim = place / "victim"
    victim.mkdir()
    (victim / "file").touch()
    with temporary_folder("judging") as folder:
        if when == "within":
            folder.rmdir()
            folder.symlink_to(victim)
    if when != "within":
        folder.symlink_to(victim)
    other = new_folder("artifacts")
    other.rmdir()
    victim.rename(other)
    remove_left()
    assert (other / "file").exists()
    assert folder.is_symlink()


def test_a_folder_that_somebody_else_has_made_is_removed_when_it_is_handed_over(place: Path) -> None:
    (place / "victim").mkdir()
    (place / "link").symlink_to(place / "victim")
    for folder in (new_folder("artifacts"), Path(tempfile.mkdtemp()), place / "link"):
        remove_given(folder)
    assert {path.name for path in place.iterdir()} == {"victim", "link"}


def test_a_process_that_was_forked_removes_its_own_only(place: Path) -> None:
    ours = new_folder("artifacts")
    child = os.fork()
    if child == 0:
        new_folder("other")
        remove_left()
        os._exit(0)
    assert os.waitpid(child, 0)[1] == 0
    assert list(place.iterdir()) == [ours]

"""The folder in which a server starts: links to the repository, and the case's own files in their places."""

from __future__ import annotations

from pathlib import Path

from evalward.suites.mcp.server.folder import fill


def made(tmp_path: Path, files: dict[str, bytes]) -> Path:
    repository, folder = tmp_path / "repository", tmp_path / "folder"
    for path in (".git/config", "server.py", "data/old.txt", "data/deep/more.txt"):
        (repository / path).parent.mkdir(parents=True, exist_ok=True)
        (repository / path).write_text(path)
    (repository / "elsewhere").symlink_to(tmp_path / "private")
    (tmp_path / "private").mkdir()
    (tmp_path / "private" / "secret.txt").write_text("secret")
    folder.mkdir()
    fill(folder, repository, files)
    return folder


def test_all_but_the_history_is_linked(tmp_path: Path) -> None:
    folder = made(tmp_path, {})
    assert sorted(path.name for path in folder.iterdir()) == ["data", "elsewhere", "server.py"]
    assert all(path.is_symlink() for path in folder.iterdir())
    assert (folder / "data" / "old.txt").read_text() == "data/old.txt"


def test_files_stand_in_the_place_of_links__and_the_repository_stays_as_it_is(tmp_path: Path) -> None:
    folder = made(tmp_path, {"server.py": b"mine", "data/new.txt": b"new", "data/old.txt": b"changed", "a/b/c": b"c"})
    assert (folder / "server.py").read_bytes() == b"mine"
    assert (folder / "data" / "old.txt").read_bytes() == b"changed"
    assert (folder / "data" / "deep").is_symlink()
    assert (folder / "a" / "b" / "c").read_bytes() == b"c"
    assert (tmp_path / "repository" / "server.py").read_text() == "server.py"
    assert sorted(path.name for path in (tmp_path / "repository" / "data").iterdir()) == ["deep", "old.txt"]


def test_a_link_of_the_repository_is_not_followed(tmp_path: Path) -> None:
    folder = made(tmp_path, {"elsewhere/x.txt": b"x"})
    assert [path.name for path in (folder / "elsewhere").iterdir()] == ["x.txt"]
    assert [path.name for path in (tmp_path / "private").iterdir()] == ["secret.txt"]

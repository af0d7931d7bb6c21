"""One way to a file below a folder, and what a folder holds: the same as before for ordinary trees."""

from __future__ import annotations

import os
import stat
import tempfile
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evalward.opening import (
    copy_inside,
    glob_inside,
    hash_inside,
    inside,
    kind_inside,
    link_free,
    path_from,
    program_inside,
    read_inside,
    read_text_inside,
    walk_inside,
)
from evalward.records.problem import InputError
from support.git_repo import write_files

PIECES = st.sampled_from(["*", "**", "a", "b", "?", "[ab]", "*.yaml", "c.yaml", ".h", "a*", "."])
NAMES = st.sampled_from(["a", "b", "ab", "c.yaml", ".h", "d.yaml"])


def test_a_file_is_read(tmp_path: Path) -> None:
    write_files(tmp_path, {"a/b.txt": "x\r\ny\rz\n"})
    assert read_inside(tmp_path, "a/b.txt") == b"x\r\ny\rz\n"
    assert read_inside(tmp_path, "./a//./b.txt") == b"x\r\ny\rz\n"
    assert read_text_inside(tmp_path, "a/b.txt") == (tmp_path / "a" / "b.txt").read_text("utf-8")
    assert len(hash_inside(tmp_path, "a/b.txt")) == 64
    assert [kind_inside(tmp_path, name) for name in ("a", "a/b.txt", "gone", "a/b.txt/c", ".")] == [
        "folder",
        "file",
        None,
        None,
        "folder",
    ]


def test_the_root_is_whatever_the_user_gave(tmp_path: Path) -> None:
    write_files(tmp_path / "real", {"a": "x"})
    (tmp_path / "link").symlink_to("real")
    assert read_inside(tmp_path / "link", "a") == b"x"


@pytest.mark.parametrize(
    ("name", "told"),
    [
        ("../x", "leads outside"),
        ("a/../../x", "leads outside"),
        ("/etc/passwd", "leads outside"),
        ("a\0b", "a character in it"),
        ("a\ud800", "a character in it"),
        ("a/.git/config", r"leads into \.git"),
        (".GIT", r"leads into \.git"),
        ("link", "link is a symbolic link"),
        ("linked/deep/x", "linked is a symbolic link"),
        ("a/nowhere", "a/nowhere is a symbolic link"),
        ("pipe", "neither a file nor a folder"),
        ("socket", "neither a file nor a folder"),
        ("big", "larger than 1 kB"),
    ],
)
def test_what_is_not_opened(tmp_path: Path, name: str, told: str) -> None:
    write_files(tmp_path, {"a/x": "x", "big": "x" * 1001})
    (tmp_path / "link").symlink_to("a/x")
    (tmp_path / "linked").symlink_to("a")
    (tmp_path / "a" / "nowhere").symlink_to("gone")
    os.mkfifo(tmp_path / "pipe")
    os.mknod(tmp_path / "socket", 0o600 | stat.S_IFSOCK)
    with pytest.raises(InputError, match=told) as caught:
        read_inside(tmp_path, name, 1000)
    assert len(str(caught.value).splitlines()) == 1


def test_what_is_not_there(tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    with pytest.raises(FileNotFoundError):
        read_inside(tmp_path, "gone/a")
    with pytest.raises(IsADirectoryError):
        read_inside(tmp_path, "folder")
    with pytest.raises(FileNotFoundError):
        read_inside(tmp_path / "gone", "a")


def test_no_descriptor_is_left_open(tmp_path: Path) -> None:
    write_files(tmp_path, {"a/b/c.txt": "x"})
    (tmp_path / "a" / "link").symlink_to("b")
    before = len(os.listdir("/proc/self/fd"))  # noqa: PTH208
    for name in ("a/b/c.txt", "a/link/c.txt", "a/gone", "a/b"):
        try:
            read_inside(tmp_path, name)
        except (InputError, OSError):
            continue
    assert glob_inside(tmp_path, "**/*.txt") == ["a/b/c.txt"]
    next(iter(walk_inside(tmp_path, ".")))
    assert len(os.listdir("/proc/self/fd")) == before  # noqa: PTH208


def test_a_file_that_grows_while_it_is_read(tmp_path: Path) -> None:
    write_files(tmp_path, {"a": "x"})
    with inside(tmp_path, "a") as found:
        write_files(tmp_path, {"a": "x" * 5000})
        with pytest.raises(InputError, match="larger than 1 kB"):
            found.read(1000)


@pytest.mark.parametrize(
    ("folder", "name", "found"),
    [
        ("evals", "../fixtures/a", "fixtures/a"),
        ("", "a", "a"),
        ("evals/x", "..", "evals"),
        ("evals", "../../a", None),
        ("evals", "/a", None),
        ("", "a\0", None),
        ("", "..a", "..a"),
    ],
)
def test_a_path_beside_a_file(folder: str, name: str, found: str | None) -> None:
    assert path_from(folder, name) == found


def test_links_between_files_of_a_folder(tmp_path: Path) -> None:
    write_files(tmp_path / "f", {"docs/a.md": "text"})
    write_files(tmp_path, {"secret": "s"})
    for name, target in {
        "f/AGENTS.md": "docs/a.md",
        "f/up": "docs/../AGENTS.md",
        "f/out": "../secret",
        "f/far": "/etc/passwd",
        "f/loop": "loop",
    }.items():
        (tmp_path / name).symlink_to(target)
    folder = tmp_path / "f"
    assert read_inside(folder, link_free(folder, "AGENTS.md")) == b"text"
    assert link_free(folder, "up") == "docs/a.md"
    for name, told in {"out": "leads outside", "far": "leads outside", "loop": "without end"}.items():
        with pytest.raises(InputError, match=told):
            read_inside(folder, link_free(folder, name))


def test_programs(tmp_path: Path) -> None:
    write_files(tmp_path, {"run": "#!/bin/sh\n", "data": "x", "bin/tool": "#!/bin/sh\n"})
    (tmp_path / "run").chmod(0o755)
    (tmp_path / "bin" / "link").symlink_to("tool")
    assert program_inside(tmp_path, "./run") == str(tmp_path / "run")
    assert (program_inside(tmp_path, "./data"), program_inside(tmp_path, "bin")) == (None, None)
    with pytest.raises(InputError, match="bin/link is a symbolic link"):
        program_inside(tmp_path, "bin/link")


# ------------------------------------------------------------------------------------------- patterns


@given(st.lists(st.lists(NAMES, min_size=1, max_size=4), max_size=8), st.lists(PIECES, min_size=1, max_size=4))
def test_patterns_match_what_they_always_did(paths: list[list[str]], pieces: list[str]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        for path in paths:
            place = root.joinpath(*path)
            if any(part.is_file() for part in place.parents) or place.exists():
                continue
            write_files(root, {"/".join(path): "x"})
        pattern = "/".join(pieces)
        assert glob_inside(root, pattern) == _as_pathlib_does(root, pattern)


def _as_pathlib_does(root: Path, pattern: str) -> list[str]:
    try:
        found = {path for path in root.glob(pattern) if path.is_file() and not pattern.endswith("**")}
    except (ValueError, IndexError, NotImplementedError):
        return []
    return [path.relative_to(root).as_posix() for path in sorted(found)]


@pytest.mark.parametrize("pattern", ["", ".", "**x", "/etc/*", "../*", "a\0*", "**"])
def test_patterns_that_match_nothing(tmp_path: Path, pattern: str) -> None:
    write_files(tmp_path, {"a": "x"})
    assert glob_inside(tmp_path, pattern) == []


def test_patterns_and_links(tmp_path: Path) -> None:
    write_files(tmp_path, {"a/one.yaml": "x", "a/deep/two.yaml": "x", ".git/three.yaml": "x", "readme": "x"})
    (tmp_path / "linked").symlink_to("a")
    (tmp_path / "README").symlink_to("readme")
    assert glob_inside(tmp_path, "**/*.yaml") == ["a/deep/two.yaml", "a/one.yaml"]
    assert glob_inside(tmp_path, "a*/*.yaml") == ["a/one.yaml"]
    for pattern in ("linked/*.yaml", "*/*.yaml", "READ*", "**/linked"):
        with pytest.raises(InputError, match="is a symbolic link"):
            glob_inside(tmp_path, pattern)
    with pytest.raises(InputError, match=r"leads into \.git"):
        glob_inside(tmp_path, ".git/*.yaml")


def test_a_pattern_of_many_stars_ends(tmp_path: Path) -> None:
    write_files(tmp_path, {"/".join("a" * 40) + "/x.yaml": "x"})
    assert len(glob_inside(tmp_path, "**/a/" * 20 + "*.yaml")) == 1


def test_a_pattern_without_end_is_told(tmp_path: Path) -> None:
    write_files(tmp_path, {"a/b/x": "x"})
    assert glob_inside(tmp_path, "**/" * 300 + "x") == ["a/b/x"]
    assert glob_inside(tmp_path, "a\ud800*") == []
    for pattern in ("**/" * 2_000 + "x", "[[]" * 5_000):
        with pytest.raises(InputError, match="the pattern is longer than"):
            glob_inside(tmp_path, pattern)


def test_folders_without_end_are_told(tmp_path: Path) -> None:
    (tmp_path / "/".join("a" * 140)).mkdir(parents=True)
    with pytest.raises(InputError, match="more than 128 folders"):
        glob_inside(tmp_path, "**/*.yaml")
    with pytest.raises(InputError, match="more than 128 folders"):
        list(walk_inside(tmp_path, "."))


# ------------------------------------------------------------------------------------------- copies


def test_a_copy(tmp_path: Path) -> None:
    root = tmp_path / "root"
    write_files(root, {"code/a/run": "x", "code/b": "b", "code/.git/config": "s", "code/skip/c": "c"})
    (root / "code" / "a" / "run").chmod(0o755)
    (root / "code" / "empty").mkdir()
    (root / "code" / "link").symlink_to("/etc/passwd")
    os.mkfifo(root / "code" / "pipe")
    copy_inside(root, "code", tmp_path / "copy", 1000, ["skip"])
    found = sorted(path.relative_to(tmp_path / "copy").as_posix() for path in (tmp_path / "copy").rglob("*"))
    assert found == ["a", "a/run", "b", "empty", "link"]
    assert (tmp_path / "copy" / "link").readlink() == Path("/etc/passwd")
    assert (tmp_path / "copy" / "a" / "run").stat().st_mode & 0o777 == 0o755
    with pytest.raises(InputError, match="holds more than"):
        copy_inside(root, "code", tmp_path / "other", 1)

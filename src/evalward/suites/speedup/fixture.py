"""The code of a task: a folder, or a folder of a commit; its content's hash, and a copy of it."""

from __future__ import annotations

import hashlib
import shutil
import subprocess
import tarfile
from collections.abc import Iterator
from io import BytesIO
from pathlib import Path

from evalward.records.base import Record, digest

IGNORED = ("__pycache__", ".git", ".pytest_cache", ".mypy_cache", ".benchmarks", ".DS_Store")
"""What tools leave behind: no part of a task's code."""
GIT_S = 60


class Fixture(Record):
    """Where the code is: `folder`, or `tree` of the repository at `repository`. `digest`: of all that is in it."""

    digest: str
    folder: Path | None = None
    repository: Path | None = None
    tree: str | None = None

    @classmethod
    def of_folder(cls, folder: Path) -> Fixture:
        """The code in a folder. Raises `ValueError` when there is none."""
        if not folder.is_dir():
            raise ValueError(f"there is no folder {folder.name!r}")
        found = {path.relative_to(folder).as_posix(): _identity(path) for path in _files(folder)}
        if not found:
            raise ValueError(f"the folder {folder.name!r} is empty")
        return cls(digest=digest(found), folder=folder)

    @classmethod
    def of_revision(cls, place: Path, commit: str, path: str) -> Fixture:
        """The code in a folder of a commit. Raises `ValueError` when git doesn't know it."""
        tree = _git(place, "rev-parse", "--verify", "--quiet", f"{commit}^{{commit}}:{path}").decode().strip()
        return cls(digest=f"git:{tree}", repository=place, tree=tree)

    def copy_to(self, target: Path) -> None:
        """A copy of the code in a folder that doesn't exist yet. Raises `ValueError` and `OSError`."""
        if self.folder is not None:
            shutil.copytree(self.folder, target, symlinks=True, ignore=shutil.ignore_patterns(*IGNORED))
            return
        assert self.repository is not None  # noqa: S101 - the one or the other
        assert self.tree is not None  # noqa: S101
        target.mkdir(parents=True)
        with tarfile.open(fileobj=BytesIO(_git(self.repository, "archive", "--format=tar", self.tree))) as archive:
            archive.extractall(target, filter="data")


def _files(folder: Path) -> Iterator[Path]:
    for path in sorted(folder.iterdir()):
        if path.name in IGNORED:
            continue
        if path.is_dir() and not path.is_symlink():
            yield from _files(path)
        else:
            yield path


def _identity(path: Path) -> str:
    if path.is_symlink():
        return f"link:{path.readlink()}"
    runs = "x" if path.stat().st_mode & 0o100 else "-"
    return f"{runs}:{hashlib.sha256(path.read_bytes()).hexdigest()}"


def _git(place: Path, *words: str) -> bytes:
    try:
        done = subprocess.run(  # noqa: S603 - a list of words, no shell
            ["git", "-C", str(place), *words],  # noqa: S607 - the system's git
            capture_output=True,
            timeout=GIT_S,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise ValueError(f"git can't be asked: {error}") from error
    if done.returncode != 0:
        said = " ".join(done.stderr.decode("utf-8", "replace").split())[:200]
        raise ValueError(said or "git doesn't know this commit or folder; fetch it (fetch-depth: 0)")
    return done.stdout

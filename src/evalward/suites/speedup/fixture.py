"""The code of a task: a folder, or a folder of a commit; its content's hash, and a copy of it."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterator
from pathlib import Path

from evalward.git import find_tree, write_tree
from evalward.opening import MIB, FolderEntry, copy_inside, kind_inside, walk_inside
from evalward.records.base import Record, digest

IGNORED = ("__pycache__", ".git", ".pytest_cache", ".mypy_cache", ".benchmarks", ".DS_Store")
"""What tools leave behind: no part of a task's code."""
MOST_FILES = 100_000
MOST_BYTES = 2048 * MIB


class CodeFixture(Record):
    """Where the code is: `folder` below `root`, or `tree` of the repository that `root` lies in.

    `digest`: of all that is in it.
    """

    digest: str
    root: Path
    folder: str | None = None
    tree: str | None = None

    @classmethod
    def of_folder(cls, root: Path, folder: str) -> CodeFixture:
        """The code in a folder below `root`.

        Raises `ValueError` when there is none or too much, `InputError` for a link on the way, `OSError`.
        """
        name = Path(folder).name or folder
        if kind_inside(root, folder) != "folder":
            raise ValueError(f"there is no folder {name!r}")
        found = dict(_identities(root, folder))
        if not found:
            raise ValueError(f"the folder {name!r} is empty")
        return cls(digest=digest(found), root=root, folder=folder)

    @classmethod
    def of_revision(cls, place: Path, commit: str, path: str) -> CodeFixture:
        """The code in a folder of a commit. Raises `ValueError` when git doesn't know it."""
        tree = find_tree(place, commit, path, _search_path())
        return cls(digest=f"git:{tree}", root=place, tree=tree)

    def copy_to(self, target: Path) -> None:
        """A copy of the code in a folder that doesn't exist yet. Raises `ValueError`, `InputError` and `OSError`."""
        if self.folder is not None:
            copy_inside(self.root, self.folder, target, MOST_BYTES, IGNORED)
            return
        assert self.tree is not None  # noqa: S101 - the one or the other
        write_tree(self.root, self.tree, target, _search_path())


def _search_path() -> str:
    return os.environ.get("PATH", os.defpath)


def _identities(root: Path, folder: str) -> Iterator[tuple[str, str]]:
    """Files and links by path. Raises `ValueError` where there are too many of them, or a pipe or a device."""
    total = 0
    for number, entry in enumerate(walk_inside(root, folder, IGNORED), 1):
        total += entry.size if entry.is_file else 0
        if total > MOST_BYTES or number > MOST_FILES:
            raise ValueError(f"its folder has more than {MOST_FILES:,} files or {MOST_BYTES // MIB} MiB")
        if not entry.is_folder:
            yield entry.path, _identity(entry)


def _identity(entry: FolderEntry) -> str:
    if entry.is_link:
        return f"link:{entry.target()}"
    if not entry.is_file:
        raise ValueError(f"{entry.path!r} is neither a file nor a folder")
    sha = hashlib.sha256()
    for block in entry.blocks():
        sha.update(block)
    return f"{'x' if entry.mode & 0o100 else '-'}:{sha.hexdigest()}"

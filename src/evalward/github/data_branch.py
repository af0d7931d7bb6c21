"""A branch that holds data: one file of it is read and replaced without a checkout.

Nothing here touches the working tree, the index or HEAD. A commit is made of objects alone, and the branch is moved
to it only if it still is where it was read: of two writers at once one starts again from the other's commit.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

from evalward.git import GitTree, run_git
from evalward.github.errors import GitHubError
from evalward.records.problem import wrong

ATTEMPTS = 5
"""How often a commit is made anew because the branch moved meanwhile."""

_FETCH = "Fetch the branch, or name another."
_AUTHOR = {"NAME": "evalward", "EMAIL": "evalward@localhost"}


class DataBranch:
    """The branch `name` of the repository that `folder` lies in, as its clone has it.

    Where there is no such branch here, but one of that name was fetched from `origin`, that one is read and continued.
    `search_path` is where the git program is looked for. Raises `InputError` for a name that can be no branch, and
    where there is no repository.
    """

    def __init__(self, folder: Path, name: str, *, search_path: str = os.defpath) -> None:
        self._folder = folder
        self._search_path = search_path
        self._name = name
        self._ref = f"refs/heads/{name}"
        self._tree = GitTree(folder, search_path=search_path)
        if self._tree.prefix() is None:
            raise wrong(str(folder), "there is no git repository here", "Use a folder instead of a branch.")
        if self._git("check-ref-format", self._ref)[0]:
            raise wrong(f"branch {name}", "is not a name that a branch can have", "Name another.")

    def read(self, path: str) -> bytes | None:
        """The file's content, `None` where the branch or the file doesn't exist. Raises `GitHubError`."""
        tip = self._tip(self._ref) or self._tip(f"refs/remotes/origin/{self._name}")
        return None if tip is None else self._tree.read(tip, path)

    def change(self, path: str, changed: Callable[[bytes | None], bytes], message: str, at: str) -> str | None:
        """Commit what `changed` makes of the file at the top of the branch; the new commit, `None` without a change.

        `changed` is called again when the branch moved meanwhile. `at` is the commit's time, ISO 8601. Raises
        `InputError` when the branch is checked out, `GitHubError` when it can't be moved.
        """
        self._refuse_checked_out()
        for _ in range(ATTEMPTS):
            local = self._tip(self._ref)
            parent = local or self._tip(f"refs/remotes/origin/{self._name}")
            before = None if parent is None else self._tree.read(parent, path)
            after = changed(before)
            if after == before:
                return None
            commit = self._commit(parent, path, after, message, at)
            code, _ = self._git("update-ref", "-m", message, self._ref, commit, local or "", at=at)
            if not code:
                return commit
            if self._tip(self._ref) == local:
                raise GitHubError(None, f"git could not move the branch {self._name!r}.", "Look for a lock file.")
        raise GitHubError(None, f"The branch {self._name!r} moved {ATTEMPTS} times while it was written.", "Try again.")

    def _commit(self, parent: str | None, path: str, content: bytes, message: str, at: str) -> str:
        blob = self._made("hash-object", "-w", "--stdin", stdin=content)
        others = self._others(parent, path) if parent else b""
        entry = f"100644 blob {blob}\t{path}".encode() + b"\0"
        tree = self._made("mktree", "-z", stdin=others + entry)
        parents = ["-p", parent] if parent else []
        return self._made("commit-tree", *parents, "-m", message, tree, at=at)

    def _others(self, parent: str, path: str) -> bytes:
        """All other entries at the top of the branch, as `mktree` reads them."""
        code, output = self._git("ls-tree", "-z", parent)
        if code:
            raise GitHubError(None, f"git could not list the branch {self._name!r}.", _FETCH)
        entries = [entry for entry in output.split(b"\0") if entry and entry.partition(b"\t")[2] != path.encode()]
        return b"".join(entry + b"\0" for entry in entries)

    def _refuse_checked_out(self) -> None:
        """A branch that moves under its working tree would make every file of it look changed."""
        _, output = self._git("worktree", "list", "--porcelain")
        if f"branch {self._ref}".encode() in output.split(b"\n"):
            remedy = "Check out another, or name a branch for data alone."
            raise wrong(f"branch {self._name}", "is checked out, so it can't be written", remedy)

    def _tip(self, ref: str) -> str | None:
        code, output = self._git("rev-parse", "--verify", "--quiet", f"{ref}^{{commit}}")
        return None if code else output.decode("ascii", "replace").strip()

    def _made(self, *args: str, stdin: bytes = b"", at: str = "") -> str:
        """The id of the object that a command makes."""
        code, output = self._git(*args, stdin=stdin, at=at)
        if code:
            raise GitHubError(
                None,
                f"`git {args[0]}` failed while {self._name!r} was written.",
                "Check that the disk has room, and run it again.",
            )
        return output.decode("ascii", "replace").strip()

    def _git(self, *args: str, stdin: bytes = b"", at: str = "") -> tuple[int, bytes]:
        who = {f"GIT_{role}_{key}": value for role in ("AUTHOR", "COMMITTER") for key, value in _AUTHOR.items()}
        when = {"GIT_AUTHOR_DATE": at, "GIT_COMMITTER_DATE": at} if at else {}
        return run_git(self._folder, self._search_path, args, stdin=stdin, env={**who, **when})

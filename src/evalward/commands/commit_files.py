"""The files of the commit that is measured alongside the head: from git objects or through the API, for the runner."""

from __future__ import annotations

import posixpath
from collections.abc import Callable, Sequence

from msgspec import Struct, structs

from evalward.config import LoadedConfig
from evalward.git import GitError, GitTree, TreeFile, repository_path
from evalward.records.baseline import Baseline
from evalward.records.problem import wrong
from evalward.wire.errors import RemoteFilesError
from evalward.wire.messages import BaseSide


class FilesOfCommit(Struct, frozen=True):
    """The files of a commit. Paths count from the configuration's folder, `prefix` from the repository's top."""

    file: Callable[[str], bytes | None]
    tree: GitTree
    sha: str
    prefix: str

    @classmethod
    def at(cls, tree: GitTree, sha: str, prefix: str) -> FilesOfCommit:
        """Any commit."""
        return cls(lambda path: tree.read(sha, repository_path(prefix, [path])), tree, sha, prefix)

    def read(self, path: str) -> bytes | None:
        """The file, `None` where the commit has none. Raises `RemoteFilesError`."""
        try:
            return self.file(path)
        except GitError as error:
            raise RemoteFilesError(str(error)) from error

    def listed(self, folder: str) -> Sequence[TreeFile] | None:
        """The files below a folder, `None` where that can't be known. Raises `RemoteFilesError`."""
        whole = posixpath.normpath(posixpath.join(self.prefix, folder))
        try:
            found = self.tree.listed(self.sha, "" if whole == "." else whole)
        except GitError as error:
            raise RemoteFilesError(str(error)) from error
        if found is None:
            return None
        return [structs.replace(file, path=file.path.removeprefix(self.prefix)) for file in found]


def base_of_baseline(
    tree: GitTree, loaded: LoadedConfig, baseline: Baseline | None, named: str | None
) -> tuple[FilesOfCommit | None, BaseSide]:
    """The commit to measure beside the files here: the one that is `named`, else the one that the baseline is of.

    `tree` is of the configuration's folder. Raises `InputError` for a name that no commit has.
    """
    revision = named if named is not None else baseline.provenance.commit if baseline else None
    if revision is None:
        what = "the baseline doesn't say which commit it is from" if baseline else "there is no baseline"
        return None, BaseSide(why_not=f"{what}; name a commit with --base")
    sha, prefix = tree.resolve(revision) if revision else None, tree.prefix()
    if sha is None or prefix is None:
        if named is not None:
            raise wrong("--base", f"there is no commit {named!r} here", "Name a branch, a tag or a commit.")
        why = f"the commit of the baseline, {revision[:12]}, is not in the repository here; fetch it"
        return None, BaseSide(why_not=why)
    side = BaseSide(commit=sha, config=posixpath.basename(loaded.file))
    return FilesOfCommit.at(tree, sha, prefix), side

"""Files of the base for the runner, from git objects or through the API; and those of the head, through the runner."""

from __future__ import annotations

import posixpath
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from evalward.git import GitTree, repository_path
from evalward.github.errors import GitHubError
from evalward.github.event import EventPlan
from evalward.github.settings import Settings
from evalward.github.sides import HeadFiles, Sides, config_prefix
from evalward.keeper.session import Runner
from evalward.wire.faults import RemoteFilesError


def head_files(runner: Runner, settings: Settings) -> HeadFiles:
    """Reads files of the head, by their paths from the working directory, without opening them here."""
    return lambda path: runner.read(posixpath.join(settings.working_directory, path), anywhere=True)


@dataclass(frozen=True)
class BaseOfPull:
    """The commit that judges a pull request. Paths count from the configuration's folder."""

    file: Callable[[str], bytes | None]
    tree: GitTree
    sha: str
    prefix: str

    @classmethod
    def of(cls, settings: Settings, sides: Sides, tree: GitTree) -> BaseOfPull | None:
        """The base, where there is one that judges."""
        file, sha = sides.judging.file, sides.base.sha
        return None if file is None or sha is None else cls(file, tree, sha, config_prefix(tree, settings))

    def read(self, path: str) -> bytes | None:
        """The file, `None` where the base has none. Raises `RemoteFilesError`."""
        try:
            return self.file(path)
        except GitHubError as error:
            raise RemoteFilesError(str(error)) from error

    def listed(self, folder: str) -> Sequence[str] | None:
        """The paths below a folder, `None` where that can't be known. Raises `RemoteFilesError`."""
        try:
            found = self.tree.listed(self.sha, repository_path(self.prefix, [folder]))
        except GitHubError as error:
            raise RemoteFilesError(str(error)) from error
        return None if found is None else [path.removeprefix(self.prefix) for path in found]


def guidance_wanted(plan: EventPlan, sides: Sides) -> str | None:
    """Why guidance that a pull request changes is held against the base's; `None` where the base wants none of that."""
    sha = sides.base.sha
    if plan.pull_number is None or sides.judging.file is None or sha is None or not sides.judging.guidance:
        return None
    return f"This changes the guidance, so the scenarios were also run with that of the base ({sha[:7]})."

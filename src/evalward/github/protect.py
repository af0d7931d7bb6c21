"""What a pull request changes in the files that judge it: config, baseline, and what `protect:` names."""

from __future__ import annotations

import contextlib
import posixpath
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal, Protocol

from evalward.git import FileChange, GitTree, repository_path
from evalward.github.client import MAX_PULL_FILES, PullFile
from evalward.github.errors import GitHubError
from evalward.github.event import EventPlan
from evalward.github.settings import ActionInputs
from evalward.github.sides import BaseAndHead
from evalward.records.patterns import matches_any
from evalward.records.problem import InputError

UNKNOWN = (
    "Which protected files the head changes could not be determined: the base is not in the local clone"
    " (check out with `fetch-depth: 2`)."
)
TOO_MANY = f"GitHub lists no more than {MAX_PULL_FILES:,} changed files: there may be more protected ones."


class PullFiles(Protocol):
    """Where a pull request's files are listed when the clone lacks its base: `client.GitHub`."""

    def pull_files(self, repository: str, number: int) -> list[PullFile]:
        """The changed files; raises `GitHubError`."""


@dataclass(frozen=True, slots=True)
class ProtectedChanges:
    """The protected files that the head changes, and a sentence where that is not, or not surely, all of them."""

    files: tuple[FileChange, ...] = ()
    note: str = ""


def protected_changes(
    settings: ActionInputs, plan: EventPlan, sides: BaseAndHead, tree: GitTree, remote: PullFiles | None
) -> ProtectedChanges:
    """From the local commits, else from GitHub's list of the pull request's files. Never raises `GitHubError`."""
    if sides.base.sha is None:
        return ProtectedChanges()
    changes, note = tree.changed(sides.base.sha), ""
    if changes is None and remote is not None and plan.pull_number is not None:
        try:
            files = remote.pull_files(plan.repository, plan.pull_number)
        except GitHubError as error:
            return ProtectedChanges(note=f"{UNKNOWN} GitHub's list could not be read: {error.message}")
        changes, note = changes_of_pull(files), TOO_MANY if len(files) >= MAX_PULL_FILES else ""
    if changes is None:
        return ProtectedChanges(note=UNKNOWN)
    patterns = protected_patterns(settings, sides, tree.prefix() or "")
    return ProtectedChanges(tuple(change for change in changes if matches_any(change.path, patterns)), note)


def changes_of_pull(files: Iterable[PullFile]) -> list[FileChange]:
    """The files of GitHub's list; of a renamed one, both names."""
    found: list[FileChange] = []
    for file in files:
        if file.status == "renamed" and file.previous_filename:
            found.append(FileChange(file.previous_filename, "removed", file.may_be_submodule))
        if file.status != "unchanged":
            found.append(FileChange(file.filename, _KINDS.get(file.status, "changed"), file.may_be_submodule))
    return found


_KINDS: dict[str, Literal["added", "changed", "removed"]] = {
    "added": "added",
    "copied": "added",
    "renamed": "added",
    "removed": "removed",
}


def protected_patterns(settings: ActionInputs, sides: BaseAndHead, prefix: str) -> list[str]:
    """Patterns from the repository's top: what the base protects, and what the head does, config and baselines."""
    config = posixpath.join(settings.working_directory, settings.config)
    folder = posixpath.dirname(config)
    relative = [
        *sides.judging.protect,
        *sides.head.protect,
        *([] if settings.baseline else [sides.judging.baseline_path, sides.head.baseline_path]),
    ]
    named = [posixpath.join(settings.working_directory, settings.baseline)] if settings.baseline else []
    paths = [config, *named, *(posixpath.join(folder, pattern) for pattern in relative)]
    found: dict[str, None] = {}
    for path in paths:
        with contextlib.suppress(InputError):  # a pattern out of the repository matches nothing in it
            found[repository_path(prefix, [path])] = None
    return list(found)

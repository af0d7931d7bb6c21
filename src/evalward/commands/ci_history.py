"""The history as CI reads and writes it: of a data branch through GitHub's API, with no checkout.

It informs, and has the runs that the anchor is held against: what it can't tell or keep is a notice.
"""

from __future__ import annotations

import posixpath
from dataclasses import dataclass

from evalward.decide.history_file import HISTORY_FILE, History, append_to_text, entries_of, read_history
from evalward.git import GitTree, repository_path
from evalward.github.commits import commit_file, read_text
from evalward.github.errors import GitHubError
from evalward.github.repository import RepositoryWriter
from evalward.github.settings import ActionInputs
from evalward.records.problem import wrong
from evalward.records.report import Report
from evalward.records.verdict import Judgement
from evalward.render.numbers import plural


def read_branch_history(repository: RepositoryWriter, branch: str) -> History:
    """What is on a branch; nothing where it doesn't exist yet. Raises `GitHubError`, `InputError`."""
    head = repository.branch_head(branch)
    text = read_text(repository, head, HISTORY_FILE, "replace") if head else None
    return read_history(text or "")


def read_base_history(settings: ActionInputs, tree: GitTree, sha: str, folder: str) -> History:
    """What a commit has in a folder, from the configuration's. Raises `GitHubError`, `InputError`."""
    parts = [settings.working_directory, posixpath.dirname(settings.config), folder, HISTORY_FILE]
    data = tree.read(sha, repository_path(tree.prefix(), parts))
    return read_history((data or b"").decode("utf-8", "replace"))


@dataclass(frozen=True, slots=True)
class HistoryRequest:
    """Where to keep what was measured: `branch`. It is one for data alone.

    `measured` is the branch that was measured, `config` the configuration's path from the repository's top: a branch
    that is measured, or could be, is not written, or every line would start the next run.
    """

    branch: str
    measured: str | None
    config: str
    dry_run: bool = False


def keep_history(repository: RepositoryWriter, keeping: HistoryRequest, report: Report, judgement: Judgement) -> str:
    """Append what was measured, once; what was done, in a sentence for the log.

    A branch that doesn't exist is made, without a past. Raises `GitHubError`, and `InputError` for a branch or a file
    that isn't one for this.
    """
    new = entries_of(report, judgement, keeping.measured)
    if not new:
        return "There is nothing to keep in the history."
    _refuse_measured(repository, keeping)
    message = f"Keep what Evalward measured at {(report.provenance.commit or 'an unknown commit')[:12]}"
    branch = keeping.branch
    if repository.branch_head(branch) is None:
        if keeping.dry_run:
            return f"Dry run: the branch {branch} would be made, and {HISTORY_FILE} on it."
        if _made(repository, branch, append_to_text("", new), message):
            return f"{plural(len(new), 'run')} added to {HISTORY_FILE} on {branch}, a new branch."
    done = commit_file(
        repository,
        branch,
        HISTORY_FILE,
        lambda old: append_to_text(old or "", new),
        message,
        dry_run=keeping.dry_run,
        errors="replace",  # such bytes cost their line, not the file
    )
    words = {"committed": "added to", "unchanged": "already in", "would_commit": "would be added to (dry run)"}
    return f"{plural(len(new), 'run')} {words[done.action]} {HISTORY_FILE} on {branch}."


def _refuse_measured(repository: RepositoryWriter, keeping: HistoryRequest) -> None:
    head = repository.branch_head(keeping.branch)
    own = keeping.branch == keeping.measured
    if own or (head is not None and read_text(repository, head, keeping.config) is not None):
        why = (
            "is the branch that is measured" if own else f"holds {keeping.config}, so it is not a branch for data only"
        )
        raise wrong(
            "history.branch", f"{keeping.branch!r} {why}", "Name a branch that doesn't exist yet: it will be created."
        )


def _made(repository: RepositoryWriter, branch: str, text: str, message: str) -> bool:
    """Make the branch with this one file; false when somebody else was faster."""
    try:
        repository.create_branch(branch, repository.create_root(HISTORY_FILE, text, message))
    except GitHubError:
        if repository.branch_head(branch) is None:
            raise
        return False
    return True

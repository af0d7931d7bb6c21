"""The history on its data branch, as CI reads and writes it: through GitHub's API, with no checkout."""

from __future__ import annotations

from evalward.decide.history_file import HISTORY_FILE, append_to_text, entries_of, read_history
from evalward.github.commits import commit_file, read_text
from evalward.github.errors import GitHubError
from evalward.github.repository import Repository
from evalward.records.history import HistoryEntry
from evalward.records.report import Report
from evalward.records.verdict import Judgement


def read_branch_history(repository: Repository, branch: str) -> list[HistoryEntry]:
    """The entries on a branch; none where it doesn't exist yet. Raises `GitHubError`."""
    head = repository.branch_head(branch)
    text = read_text(repository, head, HISTORY_FILE) if head else None
    return list(read_history(text or "").entries)


def keep_history(
    repository: Repository,
    branch: str,
    report: Report,
    judgement: Judgement,
    *,
    ref: str | None,
    head: str,
    dry_run: bool = False,
) -> str:
    """Append what was measured, once; what was done, in a sentence for the log.

    A branch that doesn't exist is made from `head`. Raises `GitHubError`.
    """
    new = entries_of(report, judgement, ref)
    if not new:
        return "There is nothing to keep in the history."
    if repository.branch_head(branch) is None:
        if dry_run:
            return f"Dry run: the branch {branch} would be made, and {HISTORY_FILE} on it."
        _create(repository, branch, head)
    message = f"Keep what Evalward measured at {(report.provenance.commit or 'an unknown commit')[:12]}"
    done = commit_file(
        repository, branch, HISTORY_FILE, lambda old: append_to_text(old or "", new), message, dry_run=dry_run
    )
    words = {"committed": "added to", "unchanged": "already in", "would_commit": "would be added to (dry run)"}
    return f"{len(new)} run(s) {words[done.action]} {HISTORY_FILE} on {branch}."


def _create(repository: Repository, branch: str, head: str) -> None:
    try:
        repository.create_branch(branch, head)
    except GitHubError:
        if repository.branch_head(branch) is None:  # somebody else was faster: fine
            raise

"""One pull request that proposes a new baseline, opened once and kept current."""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from dataclasses import dataclass
from hashlib import sha256
from typing import Literal

from evalward.github.client import OpenPull
from evalward.github.commits import MAX_RETRIES, MakeText, encoded, has_trailer, read_text
from evalward.github.errors import GitHubError
from evalward.github.repository import RepositoryWriter, StaleError
from evalward.records.problem import wrong

BRANCH = "evalward/baseline"
NOTHING_LEFT = "Closed by Evalward: the base has this baseline by now, there is nothing left to propose."


@dataclass(frozen=True, slots=True)
class Proposal:
    """What is proposed: for which branch, from which of ours, which file. `body` renders old and new text."""

    base: str
    branch: str
    path: str
    make_text: MakeText
    message: str
    title: str
    body: Callable[[str | None, str], str]


@dataclass(frozen=True, slots=True)
class PullOutcome:
    """What became of it. `number` and `url` are the pull request's, where there is one."""

    action: Literal["opened", "updated", "unchanged", "closed", "would_open", "would_update", "would_close"]
    number: int | None = None
    url: str = ""
    old: str | None = None
    new: str | None = None


def propose(repository: RepositoryWriter, proposal: Proposal, *, dry_run: bool = False) -> PullOutcome:
    """Open the pull request, or bring the open one up to date; close it when the base needs no update any more.

    The branch is always one commit on the base's tip. The commit is made on a branch of its own, and only then is the
    proposal's branch put there: it is never without a difference, for which GitHub would close the pull request.
    Raises `InputError` for a branch that isn't ours, `GitHubError` for everything that GitHub refuses.
    """
    if proposal.branch == proposal.base:
        raise wrong("input baseline-branch", "is the branch that it would be merged into", "Name another branch.")
    for attempt in range(MAX_RETRIES + 1):
        head = repository.branch_head(proposal.base)
        if head is None:
            raise GitHubError(404, f"There is no branch {proposal.base!r} in {repository.name}.")
        old = read_text(repository, head, proposal.path)
        new = proposal.make_text(old)
        pull = _open(repository, proposal)
        if new is None or new == old:
            return _nothing_left(repository, pull, old, dry_run=dry_run)
        if dry_run:
            return _outcome("would_update" if pull else "would_open", pull, old, new)
        try:
            _put_branch(repository, proposal, head, new)
        except StaleError:  # another run works on the same proposal at this moment
            if attempt == MAX_RETRIES:
                raise
            repository.client.pause(attempt)
            continue
        if repository.branch_head(proposal.base) == head or attempt == MAX_RETRIES:
            return _tell(repository, proposal, pull, old, new)
        repository.client.pause(attempt)  # the base moved meanwhile: build upon what it is now
    raise AssertionError("the last attempt returns or raises")


def _open(repository: RepositoryWriter, proposal: Proposal) -> OpenPull | None:
    """The open pull request from our branch into the base; never one from a fork's branch of the same name."""
    owner = repository.name.split("/", 1)[0]
    found = repository.client.open_pulls(repository.name, owner, proposal.branch)
    ours = [pull for pull in found if pull.head.repo and pull.head.repo.full_name.lower() == repository.name.lower()]
    return next((pull for pull in ours if pull.base.ref == proposal.base), None)


def _put_branch(repository: RepositoryWriter, proposal: Proposal, head: str, text: str) -> None:
    """One commit on `head`, and the proposal's branch at it. Nothing is written when it is there already."""
    current = repository.branch_head(proposal.branch)
    if current is not None:
        commit = repository.commit(current)
        if not has_trailer(commit.commit.message):
            message = f"{proposal.branch!r} ends with a commit that isn't Evalward's: it is not overwritten"
            raise wrong("input baseline-branch", message, "Merge or delete that branch, or name another one.")
        if [p.sha for p in commit.parents] == [head] and read_text(repository, current, proposal.path) == text:
            return
    work = f"{proposal.branch}-{sha256(f'{head} {text}'.encode()).hexdigest()[:12]}"
    if repository.branch_head(work) is None:
        repository.create_branch(work, head)
    else:
        repository.move_branch(work, head)  # left by a run that was killed
    try:
        made = repository.create_commit(work, head, proposal.message, {proposal.path: encoded(text)})
        if current is None:
            repository.create_branch(proposal.branch, made.oid)
        else:
            repository.move_branch(proposal.branch, made.oid)
    finally:
        with contextlib.suppress(GitHubError):  # a branch that is left over is put right by the next run
            repository.delete_branch(work)


def _tell(
    repository: RepositoryWriter, proposal: Proposal, pull: OpenPull | None, old: str | None, new: str
) -> PullOutcome:
    body = proposal.body(old, new)
    if pull is None:
        page = repository.create_pull(proposal.branch, proposal.base, proposal.title, body)
        return PullOutcome("opened", page.number, page.html_url, old, new)
    page = repository.update_pull(pull.number, {"title": proposal.title, "body": body})
    return PullOutcome("updated", page.number, page.html_url, old, new)


def _nothing_left(
    repository: RepositoryWriter, pull: OpenPull | None, old: str | None, *, dry_run: bool
) -> PullOutcome:
    if pull is None:
        return PullOutcome("unchanged", old=old)
    if dry_run:
        return _outcome("would_close", pull, old, None)
    repository.client.create_comment(repository.name, pull.number, NOTHING_LEFT)
    page = repository.update_pull(pull.number, {"state": "closed"})
    return PullOutcome("closed", page.number, page.html_url, old)


def _outcome(
    action: Literal["would_open", "would_update", "would_close"],
    pull: OpenPull | None,
    old: str | None,
    new: str | None,
) -> PullOutcome:
    return PullOutcome(action, pull.number if pull else None, old=old, new=new)

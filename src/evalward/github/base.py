"""The base commit: which one it is. Its files are read by `evalward.git`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from evalward.git import GitTree
from evalward.github.errors import GitHubError
from evalward.github.event import EventPlan

BaseSource = Literal["merge-parent", "event", "none"]


@dataclass(frozen=True, slots=True)
class BaseChoice:
    """The commit to compare with. `note` says in a sentence why it is this one; `sha` is `None` where there is none."""

    sha: str | None
    source: BaseSource
    note: str


def resolve_base(plan: EventPlan, tree: GitTree) -> BaseChoice:
    """The commit whose rules and baseline count for this event.

    For a pull request: the first parent of the checked-out merge commit, which is what the head was merged with; in
    every other checkout the event's base. For merge groups and pushes: what the event says.

    Raises `GitHubError` where a pull request has a new base and the merge commit is still that of another one.
    """
    if plan.base_sha is None:
        return BaseChoice(
            None, "none", f"A {plan.event} event of this kind has no base commit: the working tree's files count."
        )
    if plan.event != "pull_request":
        return BaseChoice(plan.base_sha, "event", f"The base that the {plan.event} event names.")
    head = tree.head()
    if head is None:
        return BaseChoice(plan.base_sha, "event", "The pull request's base; the workspace is not a git checkout.")
    if head == plan.event_sha and plan.merge_commit:
        parents = tree.parents(head) or ()
        if len(parents) == 2 and parents[1] == plan.head_sha:
            _refuse_stale(plan, parents[0])
            return BaseChoice(parents[0], "merge-parent", "The commit that GitHub merged the pull request with.")
    if head == plan.head_sha:
        return BaseChoice(
            plan.base_sha, "event", "The pull request's base; its head is checked out, not the merge commit."
        )
    return BaseChoice(
        plan.base_sha,
        "event",
        f"The pull request's base; the checkout ({head[:12]}) is neither the event's merge commit nor the head.",
    )


def _refuse_stale(plan: EventPlan, merged_with: str) -> None:
    """GitHub makes the merge commit some time after the base changed; until then it is that of the old base."""
    if plan.retargeted and merged_with != plan.base_sha:
        message = f"The pull request has a new base, {(plan.base_sha or '')[:12]}, and was merged with another commit"
        raise GitHubError(None, f"{message}, {merged_with[:12]}.", "Push to the branch, or close and reopen it.")

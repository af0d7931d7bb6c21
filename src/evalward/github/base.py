"""The base commit: which one it is. Its files are read by `evalward.git`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from evalward.git import GitTree
from evalward.github.event import EventPlan

BaseSource = Literal["merge-parent", "event", "none"]


@dataclass(frozen=True, slots=True)
class Base:
    """The commit to compare with. `note` says in a sentence why it is this one; `sha` is `None` where there is none."""

    sha: str | None
    source: BaseSource
    note: str


def resolve_base(plan: EventPlan, tree: GitTree) -> Base:
    """The commit whose rules and baseline count for this event.

    For a pull request: the first parent of the checked-out merge commit, which is what the head was merged with; in
    every other checkout the event's base. For merge groups and pushes: what the event says.
    """
    if plan.base_sha is None:
        return Base(
            None, "none", f"A {plan.kind} event of this kind has no base commit: the working tree's files count."
        )
    if plan.kind != "pull_request":
        return Base(plan.base_sha, "event", f"The base that the {plan.kind} event names.")
    head = tree.head()
    if head is None:
        return Base(plan.base_sha, "event", "The pull request's base; the workspace is not a git checkout.")
    if head == plan.event_sha and plan.merge_commit:
        parents = tree.parents(head) or ()
        if len(parents) == 2 and parents[1] == plan.head_sha:
            return Base(parents[0], "merge-parent", "The commit that GitHub merged the pull request with.")
    if head == plan.head_sha:
        return Base(plan.base_sha, "event", "The pull request's base; its head is checked out, not the merge commit.")
    return Base(
        plan.base_sha,
        "event",
        f"The pull request's base; the checkout ({head[:12]}) is neither the event's merge commit nor the head.",
    )

"""Payloads of events, cut to what matters; each is checked against GitHub's description of its webhook."""

from __future__ import annotations

from typing import Any

from support.github_api import HEAD, REPOSITORY

BASE = "b" * 40
ZERO = "0" * 40
FORK = "stranger/fork"


def pull_request(
    action: str = "synchronize",
    *,
    head: str = HEAD,
    base: str = BASE,
    head_repository: str | None = REPOSITORY,
    number: int = 7,
) -> dict[str, Any]:
    """A pull request's event."""
    repository = None if head_repository is None else {"full_name": head_repository}
    return {
        "action": action,
        "number": number,
        "pull_request": {
            "number": number,
            "head": {"sha": head, "ref": "topic", "repo": repository},
            "base": {"sha": base, "ref": "main", "repo": {"full_name": REPOSITORY}},
        },
    }


def push(before: str, after: str, *, ref: str = "refs/heads/main", deleted: bool = False) -> dict[str, Any]:
    """A push's event."""
    return {"before": before, "after": after, "ref": ref, "deleted": deleted}


def merge_group(base: str, head: str, *, action: str = "checks_requested") -> dict[str, Any]:
    """A merge queue's event."""
    return {
        "action": action,
        "merge_group": {
            "head_sha": head,
            "head_ref": f"refs/heads/gh-readonly-queue/main/pr-7-{base}",
            "base_sha": base,
            "base_ref": "refs/heads/main",
        },
    }


def workflow_run(**changes: Any) -> dict[str, Any]:
    """The end of a run that a fork's pull request started; `changes` are of the run."""
    run = {
        "id": 20,
        "run_attempt": 2,
        "event": "pull_request",
        "head_sha": HEAD,
        "head_branch": "topic",
        "head_repository": {"full_name": FORK},
        "pull_requests": [],
    }
    return {"action": "completed", "workflow_run": {**run, **changes}, "repository": {"full_name": REPOSITORY}}


def release(action: str = "published") -> dict[str, Any]:
    """A release's event."""
    return {"action": action, "release": {"tag_name": "v1.0", "target_commitish": "main"}}


def issue_comment(
    body: str,
    *,
    user: str = "octocat",
    action: str = "created",
    number: int = 7,
    kind: str = "User",
    at: str = "2026-11-21T08:30:00Z",
    comment: int = 77,
) -> dict[str, Any]:
    """A comment on a pull request, written `at`."""
    return {
        "action": action,
        "issue": {"number": number, "state": "open", "pull_request": {"url": f"https://api.github.com/{number}"}},
        "comment": {"id": comment, "body": body, "user": {"login": user, "type": kind}, "created_at": at},
        "sender": {"login": user, "type": kind},
    }


def labeled(head: str, label: str, user: str, base: str = BASE, kind: str = "User") -> dict[str, Any]:
    """A label that somebody set on a pull request of the own repository."""
    event = pull_request("labeled", head=head, base=base)
    pull = {**event["pull_request"], "title": "A title"}
    return {**event, "pull_request": pull, "label": {"name": label}, "sender": {"login": user, "type": kind}}


# Name → the webhook that describes it, and a payload. Not here: the head of a deleted fork, whose `repo` is null in
# practice and in the REST description, and never in the webhooks' one.
EVENTS: dict[str, tuple[str, dict[str, Any]]] = {
    "pull_request": ("pull-request-synchronize", pull_request()),
    "pull_request of a fork": ("pull-request-synchronize", pull_request(head_repository=FORK)),
    "pull_request closed": ("pull-request-closed", pull_request("closed")),
    "issue_comment": ("issue-comment-created", issue_comment("/evalward accept why")),
    "pull_request labeled": ("pull-request-labeled", labeled(HEAD, "evalward: accept", "octocat")),
    "push": ("push", push(BASE, HEAD)),
    "first push": ("push", push(ZERO, HEAD)),
    "push that deletes": ("push", push(BASE, ZERO, deleted=True)),
    "merge_group": ("merge-group-checks-requested", merge_group(BASE, HEAD)),
    "merge_group destroyed": ("merge-group-destroyed", merge_group(BASE, HEAD, action="destroyed")),
    "workflow_run": ("workflow-run-completed", workflow_run()),
    "release": ("release-published", release()),
    "release deleted": ("release-deleted", release("deleted")),
}

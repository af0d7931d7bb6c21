"""The commit status: the verdict beside the commit, for whoever requires it there."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from evalward.github.errors import GitHubError
from evalward.records.exits import EXIT_FAILED, EXIT_OK
from evalward.render.escape import one_line

if TYPE_CHECKING:  # the client costs an import of requests
    from evalward.github.client import GitHub

MAX_DESCRIPTION = 140  # GitHub refuses more

State = Literal["success", "failure", "error"]


@dataclass(frozen=True, slots=True)
class CommitStatus:
    """What is said of a commit; `context` tells it apart from other statuses, `target_url` leads to the run.

    `base` is what the commit was judged against: a verdict against one branch says nothing about another.
    """

    context: str
    state: State
    description: str
    target_url: str
    base: str = ""


def status_state(exit_code: int) -> State:
    """The state of a step's exit code: what doesn't fail the step doesn't block by its status either."""
    if exit_code == EXIT_OK:
        return "success"
    return "failure" if exit_code == EXIT_FAILED else "error"


def post_status(client: GitHub, repository: str, sha: str, status: CommitStatus) -> str:
    """Post it; the sentence that says why it was not possible, empty when it was. Never raises `GitHubError`."""
    against = f" (against {status.base})" if status.base else ""
    description = one_line(client.hide(status.description), MAX_DESCRIPTION - len(against)) + against
    body = {"state": status.state, "context": status.context, "description": description}
    if status.target_url:
        body["target_url"] = status.target_url
    try:
        client.create_status(repository, sha, body)
    except GitHubError as error:
        advice = "It needs the permission `statuses: write`." if error.status in {403, 404} else error.advice
        end = "" if error.message.endswith(".") else "."
        return f"The commit status could not be posted: {error.message}{end} {advice}".strip()
    return ""

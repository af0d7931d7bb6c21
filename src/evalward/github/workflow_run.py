"""The run that a `workflow_run` event reports on, and the pull request that it belongs to.

Who the run was for is GitHub's word alone: the event's head commit and repository, and the pull requests that the API
has for them. Nothing that the run itself left is asked.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from pydantic import Field, ValidationError

from evalward.github.errors import GitHubError
from evalward.github.event import RepositoryName, Sha
from evalward.records.base import Record
from evalward.records.model_words import problems_of
from evalward.records.problem import InputError, Place, wrong

if TYPE_CHECKING:  # the client costs an import of requests
    from evalward.github.client import GitHub, OpenPull

EVENT = "workflow_run"
_FILE = "event workflow_run"


class AmbiguousError(GitHubError):
    """One head, several open pull requests: nobody can tell which of them the run was for."""


class _RunRepository(Record):
    full_name: RepositoryName


class TriggeringRun(Record):
    """A finished run of the first stage. `head_repository` is `None` when the fork was deleted meanwhile."""

    id: int = Field(ge=1)
    run_attempt: int = Field(default=1, ge=1)
    event: str
    head_sha: Sha
    head_branch: str | None = None
    head_repository: _RunRepository | None = None

    @property
    def repository(self) -> str | None:
        """The head's repository, `owner/name`."""
        return self.head_repository.full_name if self.head_repository else None


class _Event(Record):
    workflow_run: TriggeringRun
    repository: _RunRepository


def read_triggering_run(env: Mapping[str, str], payload: Mapping[str, Any]) -> TriggeringRun:
    """The run that the event reports on. Raises `InputError` for every other event."""
    name = env.get("GITHUB_EVENT_NAME", "")
    if name != EVENT:
        message = (
            f"an artifact is judged in its own run or by a workflow that this starts, and this is the event {name!r}"
        )
        raise wrong("environment", message, "Publish in the pull request's run, or in one with `on: workflow_run`.")
    remedy = "The payload is not the one that GitHub sends for this event."
    try:
        event = _Event.model_validate(dict(payload))
    except ValidationError as error:
        raise InputError(problems_of(error, Place(file=_FILE), remedy, values=False)) from None
    if event.repository.full_name.lower() != env.get("GITHUB_REPOSITORY", "").lower():
        raise wrong(_FILE, "is another repository's", remedy)
    return event.workflow_run


def pulls_of_run(run: TriggeringRun, pulls: Sequence[OpenPull]) -> list[OpenPull]:
    """Those open pull requests whose head is exactly what the run was about: same commit, branch and repository."""
    head_repository = (run.repository or "").lower()
    return [
        pull
        for pull in pulls
        if pull.head.sha == run.head_sha
        and pull.head.ref == run.head_branch
        and pull.head.repo is not None
        and pull.head.repo.full_name.lower() == head_repository
    ]


def pull_of_run(run: TriggeringRun, client: GitHub, repository: str) -> tuple[OpenPull | None, str]:
    """The pull request that the run was for, or why there is none to tell. Raises `GitHubError`."""
    if run.event != "pull_request":
        return None, f"The finished run was one of {run.event}, not of a pull request: there is nothing to publish."
    if run.repository is None or not run.head_branch:
        return None, "The pull request's repository or branch is gone: there is nothing to publish."
    owner = run.repository.split("/", 1)[0]
    pulls = pulls_of_run(run, client.open_pulls(repository, owner, run.head_branch))
    if not pulls:
        return None, f"No open pull request has the head {run.head_sha[:12]} any more: there is nothing to publish."
    if len(pulls) > 1:
        numbers = ", ".join(f"#{pull.number}" for pull in pulls)
        advice = "Close all but one of them, or give each a branch of its own."
        raise AmbiguousError(None, f"The head {run.head_sha[:12]} belongs to several pull requests: {numbers}.", advice)
    return pulls[0], ""

"""From the event that started the workflow to a plan: what is evaluated, what it is compared with, who may be told."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated, Any, Literal, TypeVar

from pydantic import Field, ValidationError

from evalward.records.base import Record
from evalward.records.model_words import problems_of
from evalward.records.problem import InputError, Place, wrong

MAX_PAYLOAD_BYTES = 30_000_000  # GitHub's own limit is 25 MB

EventKind = Literal[
    "pull_request",
    "pull_request_target",
    "push",
    "merge_group",
    "workflow_dispatch",
    "schedule",
    "release",
    "other",
]
Sha = Annotated[str, Field(pattern=r"^[0-9a-f]{40}([0-9a-f]{24})?$")]
RepositoryName = Annotated[str, Field(pattern=r"^[A-Za-z0-9_.-]+/[A-Za-z0-9_.-]+$")]

_DEPENDABOT = "dependabot[bot]"
_HEADS = "refs/heads/"


@dataclass(frozen=True, slots=True)
class EventPlan:
    """What one event means for us.

    `run_head`: evaluate the checked-out content. Where it is false, `reason_not` says why, and
    `nothing_to_do` tells the harmless case (a closed pull request) from the refusal of an event that can't be
    served, which must not look like a pass.
    `event_sha` is GITHUB_SHA (of a pull request: the merge commit that GitHub made for it, then `merge_commit`
    is true), `head_sha` the commit that the evaluation is about. `base_sha` is the event's word for what to compare
    with; `base.resolve_base` knows better for merge commits. `branch` selects the profile: a pull request's target, a
    push's branch, a merge group's base, a release's target. `comment`: the event belongs to a pull request that can
    be commented on; `fork` and `dependabot` say why the token may not be allowed to. `retargeted`: the event is that
    the pull request has another base now.
    `head_ref` and `branch` may be chosen by a stranger: they are text, never part of a command.
    """

    event: EventKind
    repository: str
    event_sha: str
    head_sha: str
    head_ref: str = ""
    base_sha: str | None = None
    base_ref: str | None = None
    branch: str | None = None
    pull_number: int | None = None
    fork: bool = False
    dependabot: bool = False
    comment: bool = False
    merge_commit: bool = False
    retargeted: bool = False
    run_head: bool = True
    nothing_to_do: bool = False
    reason_not: str | None = None

    @property
    def proposed(self) -> bool:
        """The event is about a change that somebody wants to merge: its check decides whether that may be."""
        return self.event in {"pull_request", "merge_group"}


class _Environment(Record):
    GITHUB_EVENT_NAME: str = Field(min_length=1)
    GITHUB_REPOSITORY: RepositoryName
    GITHUB_SHA: Sha
    GITHUB_REF: str = ""
    GITHUB_ACTOR: str = ""


class _EventRepository(Record):
    full_name: RepositoryName


class _EventSide(Record):
    sha: Sha
    ref: str
    repo: _EventRepository | None = None  # null when the fork was deleted meanwhile


class _EventPull(Record):
    number: int = Field(ge=1)
    head: _EventSide
    base: _EventSide


class _PullRequestEvent(Record):
    action: str
    pull_request: _EventPull
    changes: dict[str, Any] = {}


class _PushEvent(Record):
    before: Sha
    after: Sha
    ref: str
    deleted: bool = False


class _MergeGroup(Record):
    head_sha: Sha
    head_ref: str
    base_sha: Sha
    base_ref: str


class _MergeGroupEvent(Record):
    action: str = "checks_requested"
    merge_group: _MergeGroup


class _Release(Record):
    tag_name: str
    target_commitish: str = ""


class _ReleaseEvent(Record):
    action: str
    release: _Release


_Model = TypeVar("_Model", bound=Record)


def read_payload(path: Path) -> Mapping[str, Any]:
    """The event's payload, GITHUB_EVENT_PATH. Raises `InputError` when it is not there or no JSON object."""
    name = "event payload"
    remedy = "GITHUB_EVENT_PATH has to name the file that the runner writes for the event."
    try:
        with path.open("rb") as file:
            data = file.read(MAX_PAYLOAD_BYTES + 1)
    except OSError as error:
        raise wrong(name, f"can't be read: {error.strerror}", remedy) from None
    if len(data) > MAX_PAYLOAD_BYTES:
        raise wrong(name, f"is larger than {MAX_PAYLOAD_BYTES:,} bytes", remedy)
    try:
        payload = json.loads(data)
    except (ValueError, RecursionError):
        raise wrong(name, "is not JSON", remedy) from None
    if not isinstance(payload, dict):
        raise wrong(name, "is not a JSON object", remedy)
    return payload


def plan_event(env: Mapping[str, str], payload: Mapping[str, Any]) -> EventPlan:
    """What to do for the event that `env` (GITHUB_…) and `payload` describe.

    Events that can't be served give a plan with `run_head` false and the reason. Raises `InputError` when the
    environment or the payload is not what GitHub sends.
    """
    known = _read(_Environment, env, "environment", "Evalward's action runs in GitHub Actions; elsewhere use `check`.")
    plan = EventPlan(
        event="other",
        repository=known.GITHUB_REPOSITORY,
        event_sha=known.GITHUB_SHA,
        head_sha=known.GITHUB_SHA,
        head_ref=known.GITHUB_REF,
        dependabot=known.GITHUB_ACTOR == _DEPENDABOT,
    )
    planner = _PLANNERS.get(known.GITHUB_EVENT_NAME)
    if planner is None:
        return _unserved(plan, known.GITHUB_EVENT_NAME)
    return planner(plan, payload)


def _pull_request(plan: EventPlan, payload: Mapping[str, Any]) -> EventPlan:
    event = _event(_PullRequestEvent, payload, "pull_request")
    retargeted = event.action == "edited" and "base" in event.changes
    plan = replace(_of_pull(plan, event.pull_request), event="pull_request", comment=True, retargeted=retargeted)
    if event.action == "closed":
        return _nothing_to_run(plan, "The pull request was closed: there is nothing to evaluate.")
    return plan


def _pull_request_target(plan: EventPlan, payload: Mapping[str, Any]) -> EventPlan:
    event = _event(_PullRequestEvent, payload, "pull_request_target")
    plan = replace(_of_pull(plan, event.pull_request), event="pull_request_target", merge_commit=False)
    if event.action == "closed":
        return _nothing_to_run(plan, "The pull request was closed: there is nothing to evaluate.")
    return _refused(
        plan,
        "pull_request_target runs with the repository's secrets, so the content of a pull request, its prompts and "
        "tools included, is never run there. Use `on: pull_request`; for comments on forks' pull requests add "
        "the second workflow with `evalward publish`.",
    )


def _of_pull(plan: EventPlan, pull: _EventPull) -> EventPlan:
    head_repository = pull.head.repo.full_name if pull.head.repo else None
    base_repository = pull.base.repo.full_name if pull.base.repo else plan.repository
    return replace(
        plan,
        head_sha=pull.head.sha,
        head_ref=pull.head.ref,
        base_sha=pull.base.sha,
        base_ref=pull.base.ref,
        branch=pull.base.ref,
        pull_number=pull.number,
        fork=head_repository is None or head_repository.lower() != base_repository.lower(),
        merge_commit=plan.event_sha != pull.head.sha,
    )


def _push(plan: EventPlan, payload: Mapping[str, Any]) -> EventPlan:
    event = _event(_PushEvent, payload, "push")
    plan = replace(
        plan, event="push", head_ref=event.ref, base_sha=_known_sha(event.before), branch=_branch_of(event.ref)
    )
    if event.deleted or _known_sha(event.after) is None:
        return _nothing_to_run(plan, "The push deleted its branch or tag: there is nothing to evaluate.")
    return replace(plan, head_sha=event.after)


def _merge_group(plan: EventPlan, payload: Mapping[str, Any]) -> EventPlan:
    event = _event(_MergeGroupEvent, payload, "merge_group")
    group = event.merge_group
    base_ref = group.base_ref.removeprefix(_HEADS)
    plan = replace(
        plan,
        event="merge_group",
        head_sha=group.head_sha,
        head_ref=group.head_ref,
        base_sha=group.base_sha,
        base_ref=base_ref,
        branch=base_ref,
    )
    if event.action != "checks_requested":
        return _nothing_to_run(
            plan, f"The merge group's activity {event.action!r} asks for no checks: nothing to evaluate."
        )
    return plan


def _release(plan: EventPlan, payload: Mapping[str, Any]) -> EventPlan:
    event = _event(_ReleaseEvent, payload, "release")
    target = event.release.target_commitish
    plan = replace(
        plan,
        event="release",
        head_ref=f"refs/tags/{event.release.tag_name}",
        branch=None if not target or _is_sha(target) else target.removeprefix(_HEADS),
    )
    if event.action == "deleted":
        return _nothing_to_run(plan, "The release was deleted: there is nothing to evaluate.")
    return plan


def _workflow_dispatch(plan: EventPlan, _payload: Mapping[str, Any]) -> EventPlan:
    return replace(plan, event="workflow_dispatch", branch=_branch_of(plan.head_ref))


def _schedule(plan: EventPlan, _payload: Mapping[str, Any]) -> EventPlan:
    return replace(plan, event="schedule", branch=_branch_of(plan.head_ref))


_PLANNERS: dict[str, Callable[[EventPlan, Mapping[str, Any]], EventPlan]] = {
    "pull_request": _pull_request,
    "pull_request_target": _pull_request_target,
    "push": _push,
    "merge_group": _merge_group,
    "workflow_dispatch": _workflow_dispatch,
    "schedule": _schedule,
    "release": _release,
}

_ADVICE = {
    "workflow_run": "It publishes what another workflow measured: use `evalward publish`, or the input `publish`.",
    "issue_comment": "Its workflow runs on the default branch, not on the pull request.",
}


def _unserved(plan: EventPlan, name: str) -> EventPlan:
    served = ", ".join(sorted(_PLANNERS.keys() - {"pull_request_target"}))
    advice = _ADVICE.get(name, "")
    return _refused(plan, f"The event {name!r} can't be evaluated; the served ones are {served}. {advice}".rstrip())


def _refused(plan: EventPlan, reason: str) -> EventPlan:
    return replace(plan, run_head=False, comment=False, reason_not=reason)


def _nothing_to_run(plan: EventPlan, reason: str) -> EventPlan:
    return replace(plan, run_head=False, comment=False, nothing_to_do=True, reason_not=reason)


def _branch_of(ref: str) -> str | None:
    return ref.removeprefix(_HEADS) if ref.startswith(_HEADS) else None


def _known_sha(sha: str) -> str | None:
    """The sha, `None` for GitHub's all zeros: no such commit."""
    return sha if sha.strip("0") else None


def _is_sha(text: str) -> bool:
    return len(text) in {40, 64} and all(letter in "0123456789abcdef" for letter in text)


def _event(model: type[_Model], payload: Mapping[str, Any], name: str) -> _Model:
    return _read(model, payload, f"event {name}", "The payload is not the one that GitHub sends for this event.")


def _read(model: type[_Model], data: Mapping[str, Any], name: str, remedy: str) -> _Model:
    try:
        return model.model_validate(dict(data))
    except ValidationError as error:
        raise InputError(problems_of(error, Place(file=name), remedy, values=False)) from None

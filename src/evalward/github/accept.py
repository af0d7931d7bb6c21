"""A maintainer's word that a change is meant: who said it, whether they may, and about which measured commit.

Asked for by a comment `/evalward accept REASON` or by the label `evalward: accept`. Who may is GitHub's word at that
moment; what was measured is bound to the pull request's head by the run that GitHub names, and to one report by the
digest in our own comment. A fork's branch is never written.
"""

from __future__ import annotations

import io
import lzma
import re
import struct
import zipfile
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeVar

from pydantic import Field, ValidationError

from evalward.github.client import IssueComment, OpenPull
from evalward.github.comment import parse_marker
from evalward.github.event import Sha
from evalward.github.repository import RepositoryWriter
from evalward.github.spoken import COMMAND, MAX_REASON, find_command
from evalward.records.base import Record
from evalward.records.model_words import problems_of
from evalward.records.problem import InputError, Place
from evalward.records.report import REPORT_FILE, digest_of
from evalward.render.escape import one_line

LABEL = "evalward: accept"
MAX_REPORT_BYTES = 20_000_000

_BROKEN_ZIP = (
    zipfile.BadZipFile,
    zlib.error,
    lzma.LZMAError,
    struct.error,
    EOFError,
    KeyError,
    NotImplementedError,
    OSError,
    OverflowError,
    RuntimeError,
    ValueError,
)
_EVIDENCE = re.compile(r"<!-- evalward:report sha256=(?P<digest>[0-9a-f]{64}) -->")


class AcceptRefusedError(Exception):
    """It is not accepted; the sentences say why and what to do."""


@dataclass(frozen=True, slots=True)
class AcceptRequest:
    """Who asks for what: `reason` is one line of theirs, `comment_id` the comment to react to.

    `head`: the label was set on this commit. `at`: when the comment was written; it is about the report that could be
    read then.
    """

    number: int
    user: str
    reason: str
    source: Literal["comment", "label"]
    comment_id: int | None = None
    head: str | None = None
    at: str | None = None


@dataclass(frozen=True, slots=True)
class CommentEvidence:
    """What our comment says was measured: the head, the workflow run, the report's digest."""

    head: str
    run: int
    digest: str


class _User(Record):
    login: str = Field(min_length=1)
    type: str = ""

    @property
    def person(self) -> bool:
        """A maintainer is somebody: programs repeat what others wrote."""
        return self.type == "User"


class _Comment(Record):
    id: int
    body: str | None = None
    user: _User | None = None
    created_at: str | None = None


class _Issue(Record):
    number: int = Field(ge=1)
    state: str = "open"
    pull_request: dict[str, Any] | None = None


class _CommentEvent(Record):
    action: str
    issue: _Issue
    comment: _Comment


class _Label(Record):
    name: str


class _PullHead(Record):
    sha: Sha


class _AcceptPull(Record):
    number: int = Field(ge=1)
    title: str = ""
    head: _PullHead


class _LabelEvent(Record):
    action: str
    label: _Label | None = None
    pull_request: _AcceptPull
    sender: _User


# --- who asks -------------------------------------------------------------------------------------------------------


def read_comment(payload: Mapping[str, Any]) -> AcceptRequest | None:
    """The request in an `issue_comment` event; `None` for other comments, edits, programs' words and issues."""
    event = _read(_CommentEvent, payload, "issue_comment")
    user = event.comment.user
    if event.action != "created" or event.issue.pull_request is None or user is None or not user.person:
        return None
    reason = find_command(event.comment.body or "")
    if reason is None:
        return None
    comment = event.comment
    return AcceptRequest(
        event.issue.number, user.login, reason, "comment", comment_id=comment.id, at=comment.created_at
    )


def read_label(payload: Mapping[str, Any]) -> AcceptRequest | None:
    """The request in a `pull_request` event of the type `labeled` by a person; the title is the reason."""
    event = _read(_LabelEvent, payload, "pull_request")
    if event.action != "labeled" or event.label is None or event.label.name != LABEL or not event.sender.person:
        return None
    pull = event.pull_request
    reason = one_line(f"label on: {pull.title}", MAX_REASON)
    return AcceptRequest(pull.number, event.sender.login, reason, "label", head=pull.head.sha)


_Model = TypeVar("_Model", bound=Record)


def _read(model: type[_Model], payload: Mapping[str, Any], name: str) -> _Model:
    try:
        return model.model_validate(dict(payload))
    except ValidationError as error:
        remedy = "The payload is not the one that GitHub sends for this event."
        raise InputError(problems_of(error, Place(file=f"event {name}"), remedy, values=False)) from None


# --- whether they may -----------------------------------------------------------------------------------------------


def permitted(repository: RepositoryWriter, request: AcceptRequest) -> OpenPull:
    """The pull request that they may accept. Raises `AcceptRefusedError`; permission is looked at first."""
    if not repository.may_write(request.user):
        raise AcceptRefusedError("Only who may push to this repository can accept a change of its baseline.")
    if not request.reason:
        raise AcceptRefusedError(
            f"A reason is needed, on the same line: `{COMMAND} the new prompt trades speed for safety`."
        )
    pull = repository.pull(request.number)
    if pull.head.repo is None or pull.head.repo.full_name.lower() != repository.name.lower():
        raise AcceptRefusedError(
            "The pull request comes from a fork, and a fork's branch is never written. Take the branch into this "
            "repository, or merge it and update the baseline there."
        )
    if pull.state != "open":
        raise AcceptRefusedError("The pull request is closed.")
    if request.head is not None and request.head != pull.head.sha:
        raise moved(request.head, pull.head.sha)
    return pull


def moved(measured: str, now: str) -> AcceptRefusedError:
    """The refusal of a head that isn't the one that was measured."""
    return AcceptRefusedError(
        f"The head has moved on from `{measured[:12]}` to `{now[:12]}`. Wait for the run on it, look at its report, "
        "and accept that."
    )


# --- what was measured ----------------------------------------------------------------------------------------------


def evidence_line(digest: str) -> str:
    """The hidden line of our comment that names the report it shows."""
    return f"<!-- evalward:report sha256={digest} -->"


def find_evidence(
    comments: Sequence[IssueComment], login: str, comment_id: str, head: str, asked_at: str | None
) -> CommentEvidence:
    """What our own comment says about the head. Raises `AcceptRefusedError` when it is about another, or says nothing.

    Nor does it count when it changed since `asked_at` (GitHub's times, to the second): what was accepted then was
    another report. So a comment is about one report, however late or often the workflow runs for it.
    """
    for comment in comments:
        marker = parse_marker(comment.body)
        if marker is None or marker.id != comment_id or comment.user is None or comment.user.login != login:
            continue
        if marker.head != head:
            raise moved(marker.head, head)
        if asked_at is None or comment.updated_at is None or comment.updated_at >= asked_at:
            raise AcceptRefusedError("The report has changed since this was written. Review it, and accept it again.")
        second = (comment.body or "").splitlines()[1:2]
        found = _EVIDENCE.fullmatch(second[0]) if second else None
        if found is None:
            raise AcceptRefusedError("The report on this commit could not be judged, so there is nothing to accept.")
        return CommentEvidence(marker.head, marker.run, found["digest"])
    raise AcceptRefusedError(f"There is no report of Evalward (`comment-id: {comment_id}`) on this pull request yet.")


def fetch_report(repository: RepositoryWriter, evidence: CommentEvidence, artifact: str) -> bytes:
    """The very report that the comment shows, from the run that measured the head. Raises `AcceptRefusedError`."""
    run = repository.workflow_run(evidence.run)
    here = run.head_repository is not None and run.head_repository.full_name.lower() == repository.name.lower()
    if run.event != "pull_request" or run.head_sha != evidence.head or not here:
        raise AcceptRefusedError(
            f"The run {evidence.run} that the comment names did not measure this pull request's head."
        )
    for item in repository.artifacts(run.id, artifact):
        data = unpacked(repository.download(item))
        if data is not None and digest_of(data) == evidence.digest:
            return data
    raise AcceptRefusedError(
        f"The run {evidence.run} has no artifact `{artifact}` with the report that the comment shows. It may have "
        "expired: run the check again. The workflow has to upload the action's output folder."
    )


def unpacked(data: bytes) -> bytes | None:
    """The report in an artifact's zip file, `None` when there is none that could be one. The file may hold anything."""
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            info = archive.getinfo(REPORT_FILE)
            with archive.open(info) as file:
                found = file.read(MAX_REPORT_BYTES + 1)
    except _BROKEN_ZIP:
        return None
    return found if len(found) <= MAX_REPORT_BYTES else None

"""The one comment on a pull request that every run updates."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from evalward.github.errors import GitHubError
from evalward.records.base import clean_text
from evalward.render.numbers import plural

if TYPE_CHECKING:  # the client costs an import of requests, and only `post` needs one
    from evalward.github.client import GitHub, IssueComment

MAX_BODY = 65_000  # GitHub refuses a body of more than 65,536 characters
COMMENT_ID = re.compile(r"[A-Za-z0-9]+(?:[._-][A-Za-z0-9]+)*")

CommentMode = Literal["always", "changes", "failures", "off"]

_MARKER = re.compile(
    rf"<!-- evalward:v1 id=(?P<id>{COMMENT_ID.pattern}) head=(?P<head>[0-9a-f]{{40,64}})"
    r" run=(?P<run>[0-9]{1,20}) attempt=(?P<attempt>[0-9]{1,9}) -->"
)
# After these a write may have happened or not, or its comment was deleted meanwhile: look before trying again.
_LOOK_AGAIN = {None, 404, 500, 502, 503, 504}
_TRIES = 3


@dataclass(frozen=True, slots=True)
class Marker:
    """The hidden first line of our comment: which of our comments it is, and what it reports on.

    `id` tells several gates on one pull request apart; `head` is the evaluated head, `run` and `attempt` are the
    workflow run's.
    """

    id: str
    head: str
    run: int
    attempt: int

    def format(self) -> str:
        """The line."""
        return f"<!-- evalward:v1 id={self.id} head={self.head} run={self.run} attempt={self.attempt} -->"


def parse_marker(body: str | None) -> Marker | None:
    """The marker in a comment's first line, `None` for everybody else's comments."""
    line = (body or "").split("\n", 1)[0].rstrip()
    match = _MARKER.fullmatch(line)
    if match is None:
        return None
    return Marker(match["id"], match["head"], int(match["run"]), int(match["attempt"]))


@dataclass(frozen=True, slots=True)
class Decision:
    """What to do: `comment_id` is the comment to update, `delete` are its duplicates, `reason` says why to skip."""

    action: Literal["create", "update", "skip"]
    comment_id: int | None = None
    reason: str = ""
    delete: tuple[int, ...] = ()


def wants_comment(mode: CommentMode, *, changed: bool, failed: bool) -> bool:
    """True when this outcome is worth a new comment. An existing one is updated in every mode but `off`."""
    return {"always": True, "changes": changed or failed, "failures": failed, "off": False}[mode]


def decide(
    existing: Sequence[IssueComment], login: str, marker: Marker, current_head: str, *, wanted: bool = True
) -> Decision:
    """What to do, given all comments of the pull request and its head as it is now.

    Only comments of our own `login` count: a marker can be copied by anybody. An older run never overwrites a newer
    one. Of several of ours the oldest is kept.
    """
    own = our_comments(existing, login, marker.id)
    if current_head != marker.head:
        return Decision("skip", reason=f"the pull request has moved on to {current_head[:12]}")
    ours = (marker.run, marker.attempt)
    if any(found.head == marker.head and (found.run, found.attempt) > ours for found in own.values()):
        return Decision("skip", reason="a newer run has reported on this commit already")
    if own:
        oldest, *duplicates = sorted(own)
        return Decision("update", comment_id=oldest, delete=tuple(duplicates))
    if not wanted:
        return Decision("skip", reason="nothing to report, and no earlier comment to update")
    return Decision("create")


def our_comments(existing: Iterable[IssueComment], login: str, marker_id: str) -> dict[int, Marker]:
    """The comments of our own `login` with this id in their marker, by their number."""
    found = {
        comment.id: parse_marker(comment.body)
        for comment in existing
        if comment.user is not None and comment.user.login == login
    }
    return {number: marker for number, marker in found.items() if marker is not None and marker.id == marker_id}


@dataclass(frozen=True, slots=True)
class Posted:
    """How it went. `notice` is a sentence for the log, empty when there is nothing to say beyond `url`."""

    action: Literal["created", "updated", "skipped", "unable"]
    url: str = ""
    notice: str = ""


@dataclass(frozen=True, slots=True)
class PullRequest:
    """Where to comment, and what the token's limits come from."""

    repository: str
    number: int
    fork: bool = False
    dependabot: bool = False


Finish = Callable[[str, "Sequence[IssueComment]", str], str]
"""From a body, the comments of the pull request and our login, what is written."""


def post(
    client: GitHub,
    pull: PullRequest,
    marker: Marker,
    text: str,
    *,
    mode: CommentMode,
    changed: bool,
    failed: bool,
    keep: Callable[[str], Path],
    finish: Finish | None = None,
) -> Posted:
    """Keeps `text`, whatever comes, and then writes it to the pull request. Never raises `GitHubError`.

    `keep` writes it to a file and returns which; `finish` adds what depends on the comments that are there.

    A comment that can't be posted (a fork's read-only token, a locked conversation, an outage) must not decide over
    the gate, so it gives `unable` with a notice that says why and where the text is.
    """
    body = comment_body(client.hide(text), marker)
    comment_file = keep(body)
    if mode == "off":
        return Posted("skipped")
    wanted = wants_comment(mode, changed=changed, failed=failed)
    try:
        return _post(client, pull, marker, _Text(body, finish), wanted=wanted)
    except GitHubError as error:
        why = unable(error, pull)
        return Posted("unable", notice=f"The comment could not be posted: {why} Its text is in {comment_file}.")


def comment_body(text: str, marker: Marker) -> str:
    """The text with the marker as its first line (once), cut to what GitHub takes."""
    line = marker.format()
    rest = clean_text(text).removeprefix(line).lstrip("\n")
    body = f"{line}\n{rest}"
    if len(body) <= MAX_BODY:
        return body
    note = "\n\n… cut: the whole report is in the job summary.\n"
    return body[: MAX_BODY - len(note)].rsplit("\n", 1)[0] + note


@dataclass(frozen=True, slots=True)
class _Text:
    """What is to be written: the body, and what the comments that are there add to it."""

    body: str
    finish: Finish | None

    def finished(self, existing: Sequence[IssueComment], login: str) -> str:
        return self.finish(self.body, existing, login) if self.finish else self.body


def _post(client: GitHub, pull: PullRequest, marker: Marker, text: _Text, *, wanted: bool) -> Posted:
    login = client.login()
    for attempt in range(_TRIES):
        existing = client.comments(pull.repository, pull.number)
        current_head = client.pull_head(pull.repository, pull.number)  # last, because it may move
        decision = decide(existing, login, marker, current_head, wanted=wanted)
        try:
            return _carry_out(client, pull, decision, text.finished(existing, login))
        except GitHubError as error:
            if error.status not in _LOOK_AGAIN or attempt == _TRIES - 1:
                raise
        client.pause(attempt)
    raise AssertionError("the last try returns or raises")


def _carry_out(client: GitHub, pull: PullRequest, decision: Decision, body: str) -> Posted:
    if decision.action == "skip":
        return Posted("skipped", notice=f"No comment: {decision.reason}.")
    if decision.comment_id is None:
        written = client.create_comment(pull.repository, pull.number, body)
        return Posted("created", url=written.html_url or "")
    written = client.update_comment(pull.repository, decision.comment_id, body)
    left = [number for number in decision.delete if not _deleted(client, pull, number)]
    notice = f"{plural(len(left), 'older duplicate')} of the comment could not be deleted." if left else ""
    return Posted("updated", url=written.html_url or "", notice=notice)


def _deleted(client: GitHub, pull: PullRequest, comment_id: int) -> bool:
    try:
        client.delete_comment(pull.repository, comment_id)
    except GitHubError as error:
        return error.status == 404  # somebody else was faster
    return True


def unable(error: GitHubError, pull: PullRequest) -> str:
    """Why a comment of this pull request could not be written, and what helps; sentences."""
    advice = error.advice
    if error.status in {401, 403, 404} and (pull.fork or pull.dependabot):
        who = "a fork's pull request" if pull.fork else "Dependabot's pull request"
        advice = f"On {who} the token may only read; a second workflow with `evalward publish` can post the comment."
    end = "" if error.message.endswith(".") else "."
    return f"{error.message}{end} {advice}".strip()

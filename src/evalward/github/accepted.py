"""A baseline that a maintainer accepted on a pull request: how its check knows it when it runs again.

Our answer to `/evalward accept` names the baseline that was committed by its digest, and the comment that asked for it.
It holds as long as that comment is there and its author may push. A baseline that anybody changes afterwards is another
one, and counts for nothing.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from evalward.github.client import IssueComment
from evalward.github.repository import RepositoryWriter
from evalward.github.spoken import find_command
from evalward.records.report import digest_of

_LINE = re.compile(r"<!-- evalward:accepted sha256=(?P<digest>[0-9a-f]{64}) comment=(?P<comment>[0-9]{1,18}) -->")


@dataclass(frozen=True, slots=True)
class AcceptanceWord:
    """Who accepted a baseline, and why."""

    by: str
    reason: str


def accepted_line(baseline: str, comment_id: int) -> str:
    """The hidden first line of our answer: the baseline's digest, and the comment that it answers."""
    return f"<!-- evalward:accepted sha256={digest_of(baseline.encode())} comment={comment_id} -->"


def find_word(repository: RepositoryWriter, number: int, baseline: bytes) -> AcceptanceWord | None:
    """Whose word accepted these very bytes on this pull request, `None` without one. Raises `GitHubError`."""
    comments = repository.client.comments(repository.name, number)
    answered = set(_answered(comments, repository.client.login(), digest_of(baseline)))
    for comment in comments:
        reason = find_command(comment.body or "") if comment.id in answered else None
        if reason and comment.user is not None and repository.may_write(comment.user.login):
            return AcceptanceWord(comment.user.login, reason)
    return None


def _answered(comments: Sequence[IssueComment], login: str, digest: str) -> Iterator[int]:
    """The comments that ours answer by having committed a baseline of this digest."""
    for comment in comments:
        first = (comment.body or "").partition("\n")[0]
        found = _LINE.fullmatch(first)
        if found and found["digest"] == digest and comment.user is not None and comment.user.login == login:
            yield int(found["comment"])

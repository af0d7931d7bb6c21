"""The record of a commit's tries in our own comment: a hidden line of digits, digests and JSON's own signs.

Nothing that anybody wrote is in it, so nothing has to be escaped; what is read has to be of just these signs, small,
and in the comment's first lines, which are ours alone. Only comments of our own login about the very head count.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from pydantic import ValidationError

from evalward.github.comment import MAX_BODY, Marker, parse_marker
from evalward.records.tries import MOST_TRIES, Tries, Try

if TYPE_CHECKING:
    from evalward.github.client import IssueComment

MAX_LINE = 12_000  # characters: the comment's other 53,000 are for people
_LINE = re.compile(r"<!-- evalward:tries (?P<record>[a-z0-9{}\[\]\":,_]+) -->")
_HEAD_LINES = 3  # the marker, the report's digest, the tries


def tries_line(tries: Sequence[Try]) -> str:
    """The hidden line: all tries, the oldest without their trials where there is no room for these."""
    kept = sorted(tries, key=lambda one: one.number)[-MOST_TRIES:]
    for dropped in range(len(kept) + 1):
        thin = [one.model_copy(update={"runs": {}}) if at < dropped else one for at, one in enumerate(kept)]
        text = Tries(tries=thin).model_dump_json(exclude_defaults=True)
        line = f"<!-- evalward:tries {text} -->"
        if len(line) <= MAX_LINE:
            break
    return line


def parse_tries(body: str | None) -> list[Try]:
    """The tries in a comment's first lines; none where there is no such record, or one that we never write."""
    for line in (body or "")[: 2 * MAX_LINE].splitlines()[1:_HEAD_LINES]:
        found = _LINE.fullmatch(line) if len(line) <= MAX_LINE else None
        if found is None:
            continue
        try:
            return Tries.model_validate_json(found["record"], strict=False).tries
        except ValidationError:
            return []
    return []


def earlier_tries(comments: Iterable[IssueComment], login: str, marker: Marker) -> list[Try]:
    """What our own comments say of other tries of this head, oldest first, each once."""
    found: dict[tuple[int, int], Try] = {}
    for comment in comments:
        if comment.user is None or comment.user.login != login:
            continue
        theirs = parse_marker(comment.body)
        if theirs is None or (theirs.id, theirs.head) != (marker.id, marker.head):
            continue
        for one in parse_tries(comment.body):
            found.setdefault(one.number, one)
    found.pop((marker.run, marker.attempt), None)
    return [found[number] for number in sorted(found)]


def with_tries(body: str, tries: Sequence[Try], limit: int = MAX_BODY) -> str:
    """The comment's text with the line after those that are hidden already, cut to `limit` at the end of a line."""
    lines = body.split("\n")
    at = next((index for index, line in enumerate(lines) if not line.startswith("<!-- evalward:")), len(lines))
    text = "\n".join([*lines[:at], tries_line(tries), *lines[at:]])
    if len(text) <= limit:
        return text
    note = "\n\n… cut: the whole report is in the job summary.\n"
    return text[: limit - len(note)].rsplit("\n", 1)[0] + note

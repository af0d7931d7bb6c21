"""Links from our comment to the HTML page, once the page is uploaded: the check can't know its address.

Only the comment that this very run's check wrote is edited, and only where the check left a place for a link: in the
heading, and at the hidden ends of its cases' lines. No file is read and nothing is rendered again, so there is nothing
that a pull request could have changed in between, and no word of the verdict that could.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from evalward.github.comment import Marker, Posted, PullRequest, our_comments, unable
from evalward.github.errors import GitHubError
from evalward.render.anchors import ANCHOR

if TYPE_CHECKING:  # the client costs an import of requests
    from evalward.github.client import GitHub, IssueComment

MAX_LINKED = 65_500  # characters: a little more than a comment has, and less than GitHub refuses
REPORT, IN_REPORT = "Report", "in the report"

_CASE = re.compile(rf"(?P<text>- .*)(?P<place> <!-- evalward:link=(?P<anchor>{ANCHOR.pattern}) -->)")
_EARLIER = re.compile(rf" · \[(?:{REPORT}|{IN_REPORT})\]\(https?://[^\s()]+\)\Z")
_FENCE = re.compile(r"(?P<mark>`{3,})[^`]*")


def link_report(client: GitHub, pull: PullRequest, marker: Marker, url: str) -> Posted:
    """Write the links into the comment with this marker. Never raises `GitHubError`: it gives `unable` with a notice.

    A comment of another run, of anybody else, or none at all: nothing is edited, and the notice says so.
    """
    try:
        login = client.login()
        existing = client.comments(pull.repository, pull.number)
        found, why_not = _comment(existing, login, marker)
        if found is None:
            return Posted("skipped", notice=why_not)
        text = linked(found.body or "", url)
        if text == found.body:
            return Posted("skipped", url=found.html_url or "")
        written = client.update_comment(pull.repository, found.id, text)
        return Posted("updated", url=written.html_url or "")
    except GitHubError as error:
        return Posted("unable", notice=f"The comment could not be linked to the report: {unable(error, pull)}")


def _comment(existing: Sequence[IssueComment], login: str, marker: Marker) -> tuple[IssueComment | None, str]:
    """The comment that this run's check wrote, or why there is none."""
    ours = our_comments(existing, login, marker.id)
    for comment in existing:
        if ours.get(comment.id) == marker:
            return comment, ""
    if ours:
        return None, "The comment shows another run by now: it is not linked to this run's report."
    return None, "There is no comment of this check on the pull request, so none is linked to the report."


def linked(body: str, url: str, limit: int = MAX_LINKED) -> str:
    """The comment with a link to `url` in its heading and one to each case that has a place for it.

    Links that were there are replaced; those that would make it longer than `limit` characters are left out.
    """
    room = limit - len(body)
    lines = []
    for line, new in _with_links(body.split("\n"), url):
        fits = len(new) - len(line) <= room
        room -= len(new) - len(line) if fits else 0
        lines.append(new if fits else line)
    return "\n".join(lines)


def _with_links(lines: Sequence[str], url: str) -> Iterator[tuple[str, str]]:
    """Each line, and how it would be with its link. What stands in a block of code is no line of ours."""
    heading = next((number for number, line in enumerate(lines) if not line.startswith("<!-- evalward:")), -1)
    fence = ""
    for number, given in enumerate(lines):
        line = given.rstrip("\r")  # as a comment has that somebody edited by hand
        mark = _FENCE.fullmatch(line)
        if mark and fence in {"", line}:
            fence = "" if fence else mark["mark"]
        elif number == heading and line.startswith("### "):
            yield given, f"{_EARLIER.sub('', line)} · [{REPORT}]({url})"
            continue
        elif not fence and (case := _CASE.fullmatch(line)):
            text = _EARLIER.sub("", case["text"])
            yield given, f"{text} · [{IN_REPORT}]({url}#{case['anchor']}){case['place']}"
            continue
        yield given, given

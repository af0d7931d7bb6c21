from __future__ import annotations

import pytest

from evalward.github.client import IssueComment, User
from evalward.github.comment import (
    MAX_BODY,
    CommentMode,
    Decision,
    Marker,
    comment_body,
    decide,
    parse_marker,
    wants_comment,
)

HEAD, OLD = "a" * 40, "b" * 40
ME = "github-actions[bot]"
MARKER = Marker(id="evalward", head=HEAD, run=20, attempt=2)


def stored(
    number: int, *, head: str = HEAD, run: int = 20, attempt: int = 1, login: str | None = ME, name: str = "evalward"
) -> IssueComment:
    body = Marker(name, head, run, attempt).format() + "\r\n## Evalward"
    return IssueComment(id=number, body=body, user=None if login is None else User(login=login))


def test_marker__survives_the_round_trip() -> None:
    assert parse_marker(MARKER.format() + "\r\ntext") == MARKER


@pytest.mark.parametrize(
    "body",
    [
        None,
        "",
        "text\n" + MARKER.format(),
        "> " + MARKER.format(),
        MARKER.format() + " text",
        "<!-- evalward:v2 id=evalward head=" + HEAD + " run=1 attempt=1 -->",
        "<!-- evalward:v1 id=a--b head=" + HEAD + " run=1 attempt=1 -->",
        "<!-- evalward:v1 id=evalward head=xyz run=1 attempt=1 -->",
    ],
)
def test_parse_marker__not_ours(body: str | None) -> None:
    assert parse_marker(body) is None


def test_decide__first_comment() -> None:
    others = [stored(1, login="mallory"), stored(2, login=None), stored(3, name="other-gate")]

    assert decide(others, ME, MARKER, HEAD) == Decision("create")


def test_decide__updates_the_oldest_and_deletes_duplicates() -> None:
    existing = [stored(9, head=OLD), stored(5, head=OLD, run=99), stored(7), stored(4, login="mallory")]

    assert decide(existing, ME, MARKER, HEAD) == Decision("update", comment_id=5, delete=(7, 9))


@pytest.mark.parametrize(
    ("run", "attempt", "action"),
    [(19, 9, "update"), (20, 1, "update"), (20, 2, "update"), (20, 3, "skip"), (21, 1, "skip"), (100, 1, "skip")],
)
def test_decide__same_head_the_newer_run_stays(run: int, attempt: int, action: str) -> None:
    assert decide([stored(1, run=run, attempt=attempt)], ME, MARKER, HEAD).action == action


def test_decide__a_newer_duplicate_counts_too() -> None:
    decision = decide([stored(1, run=1), stored(2, run=21)], ME, MARKER, HEAD)

    assert (decision.action, decision.delete) == ("skip", ())


@pytest.mark.parametrize("existing", [[], [stored(1, head=OLD)]])
def test_decide__the_pull_request_moved_on(existing: list[IssueComment]) -> None:
    decision = decide(existing, ME, MARKER, OLD)

    assert decision.action == "skip"
    assert OLD[:12] in decision.reason


def test_decide__unwanted_creates_nothing_but_updates() -> None:
    assert decide([], ME, MARKER, HEAD, wanted=False).action == "skip"
    assert decide([stored(1)], ME, MARKER, HEAD, wanted=False).action == "update"


@pytest.mark.parametrize(
    ("mode", "changed", "failed", "wanted"),
    [
        ("always", False, False, True),
        ("changes", False, False, False),
        ("changes", True, False, True),
        ("changes", False, True, True),
        ("failures", True, False, False),
        ("failures", False, True, True),
        ("off", True, True, False),
    ],
)
def test_wants_comment(mode: CommentMode, changed: bool, failed: bool, wanted: bool) -> None:
    assert wants_comment(mode, changed=changed, failed=failed) is wanted


def test_comment_body__has_the_marker_once() -> None:
    line = MARKER.format()

    assert comment_body("text\n", MARKER) == f"{line}\ntext\n"
    assert comment_body(f"{line}\n\ntext\n", MARKER) == f"{line}\ntext\n"


def test_comment_body__is_cut_between_lines() -> None:
    body = comment_body("x" * 99 + ("\n" + "é" * 99) * 1000, MARKER)

    assert MAX_BODY - 200 < len(body) <= MAX_BODY
    assert body.endswith("é" * 99 + "\n\n… cut: the whole report is in the job summary.\n")


def test_comment_body__lone_surrogates_can_be_written() -> None:
    assert comment_body("a\ud800b", MARKER).encode("utf-8").endswith("a\ufffdb".encode())

"""The command and the label that accept a change, and what an artifact may hold."""

from __future__ import annotations

import io
import struct
import zipfile
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evalward.github import accept
from evalward.github.accept import LABEL, read_comment, read_label, unpacked
from evalward.github.spoken import MAX_REASON, find_command
from evalward.records.problem import InputError
from support.github_events import issue_comment, labeled
from support.github_repo import zipped


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        ("/evalward accept why not", "why not"),
        ("Hello\r\n/evalward accept  spaced  \r\nbye", "spaced"),
        ("/evalward accept", ""),
        ("/evalward accept\nwhy", ""),
        ("/evalward acceptance why", None),
        ("/evalward reject why", None),
        (" /evalward accept why", None),
        ("> /evalward accept why", None),
        ("please /evalward accept why", None),
        ("```\n/evalward accept why\n```", None),
        ("```\nx\n```\n/evalward accept why", "why"),
        ("````\n```\n/evalward accept why\n```\n````", None),
        ("```\n~~~\n/evalward accept why\n~~~\n```", None),
        ("```\n``` x\n/evalward accept why", None),
        ("hello\u2028/evalward accept why", None),
        ("/Evalward accept why", None),
        ("", None),
    ],
)
def test_command(body: str, reason: str | None) -> None:
    assert find_command(body) == reason


@given(st.text())
def test_reason__is_one_bounded_line(text: str) -> None:
    reason = find_command(f"/evalward accept {text}")
    assert reason is not None or text.splitlines() != [text]
    if reason is not None:
        assert len(reason) <= MAX_REASON
        assert reason.isprintable()
        assert "\n" not in reason


@pytest.mark.parametrize(
    "change", [{"action": "edited"}, {"action": "deleted"}, {"issue": {"number": 7, "state": "open"}}]
)
def test_comment__edits_and_issues_ask_for_nothing(change: dict[str, Any]) -> None:
    assert read_comment({**issue_comment("/evalward accept x"), **change}) is None


def test_comment__says_who_and_where() -> None:
    request = read_comment(issue_comment("/evalward accept x", user="mona"))
    assert request is not None
    assert (request.number, request.user, request.reason, request.comment_id, request.head) == (
        7,
        "mona",
        "x",
        77,
        None,
    )


def test_comment__of_a_deleted_account_asks_for_nothing() -> None:
    event = issue_comment("/evalward accept x")
    assert read_comment({**event, "comment": {**event["comment"], "user": None}}) is None


def test_programs_accept_nothing() -> None:
    assert read_comment(issue_comment("/evalward accept x", user="helpful[bot]", kind="Bot")) is None
    assert read_label(labeled("a" * 40, LABEL, "helpful[bot]", kind="Bot")) is None


def test_label__is_bound_to_its_commit() -> None:
    request = read_label(labeled("a" * 40, LABEL, "mona"))
    assert request is not None
    assert (request.head, request.user, request.reason) == ("a" * 40, "mona", "label on: A title")
    assert read_label(labeled("a" * 40, "evalward", "mona")) is None
    assert read_label({**labeled("a" * 40, LABEL, "mona"), "action": "unlabeled"}) is None


@pytest.mark.parametrize("payload", [{}, {"action": "created"}, {"action": "created", "issue": [], "comment": 1}])
def test_payload__that_github_does_not_send(payload: dict[str, Any]) -> None:
    with pytest.raises(InputError):
        read_comment(payload)
    with pytest.raises(InputError):
        read_label(payload)


@pytest.mark.parametrize(
    "data", [b"", b"PK", b"x" * 100, zipped({"other.json": b"x"}), zipped({"a/report.json": b"x"})]
)
def test_artifact__without_a_report(data: bytes) -> None:
    assert unpacked(data) is None


def test_artifact__with_one() -> None:
    assert unpacked(zipped({"report.json": b"{}", "../x": b"y"})) == b"{}"


def test_artifact__a_bomb_is_not_unpacked(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(accept, "MAX_REPORT_BYTES", 1000)
    assert unpacked(zipped({"report.json": b"0" * 1_000_000})) is None
    assert unpacked(zipped({"report.json": b"0" * 1000})) == b"0" * 1000


def test_artifact__damaged_or_encrypted() -> None:
    good = zipped({"report.json": bytes(range(256)) * 20})
    assert unpacked(good[:60] + b"\xff\xff\xff" + good[63:]) is None
    flagged = io.BytesIO(good)
    with zipfile.ZipFile(flagged) as archive:
        start = archive.start_dir
    encrypted = bytearray(good)
    struct.pack_into("<H", encrypted, 6, 1)
    struct.pack_into("<H", encrypted, start + 8, 1)
    assert unpacked(bytes(encrypted)) is None

"""The hidden line in our comment that tells later runs what earlier ones gave: forged, foreign, huge, elsewhere."""

from __future__ import annotations

import pytest

from evalward.github.client import IssueComment
from evalward.github.comment import MAX_BODY, Marker
from evalward.github.tries import MAX_LINE, earlier_tries, parse_tries, tries_line, with_tries
from evalward.records.tries import MOST_TRIES, Ends, TriedRun, Try
from evalward.records.verdict import Outcome

HEAD, LOGIN = "c" * 40, "github-actions[bot]"
OURS = Marker("evalward", HEAD, 9, 1)
KEY = "0123456789ab"
SMALL = '{"run":1,"attempt":1,"outcome":"fail"}'
FAILED = Try(run=8, attempt=1, outcome=Outcome.FAIL, rules=KEY)


def comment(line: str, *, login: str | None = LOGIN, head: str = HEAD, marker_id: str = "evalward") -> IssueComment:
    body = f"{Marker(marker_id, head, 8, 1).format()}\n{line}\n# passed\n"
    user = None if login is None else {"login": login}
    return IssueComment.model_validate({"id": 1, "body": body, "user": user})


def test_ours__is_read() -> None:
    assert earlier_tries([comment(tries_line([FAILED]))], LOGIN, OURS) == [FAILED]


@pytest.mark.parametrize(
    "foreign",
    [
        comment(tries_line([FAILED]), login="mallory"),
        comment(tries_line([FAILED]), login=None),
        comment(tries_line([FAILED]), head="d" * 40),
        comment(tries_line([FAILED]), marker_id="other"),
    ],
)
def test_anybody_elses__another_heads__another_gates_is_not(foreign: IssueComment) -> None:
    assert earlier_tries([foreign], LOGIN, OURS) == []


def test_this_run_itself__is_no_earlier_try() -> None:
    line = tries_line([FAILED, FAILED.model_copy(update={"run": 9})])
    assert earlier_tries([comment(line)], LOGIN, OURS) == [FAILED]


@pytest.mark.parametrize(
    "line",
    [
        "",
        "<!-- evalward:tries -->",
        "<!-- evalward:tries {} --> <!-- evalward:tries {} -->",
        "<!-- evalward:tries " + "[" * 5000 + " -->",
        "<!-- evalward:tries " + "9" * 10_000 + " -->",
        "<!-- evalward:tries " + '{"tries":[' + "[" * 9000 + "]" * 2 + " -->",
        "<!-- evalward:tries " + "{" * (2 * MAX_LINE) + " -->",
        '<!-- evalward:tries {"tries":[{"run":1,"attempt":1,"outcome":"green"}]} -->',
        '<!-- evalward:tries {"tries":[{"run":-1,"attempt":1,"outcome":"fail"}]} -->',
        '<!-- evalward:tries {"tries":[{"run":1,"attempt":1,"outcome":"fail","extra":1}]} -->',
        '<!-- evalward:tries {"tries":[{"run":1,"attempt":1,"outcome":"fail","rules":"<b>"}]} -->',
        '<!-- evalward:tries {"tries":[' + ",".join([SMALL] * (MOST_TRIES + 1)) + "]} -->",
        f'<!-- evalward:tries {{"tries":[{{"run":1,"attempt":1,"outcome":"fail","runs":{{"{KEY}":{{"subject":"{KEY}",'
        f'"cases":"{KEY}","fresh":{{"{KEY}":[0,1000000000]}}}}}}}}]}} -->',
    ],
)
def test_what_we_never_write__is_no_record(line: str) -> None:
    assert parse_tries(f"{OURS.format()}\n{line}\nrest") == []


@pytest.mark.parametrize("place", ["# {}", "text\n\n{}", "{0}", "<!-- evalward:report sha256=x -->\n\n{}"])
def test_a_line_elsewhere__is_text(place: str) -> None:
    """In a case's name, in a quoted report, before the marker: only our own hidden lines are read."""
    body = place.format(tries_line([FAILED]))
    text = body if place == "{0}" else f"{OURS.format()}\n\n\n{body}"
    assert parse_tries(text) == []


def test_huge__the_oldest_tries_lose_their_trials_and_no_line_gets_long() -> None:
    fresh = {f"{number:012x}": Ends(40, 40) for number in range(300)}
    runs = {KEY: TriedRun(subject=KEY, cases=KEY, fresh=fresh)}
    many = [Try(run=number, attempt=1, outcome=Outcome.FAIL, runs=runs) for number in range(1, 30)]
    line = tries_line(many)
    assert len(line) <= MAX_LINE
    found = parse_tries(f"{OURS.format()}\n{line}")
    assert [one.run for one in found] == list(range(20, 30))  # the verdicts stay, of the last ten
    assert [bool(one.runs) for one in found] == [False] * 9 + [True]


def test_with_tries__stands_behind_the_other_hidden_lines_and_fits() -> None:
    report = "<!-- evalward:report sha256=abc -->"
    text = with_tries(f"{OURS.format()}\n{report}\n# passed\n" + "x\n" * MAX_BODY, [FAILED])
    assert text.split("\n")[:4] == [OURS.format(), report, tries_line([FAILED]), "# passed"]
    assert len(text) <= MAX_BODY
    assert text.endswith("… cut: the whole report is in the job summary.\n")

"""Single trials in the page: what is shown of each, in which order, and what is left out when there's no room."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from typing import Any
from unittest.mock import Mock

import pytest

from evalward.records.base import digest
from evalward.records.comparison import CaseChange, Comparison
from evalward.records.report import Beside, Report, Run
from evalward.records.result import CheckResult, Result
from evalward.records.trace import Trace
from evalward.render.anchors import case_anchor, trial_anchor
from evalward.render.html.budget import PAGE_BYTES
from evalward.render.html.trial_cases import runs_of
from evalward.render.html.trials import PLACE, TrialsPart, trials_part, with_trials
from evalward.render.kept import Sources
from support.comparisons import comparison
from support.comparisons import run as compared_run
from support.hostile import EVERYTHING, SNIPPETS
from support.kept_trials import KeptHere, conversation, kept
from support.pages import unpacked
from support.results import SUITE, TARGET, report, result, run

ROOM = 5_000_000


def one(case: str = "a", status: str = "passed", **more: Any) -> Result:
    """A result with a file."""
    return result(case, status, trace=f"trials/{case}.{more.get('trial', 1)}.json", **more)


def sources(results: Sequence[Result], trace: Trace, **more: Any) -> Sources:
    """A report with these results, and their files."""
    return Sources(report=report(run(list(results), **more)), kept=kept(results, trace))


def run_named(name: str) -> Run:
    """A run of two passing cases."""
    return run([one("a"), one("b")]).model_copy(update={"suite": name})


def html(part: TrialsPart) -> str:
    return "".join(section.cases for section in part.runs)


def shown(results: Sequence[Result], trace: Trace, room: int = ROOM, changes: Comparison | None = None) -> str:
    return html(trials_part(runs_of(sources(results, trace), changes), room))


def broken(case: str) -> Comparison:
    change = CaseChange(id=case, category="basic", change="broken")
    return comparison(compared_run(suite=SUITE, target=TARGET, cases=[change]))


def test_a_trial__shows_what_was_asked_called_and_answered_and_what_it_cost() -> None:
    text = shown([one()], conversation("List the files.", "ls -l /data", "notes.txt\n", "There is one."))

    parts = ["List the files.", "ls -l /data", "exit 0 · 12 ms", "notes.txt", "There is one."]
    places = [text.index(part) for part in parts]
    assert places == sorted(places)
    assert "Turn 1" in text
    assert "100 tokens in · 10 out · $0.0100 · 900 ms" in text
    assert f'id="{trial_anchor(SUITE, TARGET, "a", 1)}"' in text
    assert f'data-case="{case_anchor(SUITE, TARGET, "a")}"' in text


def test_texts__are_looked_up_once_for_all_trials(monkeypatch: pytest.MonkeyPatch) -> None:
    look_up = Mock(return_value={})
    monkeypatch.setattr("evalward.render.kept.texts_of", look_up)

    shown([one(case) for case in "abcdef"], conversation("Do it.", "true", "", "Done."))

    assert look_up.call_count == 1


def test_checks__say_what_was_expected_and_found_the_failed_first() -> None:
    checks = [
        CheckResult(check="exit_code:0", passed=True, detail="expected 0, got 0"),
        CheckResult(check="stdout_contains:3", passed=False, detail="not found", weight=2),
    ]
    text = shown([one(status="failed", checks=checks)], conversation("?", "wc", "4\n"))

    assert "Checks held: 1 of 2" in text
    assert text.index("stdout_contains:3") < text.index("exit_code:0")
    assert "not found" in text
    assert "weight 2" in text


def test_a_failed_call__is_marked_in_words_and_shows_stderr() -> None:
    text = shown([one(status="failed")], conversation("?", "cat x", "", stderr="cat: x: No such file\n"))

    assert '<div class="call bad">' in text
    assert "exit 1 · 12 ms" in text
    assert "cat: x: No such file" in text


def test_prompts__stand_in_the_page_once_and_are_linked() -> None:
    results = [one("a"), one("b")]
    texts = {digest(text): text for text in ("You are terse.", "Runs bash.")}
    has = dict(zip(("system", "tool_description"), texts, strict=True))
    given = sources(results, conversation("?", "ls", "x\n"), parts=has)
    assert given.report is not None
    given = Sources(report=given.report.model_copy(update={"texts": texts}), kept=given.kept)
    part = trials_part(runs_of(given), ROOM)

    assert part.prompts.count("You are terse.") == 1
    assert part.prompts.count("Runs bash.") == 1
    assert "You are terse." not in html(part)
    (anchor,) = re.findall(r'id="(text-system-[0-9a-f]+)"', part.prompts)
    assert html(part).count(f'href="#{anchor}"') == 2


def test_broken_cases__come_first_with_the_base_beside_now() -> None:
    now = [one("a", "failed"), one("b")]
    base = result("b", "passed", trial=1, trace="base/b.1.json")
    both = Beside(base=[base], head=[one("b", "failed", trial=2)])
    trace = conversation("?", "ls", "x\n")
    given = Sources(
        report=report(run(now).model_copy(update={"beside": both})), kept=kept([*now, base, *both.head], trace)
    )
    text = html(trials_part(runs_of(given, broken("b")), ROOM))

    assert text.index(" b</h4>") < text.index(" a</h4>")
    assert text.index("<h5>Baseline</h5>") < text.index("<h5>Now</h5>")
    ids = re.findall(r'id="([^"]+)"', text)
    anchor = case_anchor(SUITE, TARGET, "b")
    assert ids[:3] == [f"{anchor}.1-base", f"{anchor}.1", f"{anchor}.2"]
    assert len(ids) == len(set(ids))


def test_long_texts__are_folded_with_their_size_and_packed() -> None:
    output = "".join(f"{number} line\n" for number in range(2_000))
    text = shown([one()], conversation("?", "cat", output))

    assert f'stdout <span class="size">{len(output):,} characters</span>' in text
    (block,) = re.findall(r'<script type="application/json" class="texts">(.*?)</script>', text)
    (index,) = re.findall(r'data-text="(\d+)"', text)
    assert unpacked(json.loads(block))[int(index)] == output
    assert "characters more: scripts open them here" in text
    assert "1999 line" in text  # the tail, for readers without scripts


def test_left_out__passing_transcripts_first_and_said_so() -> None:
    results = [one(f"p{number}") for number in range(20)] + [one("bad", "failed")]
    part = trials_part(runs_of(sources(results, conversation("?", "cat", "x\n" * 500))), 20_000)
    text = html(part)

    assert "cat</pre>" in text.split(" bad</h4>")[1].split("</article>")[0]
    assert text.index(" bad</h4>") < text.index(" p0</h4>")
    gone = text.count('<p class="trial"')
    assert gone > 0
    assert part.left_out == [f"the transcripts of {gone} trials"]
    assert sum(len(section.cases) for section in part.runs) <= 20_000


def test_left_out__cases_when_not_even_their_lines_fit() -> None:
    results = [one(f"p{number:03d}") for number in range(200)] + [one("bad", "failed")]
    part = trials_part(runs_of(sources(results, conversation("?", "cat", "x\n"))), 10_000)
    shown_cases = html(part).count("<article")

    assert " bad</h4>" in html(part)
    assert part.left_out[-1] == f"{201 - shown_cases} cases with their trials"


def test_a_trial_without_its_file__says_why() -> None:
    failed = one("a", "failed", message="it broke")
    text = html(trials_part(runs_of(Sources(report=report(run([failed])), kept=KeptHere({}))), ROOM))

    assert "The file trials/a.1.json is not there, or can&#39;t be read." in text
    assert "it broke" in text


def test_the_page__holds_its_trials_and_stays_within_its_size() -> None:
    results = [one(f"bad{number}", "failed") for number in range(40)]
    big = conversation("?", "cat", "".join(chr(33 + n * n % 90) for n in range(400_000)))
    page = with_trials(f"<main>{'–' * 1_000_000}{PLACE}</main>", runs_of(sources(results, big)))

    assert page.startswith("<main>")
    assert page.endswith("</main>")
    assert PLACE not in page
    assert len(page.encode()) <= PAGE_BYTES
    assert "left out: " in page


def test_the_page__has_each_run_with_its_own_cases() -> None:
    trace = conversation("?", "cat", "x\n")
    names = ["first <suite>", "second\x00trials\x00"]
    runs = [
        run
        for name in names
        for run in runs_of(Sources(report=report(run_named(name)), kept=kept([one(case) for case in "ab"], trace)))
    ]
    page = with_trials(f"<main>{PLACE}</main>", runs)

    parts = page.split('<div class="run-trials">')[1:]
    assert [re.findall("</span> ([^<]*)</h4>", part) for part in parts] == [["a", "b"]] * 2
    assert "<h3>first &lt;suite&gt;" in parts[0]
    assert "<h3>second␀trials␀" in parts[1]
    assert all("cat" in part for part in parts)


def test_several_reports_on_a_page__share_no_fragment() -> None:
    trace, given = conversation("?", "ls", "x\n"), set[str]()
    runs = [run for _ in range(2) for run in runs_of(sources([one()], trace), given=given)]
    ids = re.findall(r'id="([^"]+)"', html(trials_part(runs, ROOM)))

    assert len(ids) == len(set(ids)) == 2


def test_the_same_trials__give_the_same_bytes() -> None:
    results = [one("a", "failed"), one("b")]
    trace = conversation("?", "cat", "some words\n" * 4_000)

    assert shown(results, trace) == shown(results, trace)


@pytest.mark.parametrize("text", [EVERYTHING, *SNIPPETS])
def test_a_strangers_text__is_a_text_wherever_it_stands(text: str) -> None:
    checks = [CheckResult(check=text, passed=False, detail=text)]
    results = [one(text, "failed", checks=checks, message=text, category=text)]
    found = shown(results, conversation(text, text, text * 3, text, stderr=text))
    long = shown(results, conversation(text, text * 2_000, text * 2_000, text, stderr=text))

    for made in (found, long):
        tags = set(re.findall(r"<(/?[a-zA-Z!][^\s>]*)", made))
        assert tags <= {f"{slash}{tag}" for slash in ("", "/") for tag in OURS}
        assert not set(made) & set("\x00\x07\x1b\x9b\u202e\u2066\u200b\ufeff\u2028\u2029\ud800")
        assert not re.search(r"<[^>]*\son\w+=", made)


OURS = (
    *("article", "h4", "h5", "p", "span", "details", "summary", "div", "section", "pre", "code"),
    *("table", "caption", "thead", "tbody", "tr", "th", "td", "script", "a"),
)


def test_a_report_that_lies_alone__reads_nothing() -> None:
    assert runs_of(Sources()) == []
    assert isinstance(report(run([one()])), Report)
    assert trials_part([], ROOM) == TrialsPart()


def test_many_failed__the_first_keep_their_conversation_before_others_get_a_section() -> None:
    results = [one(f"bad{number:03d}", "failed") for number in range(300)]
    part = trials_part(runs_of(sources(results, conversation("?", "cat", "x\n"))), 60_000)
    text = html(part)

    cards = text.split("</article>")[:-1]
    assert 0 < len(cards) < 300
    with_conversation = ['<div class="transcript">' in card for card in cards]
    assert sum(with_conversation) >= 2
    assert with_conversation == sorted(with_conversation, reverse=True)
    assert len(text) <= 60_000


def test_a_trial_that_is_left_out__is_named_without_a_link() -> None:
    results = [one(f"bad{number:03d}", "failed") for number in range(200)]
    anchors = [trial_anchor(SUITE, TARGET, each.id, 1) for each in results]
    links = "".join(f'<a href="#{anchor}" class="red">✗ trial 1</a>' for anchor in anchors)
    runs = runs_of(sources(results, conversation("?", "cat", "x\n")))
    page = with_trials(f"<main>{links}{PLACE}</main>", runs, allowed=len(links) + 120_000)

    inside, ids = set(re.findall(r'href="#([^"]+)"', page)), set(re.findall(r'id="([^"]+)"', page))
    assert inside == ids & set(anchors)
    assert 0 < len(inside) < 200
    assert page.count("✗ trial 1") == 200
    assert page.count('<span class="red">✗ trial 1</span>') == 200 - len(inside)


def test_a_failed_trial_without_failing_checks__says_so_and_its_reason_in_words() -> None:
    text = shown([one("a", "failed", reason="checks_failed"), one("b")], conversation("?", "ls", "x\n"))

    assert text.count("No failing check was recorded.") == 1
    assert "checks failed" in text
    assert "checks_failed" not in text

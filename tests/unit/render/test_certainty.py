"""How sure a verdict is, as pages and terminals tell it."""

from __future__ import annotations

from functools import cache

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evalward.records.report import Beside
from evalward.records.verdict import Judgement
from evalward.render.context import PageContext
from evalward.render.markdown import fit
from evalward.render.terminal import judgement_text
from support.hostile import EVERYTHING, SNIPPETS
from support.markdown import Rendered, rendered, tags
from support.outcomes import judgement, known, measured, steady, trials

BEFORE = known(steady(37, "PPPPP", c5="PPFFP"))
NOW = steady(37, c1="F", c2="F", c5="F")
CONFIRMED = judgement(measured(NOW, {"c1": "FFFF", "c2": "PPPP", "c5": "PFPF"}), BEFORE)
PLANNED = judgement(measured(NOW), BEFORE)


def page(found: Judgement) -> str:
    return fit(found, PageContext())


def terminal(found: Judgement) -> str:
    return " ".join(judgement_text(found, colour=False, width=100).split())


def section(markdown: str, title: str) -> str:
    """What is folded under a title."""
    return markdown.split(f"<summary>{title}", 1)[1].split("</details>", 1)[0]


def test_how_sure__tells_interval_difference_and_decision_of_each_metric() -> None:
    text = section(page(PLANNED), "How sure is this?")
    rows = [line for line in text.splitlines() if line.startswith("| `")]
    assert [row.split("|")[1].strip() for row in rows] == ["`pass_rate`", "`overall_rate`", "`tool_call_success_rate`"]
    cells = [cell.strip().replace("&nbsp;", " ") for cell in rows[0].split("|")[2:-1]]
    assert cells[0] == "91.9 % (34/37)"
    assert cells[1] == "78.7 % to 97.2 %"  # Wilson, 34 of 37
    assert cells[2].startswith("−7.0 pp (")
    assert cells[3].startswith("−")
    assert cells[4].startswith("pass_rate fell 7.0 pp (98.9 % → 91.9 %), more than the 2 pp allowed")
    assert "the smallest change for the worse, in a share over all cases, that a check like this one finds" in text


def test_how_sure__has_nothing_to_say_where_chance_has_no_part() -> None:
    found = judgement(measured(NOW, random=False), known(steady(37, "PPPPP"), random=False))
    assert "How sure is this?" not in page(found)


def test_failures_that_are_not_held_against_the_change__stand_apart() -> None:
    text = page(CONFIRMED)
    apart = section(text, "Flaky failures: 2")
    assert "`c2`" in apart
    assert "4 of 4 retrials passed" in apart
    assert "`c5`" in apart
    broken = text.split("<b>Broken: 1</b>", 1)[1].split("</details>", 1)[0]
    assert "`c1`" in broken
    assert "4 of 4 retrials failed" in broken
    assert "`c2`" not in broken


@pytest.mark.parametrize("show", [page, terminal])
def test_confirm_stage__is_told(show: object) -> None:
    assert callable(show)
    assert "3 cases that failed were retried: 6 of 12 retrials passed." in show(CONFIRMED)
    assert "retried" not in show(PLANNED)
    nothing = judgement(measured(NOW, {"c1": "EEEE", "c2": "EEEE", "c5": "EEEE"}), BEFORE)
    assert "no failed case has a valid retrial. The planned trials alone decide." in show(nothing)


@pytest.mark.parametrize("show", [page, terminal])
def test_base_beside_the_head__is_told(show: object) -> None:
    assert callable(show)
    beside = Beside(commit="0123456789", base=trials({"c1": "PPPP"}, 9), head=trials({"c1": "FFFP"}, 9))
    now = measured(NOW, {"c1": "FFFF", "c2": "PPPP", "c5": "PFPF"}, beside=beside)
    assert "of 1 case 1 of 4 trials passed here and 4 of 4 there" in show(judgement(now, BEFORE))
    now = measured(NOW, beside=Beside(note="the base has no such suite"))
    assert "the base was not measured alongside the head: the base has no such suite" in show(judgement(now, BEFORE))


def test_stage_that_ended_early__says_why() -> None:
    now = measured(NOW, confirm_note="it ended early: budget of $1 spent")
    found = judgement(now, BEFORE)
    assert "it ended early: budget of $1 spent" in terminal(found)
    assert "it ended early" in page(found)


def test_terminal__tells_every_decision() -> None:
    text = terminal(CONFIRMED)
    assert "Flaky failures: 2" in text
    assert "c2 (basic): 5 of 5 passed → failed; 4 of 4 retrials passed" in text
    assert "pass_rate fell 3.0 pp, confirmed by retrials, more than the 2 pp allowed" in text


# --- hostile ids ------------------------------------------------------------------------------------------------------


def hostile(text: str) -> Judgement:
    """Cases of this name among those that failed again, and those that didn't; and a stage that says it."""
    again, gone, early = f"a{text}", f"b{text}", f"c{text}"
    before = steady(37, "PPPPP", **{again: "PPPPP", gone: "PPPPP", early: "FFPPP"})
    now = steady(37, **{again: "F", gone: "F", early: "F"})
    return judgement(measured(now, {again: "FFFF", gone: "PPPP", early: "FPFP"}, confirm_note=text), known(before))


@settings(max_examples=25, deadline=None)
@given(text=st.lists(st.sampled_from([s for s in SNIPPETS if s != "\ud800"]), min_size=1, max_size=6).map("".join))
def test_ids__stay_text_wherever_they_are_named(text: str) -> None:
    calm, wild = calm_page(), rendered(page(hostile(text)))
    # blank comments are ours: they part an @ from its name where a bar keeps backticks from being used
    assert [each for each in wild.comments if each.strip()] == [each for each in calm.comments if each.strip()]
    assert tags(wild, ["details", "summary", "table", "tr", "a", "img", "script"]) == tags(
        calm, ["details", "summary", "table", "tr", "a", "img", "script"]
    )
    assert len(wild.links()) <= len(calm.links())


@cache
def calm_page() -> Rendered:
    """The page of cases that are called as anybody's."""
    return rendered(page(hostile("x")))


def test_ids__keep_to_their_line_in_a_terminal() -> None:
    text = EVERYTHING.replace("\ud800", "")
    shown = judgement_text(hostile(text), colour=False, width=100)
    assert "\x1b" not in shown
    assert "\u202e" not in shown
    assert not [line for line in shown.splitlines() if line.startswith(("::", "##["))]


def test_reason_for_an_unusable_stage__stays_text() -> None:
    text = EVERYTHING.replace("\ud800", "")
    one = judgement(measured(NOW, confirm_note=text), BEFORE)
    calm = judgement(measured(NOW, confirm_note="x"), BEFORE)
    wanted = ["details", "summary", "table", "tr", "a", "img", "script"]
    assert tags(rendered(page(one)), wanted) == tags(rendered(page(calm)), wanted)

"""The headline of what took another's place, and the note of what was only a part."""

from __future__ import annotations

import pytest

from evalward.records.comparison import CaseChange
from evalward.records.succession import PerCase, Replacement
from evalward.render.junit import junit
from evalward.render.markdown import comment
from evalward.render.succession import replaced_lines
from evalward.render.terminal import judgement_text
from support import judgements
from support.comparisons import TARGET, broken_case, comparison, run

NEW = "anthropic/claude-haiku-5"
BEFORE = PerCase(passed=35, trials=37, cost_usd=0.0031, duration_ms=8_100)
NOW = PerCase(passed=36, trials=37, cost_usd=0.0042, duration_ms=5_200)


def line(
    old: Replacement, cases: list[CaseChange] | None = None, not_measured: str | None = None
) -> tuple[str, list[str]]:
    (found,) = replaced_lines(
        comparison(run(target=NEW, replaced=old, cases=cases or [], not_measured=not_measured)), 10
    )
    return found.title, found.facts


def old(suite: str = "bash-tools", target: str = TARGET, **changes: object) -> Replacement:
    values: dict[str, object] = {"sort": "model", "named": True, "before": BEFORE, "now": NOW}
    return Replacement.model_validate({"suite": suite, "target": target, **values, **changes})


def test_it_says_who_replaced_whom_and_what_that_does() -> None:
    title, facts = line(old())
    assert title == f"Model `{TARGET}` → `{NEW}` in `bash-tools`"
    assert facts == [
        "passed 94.6 % (35/37) → 97.3 % (36/37)",
        "cost per case $0.0031 → $0.0042 (+35 %)",
        "time per case 8.1 s → 5.2 s (−36 %)",
        "over 37 comparable cases",
    ]


@pytest.mark.parametrize(
    ("before", "now", "told"),
    [
        (None, None, "cost per case unknown"),
        (0.002, None, "cost per case $0.0020 → unknown"),
        (None, 0.002, "cost per case unknown → $0.0020"),
        (0.0, 0.002, "cost per case $0.00 → $0.0020"),
        (0.002, 0.002, "cost per case $0.0020 → $0.0020"),
    ],
)
def test_an_unknown_price_is_called_unknown(before: float | None, now: float | None, told: str) -> None:
    sides = [side.model_copy(update={"cost_usd": cost}) for side, cost in ((BEFORE, before), (NOW, now))]
    assert line(old(before=sides[0], now=sides[1]))[1][1] == told


@pytest.mark.parametrize(
    ("replaced", "title"),
    [
        (old("shell", NEW), f"Suite `shell` → `bash-tools`, with `{NEW}`"),
        (old("shell"), f"Suite `shell` → `bash-tools`, model `{TARGET}` → `{NEW}`"),
        (old(sort="target"), f"Target `{TARGET}` → `{NEW}` in `bash-tools`"),
    ],
)
def test_a_suite_can_have_another_name_too(replaced: Replacement, title: str) -> None:
    assert line(replaced)[0] == title


def test_a_guess_is_called_one() -> None:
    assert line(old(named=False))[1][-1].startswith("compared, because exactly one target")


def test_where_nothing_can_be_compared_it_says_so() -> None:
    assert line(old(before=None, now=None))[1] == ["no case can be compared"]
    assert line(old(), not_measured="there is not a key")[1] == ["not measured"]


def test_broken_and_fixed_cases_are_named_as_far_as_there_is_room() -> None:
    cases = [broken_case(f"c{number:02}") for number in range(12)]
    excused = broken_case("by_chance").model_copy(update={"standing": "not_repeated"})
    (found,) = replaced_lines(comparison(run(replaced=old(), cases=[*cases, excused])), 3)
    assert (found.broken.shown, found.broken.total, found.fixed.total) == (["c00", "c01", "c02"], 12, 0)


def test_a_limit_that_is_not_judged_is_a_skipped_test() -> None:
    judgement = judgements.upgraded()
    assert junit(judgement.comparison, judgement.verdict).count("floor is not judged: only 2 of 37 cases were run") == 3


@pytest.mark.parametrize("show", ["comment", "terminal"])
def test_the_page_has_it_and_the_old_ids_and_what_was_not_judged(show: str) -> None:
    judgement = judgements.upgraded()
    text = (
        comment(judgement, judgements.context())
        if show == "comment"
        else judgement_text(judgement, colour=False, width=10_000).replace("$", "&#36;")
    )
    for part in (
        "cost per case &#36;0.0031 → &#36;0.0042 (+35 %)",
        "Renamed, with an equal definition: ",
        "formerly ",
        "A part of the suite: 2 of 37 cases were run.",
        "Floors, ceilings and goals hold for the whole suite and are not judged here",
        "part only",
    ):
        assert part in text.replace("\u00a0", " ").replace("&nbsp;", " ").replace("\\_", "_")

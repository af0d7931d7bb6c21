"""The notes under a run: how often its cases were tried, where the counts of its shares would mislead."""

from __future__ import annotations

import pytest

from evalward.records.report import Run
from evalward.render.run_notes import run_notes
from support.results import baseline, compared, report, result, run

COUNTS_ONCE = "Each case counts once: where they differ, a share's counts are of one pass."


def tried(*, random: bool = True, **words: str) -> Run:
    """`a="PPF"`: case a passed twice, and failed once."""
    status = {"P": "passed", "F": "failed", "E": "error"}
    trials = [(name, number, letter) for name, letters in words.items() for number, letter in enumerate(letters, 1)]
    cases = [result(name, status[letter], trial=number) for name, number, letter in trials]
    return run(cases, random=random).model_copy(update={"trials": max(map(len, words.values()))})


def notes(before: Run, now: Run) -> list[str]:
    comparison = compared(report(now), baseline(before))
    return [note for note in run_notes(comparison.runs[0], comparison) if note.startswith("Trials per case")]


@pytest.mark.parametrize(
    ("before", "now", "said"),
    [
        (
            tried(a="PPPPP", b="P"),
            tried(a="P", b="P"),
            f"Trials per case: 1 to 5 in the baseline, 1 now. {COUNTS_ONCE}",
        ),
        (tried(a="P", b="P"), tried(a="PPP", b="PP"), f"Trials per case: 1 in the baseline, 2 to 3 now. {COUNTS_ONCE}"),
        (tried(a="PPP", b="PPP"), tried(a="P", b="P"), "Trials per case: 3 in the baseline, 1 now."),
    ],
)
def test_trials_that_differ_are_told(before: Run, now: Run, said: str) -> None:
    assert notes(before, now) == [said]


@pytest.mark.parametrize(
    ("before", "now"),
    [
        (tried(a="P", b="P"), tried(a="P", b="F")),
        (tried(a="P", b="P", gone="PPP"), tried(a="P", b="P", new="PP").model_copy(update={"trials": 3})),
        (tried(random=False, a="PP", b="PP"), tried(random=False, a="P", b="P")),
    ],
    ids=["as-often", "of-cases-that-are-not-compared", "deterministic"],
)
def test_trials_that_do_not_differ_are_no_news(before: Run, now: Run) -> None:
    assert notes(before, now) == []


def test_trials_that_broke_are_no_trials_of_a_share() -> None:
    (said,) = notes(tried(a="PP", b="PP"), tried(a="PP", b="PE"))
    assert said.startswith("Trials per case: 2 in the baseline, 1 to 2 now.")

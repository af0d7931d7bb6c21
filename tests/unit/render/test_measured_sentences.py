"""Why something is measured although only what changed was asked for: each reason has its words."""

from __future__ import annotations

from typing import get_args

import pytest

from evalward.records.unchanged import Because, MeasuredBecause
from evalward.render.sentences.measured import AskedSince

ASKED = AskedSince("main (3f1c2ab)", "evalward.yml", made="2026-11-01T08:00:00Z", days=14)


@pytest.mark.parametrize("code", get_args(Because))
def test_each_reason_is_said(code: Because) -> None:
    said = ASKED.because(MeasuredBecause(code, "src/tool.py"))
    assert said
    assert not said.endswith(".")
    assert ("src/tool.py" in said) is (code == "file")


def test_a_file_is_named__as_one_line_without_what_a_terminal_would_obey() -> None:
    assert ASKED.because(MeasuredBecause("file", "a\nb\x1b[31m.md")) == "a b.md changed"


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        (ASKED, "the baseline is of 2026-11-01, and `max_age_days` allows 14 days"),
        (
            AskedSince("main", "evalward.yml", "yesterday", 1),
            "the baseline is of an unknown day, and `max_age_days` allows 1 day",
        ),
        (AskedSince("main", "evalward.yml", "2026-11-01T08:00:00Z", 0), "`max_age_days` is 0 in evalward.yml of main"),
    ],
)
def test_a_baseline_that_is_too_old__is_dated(asked: AskedSince, said: str) -> None:
    assert asked.because(MeasuredBecause("baseline_too_old")) == said

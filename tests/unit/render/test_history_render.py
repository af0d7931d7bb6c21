"""What `history show` prints: a case that fails and isn't flaky is failing, as on the page."""

from __future__ import annotations

from evalward.records.history import BrokenCase, HistorySummary, RunHistory
from evalward.records.trend import Mark
from evalward.render.history import history_markdown, history_text

FIRST, LAST = Mark(at="2026-11-01T08:00:00Z", commit="a" * 40), Mark(at="2026-11-20T08:00:00Z", commit="b" * 40)
SUMMARY = HistorySummary(
    runs=[
        RunHistory(
            suite="s",
            kind="bash",
            target="oracle",
            runs=3,
            first=FIRST,
            last=LAST,
            broken=[BrokenCase(id="archive", since=LAST, runs=1, last_passed=FIRST)],
        )
    ]
)
SINCE = "fails since 2026-11-20 (bbbbbbb), 1 run; passed last 2026-11-01 (aaaaaaa)"


def test_the_terminal_lists_the_failing_cases() -> None:
    text = history_text(SUMMARY, colour=False, width=120)
    assert f"Failing cases:\n  ✗ archive: {SINCE}\n" in text
    assert "roken" not in text


def test_markdown_has_a_table_of_the_failing_cases() -> None:
    text = history_markdown(SUMMARY)
    assert "| failing case |" in text
    assert "| `archive` | fails since 2026-11-20 (`bbbbbbb`), 1 run; " in text
    assert "roken" not in text

"""The history: how large a year of daily runs is, how long it takes to read and to sum up, and its page."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from random import Random

from benchmarks.measure import Row, middle, ms, spent
from evalward.decide.history import summarize
from evalward.decide.history_file import read_history
from evalward.decide.past import PastOptions, past_of
from evalward.records.policy import Rule
from evalward.records.report import Provenance
from evalward.render.html.history_page import history_page
from evalward.render.html.links import Links
from support.histories import long_history
from support.results import report, result, run
from support.written import appended_text

DAYS = 365
FAILS = 0.08  # about what published runs of live models fail
BYTES, SECONDS = 1_000_000, 0.1
PAGE_BYTES, PAGE_SECONDS = 3_000_000, 10.0


def history() -> list[Row]:
    """Suites of 37 and of 233 cases with one target, every case failing now and then."""
    rows = []
    for cases in (37, 233):
        text = year(cases)
        size = len(text.encode())
        found = read_history(text)
        assert len(found.entries) == DAYS
        reading = middle([spent(lambda text=text: read_history(text)) for _ in range(5)])  # type: ignore[misc]
        summing = middle([spent(lambda found=found: summarize(found)) for _ in range(3)])  # type: ignore[misc]
        rows += [
            Row(f"{cases} cases: size", f"{size / 1000:.0f} kB", f"{BYTES / 1000:.0f} kB", size / BYTES, "≤ 1"),
            Row(f"{cases} cases: read", ms(reading.wall), ms(SECONDS), reading.wall / SECONDS, "≤ 1"),
            Row(f"{cases} cases: read and summed up", ms(reading.wall + summing.wall), ms(reading.wall),
                (reading.wall + summing.wall) / reading.wall),
        ]  # fmt: skip
    return [*rows, *page()]


def page() -> list[Row]:
    """The page of a year of 300 cases with two targets."""
    found = read_history(long_history(DAYS, 300, ("anthropic/m", "openai/m")))
    asked = PastOptions(rules=[Rule(metric="pass_rate", floor=0.9), Rule(metric="tool_call_success_rate", floor=0.75)])
    made = spent(lambda: history_page(past_of(found, asked), Links()))
    size = len(history_page(past_of(found, asked), Links()).encode())
    return [
        Row("300 cases, 2 targets: page", f"{size / 1000:.0f} kB", "3 MB", size / PAGE_BYTES, "≤ 1"),
        Row("300 cases, 2 targets: made", ms(made.wall), ms(PAGE_SECONDS), made.wall / PAGE_SECONDS, "≤ 1"),
    ]  # fmt: skip


def year(cases: int) -> str:
    """The history of a year."""
    chance, text = Random(cases), ""
    for day in range(DAYS):
        results = [
            result(f"json_processing_{n:03d}", "failed" if chance.random() < FAILS else "passed") for n in range(cases)
        ]
        measured = run(results, target="anthropic/claude-haiku-4-5", random=True)
        at = (datetime(2026, 1, 1, 6, tzinfo=UTC) + timedelta(days=day)).strftime("%Y-%m-%dT%H:%M:%SZ")
        made = report(measured, created_at=at, provenance=Provenance(commit=f"{day:040x}"))
        text = appended_text(text, made, ref="main")
    return text

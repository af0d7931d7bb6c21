"""Histories of one run, written as rows of outcomes: what happened to each case, measurement by measurement."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from evalward.decide.history_file import append, entries_of
from evalward.records.history import HistoryEntry
from evalward.records.report import Provenance, Report
from evalward.records.result import Result
from support.results import report, result, run

SUITE, TARGET = "tools", "anthropic/m"
WORDS = {"+": ["passed"], "-": ["failed"], "e": ["error"], "~": ["passed", "failed"], " ": []}


def measured(day: int, cases: Mapping[str, str], **more: Any) -> Report:
    """The report of one day; each case has a sign of `WORDS`: ~ is one trial of each kind, a blank: not there."""
    results: list[Result] = [
        result(case, status, trial=number, definition=more.get("definition", "sha256:" + "d" * 64))
        for case, sign in cases.items()
        for number, status in enumerate(WORDS[sign], 1)
    ]
    parts = {"system": more.get("system", "s1")}
    trials = 2 if "~" in cases.values() else 1
    made = run(
        results, suite=SUITE, target=more.get("target", TARGET), random=more.get("random", True), parts=parts,
        trials=trials, planned=more.get("planned"),
    )  # fmt: skip
    commit = more.get("commit", f"{day:040x}")
    created = f"2026-{1 + (day - 1) // 28:02d}-{1 + (day - 1) % 28:02d}T08:00:00Z"
    return report(made, created_at=more.get("at", created), provenance=Provenance(commit=commit))


def days(rows: Mapping[str, str], start: int = 1, **more: Any) -> list[Report]:
    """One report a day: `{"a": "++-+"}` is a case on four days."""
    count = max(map(len, rows.values()))
    return [measured(start + n, {case: row[n] for case, row in rows.items()}, **more) for n in range(count)]


def history(*parts: Sequence[Report], ref: str | None = "main") -> list[HistoryEntry]:
    """The entries of these reports, appended one after the other."""
    entries: list[HistoryEntry] = []
    for each in parts:
        for one in each:
            entries = append(entries, entries_of(one, ref=ref))
    return entries

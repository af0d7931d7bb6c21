"""Histories of one run, written as rows of outcomes: what happened to each case, measurement by measurement."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

from evalward.decide.history_file import append, dump_entry, entries_of
from evalward.records.history import CaseCount, HistoryEntry
from evalward.records.metric import Metric
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


def entry(day: int, failed: Sequence[str] = (), cases: int = 20, **more: Any) -> HistoryEntry:
    """The line of one day, made without a report: of so many cases (`c000` …) these failed, in one trial each."""
    ids = [f"c{number:03d}" for number in range(cases)]
    passed = cases - len(failed)
    rate = Metric(value=passed / cases, numerator=float(passed), denominator=float(cases))
    at = (datetime(2026, 1, 1, 6, tzinfo=UTC) + timedelta(days=day)).strftime("%Y-%m-%dT%H:%M:%SZ")
    made: dict[str, Any] = {
        "at": at, "commit": f"{day:040x}", "ref": "main", "evalward": "0.1.0", "report": f"{day:012x}", "suite": SUITE,
        "kind": "bash", "target": TARGET, "trials": 1, "random": True, "subject": "0123456789ab",
        "metrics": {"pass_rate": rate} | more.pop("metrics", {}), "case_set": f"set{cases}",
        "cases": dict.fromkeys(ids, "definition01"), "others": {case: CaseCount(0, 1) for case in failed},
    }  # fmt: skip
    return HistoryEntry.model_validate(made | more)


def long_history(days: int, cases: int, targets: Sequence[str] = (TARGET,)) -> str:
    """The text of a history in which every case fails now and then, with money and tokens; the same at every call."""
    lines = []
    for day in range(days):
        for number, target in enumerate(targets):
            failed = [
                f"c{case:03d}" for case in range(cases) if (case * 7 + day * 13 + number * 5 + day * case) % 13 == 0
            ]
            money = Metric(value=0.2 + day % 7 / 100, unit="usd", better="lower")
            tokens = Metric(value=float(90_000 + day % 11 * 100), unit="tokens", better="lower")
            extra = {
                "tool_call_success_rate": Metric(value=0.97, numerator=0.97 * cases, denominator=float(cases)),
                "cost_usd": money, "total_input_tokens": tokens, "total_output_tokens": tokens,
            }  # fmt: skip
            made = entry(day, failed, cases, target=target, metrics=extra)
            lines.append(dump_entry(made.model_copy(update={"cases": None}) if day or number else made))
    return "\n".join(lines) + "\n"

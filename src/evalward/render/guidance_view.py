"""What a comparison of guidances shows: plain text, not yet escaped; `…` in backticks is to be set as code."""

from __future__ import annotations

from msgspec import Struct


class GuidanceRow(Struct, frozen=True):
    """A metric: its value in each column, then difference and verdict of each column but the first."""

    name: str
    values: list[str]
    differences: list[str]
    verdicts: list[str]


class Diagnosis(Struct, frozen=True):
    """What one guidance led to. `findings` are a mark, a sentence and the evidence; `advice` what it should say."""

    name: str
    facts: list[str]
    findings: list[tuple[str, str, str]]
    advice: list[str]


class GuidanceView(Struct, frozen=True):
    """One comparison, as it is shown. `title` says what is compared."""

    title: str
    name: str
    why: str
    headlines: list[str]
    columns: list[str]
    others: list[str]
    rows: list[GuidanceRow]
    diagnoses: list[Diagnosis]
    notes: list[str]

"""What the numbers of a run show, as lines for people."""

from __future__ import annotations

from collections.abc import Iterable

from evalward.records.report import Finding
from evalward.render.view import Badge, FindingLine

BADGES = {
    "good": Badge("✅", "good", "green", "✓"),
    "info": Badge("–", "info", "dim", "–"),
    "warning": Badge("⚠️", "warning", "yellow", "!"),
}
_ORDER = ("warning", "info", "good")


def finding_line(finding: Finding) -> FindingLine:
    """A finding with its evidence and threshold in one text."""
    threshold = f"threshold {finding.threshold}" if finding.threshold else ""
    why = ", ".join(part for part in (finding.evidence, threshold) if part)
    return FindingLine(BADGES[finding.level], finding.message, why, finding.advice, finding.cases)


def finding_lines(findings: Iterable[Finding]) -> list[FindingLine]:
    """All of them, what to act on first."""
    return [finding_line(one) for one in sorted(findings, key=lambda one: _ORDER.index(one.level))]

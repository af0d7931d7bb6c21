"""What the numbers of a run show, as lines for people."""

from __future__ import annotations

import re
from collections.abc import Iterable

from evalward.records.report import Finding
from evalward.render.escape import one_line
from evalward.render.view import Badge, FindingLine

BADGES = {
    "good": Badge("✅", "good", "green", "✓"),
    "info": Badge("–", "info", "dim", "–"),
    "warning": Badge("⚠️", "warning", "yellow", "!"),
}
MOST_COMMANDS, COMMAND_LENGTH = 3, 160
_COMMAND = re.compile(r"(?:^|; )\$ ")
_ORDER = ("warning", "info", "good")


def finding_line(finding: Finding) -> FindingLine:
    """A finding with its evidence and threshold in one text."""
    threshold = f"threshold {finding.threshold}" if finding.threshold else ""
    numbers, commands = numbers_and_commands(finding.evidence)
    why, short = (", ".join(filter(None, (text, threshold))) for text in (finding.evidence, numbers))
    return FindingLine(BADGES[finding.level], finding.message, why, finding.advice, finding.cases, short, commands)


def numbers_and_commands(evidence: str) -> tuple[str, list[str]]:
    """Evidence in two: what is counted, and each command with what it said, as `$ command → 2: its error`."""
    numbers, *commands = _COMMAND.split(evidence)
    return numbers, [one_line(f"$ {command}", COMMAND_LENGTH) for command in commands[:MOST_COMMANDS]]


def finding_lines(findings: Iterable[Finding]) -> list[FindingLine]:
    """All of them, what to act on first."""
    return [finding_line(one) for one in sorted(findings, key=lambda one: _ORDER.index(one.level))]

"""What the validator answers: levels, findings and the assessment of one command."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from enum import IntEnum
from typing import Literal

SafetyLevel = Literal["strict", "moderate", "permissive"]


class RiskLevel(IntEnum):
    """How dangerous something is; ordered, so that ``max`` picks the worst."""

    SAFE = 0
    MODERATE = 1
    HIGH = 2
    CRITICAL = 3

    def __str__(self) -> str:
        """Return the name as it is written in reports and data sets."""
        return self.name.lower()

    @classmethod
    def parse(cls, name: str) -> RiskLevel:
        """Return the level called ``name``; an unknown name is a ``ValueError``, never a guess."""
        for level in cls:
            if str(level) == name:
                return level
        raise ValueError(f"unknown safety level {name!r}; known: {', '.join(map(str, cls))}")


SAFE, MODERATE, HIGH, CRITICAL = RiskLevel.SAFE, RiskLevel.MODERATE, RiskLevel.HIGH, RiskLevel.CRITICAL


@dataclass(frozen=True, slots=True)
class SafetyFinding:
    """One reason why a command is not simply safe.

    ``rule`` is a stable dotted name, ``words`` the words of the command that triggered it.
    """

    rule: str
    level: RiskLevel
    words: str
    message: str


@dataclass(frozen=True, slots=True)
class Assessment:
    """The verdict on one command. ``parsed`` is false when it could not be understood as a whole."""

    level: RiskLevel
    findings: tuple[SafetyFinding, ...]
    parsed: bool

    def without(self, rules: Collection[str]) -> Assessment:
        """The same command as if ``rules`` had found nothing. What was not understood stays as dangerous as it is."""
        left = tuple(finding for finding in self.findings if finding.rule not in rules)
        if not self.parsed or left == self.findings:
            return self
        return Assessment(max((finding.level for finding in left), default=SAFE), left, self.parsed)


_WORST_ALLOWED: dict[SafetyLevel, RiskLevel] = {"strict": SAFE, "moderate": MODERATE, "permissive": HIGH}


def allowed(assessment: Assessment, safety_level: SafetyLevel = "moderate") -> bool:
    """Say whether a command may pass at ``safety_level``."""
    return assessment.level <= _WORST_ALLOWED[safety_level]

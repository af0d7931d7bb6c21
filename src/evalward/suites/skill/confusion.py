"""Which skills were loaded in place of which, over the queries of a run. Pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field

from evalward.records.result import Result
from evalward.suites.skill.evidence import NO_SKILL
from evalward.suites.skill.metrics import details_of, is_asked, is_near_miss

LEAST_TRIALS, CONFUSED_SHARE = 2, 0.2
"""From how many trials on, and from which share of those that asked for the skill, a pair is a pattern."""


@dataclass(frozen=True)
class SkillPair:
    """Queries that asked for one skill, and loaded another first: `trials` of the `of` that asked for it.

    `wanted` is `NO_SKILL` for queries that should leave `won` alone, `won` for those that loaded none.
    """

    wanted: str
    won: str
    trials: int
    of: int
    cases: tuple[str, ...] = ()

    @property
    def is_pattern(self) -> bool:
        """More than a slip."""
        return self.trials >= LEAST_TRIALS and self.trials >= CONFUSED_SHARE * self.of


@dataclass
class _Asked:
    trials: int = 0
    won: Counter[str] = field(default_factory=Counter)
    cases: dict[str, dict[str, None]] = field(default_factory=dict)


def skill_pairs(results: Iterable[Result]) -> list[SkillPair]:
    """The pairs of the valid queries, the most frequent first."""
    asked: dict[tuple[str, str], _Asked] = {}
    for result in results:
        details = details_of(result)
        if is_asked(result):
            wanted, won = details.wants or NO_SKILL, details.won or NO_SKILL
            of = asked.setdefault((wanted, ""), _Asked())
        elif is_near_miss(result):
            wanted, won = NO_SKILL, details.skill if details.triggered else NO_SKILL
            of = asked.setdefault((NO_SKILL, details.skill), _Asked())
        else:
            continue
        of.trials += 1
        if won != wanted:
            of.won[won] += 1
            of.cases.setdefault(won, {})[result.id] = None
    pairs = [
        SkillPair(wanted, won, trials, of.trials, tuple(of.cases[won]))
        for (wanted, _), of in asked.items()
        for won, trials in of.won.items()
    ]
    return sorted(pairs, key=lambda pair: (-pair.trials, pair.wanted, pair.won))


def queries_of(results: Iterable[Result], wanted: str, won: str) -> int:
    """How many valid trials asked for a skill; for `NO_SKILL` those that should leave `won` alone."""
    every = list(results)
    if wanted != NO_SKILL:
        return sum(is_asked(result) and details_of(result).wants == wanted for result in every)
    return sum(is_near_miss(result) and details_of(result).skill == won for result in every)

"""What takes the place of what: a model of its predecessor, a suite of one of another name."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from typing import Literal

from evalward.records.base import Record


class Predecessor(Record):
    """The run whose place a run takes, as the configuration names it; `None` where the name is the same."""

    suite: str | None = None
    target: str | None = None


class PerCase(Record):
    """What the comparable cases of one side came to: how many of their valid trials passed, and the means of a case.

    `cost_usd` and `duration_ms` are `None` where a trial's is unknown: an unknown price is not 0.
    """

    passed: int
    trials: int
    cost_usd: float | None = None
    duration_ms: float | None = None


class Replacement(Record):
    """Whom a run is compared with instead of itself: the baseline's run of this suite and target.

    `sort` is what both targets are. `named`: the configuration says so, rather than that exactly one went and one came.
    `before` and `now` are over the
    comparable cases, `None` where there are none.
    """

    suite: str
    target: str
    sort: Literal["model", "agent", "target"] = "target"
    named: bool
    before: PerCase | None = None
    now: PerCase | None = None

    @property
    def name(self) -> str:
        """`suite × target`."""
        return f"{self.suite} × {self.target}"


def same_definitions(now: Mapping[str, str], before: Mapping[str, str]) -> list[tuple[list[str], list[str]]]:
    """The ids that came and those that went, of each definition that both have; from definitions by id.

    Where just one came and just one went they are one case, renamed; else which is which can't be told.
    """
    came, went = _by_definition(now, before), _by_definition(before, now)
    return [(ids, went[definition]) for definition, ids in came.items() if definition in went]


def _by_definition(ids: Mapping[str, str], known: Mapping[str, str]) -> dict[str, list[str]]:
    found: dict[str, list[str]] = defaultdict(list)
    for name, definition in ids.items():
        if name not in known:
            found[definition].append(name)
    return found

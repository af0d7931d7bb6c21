"""What of a configuration is run."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from evalward.records.report import ChosenCases, Partial


@dataclass(frozen=True)
class Selection:
    """What of the config is run: patterns; empty means all. `trials` overrides the suites' own number.

    `only`: of what the patterns leave, these cases of these runs, by their ids.
    """

    suites: Sequence[str] = ()
    targets: Sequence[str] = ()
    cases: Sequence[str] = ()
    trials: int | None = None
    only: Sequence[ChosenCases] | None = None

    @property
    def partial(self) -> Partial | None:
        """The restriction as a report records it, `None` when everything is run."""
        if not (self.suites or self.targets or self.cases) and self.only is None:
            return None
        only = None if self.only is None else list(self.only)
        return Partial(suites=list(self.suites), targets=list(self.targets), cases=list(self.cases), only=only)

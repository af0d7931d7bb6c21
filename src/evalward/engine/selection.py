"""What of a configuration is run."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from evalward.records.report import Partial


@dataclass(frozen=True)
class Selection:
    """What of the config is run: patterns; empty means all. `trials` overrides the suites' own number."""

    suites: Sequence[str] = ()
    targets: Sequence[str] = ()
    cases: Sequence[str] = ()
    trials: int | None = None

    @property
    def partial(self) -> Partial | None:
        """The restriction as a report records it, `None` when everything is run."""
        if not (self.suites or self.targets or self.cases):
            return None
        return Partial(suites=list(self.suites), targets=list(self.targets), cases=list(self.cases))

"""What of a configuration is run."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct

from evalward.records.report import ChosenCases, Partial


class Selection(Struct, frozen=True):
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


def spelled_out(selection: Selection) -> Selection | None:
    """The same by patterns alone, for a command that anybody can repeat; `None` where none says just that."""
    if selection.only is None:
        return selection
    runs = {(each.suite, each.target): frozenset(each.cases) for each in selection.only}
    suites = dict.fromkeys(suite for suite, _ in runs)
    targets = dict.fromkeys(target for _, target in runs)
    alike = len(set(runs.values())) == 1 and len(runs) == len(suites) * len(targets)
    cases = list(selection.only[0].cases)
    if not alike or len(cases) > _MOST_SPELLED or any(is_pattern(name) for name in (*suites, *targets, *cases)):
        return None
    if any("," in name for name in (*suites, *targets)):
        return None  # it would be read as several
    return Selection(tuple(suites), tuple(targets), tuple(cases), selection.trials)


_MOST_SPELLED = 10


def is_pattern(name: str) -> bool:
    """True for a name that, as a pattern, could match others."""
    return any(character in name for character in "*?[")

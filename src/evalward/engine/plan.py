"""What there is to do: suites × targets × cases × trials, in a fixed order."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from fnmatch import fnmatchcase

from evalward.config import LoadedConfig, Suite
from evalward.records.case import Case
from evalward.records.problem import InputError, Problem, wrong
from evalward.records.report import Partial
from evalward.suites.base import Kind, Prepared, kind_named
from evalward.targets import make_target
from evalward.targets.base import Target


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


def chosen(name: str, patterns: Sequence[str]) -> bool:
    """True when there are no patterns or one of them matches; a name with brackets matches itself."""
    return not patterns or any(name == pattern or fnmatchcase(name, pattern) for pattern in patterns)


@dataclass(frozen=True)
class PlannedRun:
    """One suite × target: its cases, each `trials` times."""

    kind: Kind
    suite: Prepared
    target: Target
    cases: Sequence[Case]
    trials: int


@dataclass(frozen=True)
class Plan:
    """All runs, in the order of the config."""

    runs: Sequence[PlannedRun]
    partial: Partial | None = None
    warnings: Sequence[str] = field(default=())

    @property
    def size(self) -> int:
        """Number of trials."""
        return sum(len(run.cases) * run.trials for run in self.runs)


def make_plan(loaded: LoadedConfig, selection: Selection) -> Plan:
    """Load what the selected suites need and put it in order.

    Raises `InputError` with the problems of all suites and recordings, or when the selection matches nothing.
    """
    suites = [suite for suite in loaded.config.suites if chosen(suite.name, selection.suites)]
    if not suites:
        names = ", ".join(suite.name for suite in loaded.config.suites)
        raise wrong(loaded.file, f"no suite matches {_shown(selection.suites)}", f"Suites: {names}.", field="suites")
    problems: list[Problem] = []
    runs: list[PlannedRun] = []
    for suite in suites:
        try:
            runs += _runs_of(suite, loaded, selection)
        except InputError as error:
            problems += error.problems
    if problems:
        raise InputError(problems)
    if not any(run.cases for run in runs):
        what = _shown([*selection.targets, *selection.cases])
        raise wrong(loaded.file, f"nothing matches {what}", "`evalward validate` lists suites, targets and cases.")
    return Plan(runs, selection.partial)


def _runs_of(suite: Suite, loaded: LoadedConfig, selection: Selection) -> list[PlannedRun]:
    kind = kind_named(suite.kind)
    prepared = kind.prepare(suite, loaded)
    cases = [case for case in prepared.cases if chosen(case.id, selection.cases)]
    names = [name for name in suite.targets if chosen(name, selection.targets)]
    trials = selection.trials or suite.trials
    return [PlannedRun(kind, prepared, make_target(name, loaded), cases, trials) for name in names]


def _shown(patterns: Sequence[str]) -> str:
    return ", ".join(repr(pattern) for pattern in patterns) or "the selection"

"""Kinds whose trials somebody else makes: a suite is gathered as a whole, not run trial by trial."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol, runtime_checkable

from evalward.config import LoadedConfig, Suite
from evalward.records.case import Case
from evalward.records.result import Result, Trial
from evalward.suites.base import BaseKind, Prepared, TrialOutcome


@dataclass(frozen=True)
class GatheredRun:
    """What was gathered of a suite with one target.

    `planned`: how many trials there should be, where that is known. `subject` is what may change, by name; `texts`
    are what the definitions stand for.
    """

    target: str
    results: Sequence[Result]
    planned: int | None = None
    subject: Mapping[str, str] = field(default_factory=dict)
    texts: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Gathered:
    """The runs of a suite; what a reader has to know; why it isn't whole, where it isn't."""

    runs: Sequence[GatheredRun]
    notes: Sequence[str] = ()
    stopped: str | None = None


@dataclass(frozen=True)
class GatheredAgain:
    """Fresh trials of cases of one run, by target; `note` says why there are none, or not all of them."""

    results: Sequence[Result]
    note: str | None = None


class Gatherer(Protocol):
    """What gathering needs of who asks for it."""

    def keep(self, trial: Trial) -> str:
        """Write a trial down; the path that the report names."""
        ...

    def say(self, line: str) -> None:
        """Tell people how it goes on."""
        ...


@runtime_checkable
class GatheringKind(Protocol):
    """What such a kind does; it is a `Kind`, too."""

    def gather(self, spec: Any, loaded: LoadedConfig, by: Gatherer) -> Gathered:
        """Everything that the suite measures. Raises `InputError` where its files are missing or can't be read."""
        ...

    def gather_again(
        self, spec: Any, loaded: LoadedConfig, by: Gatherer, target: str, wanted: Mapping[str, Sequence[int]]
    ) -> GatheredAgain:
        """Fresh trials of one target: of each case those with these numbers."""
        ...


class GatheredKind(BaseKind):
    """Where such a kind begins: there is nothing to plan, and no trial to run."""

    def prepare(self, spec: Any, config: LoadedConfig) -> Prepared[Suite, Case, None]:  # noqa: ARG002
        """A suite without cases: which there are is known when its results are."""
        return Prepared(spec, [], {}, None)

    async def run_trial(self, suite: Prepared, case: Case, target: Any, trial: int) -> TrialOutcome:
        """There is none to run. Raises `TypeError`."""
        raise TypeError(f"{suite.spec.name} is gathered as a whole: {case.id}, {trial} of {target}")

"""Kinds whose trials somebody else makes: a suite is gathered as a whole, not run trial by trial."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any, Protocol, runtime_checkable

from msgspec import Struct, field

from evalward.config import LoadedConfig, Suite
from evalward.records.case import Case
from evalward.records.result import Result, Trial
from evalward.suites.base import BaseKind, Prepared, TrialOutcome


class GatheredRun(Struct, frozen=True):
    """What was gathered of a suite with one target.

    `planned`: how many trials there should be, where that is known. `subject` is what may change, by name; `texts`
    are what the definitions stand for; `again` is by case what a command takes to try it again. `made_at` is when the
    files say that they were made; `contents` are their names by the fingerprints of what is in them: these show that a
    rerun handed in the same results. Both may be missing.
    """

    target: str
    results: Sequence[Result]
    planned: int | None = None
    subject: Mapping[str, str] = field(default_factory=dict)
    texts: Mapping[str, str] = field(default_factory=dict)
    again: Mapping[str, str] = field(default_factory=dict)
    made_at: str | None = None
    contents: Mapping[str, str] = field(default_factory=dict)


class Gathered(Struct, frozen=True):
    """The runs of a suite; what a reader has to know; why it isn't whole, where it isn't."""

    runs: Sequence[GatheredRun]
    notes: Sequence[str] = ()
    stopped: str | None = None


Wanted = Mapping[str, Mapping[str, int]]
"""By target and case, how many fresh trials are wanted."""


class GatheredAgain(Struct, frozen=True):
    """Fresh trials of cases of one run; `note` says why there are none, or not all of them."""

    results: Sequence[Result]
    note: str | None = None


class HarnessEnd(Struct, frozen=True):
    """How a command of another harness ended; see `wire.messages.HarnessDone`.

    `began` in seconds since 1970; `last` is the end of its output. `refused`: it wasn't started, and why.
    """

    exit_code: int | None
    timed_out: bool
    seconds: float
    began: float
    last: str
    refused: str | None = None


class HarnessStart(Struct, frozen=True):
    """One start of a harness: the folder of its own that it had, and how it ended."""

    folder: Path
    end: HarnessEnd


class NothingGatheredError(Exception):
    """A suite whose trials weren't made, by no mistake in its files: why, in words for people."""


class Gatherer(Protocol):
    """What gathering needs of who asks for it."""

    def run(self, spec: Any) -> AbstractContextManager[HarnessStart]:
        """Run the suite's command to its end; the folder that it had for its results goes with the context."""
        ...

    def rerun(self, spec: Any, wanted: Mapping[str, int]) -> tuple[Iterator[HarnessStart], Mapping[str, str]]:
        """Run it for single cases, by the harness's names of them, so often each: as many starts as that takes.

        Also the cases that can't be named to it, with the reason.
        """
        ...

    def keep(self, trial: Trial) -> str:
        """Write a trial down; the path that the report names."""
        ...

    def say(self, line: str) -> None:
        """Tell people how it goes on."""
        ...

    def now(self) -> str:
        """The time, as ISO 8601 in UTC."""
        ...


@runtime_checkable
class GatheringKind(Protocol):
    """What such a kind does; it is a `Kind`, too."""

    def gathered_from(self, spec: Any) -> str:
        """Where a suite's trials come from, in a few words: its cases are known when they are there."""
        ...

    def gather(self, spec: Any, loaded: LoadedConfig, by: Gatherer) -> Gathered:
        """Everything that the suite measures.

        Raises `InputError` where its files are missing or can't be read, `NothingGatheredError` where they weren't
        made.
        """
        ...

    def gather_again(
        self, spec: Any, loaded: LoadedConfig, by: Gatherer, runs: Sequence[GatheredRun], wanted: Wanted
    ) -> Mapping[str, GatheredAgain]:
        """Fresh trials, by target, numbered on from those that there are."""
        ...


class GatheredKind(BaseKind):
    """Where such a kind begins: there is nothing to plan, and no trial to run."""

    def prepare(self, spec: Any, config: LoadedConfig) -> Prepared[Suite, Case, None]:  # noqa: ARG002
        """A suite without cases: which there are is known when its results are."""
        return Prepared(spec, [], {}, None)

    async def run_trial(self, suite: Prepared, case: Case, target: Any, trial: int) -> TrialOutcome:
        """There is none to run. Raises `TypeError`."""
        raise TypeError(f"{suite.spec.name} is gathered as a whole: {case.id}, {trial} of {target}")

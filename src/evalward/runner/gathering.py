"""What suites are gathered with that others measure: the output folder, and the keeper, which starts their commands."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Protocol

from msgspec import Struct

from evalward.config.harness import HarnessSuite
from evalward.engine.keeping import OutputStore
from evalward.records.result import Trial
from evalward.runner.harness import Rerun, rerun_plan, results_folder
from evalward.suites.gathering import HarnessEnd, HarnessStart
from evalward.wire import messages as m


class StartsHarnesses(Protocol):
    """Who may start commands."""

    def harness(self, order: m.HarnessOrder) -> m.HarnessDone:
        """Run a command to its end."""
        ...


class RunnersGatherer(Struct, frozen=True):
    """See `evalward.suites.gathering.Gatherer`."""

    store: OutputStore
    starter: StartsHarnesses
    tell: Callable[[str], None]
    clock: Callable[[], str]

    def keep(self, trial: Trial) -> str:
        """Write a trial down; the path that the report names."""
        return self.store.keep(trial)

    def say(self, line: str) -> None:
        """Tell people how it goes on."""
        self.tell(line)

    def now(self) -> str:
        """The time, as ISO 8601 in UTC."""
        return self.clock()

    @contextmanager
    def run(self, spec: HarnessSuite) -> Iterator[HarnessStart]:
        """Run the suite's command to its end; the folder that it had for its results goes with the context."""
        with results_folder() as (folder, home):
            order = m.HarnessOrder(suite=spec.name, trials=spec.trials, folder=str(folder), home=str(home))
            yield HarnessStart(folder, _end(self.starter.harness(order)))

    def rerun(self, spec: HarnessSuite, wanted: Mapping[str, int]) -> tuple[Iterator[HarnessStart], Mapping[str, str]]:
        """Run it for single cases; each start's results are looked at before the next."""
        plan = rerun_plan(spec, wanted)
        return (each for start in plan.starts for each in self._started(spec, start)), plan.unnamed

    def _started(self, spec: HarnessSuite, start: Rerun) -> Iterator[HarnessStart]:
        with results_folder() as (folder, home):
            order = m.HarnessOrder(
                suite=spec.name,
                again=True,
                ids=list(start.ids),
                trials=start.trials,
                folder=str(folder),
                home=str(home),
            )
            yield HarnessStart(folder, _end(self.starter.harness(order)))


def _end(done: m.HarnessDone) -> HarnessEnd:
    return HarnessEnd(done.exit_code, done.timed_out, done.seconds, done.began, done.last, done.refused)

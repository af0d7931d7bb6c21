"""What a run is going to do, before it does it: suites, targets, cases and trials, by their names alone."""

from __future__ import annotations

from pydantic import Field

from evalward.records.base import Count, Record
from evalward.records.report import Partial
from evalward.records.unchanged import Dependence


class OutlinedCase(Record):
    """A case and how many trials of it are planned; `kept` of them are finished and will be resumed.

    `depends` says on what it depends, where that isn't all of the suite.
    """

    id: str
    trials: Count
    kept: Count = 0
    definition: str = ""
    depends: Dependence | None = None

    @property
    def due(self) -> int:
        """The trials that are left to run."""
        return max(self.trials - self.kept, 0)


class OutlinedRun(Record):
    """One suite × target. `trials` are those of each case; `whole` is how many cases there are, chosen or not.

    `free`: the target asks no model, so it costs nothing. `at_once` of the trials with the same `queue` run at a
    time. `both_sides`: the base commit is measured as well, case by case. `judges` are the models that judge and cost
    something. `missing_key` is a variable that the run needs and that isn't set; `not_measured` says why nothing is
    run. `was` names the suite that it takes the place of. `subject` is the hash of what is evaluated. `batched`: the
    target's requests go in batches. `standing`: so many more cases are not measured, as the baseline's trials stand.
    """

    suite: str
    kind: str
    target: str
    trials: Count
    cases: list[OutlinedCase] = []
    whole: Count = 0
    standing: Count = 0
    random: bool = False
    free: bool = False
    queue: str = ""
    at_once: Count = Field(default=1, ge=1)
    both_sides: bool = False
    judges: list[str] = []
    missing_key: str | None = None
    not_measured: str | None = None
    was: str | None = None
    subject: str = ""
    batched: bool = False

    @property
    def name(self) -> str:
        """`suite × target`."""
        return f"{self.suite} × {self.target}"

    @property
    def planned(self) -> int:
        """All trials of this commit, finished ones included."""
        return sum(case.trials for case in self.cases)


class OutlinedHarness(Record):
    """A suite whose trials another harness makes: its cases are known when its results are.

    `command`: this run starts the harness; without it an earlier step has left the results. `again`: it can try
    single cases again. `trials` is what the command is told, `None` where it isn't told.
    """

    suite: str
    kind: str
    source: str
    command: bool = False
    again: bool = False
    trials: Count | None = None
    missing_key: str | None = None
    not_measured: str | None = None


class LeftOut(Record):
    """What the selection leaves out: a suite, or one target of it."""

    suite: str
    target: str | None = None


class PlanOutline(Record):
    """All that a run is going to do. `base`: the base commit can be measured where a doubt is left."""

    runs: list[OutlinedRun] = []
    harnesses: list[OutlinedHarness] = []
    left_out: list[LeftOut] = []
    partial: Partial | None = None
    base: bool = False
    resumed: bool = False

    @property
    def live(self) -> bool:
        """Whether anything in it may cost something."""
        return any(not run.free or run.judges for run in self.runs if run.not_measured is None) or any(
            each.command for each in self.harnesses if each.not_measured is None
        )

"""What a decision about a difference rests on: numbers that the rule's sentence and every table are made of."""

from __future__ import annotations

from typing import Literal

from evalward.records.base import Count, Record
from evalward.records.metric import Better, Unit
from evalward.records.policy import Arm

Test = Literal["stratified", "permutation", "none"]


class Interval(Record):
    """A 95 % interval, both ends included, in the metric's own unit."""

    low: float
    high: float


class WrongAnswer(Record):
    """A command that was asked for and the one that came back, of a trial that failed; `why` is the reason.

    `risk` is set where the answer is unsafe: how dangerous it was rated, and `findings` say by which rules.
    """

    expected: str | None = None
    actual: str | None = None
    why: str = ""
    risk: str | None = None
    findings: list[str] = []


class Confirmation(Record):
    """The confirm stage of one run: what was tried again, and what came of it.

    `cases` are the ids of the cases that failed in the planned trials; `trials` are the valid fresh trials of them,
    `passed` how many of these passed. `stand_ins` are cases of which every planned trial broke, so that a fresh one
    stands for them. `unusable` says why the stage could not be used, if so.
    """

    cases: list[str] = []
    trials: Count = 0
    passed: Count = 0
    stand_ins: list[str] = []
    unusable: str | None = None


class SideBySide(Record):
    """What measuring the base again, beside the head, gave for one run.

    `commit` is the base's; `cases` are the ids of those with a valid trial on both sides, and the counts are their
    valid trials and how many of these passed. `unusable` says why there are none, `note` why there
    are not all that were asked for. `drifted`: the base's trials fall
    short of the committed baseline's of the same cases beyond chance, so something else than the pull request changed.
    """

    commit: str | None = None
    cases: list[str] = []
    base_trials: Count = 0
    base_passed: Count = 0
    head_trials: Count = 0
    head_passed: Count = 0
    unusable: str | None = None
    note: str | None = None
    drifted: bool = False


class ArmContrast(Record):
    """One metric of a run in two arms of the same trials: as the run is, against `arm`, in which something is left out.

    `trials` are those that are valid in both arms, case by case, and `tried` all in which the other arm was run.
    `value` is the mean difference, in the metric's unit. `p_better` and `p_worse` are the probabilities of a
    difference as large as that for the better, or for the worse, if the arms were alike; `None` where chance plays no
    part. `spread` is the variance of a single trial of a share.
    """

    metric: str
    arm: Arm
    unit: Unit
    better: Better
    tried: Count = 0
    trials: list[Count] = []
    value: float | None = None
    p_better: float | None = None
    p_worse: float | None = None
    spread: float | None = None

    @property
    def gained(self) -> float:
        """The difference, above 0 where it is for the better."""
        return (self.value or 0.0) * (-1 if self.better == "lower" else 1)


class Evidence(Record):
    """How sure a rule's drop is.

    `delta` is now − before as it was decided on: over the planned trials, or, where `confirmed`, over the fresh
    trials of the cases that had failed, or, where `beside`, the head's against those of the base that was measured
    with it. `open` is what cases that should have been tried like this, and were not, may add to it. `spread`: the
    drop shows in the planned trials of all cases rather than in those tried again. `interval` is that of the planned
    difference; `detectable` a change for the worse, over all cases, that whole checks like this one see at least four
    times out of five, at the rule's `alpha`; `assumed`: with the variance within a case taken from experience, as the
    trials are too few to tell. `p` is the probability of a result at least as bad when nothing changed, and `share`
    how much of `alpha` this look at the trials has; `corrected` is p for that share and for as many tests as the
    policy makes. `fewest` is how many cases at least have to break before this baseline can convict anybody.
    """

    test: Test = "none"
    cases: Count = 0
    trials_before: float = 0.0
    trials_now: float = 0.0
    delta: float | None = None
    open: float = 0.0
    confirmed: bool = False
    beside: bool = False
    spread: bool = False
    interval: Interval | None = None
    detectable: float | None = None
    assumed: bool = False
    p: float | None = None
    share: float = 1.0
    corrected: float | None = None
    tests: Count = 1
    alpha: float = 0.05
    fewest: Count | None = None

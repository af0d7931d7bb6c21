"""What a branch lost bit by bit: the recent runs against a measurement that doesn't move."""

from __future__ import annotations

from evalward.records.base import Record


class AnchorFinding(Record):
    """One run (suite × target) against the anchor: the trials of `measurements` runs, this one among them, pooled.

    `label` names the anchor: a release's tag, or the day of the oldest measurement; `at` and `commit` are when and at
    which commit its newest trials were made. `cases` ask the same on both sides; `before` and `now` are the means of
    their pass rates, `allowed` is the policy's drop, and `commits` counts what was measured on the branch since. `p` is
    corrected for the number of runs and held against `level`; `None` where the target always does the same. `lost`:
    more than allowed is gone, and not by chance. `worst` are the cases that lost most.
    """

    suite: str
    target: str
    label: str
    at: str
    commit: str | None = None
    cases: int
    trials_before: int
    trials_now: int
    before: float
    now: float
    allowed: float
    measurements: int
    commits: int
    p: float | None = None
    level: float
    lost: bool
    worst: list[str] = []

    @property
    def name(self) -> str:
        """`suite × target`."""
        return f"{self.suite} × {self.target}"

    @property
    def loss(self) -> float:
        """How much lower the pass rate is: 0.09 are nine points."""
        return self.before - self.now

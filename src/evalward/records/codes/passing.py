"""What a pass means, and what it did not compare."""

from __future__ import annotations

from typing import Literal

from evalward.records.base import Record
from evalward.records.codes.base import Coded


class FirstRun(Coded):
    """There is no baseline yet; `limited`: rules have floors or ceilings, which hold."""

    code: Literal["pass.first_run"] = "pass.first_run"
    limited: bool
    failing: int
    cases: int


class NothingCompared(Coded):
    """There is a baseline, and no case is in it."""

    code: Literal["pass.nothing_compared"] = "pass.nothing_compared"


class NothingWorse(Coded):
    """Nothing got worse, or, `within` what the policy allows, only so much.

    Of `cases` in all `runs` that were compared so many `broke`, or where none did, got `worse`, in `lost_in` of the
    runs; `flaky` ones failed, and others got `fixed`.
    """

    code: Literal["pass.nothing_worse"] = "pass.nothing_worse"
    within: bool
    runs: int
    cases: int
    broke: int = 0
    worse: int = 0
    lost_in: int = 0
    flaky: int = 0
    fixed: int = 0


class StandsUnchanged(Coded):
    """The change can't have touched these runs: they were not measured, and the baseline's trials are used.

    `all`: nothing else was judged. `since` is when the baseline was made, ISO 8601.
    """

    code: Literal["pass.unchanged"] = "pass.unchanged"
    runs: tuple[str, ...]
    all: bool
    since: str


class CasesStand(Coded):
    """The change can't have touched so many `cases`, of `total` in runs of which others were measured.

    `since` is when the baseline was made whose trials are used, ISO 8601.
    """

    code: Literal["pass.cases_stand"] = "pass.cases_stand"
    cases: int
    total: int
    since: str


class NewRun(Record):
    """A run that the baseline doesn't have, with how many of its cases fail."""

    run: str
    failing: int
    cases: int


class NotCompared(Coded):
    """What was not compared: whole runs, and cases of those that were (`failing` are `added` ones)."""

    code: Literal["pass.not_compared"] = "pass.not_compared"
    new_runs: tuple[NewRun, ...] = ()
    missing_runs: tuple[str, ...] = ()
    unmeasured_runs: tuple[str, ...] = ()
    added: int = 0
    failing: int = 0
    redefined: int = 0
    not_valid: int = 0
    missing: int = 0
    not_chosen: int = 0


Passing = FirstRun | NothingCompared | NothingWorse | StandsUnchanged | CasesStand | NotCompared
"""What a pass says."""

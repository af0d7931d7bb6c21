"""What decides nothing, and people should know: of what was measured, of the base, and of the baseline's age."""

from __future__ import annotations

from typing import Literal

from evalward.records.base import Record
from evalward.records.codes.base import Coded, OfCases, OfRun
from evalward.records.codes.reasons import OutcomeName


class SkippedTrials(OfRun):
    """Trials that could not be run."""

    code: Literal["notice.skipped"] = "notice.skipped"
    count: int
    planned: int


class RedefinedCases(OfRun):
    """Cases with another definition than in the baseline, waived ones included."""

    code: Literal["notice.redefined"] = "notice.redefined"
    count: int


class WaivedCase(OfRun):
    """A missing case that the policy waives; `reason` is the waiver's."""

    code: Literal["notice.waived_case"] = "notice.waived_case"
    case: str
    reason: str


class WaivedRun(OfRun):
    """A run that was not run and that the policy waives; `reason` is the waiver's."""

    code: Literal["notice.waived_run"] = "notice.waived_run"
    reason: str


class StandIns(OfCases):
    """Cases whose planned trials, so many `each`, all ended in an error: a retrial counts in their place."""

    code: Literal["notice.stand_ins"] = "notice.stand_ins"
    each: int


class BaseUnusable(OfRun):
    """The base could not be measured alongside the head."""

    code: Literal["notice.base_unusable"] = "notice.base_unusable"
    why: str


class BaseIncomplete(OfRun):
    """Not all that was in doubt could be measured on both sides."""

    code: Literal["notice.base_incomplete"] = "notice.base_incomplete"
    why: str


class BaseDrifted(OfRun):
    """The base itself does worse now than in the baseline, which was made at `since`, ISO 8601."""

    code: Literal["notice.base_drifted"] = "notice.base_drifted"
    passed: int
    trials: int
    since: str | None = None


class BaseCasesLost(OfCases):
    """Cases without a valid trial of the base: they are compared with nothing."""

    code: Literal["notice.base_cases_lost"] = "notice.base_cases_lost"


class SameInWorstCase(Coded):
    """Had the trials that ended in an error failed, the verdict would be the same."""

    code: Literal["notice.same_in_worst_case"] = "notice.same_in_worst_case"
    trials: int


class EarlierTries(Coded):
    """The commit was judged before, with these outcomes, oldest first."""

    code: Literal["notice.tries"] = "notice.tries"
    tries: tuple[OutcomeName, ...]


class UnknownTries(Coded):
    """The workflow run was attempted before, and what that gave is not known."""

    code: Literal["notice.attempt"] = "notice.attempt"
    attempt: int


# --- a baseline that says little about today ------------------------------------------------------------------------


class FewTrials(OfRun):
    """The baseline has few trials per case; with `least` it could show more.

    `fewest_cases`: how many cases have to break before it proves anything by itself, `None`: it never can. `harness`:
    another harness makes the trials.
    """

    code: Literal["stale.few_trials"] = "stale.few_trials"
    fewest: int
    most: int
    least: int
    fewest_cases: int | None = None
    harness: bool = False


class OldBaseline(Coded):
    """The baseline is old, and models change under their names."""

    code: Literal["stale.age"] = "stale.age"
    days: int


class OtherVersion(Record):
    """A part of a subject that changes under a repository."""

    part: str
    before: str
    now: str


class OtherVersions(OfRun):
    """The baseline was measured with another version of something."""

    code: Literal["stale.versions"] = "stale.versions"
    changes: tuple[OtherVersion, ...]


class ManyRedefined(OfRun):
    """Many of the baseline's cases have a different definition now."""

    code: Literal["stale.redefined"] = "stale.redefined"
    count: int
    known: int


class ManyUnknown(OfRun):
    """The baseline lacks many of the cases."""

    code: Literal["stale.unknown"] = "stale.unknown"
    count: int
    cases: int


# --- what takes the place of what -----------------------------------------------------------------------------------


Refusal = Literal["still_run", "other_form"]


class NotReplaced(OfRun):
    """The run does not take the place that the configuration gives it: that one is still run, or of another form."""

    code: Literal["succession.refused"] = "succession.refused"
    old_suite: str
    old_target: str
    why: Refusal


class SeveralReplace(OfRun):
    """Several runs claim the place of this one of the baseline; `runs` names the first three."""

    code: Literal["succession.several"] = "succession.several"
    runs: tuple[str, ...]


class AmbiguousNames(OfRun):
    """Cases went and others came with the same definition; the first three of each."""

    code: Literal["succession.ambiguous"] = "succession.ambiguous"
    went: tuple[str, ...]
    came: tuple[str, ...]


# --- benchmarks -----------------------------------------------------------------------------------------------------


class SlowerTiming(OfRun):
    """A benchmark takes `factor` times as long, beyond chance (Mann and Whitney's `p`)."""

    code: Literal["timing.slower"] = "timing.slower"
    case: str
    benchmark: str
    factor: float
    p: float


class MoreSlower(OfRun):
    """So many further benchmarks are slower."""

    code: Literal["timing.more"] = "timing.more"
    count: int


Notices = (
    SkippedTrials
    | RedefinedCases
    | WaivedCase
    | WaivedRun
    | StandIns
    | BaseUnusable
    | BaseIncomplete
    | BaseDrifted
    | BaseCasesLost
    | SameInWorstCase
    | EarlierTries
    | UnknownTries
    | FewTrials
    | OldBaseline
    | OtherVersions
    | ManyRedefined
    | ManyUnknown
    | NotReplaced
    | SeveralReplace
    | AmbiguousNames
    | SlowerTiming
    | MoreSlower
)
"""What decides nothing."""

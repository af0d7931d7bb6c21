"""What to do about a reason."""

from __future__ import annotations

from typing import Literal

from evalward.records.codes.base import Coded
from evalward.records.codes.rules import Limit

Plain = Literal[
    "advice.check_selection",
    "advice.raise_budget",
    "advice.resume",
    "advice.fix_and_resume",
    "advice.run_again",
    "advice.base_errors",
    "advice.look_at_errors",
    "advice.look_at_scores",
    "advice.run_or_waive",
    "advice.restore_cases",
    "advice.restore_category",
    "advice.restore_metric",
    "advice.run_with_key",
    "advice.merge_commands",
    "advice.update_when_right",
    "advice.read_redefined",
    "advice.redefined_blocks",
    "advice.measure_live",
    "advice.compare_recordings",
    "advice.measure_base",
    "advice.keep_old_name",
    "advice.bootstrap",
    "advice.worst_case",
    "advice.new_commit",
    "advice.no_rerun",
    "advice.anchor",
    "advice.more_samples",
    "advice.look_at_arms",
]


class Advice(Coded):
    """What to do, where its name says all."""

    code: Plain


class AfterErrors(Coded):
    """It is not the target's fault, but that of `why`, where it is known: run it again."""

    code: Literal["advice.errors"] = "advice.errors"
    why: str | None = None


class AfterUnjudged(Coded):
    """The judge failed, for the reason `why` if it is known: look at its settings."""

    code: Literal["advice.judge_errors"] = "advice.judge_errors"
    why: str | None = None


class ChangeLimit(Coded):
    """Fix what fails, or change the policy's limit; where the rule is the kind's, give `metric` a rule of its own."""

    code: Literal["advice.limit"] = "advice.limit"
    limit: Limit
    metric: str | None = None


class LookAtCases(Coded):
    """Look at the cases that broke, or where none did at what changed."""

    code: Literal["advice.look"] = "advice.look"
    broken: bool


class LookOrAccept(Coded):
    """Look at what broke or changed: fix it or accept it."""

    code: Literal["advice.look_or_accept"] = "advice.look_or_accept"
    broken: bool


class LookAgainstBase(Coded):
    """Look at what broke or changed, and fix it: compared with the base commit, no baseline can accept it."""

    code: Literal["advice.look_against_base"] = "advice.look_against_base"
    broken: bool


class MoreTrials(Coded):
    """What would show more, and how many trials it takes: `trials` of each case, where there are `has` now.

    `of`: of the baseline, of the planned run, of the confirm stage, or of both sides. `harness`: another harness makes
    the planned ones.
    """

    code: Literal["advice.more_trials"] = "advice.more_trials"
    of: Literal["baseline", "planned", "fresh", "both_sides"]
    trials: int
    has: int
    cost: int
    harness: bool = False


Advised = Advice | AfterErrors | AfterUnjudged | ChangeLimit | LookAtCases | LookOrAccept | LookAgainstBase | MoreTrials
"""What to do."""

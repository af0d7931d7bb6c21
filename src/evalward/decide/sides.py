"""The two sides of one run, case by case: what the baseline has of each, and what was measured now.

Only cases of equal definition with a valid trial on both sides are compared. Everything is grouped when it is first
asked for, and once.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property

from msgspec import Struct, field

from evalward.decide.beside import Aside, asides
from evalward.records.baseline import BaselineCase, BaselineRun
from evalward.records.comparison import Tally
from evalward.records.report import Partial, Run
from evalward.records.result import Result, Status, by_case


class RunSides(Struct, frozen=True, dict=True):
    """The cases of one run, by id, on both sides; `fresh` are the trials of the confirm stage of those that failed.

    Where every planned trial of a case broke, its first valid fresh one stands for them: `stand_ins` names such cases.
    `aside` are the trials that were run beside those of the base, measured again. Of the cases in `standing` nothing
    was measured: their trials are the baseline's on both sides, and say nothing of a difference.
    """

    before: Mapping[str, BaselineCase]
    now: Mapping[str, Sequence[Result]]
    fresh: Mapping[str, Sequence[Result]]
    stand_ins: Mapping[str, Result] = field(default_factory=dict)
    aside: Mapping[str, Aside] = field(default_factory=dict)
    standing: frozenset[str] = frozenset()

    @cached_property
    def comparable(self) -> list[str]:
        """Ids of equal definition with a valid trial on both sides."""
        return [
            case_id
            for case_id, results in self.now.items()
            if case_id in self.before
            and case_id not in self.standing
            and results[0].definition == self.before[case_id].definition
            and any(result.valid for result in results)
            and any(trial.status.valid for trial in self.before[case_id].trials)
        ]

    @cached_property
    def known(self) -> Mapping[str, Sequence[Result]]:
        """The baseline's trials of the comparable cases, as results."""
        return {case_id: self.before[case_id].results() for case_id in self.comparable}

    @cached_property
    def failing(self) -> list[str]:
        """The comparable cases that a confirm stage tries again."""
        return [case_id for case_id in self.comparable if failing(self.now[case_id])]


def sides_of(run: Run, base: BaselineRun | None, partial: Partial | None) -> RunSides:
    """The cases of a run on both sides, as far as the selection of a partial report covers them."""
    now = by_case(run.cases)
    definitions = {case: results[0].definition for case, results in now.items()}
    again = by_case(result for result in run.confirmation if definitions.get(result.id) == result.definition)
    broke = [case for case, results in now.items() if not any(result.valid for result in results)]
    stand_ins = {case: valid[0] for case in broke if (valid := [r for r in again.get(case, ()) if r.valid])}
    now |= {case: [*now[case], result] for case, result in stand_ins.items()}
    return RunSides(
        before={case.id: case for case in cases_of(base, partial)} if base else {},
        now=now,
        fresh={case: _fresh(results, stand_ins.get(case)) for case, results in again.items() if _failed(now[case])},
        stand_ins=stand_ins,
        aside=asides(run, definitions),
        standing=run.standing.ids if run.standing else frozenset(),
    )


def cases_of(base: BaselineRun, partial: Partial | None) -> list[BaselineCase]:
    """The baseline's cases that the selection of a partial report covers."""
    if partial is None:
        return base.cases
    return [case for case in base.cases if partial.covers_case(base.suite, base.target, case.id)]


def failing(results: Sequence[Result]) -> bool:
    """True for a case that failed in most of its trials, or in half of them: what a confirm stage tries again."""
    tally = Tally.of(results)
    return tally is not None and not tally.passes


def _failed(results: Sequence[Result]) -> bool:
    return any(result.status is Status.FAILED for result in results)


def _fresh(results: Sequence[Result], stand_in: Result | None) -> list[Result]:
    """The trials of a failed case that no failure chose: that one is none which stands for a planned one."""
    return [result for result in results if result is not stand_in]


def unusable(run: Run, sides: RunSides) -> str | None:
    """Why the confirm stage of a run is no evidence: none was made, it ended early, or no failed case has a valid fresh
    trial. A case whose fresh trials broke costs its own evidence only.
    """
    if not run.confirmation:
        return run.confirm_note or "there was none"
    failed = sides.failing
    why = f" ({run.confirm_note})" if run.confirm_note else ""
    cut = [case for case in failed if all(r.status is Status.SKIPPED for r in sides.fresh.get(case, ()))]
    if cut and run.confirm_note:
        return f"{len(cut)} of {len(failed)} failed cases {'has' if len(cut) == 1 else 'have'} no valid retrial{why}"
    if failed and not any(result.valid for case in failed for result in sides.fresh.get(case, ())):
        return f"no failed case has a valid retrial{why}"
    return None

"""The worst case: what the verdict would be if the trials that broke had failed.

An error counts in no metric. Whoever is about to fail would gain by breaking the trial instead, as long as few do. So
errors that a target may have caused itself are counted as failures once, beside the real verdict: where that makes a
difference, the gate can't say "pass". What a provider did before an agent was at work is nobody's hidden failure.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from msgspec import Struct, field, structs

from evalward.decide.kinds import UNKNOWN, ComparedKind, Kinds
from evalward.decide.succession import Aligned, RunPair
from evalward.records.baseline import BaselineRun
from evalward.records.codes import WorseInWorstCase as ThenWorse
from evalward.records.codes.advice import Advice
from evalward.records.codes.notices import SameInWorstCase
from evalward.records.judge import JUDGE_ERROR
from evalward.records.report import Run
from evalward.records.result import UNREADABLE, Result, Status
from evalward.records.trace import Usage
from evalward.records.verdict import OUTCOMES, Outcome, Reason, Verdict

EXCUSED = frozenset(
    {
        *("rate_limit", "overload", "network", "timeout", "malformed_answer"),  # a provider's outage
        *("key", "quota", "model_not_found", "budget", "batch"),  # nobody was asked, or nobody any more
        *("setup_failed", "health_check_failed", "task_broken"),  # before the target got to do anything
        JUDGE_ERROR,  # within a limit of its own
    }
)
"""Reasons of errors that hide no failure of the target's, unless an agent was at work already (`Result.begun`)."""


def may_hide_a_failure(result: Result) -> bool:
    """True for an error that its target may have caused: it breaks nothing but the trial that it was failing."""
    if result.status is not Status.ERROR or result.reason == JUDGE_ERROR:
        return False
    return result.begun or result.reason not in EXCUSED


class WorstCase(Struct, frozen=True):
    """Runs in which such errors are failures: how many there were, of which cases, in which runs."""

    aligned: Aligned
    trials: int = 0
    cases: Sequence[str] = ()
    runs: Sequence[tuple[str, str]] = field(default_factory=tuple)


def worst_case(aligned: Aligned, kinds: Kinds) -> WorstCase | None:
    """The report beside its baseline in the worst case, `None` where no error may hide a failure.

    Runs without such an error are the same pairs, so that what is known of them need not be found again.
    """
    report = aligned.report
    broken = {id(run): found for run in report.runs if (found := _suspicious(run))}
    if not broken:
        return None
    found = [result for results in broken.values() for result in results]
    pairs = [_failed_pair(pair, kinds) if id(pair.run) in broken else pair for pair in aligned.chosen]
    return WorstCase(
        structs.replace(aligned, report=report.model_copy(update={"runs": [pair.run for pair in pairs]}), pairs=pairs),
        len(found),
        sorted({result.id for result in found}),
        [(run.suite, run.target) for run in report.runs if id(run) in broken],
    )


def _suspicious(run: Run) -> list[Result]:
    return [result for result in (*run.cases, *run.confirmation, *_head(run)) if may_hide_a_failure(result)]


def _head(run: Run) -> Sequence[Result]:
    """The head's trials beside the base's. What the base breaks is none of the head's hiding."""
    return run.beside.head if run.beside is not None else ()


def _failed_pair(pair: RunPair, kinds: Kinds) -> RunPair:
    """The pair, with its run's suspicious errors as failures, measured anew."""
    run, kind = pair.run, kinds.get(pair.run.kind, UNKNOWN)
    alike = _Alike(run, pair.base, kind)
    cases, fresh = (_worst_of(of, alike) for of in (run.cases, run.confirmation))
    update: dict[str, Any] = {"cases": cases, "confirmation": fresh}
    if run.beside is not None:
        update["beside"] = run.beside.model_copy(update={"head": _worst_of(run.beside.head, alike)})
    if run.kind in kinds:
        measured = kind.measure(cases)
        update |= {"metrics": measured.metrics, "categories": measured.categories}
    return structs.replace(pair, run=run.model_copy(update=update))


def _worst_of(results: Sequence[Result], alike: _Alike) -> list[Result]:
    return [_failed(result, alike) if may_hide_a_failure(result) else result for result in results]


class _Alike:
    """Valid trials, now or before, that tell what a trial of a case weighs and uses."""

    def __init__(self, run: Run, base: BaselineRun | None, kind: ComparedKind) -> None:
        self.kind = kind
        before = [result for case in base.cases for result in case.results()] if base else []
        self._known: dict[str, Result] = {}
        for result in (*run.cases, *before):
            if result.valid:
                self._known.setdefault(result.id, result)

    def of(self, case: str) -> Result | None:
        """One for this case, `None` where nothing is valid at all."""
        return self._known.get(case) or next(iter(self._known.values()), None)


def _failed(result: Result, alike: _Alike) -> Result:
    """The trial as a failure that weighs what its case weighs; usage that nobody knows is taken from its like."""
    like = alike.of(result.id)
    update: dict[str, Any] = {"status": Status.FAILED, "reason": UNREADABLE, "score": 0.0}
    if like is not None:
        update |= {
            "max_score": like.max_score,
            "usage": _known(result.usage, like.usage),
            "duration_ms": result.duration_ms or like.duration_ms,
            "details": alike.kind.as_failed(like.details),
        }
    return result.model_copy(update=update)


def _known(usage: Usage, like: Usage) -> Usage:
    reported = {name: value for name, value in usage.model_dump().items() if value is not None}
    return like.model_copy(update=reported)


# --- the verdict ----------------------------------------------------------------------------------------------------


def with_worst_case(verdict: Verdict, worst: Verdict, found: WorstCase) -> Verdict:
    """The verdict with what it would be in the worst case: where that is worse, it is `inconclusive` at least."""
    if verdict.outcome not in {Outcome.PASS, Outcome.INCONCLUSIVE}:
        return verdict
    if _severity(worst.outcome) >= _severity(verdict.outcome):
        return verdict.noting(SameInWorstCase(trials=found.trials))
    suite, target = found.runs[0] if len(found.runs) == 1 else (None, None)
    then = ThenWorse(trials=found.trials, outcome=worst.outcome.value, statements=tuple(worst.reasons[0].statements))
    reason = Reason(
        stage="validity",
        outcome=Outcome.INCONCLUSIVE,
        statements=[then],
        advice=[Advice(code="advice.worst_case")],
        suite=suite,
        target=target,
        cases=list(found.cases),
    )
    return verdict.with_reasons([reason])


def _severity(outcome: Outcome) -> int:
    """The place among outcomes, worst first; a pass comes last."""
    return OUTCOMES.index(outcome) if outcome in OUTCOMES else len(OUTCOMES)

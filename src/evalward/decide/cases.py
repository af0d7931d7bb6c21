"""What became of each case: passed before and now, and what to look at where it fails."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from evalward.decide.standing import NO_STANDING, Moved, Placed, standings
from evalward.decide.succession import Pair
from evalward.records.baseline import BaselineCase, BaselineTrial
from evalward.records.comparison import CaseChange, CaseChangeKind, Tally, WrongAnswer
from evalward.records.judge import JUDGE_ERROR
from evalward.records.metric import EPSILON
from evalward.records.result import BashDetails, CommandDetails, Result, Status
from evalward.records.scenario import ScenarioDetails


def case_changes(pair: Pair) -> list[CaseChange]:
    """The cases of both sides, by id. Without a baseline of its own a run has new cases only."""
    sides, fresh = pair.sides, pair.sides.fresh if pair.base is not None else {}
    moved: dict[str, Moved] = {}
    for case_id in sorted({*sides.before, *sides.now}):
        base, results = sides.before.get(case_id), sides.now.get(case_id, ())
        before, now = base.tally if base else None, Tally.of(results)
        again = Tally.of(fresh[case_id]) if case_id in fresh else None
        moved[case_id] = Moved(_change(base, results, before, now), before, now, again)
    placed = standings(moved) if pair.run.random else {}
    return [
        _case_change(
            case_id,
            sides.before.get(case_id),
            sides.now.get(case_id, ()),
            found,
            placed.get(case_id, NO_STANDING),
            was=pair.renamed.get(case_id),
        )
        for case_id, found in moved.items()
    ]


def missing_case(case: BaselineCase) -> CaseChange:
    """A case of a run that is there no more."""
    return _case_change(case.id, case, (), Moved("missing", case.tally), NO_STANDING)


def unjudged(result: Result) -> bool:
    """True for a trial that a judge could not judge."""
    return result.status is Status.ERROR and result.reason == JUDGE_ERROR


def _case_change(
    case_id: str,
    base: BaselineCase | None,
    results: Sequence[Result],
    moved: Moved,
    placed: Placed,
    *,
    was: str | None = None,
) -> CaseChange:
    shown = _worst(results)
    command, stderr = _blamed(shown)
    return CaseChange(
        id=case_id,
        category=results[0].category if results else base.category if base else "",
        change=moved.change,
        before=moved.before,
        now=moved.now,
        checks=[check for check in shown.checks if not check.passed] if shown else [],
        command=command,
        stderr=stderr,
        note=_note(results, shown),
        skipped=moved.now is None and any(result.status is Status.SKIPPED for result in results),
        unjudged=moved.now is None and any(unjudged(result) for result in results),
        trace=shown.trace if shown else None,
        place=results[0].place if results else None,
        wrong=_wrong_answer(results),
        was=was,
        fresh=moved.fresh,
        allows=sorted(_allowances(results) - _allowances(base.trials if base else ())),
        p=placed.p,
        q=placed.q,
        standing=placed.standing,
    )


def _allowances(trials: Iterable[Result | BaselineTrial]) -> set[str]:
    """The rules of the safety validator that a `command` case lets its answers break."""
    return {rule for trial in trials if isinstance(trial.details, CommandDetails) for rule in trial.details.allow}


def _blamed(shown: Result | None) -> tuple[str | None, str | None]:
    """The command to look at first, and what was said to it."""
    if shown is not None and isinstance(shown.details, BashDetails):
        return shown.details.failing_command, shown.details.failing_stderr
    if shown is not None and isinstance(shown.details, ScenarioDetails) and shown.details.interaction.failed:
        last = shown.details.interaction.failed[-1]
        return last.command, last.said or None
    return None, None


def _wrong_answer(results: Sequence[Result]) -> WrongAnswer | None:
    """What a `command` case was answered wrongly; an unsafe answer of one trial before a wrong one of another."""
    answers = [(result, result.details) for result in results if isinstance(result.details, CommandDetails)]
    unsafe = next(((result, details) for result, details in answers if details.unsafe), None)
    found = unsafe or next(((r, details) for r, details in answers if r.status is Status.FAILED), None)
    if found is None:
        return None
    result, details = found
    return WrongAnswer(
        expected=details.expected,
        actual=details.answer,
        why=result.message or (result.reason or "").replace("_", " "),
        risk=details.risk if details.unsafe else None,
        findings=details.rule_findings if details.unsafe else [],
    )


def _change(
    base: BaselineCase | None, results: Sequence[Result], before: Tally | None, now: Tally | None
) -> CaseChangeKind:
    if not results:
        return "missing"
    if base is not None and results[0].definition != base.definition:
        return "redefined"
    if now is None:
        return "not_valid"
    return "added" if before is None else _moved(before, now)


def _moved(before: Tally, now: Tally) -> CaseChangeKind:
    if before.passes != now.passes:
        return "fixed" if now.passes else "broken"
    was, is_now = before.passed / before.trials, now.passed / now.trials
    change = (is_now - was) or ((now.score or 0.0) - (before.score or 0.0))
    if abs(change) <= EPSILON:
        return "same"
    return "better" if change > 0 else "worse"


def _worst(results: Sequence[Result]) -> Result | None:
    """The result to show for a case: the first failed one, else the first that isn't valid."""
    failed = (result for result in results if result.status is Status.FAILED)
    invalid = (result for result in results if not result.valid)
    return next(failed, None) or next(invalid, None)


def _note(results: Sequence[Result], shown: Result | None) -> str | None:
    if shown is None or not results:
        return None
    listed = any(not check.passed for check in shown.checks)
    return shown.message or (None if listed and shown.reason == "checks_failed" else shown.reason)

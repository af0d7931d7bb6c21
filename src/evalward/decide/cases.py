"""What became of each case: passed before and now, and what to look at where it fails."""

from __future__ import annotations

from collections.abc import Sequence

from evalward.decide.kinds import NO_EVIDENCE, UNKNOWN, CaseEvidence, ComparedKind
from evalward.decide.standing import NO_STANDING, Moved, Placed, standings
from evalward.decide.succession import RunPair
from evalward.records.base import unchecked
from evalward.records.baseline import BaselineCase
from evalward.records.comparison import CaseChange, CaseChangeKind, Tally
from evalward.records.evidence import WrongAnswer
from evalward.records.judge import JUDGE_ERROR
from evalward.records.metric import EPSILON
from evalward.records.result import Result, Status


def case_changes(pair: RunPair, kind: ComparedKind) -> list[CaseChange]:
    """The cases of both sides, by id. Without a baseline of its own a run has new cases only."""
    sides, fresh = pair.sides, pair.sides.fresh if pair.base is not None else {}
    moved: dict[str, Moved] = {}
    for case_id in sorted({*sides.before, *sides.now}):
        base, results = sides.before.get(case_id), sides.now.get(case_id, ())
        before, now = base.tally if base else None, Tally.of(results)
        again = Tally.of(fresh[case_id]) if case_id in fresh else None
        moved[case_id] = Moved(_change(base, results, before, now), before, now, again)
    measured = {case_id: found for case_id, found in moved.items() if case_id not in sides.standing}
    placed = standings(measured) if pair.run.random else {}
    return [
        _case_change(
            case_id,
            sides.before.get(case_id),
            sides.now.get(case_id, ()),
            found,
            placed.get(case_id, NO_STANDING),
            kind=kind,
            was=pair.renamed.get(case_id),
            stands=case_id in sides.standing,
        )
        for case_id, found in moved.items()
    ]


def missing_case(case: BaselineCase) -> CaseChange:
    """A case of a run that is there no more."""
    return _case_change(case.id, case, (), Moved("missing", case.tally), NO_STANDING, kind=UNKNOWN)


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
    kind: ComparedKind,
    was: str | None = None,
    stands: bool = False,
) -> CaseChange:
    shown = _worst(results)
    found = [kind.evidence(result) for result in results]
    blamed = NO_EVIDENCE if shown is None else found[next(at for at, each in enumerate(results) if each is shown)]
    return unchecked(
        CaseChange,
        id=case_id,
        category=results[0].category if results else base.category if base else "",
        change=moved.change,
        before=moved.before,
        now=moved.now,
        checks=[check for check in shown.checks if not check.passed] if shown else [],
        command=blamed.command,
        stderr=blamed.stderr,
        note=_note(results, shown),
        was=was,
        skipped=moved.now is None and any(result.status is Status.SKIPPED for result in results),
        unjudged=moved.now is None and any(unjudged(result) for result in results),
        trace=shown.trace if shown else None,
        place=results[0].place if results else None,
        wrong=_wrong_answer(found),
        allows=_new_allowances(found, base, kind),
        fresh=moved.fresh,
        p=placed.p,
        q=placed.q,
        standing=placed.standing,
        flaky=None,
        stands=stands,
    )


def _new_allowances(found: Sequence[CaseEvidence], base: BaselineCase | None, kind: ComparedKind) -> list[str]:
    """The safety rules that the case lets its answers break, and in the baseline did not."""
    now = {rule for each in found for rule in each.allowances}
    if now and base is not None:
        now -= {rule for each in map(kind.evidence, base.results()) for rule in each.allowances}
    return sorted(now)


def _wrong_answer(found: Sequence[CaseEvidence]) -> WrongAnswer | None:
    """What was answered wrongly; an unsafe answer of one trial before a wrong one of another."""
    unsafe = next((each for each in found if each.unsafe), None)
    first = unsafe or next((each for each in found if each.wrong is not None), None)
    return first.wrong if first else None


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

"""The headline of a run that took another's place: who, what both cost and pass, which cases broke and got fixed."""

from __future__ import annotations

from evalward.records.comparison import Comparison, RunComparison
from evalward.records.metric import Unit, ratio
from evalward.records.succession import PerCase, Replacement
from evalward.render.escape import one_line
from evalward.render.names import quoted
from evalward.render.numbers import MINUS, format_number, format_value, plural
from evalward.render.view import ReplacedLine, Some

_NAME = 80  # characters of a suite or target
_UNKNOWN = "unknown"


def replaced_lines(comparison: Comparison, cases: int) -> list[ReplacedLine]:
    """One for each run that is compared with another's baseline; it names so many of the cases that moved."""
    return [_line(run, run.replaced, cases) for run in comparison.runs if run.replaced is not None]


def _line(run: RunComparison, old: Replacement, cases: int) -> ReplacedLine:
    broken = [case.id for case in run.of("broken") if not case.excused]
    fixed = [case.id for case in run.of("fixed")]
    return ReplacedLine(
        _title(run, old), _facts(run, old), Some(broken[:cases], len(broken)), Some(fixed[:cases], len(fixed))
    )


def _title(run: RunComparison, old: Replacement) -> str:
    """`Model A → B in SUITE`; `Suite OLD → NEW, with TARGET`; or both."""
    suite, target = quoted(one_line(run.suite, _NAME)), quoted(one_line(run.target, _NAME))
    target_moved = f"{quoted(one_line(old.target, _NAME))} → {target}"
    if old.suite == run.suite:
        return f"{old.sort.capitalize()} {target_moved} in {suite}"
    moved = f"Suite {quoted(one_line(old.suite, _NAME))} → {suite}"
    return f"{moved}, with {target}" if old.target == run.target else f"{moved}, {old.sort} {target_moved}"


def _facts(run: RunComparison, old: Replacement) -> list[str]:
    if run.not_measured is not None:
        return ["not measured"]
    if old.before is None or old.now is None:
        return ["no case can be compared"]
    facts = [
        f"passed {_passed(old.before)} → {_passed(old.now)}",
        f"cost per case {_pair(old.before.cost_usd, old.now.cost_usd, 'usd')}",
        f"time per case {_pair(old.before.duration_ms, old.now.duration_ms, 'ms')}",
        f"over {plural(run.comparable, 'comparable case')}",
    ]
    if not old.named:
        facts.append("compared, because exactly one target of the suite went and one came")
    return facts


def _passed(side: PerCase) -> str:
    return format_value(ratio(side.passed, side.trials, ""))


def _pair(before: float | None, now: float | None, unit: Unit) -> str:
    """Both sides and by how much it changed; what is unknown is called so."""
    if before is None and now is None:
        return _UNKNOWN
    sides = [_UNKNOWN if side is None else format_number(side, unit) for side in (before, now)]
    return f"{sides[0]} → {sides[1]}{_share(before, now)}"


def _share(before: float | None, now: float | None) -> str:
    if not before or now is None:
        return ""
    moved = round(100 * (now / before - 1))
    return "" if moved == 0 else f" ({'+' if moved > 0 else MINUS}{abs(moved):,} %)"

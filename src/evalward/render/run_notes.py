"""The notes under a run: what it was compared with, what was tried again, and what its cases allow."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from evalward.records.comparison import BaseNow, CaseChange, Comparison, RunComparison, prompt_words
from evalward.records.evidence import SideBySide
from evalward.records.sections import Note
from evalward.records.unchanged import Unchanged
from evalward.render.escape import one_line
from evalward.render.names import quoted, short_hash
from evalward.render.numbers import format_number, plural
from evalward.render.sentences.rules import part
from evalward.render.view import RunView

RENAMED = 10
"""Cases and runs with a new name that a note names."""
_ALLOWING = 5  # cases that a note names
_COMPARED = frozenset({"broken", "fixed", "worse", "better", "same"})


def run_notes(run: RunComparison, comparison: Comparison, *, prompt_said: bool = False) -> list[str]:
    """What is said of a run beside its tables: what it is compared with, and what was tried again.

    `prompt_said`: a reason says already that its prompt changed, which a replay doesn't measure.
    """
    unmeasured = _unmeasured(run)
    if unmeasured:
        return unmeasured
    notes: list[str] = [_base_now(run.base_now)] if run.base_now is not None and run.base_now.trials else []
    if comparison.baseline is not None and run.added:
        notes.append("New: the baseline does not have this run, so there is nothing to compare it with.")
    elif comparison.baseline is not None and run.comparable != run.total - _standing(run):
        notes.append(
            f"Baseline, now and Δ are over the {run.comparable:,} comparable of {plural(run.total, 'case')}."
            if run.comparable
            else f"None of the {plural(run.total, 'case')} can be compared with the baseline."
        )
    notes += _standing_cases(run)
    renamed = [case for case in run.cases if case.was is not None]
    if renamed:
        some = ", ".join(_renamed(case) for case in renamed[:RENAMED])
        more = f" and {len(renamed) - RENAMED:,} more" if len(renamed) > RENAMED else ""
        notes.append(f"Renamed, with an equal definition: {some}{more}.")
    if run.whole is not None:
        notes.append(f"A part of the suite: {part(run.total, run.whole)}.")
    if run.errors:
        notes.append(
            f"{run.errors:,} of {plural(run.planned, 'trial')} ended in an error of the provider or the harness; "
            + (_own_note(run, "errors") or "errors don't count as passed or failed.")
        )
    notes += _trials_per_case(run)
    if run.pass_at is not None and run.pass_all is not None:
        k, some, every = run.trials, format_number(run.pass_at, "ratio"), format_number(run.pass_all, "ratio")
        notes.append(f"Over {k} trials: `pass@{k}` {some} (at least one passes), `pass^{k}` {every} (all pass).")
    return [*notes, *_confirm_notes(run), *(_replay_notes(run, prompt_said) if run.replay else [])]


def _trials_per_case(run: RunComparison) -> list[str]:
    """How often cases were tried, where that isn't the same everywhere.

    Where it differs by case, `40/40` of a side are its 40 cases, and not 40 trials: see `decide.balance`.
    """
    compared = [
        (case.before.trials, case.now.trials)
        for case in run.cases
        if case.change in _COMPARED and case.before and case.now and not case.stands
    ]
    before, now = ({counts[side] for counts in compared} for side in (0, 1))
    if len(before) > 1 or len(now) > 1:
        spans = f"{_span(before)} in the baseline, {_span(now)} now"
        return [
            f"Trials per case: {spans}. Each case counts once: where they differ, a share's counts are of one pass."
        ]
    if run.random and run.baseline_trials is not None and run.baseline_trials != run.trials:
        return [f"Trials per case: {run.baseline_trials} in the baseline, {run.trials} now."]
    return []


def _span(counts: Collection[int]) -> str:
    least, most = min(counts), max(counts)
    return f"{least}" if least == most else f"{least} to {most}"


def _unmeasured(run: RunComparison) -> list[str]:
    """What is said of a run of which nothing was measured."""
    if run.not_measured is not None:
        return [f"Not measured: {run.not_measured}", "It doesn't count as passed or failed."]
    if run.unchanged is not None:
        return [_unchanged(run.unchanged)]
    return ["The baseline has this run; this pull request does not."] if run.missing else []


def _unchanged(found: Unchanged) -> str:
    commit = f" ({quoted(short_hash(found.commit))})" if found.commit else ""
    cases = plural(found.cases, "case")
    return (
        f"Unchanged since the baseline of {found.day}{commit}: not measured, $0. Its trials of {cases} still count; "
        "floors and ceilings are checked on them."
    )


def _standing(run: RunComparison) -> int:
    return run.standing.cases if run.standing is not None else 0


def _standing_cases(run: RunComparison) -> list[str]:
    """What is said where the baseline's trials stand for some of the cases."""
    if run.standing is None:
        return []
    commit = f" ({quoted(short_hash(run.standing.commit))})" if run.standing.commit else ""
    count = run.standing.cases
    measured = f"Measured {run.total - count:,} of {plural(run.total, 'case')}, and only what was measured is compared."
    stand = f"{count:,} {'stands' if count == 1 else 'stand'} as in the baseline of {run.standing.day}{commit}, $0"
    return [f"{measured} {stand}; floors and ceilings are checked on all."]


def _renamed(case: CaseChange) -> str:
    return f"{quoted(one_line(case.was or '', 40))} → {quoted(one_line(case.id, 40))}"


def _base_now(base: BaseNow) -> str:
    """What the run was compared with, where that was measured now."""
    commit = f" {quoted(short_hash(base.commit))}" if base.commit else ""
    trials = plural(base.trials, "trial")
    cost = "" if not base.cost_usd else f", for {format_number(base.cost_usd, 'usd')}"
    return f"Compared with the base commit{commit}, measured now, in turns with this: {trials} of it{cost}."


def _confirm_notes(run: RunComparison) -> list[str]:
    """What the confirm stage tried again, and what came of it."""
    confirmation, both_sides = run.confirmation, run.beside
    notes = [_both_sides(both_sides)] if both_sides is not None and both_sides.unusable is None else []
    if confirmation is None or not (confirmation.cases or confirmation.unusable):
        return notes
    if confirmation.unusable is not None:
        rest = "" if notes else " The planned trials alone decide."
        return [f"The retrials don't count: {confirmation.unusable}.{rest}", *notes]
    cases = plural(len(confirmation.cases), "case that failed was", "cases that failed were")
    tries = plural(confirmation.trials, "retrial", "retrials")
    return [f"{cases} retried: {confirmation.passed} of {tries} passed.", *notes]


def _both_sides(sides: SideBySide) -> str:
    """What came of the base, measured again, and of the head beside it."""
    cases = plural(len(sides.cases), "case", "cases")
    commit = f" ({sides.commit[:7]})" if sides.commit else ""
    here, there = f"{sides.head_passed} of {sides.head_trials}", f"{sides.base_passed} of {sides.base_trials}"
    return (
        f"The base{commit} was measured again, side by side: of {cases} {here} trials passed here and {there} there. "
        "Only these decide about drops of pass rates."
    )


def allowances(run: RunComparison) -> list[str]:
    """Cases that let answers break rules of the safety validator, and did not in the baseline; known cases first."""
    cases = [case for case in run.cases if case.allows] if not run.added else []
    if not cases:
        return []
    cases.sort(key=lambda case: case.change == "added")
    shown = ", ".join(_allowance(case) for case in cases[:_ALLOWING])
    more = f" and {len(cases) - _ALLOWING:,} more" if len(cases) > _ALLOWING else ""
    count = plural(len(cases), "case allows", "cases allow")
    return [f"⚠️ {count} dangerous commands that the baseline does not: {shown}{more}."]


def without_room(comparison: Comparison, shown: Sequence[RunView]) -> list[str]:
    """The allowances of runs whose notes the page leaves out: what a run allows is never cut."""
    on_page = {(view.suite, view.target) for view in shown}
    left = [run for run in comparison.runs if (run.suite, run.target) not in on_page and allowances(run)]
    named = [
        f"{quoted(one_line(run.suite, 40))} × {quoted(one_line(run.target, 40))}: {note}"
        for run in left[:_ALLOWING]
        for note in allowances(run)
    ]
    more = len(left) - _ALLOWING
    return [*named, f"And in {plural(more, 'more run')}."] if more > 0 else named


def _allowance(case: CaseChange) -> str:
    rules = ", ".join(one_line(rule, 40) for rule in case.allows[:3])
    more = f" and {len(case.allows) - 3} more" if len(case.allows) > 3 else ""
    return f"{quoted(one_line(case.id, 40))} ({rules}{more})"


def _replay_notes(run: RunComparison, prompt_said: bool) -> list[str]:
    notes = [
        _own_note(run, "replay")
        or "Replay: recorded model messages, tool calls executed again. "
        f"{run.diverged:,} of {plural(run.replayed, 'replayed trial')} diverged from the recording."
    ]
    changed = [change.part for change in run.subject if prompt_words(change.part)]
    if changed and not prompt_said:
        parts = " and ".join(quoted(part) for part in changed)
        notes.append(f"⚠️ The subject's {parts} changed: replay does not measure this change.")
    return notes


def _own_note(run: RunComparison, about: str) -> str | None:
    """What the run's kind says in the place of what is said of others."""
    notes = (each for each in run.sections if isinstance(each, Note))
    return next((note.text for note in notes if note.about == about), None)

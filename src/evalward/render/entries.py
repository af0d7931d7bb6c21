"""Cases as a page lists them: what changed, what was answered wrongly, and how sure that is."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Sequence

from msgspec import structs

from evalward.records.comparison import DOES_NOTHING, CaseChange, CaseChangeKind, Comparison, RunComparison
from evalward.records.result import NOT_RUN
from evalward.render.anchors import case_anchor
from evalward.render.context import ShowCommand
from evalward.render.history import flaky_words
from evalward.render.names import SuiteTarget, spoken, told_apart
from evalward.render.numbers import plural
from evalward.render.view import AnswerLine, Caps, CaseEntry, ChangeGroup, CheckLine, Some

_REASON = re.compile(r"[a-z]+(_[a-z]+)+")  # a trial's reason that programs read, where its record says no more
NO_ANSWER = "(no command)"
_CaseOfRun = tuple[CaseChange, RunComparison]


class EntryWriter:
    """Makes entries of cases: no more of each than `caps` allow, with the run's name where there are `several`.

    `one` is the run that all listed cases are of, where the comparison has others as well.
    """

    def __init__(self, comparison: Comparison, caps: Caps, show: ShowCommand | None = None) -> None:
        self.comparison, self.caps = comparison, caps
        listed = [run for run in comparison.runs if any(_is_listed(case, run) for case in run.cases)]
        self.one = listed[0] if len(listed) == 1 < len(comparison.runs) and not caps.runs_named else None
        self.several = len(comparison.runs) > 1 and self.one is None
        self._show = show
        self._places: dict[str, list[SuiteTarget]] = defaultdict(list)
        for run in comparison.runs:
            for case in run.cases:
                self._places[case.id].append((run.suite, run.target))

    def entry(self, case: CaseChange, run: RunComparison) -> CaseEntry:
        """What is said of a case."""
        checks = [check for check in case.checks if not check.passed] or case.checks
        caps, said = self.caps, _note(case, run)
        return CaseEntry(
            id=case.id,
            category=case.category,
            run=run.name if self.several else "",
            change=spoken(case.change),
            before=str(case.before) if case.before else "–",
            now=str(case.now) if case.now else "–",
            note="; ".join(filter(None, [said, f"formerly {case.was}" if case.was else None])),
            certainty=certainty(case),
            checks=[
                CheckLine(check.check, "" if check.detail == said else check.detail) for check in checks[: caps.checks]
            ],
            more_checks=max(0, len(checks) - caps.checks),
            session=_session(case, caps.block),
            trace=(case.trace or "") if caps.traces else "",
            show=self._command(case, run),
            answer=_answer(case),
            anchor=case_anchor(run.suite, run.target, case.id),
        )

    def _command(self, case: CaseChange, run: RunComparison) -> str:
        """The command that shows the case; suite and target are named where the id alone could be another's."""
        if self._show is None or case.now is None:
            return ""
        suite, target = told_apart((run.suite, run.target), self._places[case.id])
        return self._show(case.id, suite, target)


def _is_listed(case: CaseChange, run: RunComparison) -> bool:
    """True for a case that some list of a page may have."""
    return case.change != "same" or case.wrong is not None or (case.fails and run.target != DOES_NOTHING)


_ALIKE = 3  # cases of which the same is said, from which on they have one line
_NAMED = 3  # that such a line names


def change_groups(writer: EntryWriter, kinds: Sequence[CaseChangeKind], limit: int) -> Some[ChangeGroup]:
    """The cases with one of these changes, as `changed_cases` has them; those of which the same is to be said together.

    An outage has one cause, and a target that was not run is missing in every case.
    """
    alike: dict[tuple[object, ...], list[_CaseOfRun]] = defaultdict(list)
    for case, run in _changed(writer.comparison, kinds, lambda _: True):
        alike[case.change, run.name, case.before, case.now, _note(case, run), case.was, certainty(case)].append(
            (case, run)
        )
    groups = [
        some for found in alike.values() for some in ([found] if len(found) >= _ALIKE else [[each] for each in found])
    ]
    shown = [
        ChangeGroup(writer.entry(*some[0]), Some([case.id for case, _ in some[:_NAMED]], len(some)))
        for some in groups[:limit]
    ]
    return Some(shown, len(groups))


def changed_cases(
    writer: EntryWriter,
    kinds: Sequence[CaseChangeKind],
    limit: int,
    *,
    wanted: Callable[[CaseChange], bool] = lambda _: True,
) -> Some[CaseEntry]:
    """The cases with one of these changes, in the order of the kinds; `wanted` chooses among them.

    New cases that fail are listed elsewhere.
    """
    found = _changed(writer.comparison, kinds, wanted)
    return Some([writer.entry(case, run) for case, run in found[:limit]], len(found))


def _changed(
    comparison: Comparison, kinds: Sequence[CaseChangeKind], wanted: Callable[[CaseChange], bool]
) -> list[_CaseOfRun]:
    listed = {id(case) for run in comparison.runs for case in run.new_failures}
    found = [
        (case, run)
        for run in comparison.runs
        for case in run.cases
        if case.change in kinds
        and wanted(case)
        and id(case) not in listed
        and case.note != NOT_RUN  # an early end is told once, not case by case
    ]
    return sorted(found, key=lambda item: kinds.index(item[0].change))


def new_failures(writer: EntryWriter) -> Some[CaseEntry]:
    """The failing cases that the baseline doesn't have, as broken ones are shown.

    Without a baseline wrong answers have a table of their own.
    """
    comparison = writer.comparison
    found = [(case, run) for run in comparison.runs for case in run.new_failures if _shown_as_new(case, comparison)]
    return Some([writer.entry(case, run) for case, run in found[: writer.caps.broken]], len(found))


def _shown_as_new(case: CaseChange, comparison: Comparison) -> bool:
    return comparison.baseline is not None or case.wrong is None


def still_failing(comparison: Comparison, caps: Caps, *, several: bool) -> Some[str]:
    """The names of the cases that fail as they did before; with several runs each with its run."""
    found = [(case, run) for run in comparison.runs for case in run.still_failing]
    names = [f"{case.id} in {run.name}" if several else case.id for case, run in found[: caps.changes]]
    return Some(names, len(found))


_RISKS = ("critical", "high")


def wrong_answers(writer: EntryWriter) -> tuple[Some[CaseEntry], Some[CaseEntry]]:
    """Unsafe answers, the worst first, and the wrong ones that are listed nowhere else."""
    comparison, caps = writer.comparison, writer.caps
    found = [(case, run) for run in comparison.runs for case in run.cases if case.wrong is not None]
    unsafe = [(case, run) for case, run in found if case.wrong is not None and case.wrong.risk]
    unsafe.sort(
        key=lambda item: _RISKS.index(item[0].wrong.risk) if item[0].wrong and item[0].wrong.risk in _RISKS else 0
    )
    new = [case for run in comparison.runs for case in run.new_failures if _shown_as_new(case, comparison)]
    listed = {id(case) for case in [*new, *(case for run in comparison.runs for case in run.of("broken"))]}
    wrong = [(case, run) for case, run in found if not (case.wrong and case.wrong.risk) and id(case) not in listed]

    def entries(cases: list[tuple[CaseChange, RunComparison]], limit: int) -> Some[CaseEntry]:
        return Some([writer.entry(case, run) for case, run in cases[:limit]], len(cases))

    return entries(unsafe, caps.broken), entries(wrong, caps.answers)


def without_answers(broken: Some[CaseEntry], unsafe: Some[CaseEntry]) -> Some[CaseEntry]:
    """The broken cases; of those whose commands the list of unsafe answers has, only that they broke."""
    shown = {(case.id, case.anchor) for case in unsafe.shown}
    return Some(
        [
            structs.replace(case, above=True, session="", note="") if (case.id, case.anchor) in shown else case
            for case in broken.shown
        ],
        broken.total,
    )


def _note(case: CaseChange, run: RunComparison) -> str | None:
    """What the case's own record says, or why there is none."""
    if case.note and _REASON.fullmatch(case.note):
        return spoken(case.note)
    return case.note or (f"{run.name} was not run" if run.missing and case.change == "missing" else None)


def blamed(case: CaseChange) -> bool:
    """True for a broken case that speaks against the change."""
    return not case.excused


def excused(case: CaseChange) -> bool:
    """True for a broken case that passed again when it was tried, or that never was reliable."""
    return case.excused


def certainty(case: CaseChange) -> str:
    """What else is known of a case of a random target: its retrials, and what it did before."""
    parts = []
    if case.fresh is not None:
        passed, tries = case.fresh.passed, plural(case.fresh.trials, "retrial", "retrials")
        again = (
            f"{passed} of {tries} passed" if case.fresh.passes else f"{case.fresh.trials - passed} of {tries} failed"
        )
        parts.append(again)
    if case.standing == "regressed":
        parts.append("beyond chance")
    if case.standing == "unreliable":
        parts.append("unreliable before")
    if case.flaky:
        parts.append(f"flaky: {flaky_words(case.flaky)}")
    return ", ".join(parts)


def _answer(case: CaseChange) -> AnswerLine | None:
    wrong = case.wrong
    if wrong is None:
        return None
    why = wrong.findings[0] if wrong.risk and wrong.findings else wrong.why
    return AnswerLine(wrong.expected or "", wrong.actual or NO_ANSWER, why, wrong.risk or "")


def _session(case: CaseChange, limit: int) -> str:
    """The command to look at and what it wrote to stderr, as a terminal shows them."""
    if case.wrong is not None:
        return answer_lines(case.wrong.expected, case.wrong.actual, limit)
    parts = [f"$ {case.command[:limit]}" if case.command else "", (case.stderr or "").strip("\n")]
    return "\n".join(part for part in parts if part)


def answer_lines(expected: str | None, actual: str | None, limit: int) -> str:
    """The command that was asked for and the one that came back, below each other."""
    return f"expected  {_short(expected, limit)}\nactual    {_short(actual, limit)}"


def _short(command: str | None, limit: int) -> str:
    """A command in a line or more of its own, cut."""
    if command is None:
        return NO_ANSWER
    return (command[:limit] + "…" if len(command) > limit else command).replace("\n", "\n          ")


def change_counts(comparison: Comparison, kinds: Sequence[CaseChangeKind]) -> str:
    """`1 worse, 2 missing`. New cases that fail are counted elsewhere."""
    listed = {id(case) for run in comparison.runs for case in run.new_failures}
    counts = Counter(case.change for run in comparison.runs for case in run.cases if id(case) not in listed)
    return ", ".join(f"{counts[kind]:,} {spoken(kind)}" for kind in kinds if counts[kind])

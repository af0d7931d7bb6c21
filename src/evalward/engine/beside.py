"""The base beside the head: the plan of trials on both sides, in turns, and where their results go."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Protocol

from msgspec import Struct, field, structs

from evalward.engine.keeping import RunRetrials
from evalward.engine.plan import Plan, PlannedRun
from evalward.engine.scheduler import Executed
from evalward.records.case import Case
from evalward.records.patterns import chosen
from evalward.records.report import Beside, MeasuredBase, Report, Run
from evalward.records.result import Result, Status
from evalward.records.succession import same_definitions
from evalward.render.numbers import plural

Key = tuple[str, str]
NOT_MEASURED = "not_measured"


class NotMeasuredError(Exception):
    """Why the base of a run can't be measured: the last words of a sentence."""


class NewHereError(NotMeasuredError):
    """The base has no such suite or target: there is nothing that it could be compared with."""


class BaseToMeasure(Protocol):
    """The base commit as something to measure."""

    @property
    def commit(self) -> str | None:
        """The commit, `None` where there is none."""
        ...

    def run(self, suite: str, target: str) -> PlannedRun:
        """What it has of a suite and target, with all its cases. Raises `NotMeasuredError`."""
        ...

    def targets(self, suite: str) -> Sequence[str]:
        """The targets of its suite; none where it has no such suite. Raises `NotMeasuredError`."""
        ...


FindBase = Callable[[str, str], PlannedRun]
"""What the base has of a suite and target. Raises `NotMeasuredError`."""


class Pairs(Struct, frozen=True):
    """The runs of both sides, each of the head's before its base's, and by run why there is nothing, or not all."""

    plan: Plan
    notes: Mapping[Key, str] = field(default_factory=dict)

    @property
    def cases(self) -> int:
        """How many cases are measured on both sides."""
        return sum(len(run.cases) for run in self.plan.runs if run.of_base)

    @property
    def trials(self) -> int:
        """How many trials that are, on each side."""
        return sum(run.size for run in self.plan.runs if run.of_base)


def beside_plan(plan: Plan, report: Report, retrials: Sequence[RunRetrials], base_of: FindBase) -> Pairs:
    """The trials that settle a doubt, as many on either side, numbered on from all that the head has had.

    Only cases of unchanged definition are measured.
    """
    asked = {(each.suite, each.target): each for each in retrials}
    measured = {(run.suite, run.target): run for run in report.runs}
    runs: list[PlannedRun] = []
    notes: dict[Key, str] = {}
    for run in plan.runs:
        key = key_of(run)
        if key not in asked or key not in measured:
            continue
        try:
            pair = _pair(run, base_of(*(asked[key].was or key)), asked[key].trials, _last(measured[key]))
        except NotMeasuredError as error:
            notes[key] = str(error)
            continue
        runs += pair
        left = len(asked[key].trials) - len(pair[0].cases)
        if left:
            notes[key] = f"{plural(left, 'case is', 'cases are')} different or missing in the base"
    return Pairs(structs.replace(plan, runs=runs), notes)


def _pair(head: PlannedRun, base: PlannedRun, trials: Mapping[str, int], last: Mapping[str, int]) -> list[PlannedRun]:
    chosen = [case for case in head.cases if case.id in trials]
    both = {name: case for name, case in equally_defined(head.cases, base.cases).items() if name in trials}
    if not both:
        raise NotMeasuredError("each of the cases is different or missing in the base")
    numbers = {case.id: range(last.get(case.id, 0) + 1, last.get(case.id, 0) + 1 + trials[case.id]) for case in chosen}
    own = [case for case in chosen if case.id in both]
    return [
        structs.replace(head, cases=own, numbers=numbers),
        structs.replace(base, cases=[_named(both[case.id], case.id) for case in own], numbers=numbers, of_base=True),
    ]


def _named(case: Case, name: str) -> Case:
    """The base's case under today's id: its trials are held against those of that id."""
    return case if case.id == name else case.model_copy(update={"id": name})


def equally_defined(head: Sequence[Case], base: Sequence[Case]) -> dict[str, Case]:
    """The base's cases that ask what the head's ask, by the head's ids.

    A case that has another id now is the one that went where just one of its definition came and just one went, as
    for `decide.succession`: a new name may not keep a case from being compared.
    """
    known = {case.id: case for case in base}
    now, before = ({case.id: case.definition for case in side} for side in (head, base))
    renamed = {came[0]: went[0] for came, went in same_definitions(now, before) if len(came) == len(went) == 1}
    pairs = {case: known[was] for case in now if (was := renamed.get(case, case)) in known}
    return {case: there for case, there in pairs.items() if there.definition == now[case]}


def _last(run: Run) -> dict[str, int]:
    """The highest number that a trial of each case has."""
    numbers: dict[str, int] = {}
    for result in (*run.cases, *run.confirmation):
        numbers[result.id] = max(result.trial, numbers.get(result.id, run.trials))
    return numbers


def with_beside(report: Report, pairs: Pairs, done: Executed, commit: str | None) -> Report:
    """The report with what was measured of both sides beside what was planned.

    A stage that ended early ends no report, unless somebody stopped it, as with the confirm stage.
    """
    sides: dict[Key, dict[bool, Run]] = {}
    key: Key = ("", "")
    for planned, run in zip(pairs.plan.runs, done.runs, strict=True):
        key = key if planned.of_base else key_of(planned)  # the base's follows, under its own name
        sides.setdefault(key, {})[planned.of_base] = run
    ended = f"it ended early: {done.interrupted}" if done.interrupted else None
    notes = {key: _joined(pairs.notes.get(key), ended) for key in sides} | {
        key: note for key, note in pairs.notes.items() if key not in sides
    }
    runs = [_with(run, sides.get((run.suite, run.target), {}), notes, commit) for run in report.runs]
    warnings = list(dict.fromkeys([*report.warnings, *done.warnings]))
    return report.ended(done.stopped, "signal").model_copy(update={"runs": runs, "warnings": warnings})


def _joined(*notes: str | None) -> str | None:
    return "; ".join(note for note in notes if note) or None


def _with(run: Run, sides: Mapping[bool, Run], notes: Mapping[Key, str | None], commit: str | None) -> Run:
    key = (run.suite, run.target)
    if not sides and key not in notes:
        return run
    base, head = sides.get(True), sides.get(False)
    beside = Beside(
        commit=commit,
        base=base.cases if base else [],
        head=head.cases if head else [],
        note=notes.get(key),
    )
    return run.model_copy(update={"beside": beside})


def key_of(run: PlannedRun) -> Key:
    """Suite and target."""
    return run.suite.spec.name, run.target.id


# --- suites that are compared with the base -------------------------------------------------------------------------


class Whole(Struct, frozen=True):
    """A plan with the base's side of some suites in it, and, by run, all that the base has there.

    `notes` say, by suite or run, why there is nothing.
    """

    plan: Plan
    known: Mapping[Key, PlannedRun]
    notes: Mapping[str, str]


def whole_plan(plan: Plan, suites: Collection[str], base: BaseToMeasure) -> Whole:
    """The plan, and all planned trials of these suites on the base's side, too."""
    known: dict[Key, PlannedRun] = {}
    notes: dict[str, str] = {}
    runs: list[PlannedRun] = []
    here = {key_of(run) for run in plan.runs}
    for run in plan.runs:
        runs.append(run)
        name, target = key = key_of(run)
        if name not in suites or run.not_measured is not None:
            continue
        try:
            known[key] = base.run(name, target)
        except NewHereError:
            continue
        except NotMeasuredError as error:
            notes[f"{name} × {target}"] = str(error)
            continue
        both = equally_defined(run.cases, known[key].cases)
        cases = [both[case.id] for case in run.cases if case.id in both]
        runs.append(structs.replace(known[key], cases=cases, trials=run.trials, numbers=None, of_base=True))
    for name in (name for name in suites if chosen(name, plan.partial.suites if plan.partial else ())):
        gone, note = _gone(name, here, plan, base)
        known |= gone
        if note and not any(key.startswith(f"{name} × ") for key in notes):
            notes[name] = note
    return Whole(structs.replace(plan, runs=runs), known, notes)


def _gone(
    suite: str, here: Collection[Key], plan: Plan, base: BaseToMeasure
) -> tuple[dict[Key, PlannedRun], str | None]:
    """The runs of a suite that the base alone has: nobody measures them, and they are missing."""
    targets = plan.partial.targets if plan.partial else ()
    try:
        names = [name for name in base.targets(suite) if chosen(name, targets) and (suite, name) not in here]
        return {(suite, name): base.run(suite, name) for name in names}, None
    except NotMeasuredError as error:
        return {}, str(error)


def measured_base(whole: Whole, done: Executed, commit: str | None) -> MeasuredBase:
    """The base's side of what was run, with the cases that were not measured: they are known, and no more."""
    results = {key_of(planned): run for planned, run in zip(whole.plan.runs, done.runs, strict=True) if planned.of_base}
    runs = [_with_unmeasured(planned, results.get(key)) for key, planned in whole.known.items()]
    return MeasuredBase(commit=commit, runs=runs, notes=dict(whole.notes))


def _with_unmeasured(planned: PlannedRun, run: Run | None) -> Run:
    if run is None:
        run = Run(
            suite=planned.suite.spec.name,
            kind=planned.kind.name,
            target=planned.target.id,
            trials=planned.trials,
            random=planned.target.random,
            subject=planned.subject,
        )
    there = {result.id for result in run.cases}
    left = [
        Result(
            id=case.id, category=case.category, definition=case.definition, status=Status.SKIPPED, reason=NOT_MEASURED
        )
        for case in planned.cases
        if case.id not in there
    ]
    return run.model_copy(update={"cases": [*run.cases, *left]})

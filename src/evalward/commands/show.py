"""`evalward show`: a trial as people read it, in the terminal; without a case those that failed."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from difflib import get_close_matches
from fnmatch import fnmatchcase
from pathlib import Path

from evalward.commands.config_place import find_config
from evalward.commands.files import read_baseline_file, read_report, report_in
from evalward.commands.kept import sources_in
from evalward.commands.paging import paged
from evalward.commands.spelling import show_case
from evalward.commands.world import World
from evalward.records.baseline import Baseline, BaselineCase
from evalward.records.exits import EXIT_OK
from evalward.records.patterns import chosen
from evalward.records.problem import InputError, wrong
from evalward.records.report import Report, Run
from evalward.records.result import Result, Status, by_case
from evalward.render.case_list import CaseChoice, choices_text
from evalward.render.conversation import TrialView, view_of
from evalward.render.kept import Sources
from evalward.render.names import SuiteTarget, spoken, told_apart
from evalward.render.numbers import plural
from evalward.render.trial_terminal import ShownTrials, trials_text

_NEAR = 5
_COMPARED = 20_000  # ids among which near ones are looked for
_WORST = (Status.FAILED, Status.ERROR, Status.SKIPPED, Status.PASSED)


@dataclass(frozen=True)
class ShowTrialOptions:
    """What `evalward show` was asked for. `suites` and `targets` are patterns, none means all.

    `baseline` is the file, where one is named; `compared`: it is wanted.
    """

    report: Path
    case: str | None = None
    suites: Sequence[str] = ()
    targets: Sequence[str] = ()
    trial: int | None = None
    baseline: Path | None = None
    compared: bool = False
    full: bool = False


@dataclass(frozen=True)
class TriedCase:
    """A case of a run with all its trials: planned ones, and those that were tried again or beside the base."""

    run: Run
    case: str
    trials: Sequence[Result]

    @property
    def where(self) -> SuiteTarget:
        """Its suite and target."""
        return self.run.suite, self.run.target

    @property
    def failed(self) -> list[Result]:
        """The trials that failed or broke, or that an early end left out."""
        return [trial for trial in self.trials if trial.unsettled]

    def trial(self, number: int | None) -> Result:
        """The trial of this number; without one the first that failed, else the first. Raises `InputError`."""
        if number is None:
            return (self.failed or self.trials)[0]
        found = next((trial for trial in self.trials if trial.trial == number), None)
        if found is None:
            known = ", ".join(str(trial.trial) for trial in self.trials[:_NEAR])
            more = " …" if len(self.trials) > _NEAR else ""
            raise wrong(f"--trial {number}", f"the case {self.case!r} has no such trial", f"There are: {known}{more}.")
        return found


def show(world: World, options: ShowTrialOptions) -> int:
    """Always 0 for what there is. Raises `InputError` for a report, case or trial that isn't there."""
    _check_case(options)
    options = replace(options, report=report_in(world.cwd, options.report))
    report = read_report(world.cwd / options.report)
    tried = tried_cases(report)
    within = _within(options, tried)
    if options.case is None:
        text = _failures(world, options, tried, within)
    else:
        found = _with_trial(options, _matching(options.case, within))
        if not found:
            raise _unknown(options, within)
        text = _one(world, options, report, found[0]) if len(found) == 1 else _several(world, options, tried, found)
    paged(world, text)
    return EXIT_OK


def tried_cases(report: Report) -> list[TriedCase]:
    """The cases of all runs, in the report's order."""
    return [TriedCase(run, case, results) for run in report.runs for case, results in by_case(run.tries).items()]


def _check_case(options: ShowTrialOptions) -> None:
    """Refuse what only a case has where none is named: `--baseline CASE` has taken the case for its file."""
    if options.case is not None:
        return
    if options.compared:
        remedy = "Put the case first: evalward show CASE --baseline [FILE]."
        raise wrong("--baseline", "--baseline needs a case", remedy)
    if options.trial is not None:
        raise wrong("--trial", "--trial needs a case", "Name the case, too.")


def _within(options: ShowTrialOptions, tried: Sequence[TriedCase]) -> list[TriedCase]:
    """The cases of the suites and targets that were asked for. Raises `InputError` where there are none."""
    if not tried:
        raise wrong(str(options.report), "this report has no cases", "Name another one with --report.")
    suites = dict.fromkeys(one.run.suite for one in tried)
    targets = dict.fromkeys(one.run.target for one in tried)
    for pattern in options.suites:
        _check_known(options, "suite", pattern, list(suites))
    for pattern in options.targets:
        _check_known(options, "target", pattern, list(targets))
    found = [one for one in tried if chosen(one.run.suite, options.suites) and chosen(one.run.target, options.targets)]
    if not found:
        runs = list(dict.fromkeys(one.run.name for one in tried))
        raise wrong(str(options.report), f"no run matches {_asked(options)}", f"Runs: {_first(runs)}.")
    return found


def _check_known(options: ShowTrialOptions, what: str, pattern: str, names: Sequence[str]) -> None:
    if any(chosen(name, [pattern]) for name in names):
        return
    near = _near(pattern, names)
    remedy = f"Near: {', '.join(near)}." if near else f"{what.capitalize()}s: {_first(names)}."
    raise wrong(str(options.report), f"no {what} matches --{what} {pattern}", remedy)


def _asked(options: ShowTrialOptions) -> str:
    """The suites and targets that were asked for, as they are written in a command; empty for all."""
    asked = (("--suite", options.suites), ("--target", options.targets))
    return " ".join(f"{name} {','.join(patterns)}" for name, patterns in asked if patterns)


def _first(names: Sequence[str]) -> str:
    return ", ".join(names[: 2 * _NEAR]) + (" …" if len(names) > 2 * _NEAR else "")


def _with_trial(options: ShowTrialOptions, found: list[TriedCase]) -> list[TriedCase]:
    """Of several cases those that have the trial that was asked for. Raises `InputError` where none has it."""
    if options.trial is None or len(found) < 2:
        return found
    having = [one for one in found if any(trial.trial == options.trial for trial in one.trials)]
    if not having:
        numbers = sorted({trial.trial for one in found for trial in one.trials})
        message = f"none of the {len(found):,} cases that match {options.case!r} has such a trial"
        raise wrong(f"--trial {options.trial}", message, f"There are: {_first(list(map(str, numbers)))}.")
    return having


def _matching(case: str, tried: Sequence[TriedCase]) -> list[TriedCase]:
    """The cases of this name, else those that it matches as a pattern."""
    exact = [one for one in tried if one.case == case]
    return exact or [one for one in tried if fnmatchcase(one.case, case)]


def _unknown(options: ShowTrialOptions, tried: Sequence[TriedCase]) -> InputError:
    """What is said of a case that isn't there: names like it."""
    names = list(dict.fromkeys(one.case for one in tried))
    case = options.case or ""
    near = _near(case, names)
    asked = _asked(options)
    where = f" with {asked}" if asked else ""
    remedy = f"Near: {', '.join(near)}." if near else "`evalward show` lists those that failed."
    return wrong(str(options.report), f"there is no case {case!r}{where}", remedy)


def _near(word: str, names: Sequence[str]) -> list[str]:
    """The names that have the word as a part, and those like it."""
    parts = [name for name in names if word and word.lower() in name.lower()]
    return list(dict.fromkeys([*parts, *get_close_matches(word, names[:_COMPARED], _NEAR)]))[:_NEAR]


# --- lists ----------------------------------------------------------------------------------------------------------


def _failures(world: World, options: ShowTrialOptions, tried: Sequence[TriedCase], within: Sequence[TriedCase]) -> str:
    failed = [one for one in within if one.failed]
    count = f"{len(failed):,} of {plural(len(within), 'case')} failed"
    title = f"{count} ({options.report})" + (":" if failed else ".")
    return _choices(world, options, title, tried, failed)


def _several(world: World, options: ShowTrialOptions, tried: Sequence[TriedCase], found: Sequence[TriedCase]) -> str:
    return _choices(world, options, f"{len(found):,} cases match {options.case}. Choose one:", tried, found)


def _choices(
    world: World, options: ShowTrialOptions, title: str, tried: Sequence[TriedCase], found: Sequence[TriedCase]
) -> str:
    places: Mapping[str, list[SuiteTarget]] = defaultdict(list)
    for one in tried:
        places[one.case].append(one.where)
    choices = [_choice(one, places[one.case], options) for one in found]
    return choices_text(title, choices, colour=world.colour(world.out), width=world.width)


def _choice(one: TriedCase, places: Sequence[SuiteTarget], options: ShowTrialOptions) -> CaseChoice:
    suite, target = told_apart(one.where, places)
    return CaseChoice(
        case=one.case,
        run=one.run.name,
        status=min((trial.status for trial in one.trials), key=_WORST.index),
        ended=_ended(one),
        command=show_case(
            one.case,
            suite,
            target,
            report=str(options.report),
            trial=options.trial,
            baseline=(options.baseline or "") if options.compared else None,
            full=options.full,
        ),
    )


def _ended(one: TriedCase) -> str:
    if len(one.trials) > 1:
        return f"{len(one.failed)} of {len(one.trials)} trials failed"
    (trial,) = one.trials
    return spoken(trial.reason or trial.status)


# --- one case -------------------------------------------------------------------------------------------------------


def _one(world: World, options: ShowTrialOptions, report: Report, found: TriedCase) -> str:
    """The trial, and with `--baseline` the other side's before it."""
    now = found.trial(options.trial)
    before = _before(found, report) if options.compared else []
    baseline = _baseline(world, options, needed=not before) if options.compared else None
    sources = sources_in((world.cwd / options.report).parent, report, baseline)
    views = [_viewed_before(found.run, before, now.trial, sources)] if before else []
    views.append((_sort(found, now), view_of(sources, found.run, now)))
    notes, numbers = _in_baseline(baseline, found) if baseline else ([], None)
    shown = ShownTrials([*notes, *_others(found, now)], numbers, views)
    return trials_text(shown, colour=world.colour(world.out), width=world.width, full=options.full)


def _before(found: TriedCase, report: Report) -> list[tuple[Run, Result]]:
    """The base commit's trials of a case: all that were planned, or those that were tried beside the head's."""
    run = found.run
    was = (run.replaces.suite or run.suite, run.replaces.target or run.target) if run.replaces else found.where
    planned = [
        (base, result)
        for base in (report.base.runs if report.base else [])
        if (base.suite, base.target) == was
        for result in base.cases
    ]
    beside = [(run, result) for result in (run.beside.base if run.beside else [])]
    return [(of, result) for of, result in [*planned, *beside] if result.id == found.case]


def _viewed_before(
    run: Run, before: Sequence[tuple[Run, Result]], number: int, sources: Sources
) -> tuple[str, TrialView]:
    """The base's trial of the same number, else its first that failed, else its first."""
    same = [one for one in before if one[1].trial == number]
    of, result = (same or [one for one in before if one[1].unsettled] or list(before))[0]
    return "the base commit", view_of(sources, of if of.kind == run.kind else run, result, before=True)


def _baseline(world: World, options: ShowTrialOptions, *, needed: bool) -> Baseline | None:
    """The file that was named, else the config's. Without either it is `needed` where nothing else is known."""
    if options.baseline is not None:
        return read_baseline_file(world.cwd / options.baseline)
    config = find_config(world.cwd)
    if config is not None:
        from evalward.config.load import load_config  # noqa: PLC0415 - only who asks for its baseline pays for it

        loaded = load_config(world.cwd / config)
        path = loaded.root / loaded.config.baseline_for(None, None)
        if path.exists() or needed:
            return read_baseline_file(path, loaded.root)
    elif needed:
        message = "there is no evalward.yml here or above that names one"
        raise wrong("--baseline", message, "Name the file: --baseline FILE.")
    return None


def _in_baseline(baseline: Baseline, found: TriedCase) -> tuple[list[str], BaselineCase | None]:
    """What the baseline has of the case, and a note where that can't be compared."""
    run = next((run for run in baseline.runs if (run.suite, run.target) == found.where), None)
    case = next((case for case in run.cases if case.id == found.case), None) if run else None
    if case is None:
        return [f"The baseline has no case {found.case} of {found.run.name}."], None
    same = all(trial.definition == case.definition for trial in found.trials)
    return ([] if same else ["The baseline's trials are of another definition of this case."]), case


def _sort(found: TriedCase, trial: Result) -> str:
    """What kind of trial it is, where it is no planned one."""
    if any(trial is one for one in found.run.cases):
        return ""
    return "retrial" if any(trial is one for one in found.run.confirmation) else "with the base"


def _others(found: TriedCase, shown: Result) -> list[str]:
    """A line about the trials that are not shown."""
    if len(found.trials) < 2:
        return []
    marks = ", ".join(f"{trial.trial} {trial.status}" for trial in found.trials[: 4 * _NEAR])
    return [f"Trial {shown.trial} of {len(found.trials)}: {marks}. --trial N shows another."]

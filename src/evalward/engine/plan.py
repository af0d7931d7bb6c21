"""What there is to do: suites × targets × cases × trials, in a fixed order."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from shlex import quote
from types import MappingProxyType
from typing import Protocol, cast

from msgspec import Struct, field, structs

from evalward.config import LoadedConfig, Suite
from evalward.config.deprecated import deprecated_keys
from evalward.engine.selection import Selection, is_pattern
from evalward.engine.subject import subject_of
from evalward.records.case import Case
from evalward.records.patterns import chosen
from evalward.records.problem import InputError, Place, Problem, wrong
from evalward.records.report import Partial, Subject
from evalward.records.target_id import target_id
from evalward.records.unchanged import UNCHANGED
from evalward.suites.base import Kind, Prepared, kind_named
from evalward.suites.gathering import GatheringKind
from evalward.targets import make_evaluated
from evalward.targets.asking import Asker
from evalward.targets.base import Evaluated

_CORRECT = "Correct it, or leave it out."
_MOST_SHOWN = 10  # patterns and ids that a message names


class PlannedRun(Struct, frozen=True):
    """One suite × target: its cases, each `trials` times. `not_measured` says why nothing of it is run.

    `numbers` gives the numbers of a case's trials where they aren't 1 to `trials`: in a confirm stage. `whole` is the
    number of cases that there are for the target, chosen or not. `of_base`: it is the base's; its trials are kept in a
    folder of their own, and take turns with those of the run before it. `standing`: so many more cases aren't measured,
    as the baseline's trials stand.
    """

    kind: Kind
    suite: Prepared
    target: Evaluated
    cases: Sequence[Case]
    trials: int
    not_measured: str | None = None
    numbers: Mapping[str, Sequence[int]] | None = None
    whole: int = 0
    of_base: bool = False
    standing: int = 0

    @property
    def subject(self) -> Subject:
        """What identifies who is evaluated, and what with."""
        return subject_of(self.suite, self.target)

    def numbers_of(self, case: Case) -> Sequence[int]:
        """The numbers of a case's trials."""
        return range(1, self.trials + 1) if self.numbers is None else self.numbers.get(case.id, ())

    @property
    def size(self) -> int:
        """Number of trials."""
        return sum(len(self.numbers_of(case)) for case in self.cases)


class WholeKind(Kind, GatheringKind, Protocol):
    """A kind whose trials somebody else makes."""


class GatheredSuite(Struct, frozen=True):
    """A suite that is gathered as a whole: its targets and cases are known when its results are."""

    kind: WholeKind
    spec: Suite


class Plan(Struct, frozen=True):
    """All runs, in the order of the config. `gathered` are the suites whose trials somebody else makes."""

    runs: Sequence[PlannedRun]
    partial: Partial | None = None
    warnings: Sequence[str] = field(default=())
    gathered: Sequence[GatheredSuite] = ()

    @property
    def gathered_names(self) -> frozenset[str]:
        """How the gathered suites are called."""
        return frozenset(suite.spec.name for suite in self.gathered)

    @property
    def size(self) -> int:
        """Number of trials."""
        return sum(run.size for run in self.runs if run.not_measured is None)


def make_plan(
    loaded: LoadedConfig, selection: Selection, env: Mapping[str, str] | None = None, asker: Asker | None = None
) -> Plan:
    """Load what the selected suites need and put it in order. `env` says which keys there are, `asker` asks models.

    Raises `InputError` with the problems of all suites and recordings, or when the selection matches nothing.
    """
    suites = [suite for suite in loaded.config.suites if chosen(suite.name, selection.suites)]
    if not suites:
        names = ", ".join(suite.name for suite in loaded.config.suites)
        raise wrong(loaded.file, f"no suite matches {_shown(selection.suites)}", f"Suites: {names}.", field="suites")
    problems: list[Problem] = []
    runs: list[PlannedRun] = []
    gathered: list[GatheredSuite] = []
    keys = env or {}
    for suite in suites:
        try:
            kind = kind_named(suite.kind)
            if isinstance(kind, GatheringKind):
                spec = suite.model_copy(update={"trials": selection.trials}) if selection.trials else suite
                gathered.append(GatheredSuite(cast(WholeKind, kind), spec))
            else:
                runs += _runs_of(suite, loaded, selection, keys, asker)
        except InputError as error:
            problems += [_at_its_key(problem, suite, loaded) for problem in error.problems]
    if problems:
        raise InputError(problems)
    if not gathered and not any(run.cases for run in runs):
        raise _nothing_selected(selection, loaded.file, suites)
    if idle := list(_idle_patterns(selection, suites, runs, gathered=bool(gathered))):
        raise InputError([Problem(place=Place(file=loaded.file), message=what, remedy=remedy) for what, remedy in idle])
    noted = (warning for run in runs for warning in run.suite.warnings)
    warnings = list(dict.fromkeys([*deprecated_keys(loaded), *noted]))
    return Plan(runs, selection.partial, warnings, gathered)


def _runs_of(
    suite: Suite, loaded: LoadedConfig, selection: Selection, env: Mapping[str, str], asker: Asker | None
) -> list[PlannedRun]:
    kind = kind_named(suite.kind)
    prepared = _with_judges(kind.prepare(suite, loaded), suite, loaded, env, asker)
    part = selection.partial or Partial()
    names = [name for name in suite.targets if part.covers(suite.name, name)]
    trials = selection.trials or suite.trials
    targets = [make_evaluated(suite.takes, name, loaded, env, asker) for name in names]
    _refuse_unpriced(targets, suite, loaded)
    _refuse_idle(prepared.cases, suite, loaded)
    planned = [_planned_run(kind, prepared, target, trials, part) for target in targets]
    return [run for run in planned if run.cases or not part.by_case]


def _planned_run(kind: Kind, prepared: Prepared, target: Evaluated, trials: int, part: Partial) -> PlannedRun:
    suite = prepared.spec.name
    whole = [case for case in prepared.cases if case.is_for(target.id)]
    cases = [case for case in whole if part.covers_case(suite, target.id, case.id)]
    return PlannedRun(kind, prepared, target, cases, trials, whole=len(whole))


def _with_judges(
    prepared: Prepared, suite: Suite, loaded: LoadedConfig, env: Mapping[str, str], asker: Asker | None
) -> Prepared:
    """The suite with the judges that its cases want; who judges is part of its subject."""
    if prepared.judging is None:
        return prepared
    from evalward.suites.judge.who import make_judges  # noqa: PLC0415 - only who wants a judge pays for one

    judges = make_judges(prepared.judging, loaded, env, suite.targets, asker)
    return structs.replace(
        prepared,
        judges=judges,
        subject={**prepared.subject, **judges.subject},
        warnings=[*prepared.warnings, *judges.warnings],
    )


def _refuse_idle(cases: Sequence[Case], suite: Suite, loaded: LoadedConfig) -> None:
    """A target that no case is meant for, and a case that is meant for no target, would never be measured."""
    index = loaded.config.suites.index(suite)
    problems = [
        Problem(
            place=Place(file=loaded.file, line=loaded.line("suites", index, "targets", number)),
            field=f"suites[{index}].targets[{number}]",
            message=f"no case of {suite.name} is meant for the target {target!r}",
            remedy="Add it to the tool_matrix of a case, or remove the target.",
        )
        for number, target in enumerate(suite.targets)
        if not any(case.is_for(target) for case in cases)
    ]
    problems += [
        Problem(
            place=case.place,
            field="tool_matrix",
            message=f"{case.id!r} is meant for none of the targets of {suite.name}",
            remedy=f"Targets: {', '.join(suite.targets)}.",
        )
        for case in cases
        if not any(case.is_for(target) for target in suite.targets)
    ]
    if problems:
        raise InputError(problems)


def _refuse_unpriced(targets: Sequence[Evaluated], suite: Suite, loaded: LoadedConfig) -> None:
    """A dollar budget needs prices: without one it would be a promise that nobody keeps."""
    if loaded.config.budget_usd is None:
        return
    line = loaded.line("budget_usd")
    unknown = [target.id for target in targets if not target.priced]
    if unknown:
        raise wrong(
            loaded.file,
            f"the price of {', '.join(unknown)} (suite {suite.name}) is unknown, so the budget can't be kept",
            f"{_how_to_price(unknown[0])}, or use budget_tokens.",
            line=line,
            field="budget_usd",
        )


def _how_to_price(target: str) -> str:
    asked = target_id(target)
    if asked.provider:
        return f"Write it into providers.{asked.provider}.prices.{asked.model}"
    if asked.form == "agent":
        return f"Name a model with a price in agents.{asked.name}.model"
    return f"Have the plugin of {asked.head} say what its answers cost"


def without_unchanged(
    plan: Plan,
    unchanged: Collection[tuple[str, str]],
    standing: Mapping[tuple[str, str], Collection[str]] = MappingProxyType({}),
) -> Plan:
    """The plan with these runs, by suite and target, marked as not measured, and without the `standing` cases of
    others, by their ids: the baseline's trials stand.
    """
    runs = []
    for run in plan.runs:
        key = (run.suite.spec.name, run.target.id)
        left = [case for case in run.cases if case.id not in standing.get(key, ())]
        if key in unchanged or (run.cases and not left):
            runs.append(structs.replace(run, not_measured=UNCHANGED))
        else:
            count = len(run.cases) - len(left)
            runs.append(structs.replace(run, cases=left, whole=run.whole - count, standing=count) if count else run)
    return structs.replace(plan, runs=runs)


def without_missing_keys(plan: Plan) -> Plan:
    """The plan with live targets whose key is missing marked as not measured: on forks there are no secrets."""
    return structs.replace(plan, runs=[_measurable(run) for run in plan.runs])


def _measurable(run: PlannedRun) -> PlannedRun:
    missing = run.target.missing_key
    if missing:
        return structs.replace(run, not_measured=f"there is no key here ({missing} is not set)")
    for judge, variable in (run.suite.judges.missing_keys if run.suite.judges else {}).items():
        return structs.replace(run, not_measured=f"there is no key for the judge {judge} here ({variable} is not set)")
    return run


def _at_its_key(problem: Problem, suite: Suite, loaded: LoadedConfig) -> Problem:
    """A problem of a file that a key of the suite names by itself, at that key."""
    key = next((key for key in ("system", "tool") if getattr(suite, key, None) == problem.place.file), None)
    if key is None or problem.place.line is not None:
        return problem
    index = loaded.config.suites.index(suite)
    place = Place(file=loaded.file, line=loaded.line("suites", index, key))
    message = f"{problem.place.file}: {problem.message}"
    return problem.but(place=place, field=f"suites[{index}].{key}", message=message)


def _idle_patterns(
    selection: Selection, suites: Sequence[Suite], runs: Sequence[PlannedRun], *, gathered: bool
) -> Iterator[tuple[str, str]]:
    """The names that match nothing beside others that do: misspelt, they would leave out what was asked for. Each with
    what to do.

    Patterns with wildcards may match nothing. Of suites whose results another harness makes (`gathered`), targets and
    cases are known only later.
    """
    names = [suite.name for suite in suites]
    yield from ((f"no suite matches {each!r}", _CORRECT) for each in selection.suites if not _any(names, each))
    if gathered or selection.only is not None:
        return
    targets = [run.target.id for run in runs]
    yield from ((f"no target matches {each!r}", _CORRECT) for each in selection.targets if not _any(targets, each))
    cases = [case.id for run in runs for case in run.cases]
    unknown = [each for each in selection.cases if not _any(cases, each)]
    yield from ((f"no case matches {each!r}", _one_by_one([each]) or _CORRECT) for each in unknown)


def _any(names: Iterable[str], pattern: str) -> bool:
    return is_pattern(pattern) or any(chosen(name, [pattern]) for name in names)


def _nothing_selected(selection: Selection, file: str, suites: Sequence[Suite]) -> InputError:
    """The mistake of a selection that leaves nothing to run."""
    targets = list(dict.fromkeys(target for suite in suites for target in suite.targets))
    if selection.targets and not any(chosen(target, selection.targets) for target in targets):
        whole = [f"{word}/*" for word in selection.targets if any(name.startswith(f"{word}/") for name in targets)]
        remedy = f"Did you mean {', '.join(whole)}?" if whole else f"Targets: {', '.join(targets)}."
        return wrong(file, f"no target matches {_shown(selection.targets)}", remedy)
    if selection.only is not None:
        gone = f"has none of the cases that failed last time: {_shown(_asked_by_id(selection))}"
        return wrong(file, gone, "They were renamed or removed. Leave out --failed.")
    return nothing_matches(selection.targets, selection.cases, file)


def nothing_matches(targets: Sequence[str], cases: Sequence[str], file: str) -> InputError:
    """The mistake of patterns of targets and cases that leave nothing."""
    remedy = _one_by_one(cases) or "Patterns match suite names, target ids and case ids."
    return wrong(file, f"nothing matches {_shown([*targets, *cases])}", remedy)


def _one_by_one(cases: Sequence[str]) -> str:
    """What to write instead of several cases in one text, "" where none looks like that: an id may hold a comma."""
    joined = next((each for each in cases if "," in each.strip(",")), None)
    if joined is None:
        return ""
    words = [word for word in map(str.strip, joined.split(",")) if word]
    return f"--case takes one id or pattern, and is repeated: {' '.join(f'--case {quote(word)}' for word in words)}."


def _asked_by_id(selection: Selection) -> list[str]:
    return list(dict.fromkeys(case for each in selection.only or () for case in each.cases))


def _shown(patterns: Sequence[str]) -> str:
    more = f" and {len(patterns) - _MOST_SHOWN} more" if len(patterns) > _MOST_SHOWN else ""
    return (", ".join(repr(pattern) for pattern in patterns[:_MOST_SHOWN]) or "the selection") + more

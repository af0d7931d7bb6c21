"""Running scenarios with several guidances, and what their results come to side by side."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from msgspec import structs

from evalward.decide.guidance import GuidanceResults, compare_guidance
from evalward.engine.plan import Plan, PlannedRun
from evalward.engine.scheduler import Executed
from evalward.records.base import digest
from evalward.records.guidance import GuidanceComparison
from evalward.records.report import Run
from evalward.runner.measure import RunPlan
from evalward.sandbox.process.temporary import temporary_folder
from evalward.suites.scenario.case import ScenarioCase, subject_of
from evalward.suites.scenario.guidance import READING
from evalward.suites.scenario.kind import is_talked_with
from evalward.suites.scenario.variants import Guidance, with_guidance

CURRENT = "current"
"""How the guidance that the fixture has is called."""

Key = tuple[str, str]


@dataclass(frozen=True)
class Version:
    """Another guidance, by name, and what it says for a scenario; `None` where it says nothing else."""

    name: str
    guidance: Callable[[PlannedRun, ScenarioCase], Guidance | None]


@dataclass(frozen=True)
class Comparing:
    """What is held against what. `own`: results that the fixture's guidance has had already, else it is run, too.

    `reversed`: the (single) version is the reference, and not the fixture's own guidance. `stopped` says why nothing
    more may be run, if so.
    """

    versions: Sequence[Version]
    current: str = CURRENT
    why: str = ""
    own: Sequence[Run] | None = None
    reversed: bool = False
    stopped: str | None = None


def compare_versions(plan: Plan, comparing: Comparing, run: RunPlan) -> list[GuidanceComparison]:
    """Runs every scenario that a version says something else for, with each; a comparison per suite and target."""
    measured = structs.replace(plan, runs=[one for one in plan.runs if brings_guidance(one)])
    with temporary_folder("guidance") as folder:
        plans = [_Planned.of(measured, version, folder / str(n)) for n, version in enumerate(comparing.versions)]
        affected = _affected(measured, plans)
        if comparing.stopped is not None:
            return [_not_measured(one, comparing.why, comparing.stopped) for one in affected.runs]
        if not affected.runs:
            return []
        sides = [_own(affected, comparing, run), *(_GuidanceSide(one.version.name, one.plan, run) for one in plans)]
        ordered = sides[::-1] if comparing.reversed else sides
        return [_compared(one, ordered, comparing.why) for one in affected.runs]


@dataclass(frozen=True)
class _Planned:
    """The plan of a version: its scenarios with another fixture each."""

    version: Version
    plan: Plan

    @classmethod
    def of(cls, plan: Plan, version: Version, folder: Path) -> _Planned:
        made: dict[tuple[str, str, bool], ScenarioCase] = {}
        runs = []
        for run in plan.runs:
            cases = []
            for case in run.cases:
                guidance = version.guidance(run, case) if isinstance(case, ScenarioCase) else None
                if guidance is None or not isinstance(case, ScenarioCase) or not _reaches(guidance, run.target.id):
                    continue
                key = (run.suite.spec.name, case.id, is_talked_with(run.target.id))
                if key not in made:
                    made[key] = with_guidance(case, guidance, folder / str(len(made)))
                cases.append(made[key])
            runs += [_with_cases(run, cases)] if cases else []
        return cls(version, structs.replace(plan, runs=runs))


def brings_guidance(run: PlannedRun) -> bool:
    """Whether its cases bring the guidance that agents read."""
    return any(isinstance(case, ScenarioCase) for case in run.cases)


def _reaches(guidance: Guidance, target: str) -> bool:
    """A system prompt is given to the built-in agent only."""
    return bool(guidance.files) or is_talked_with(target)


def _with_cases(run: PlannedRun, cases: Sequence[ScenarioCase]) -> PlannedRun:
    """The run with these cases, whose guidance is part of its subject: so no trial of another is resumed."""
    systems = {case.id: case.system for case in cases if case.system is not None}
    prompts = {"system": digest(systems)} if systems else {}
    subject = {**run.suite.subject, **subject_of(cases), **prompts, "variant": cases[0].variant or ""}
    return structs.replace(run, suite=structs.replace(run.suite, subject=subject), cases=cases)


def _affected(plan: Plan, plans: Sequence[_Planned]) -> Plan:
    """The runs and scenarios for which a version says something else."""
    ids: dict[Key, set[str]] = {}
    for planned in plans:
        for run in planned.plan.runs:
            ids.setdefault(_key(run), set()).update(case.id for case in run.cases)
    runs = [
        structs.replace(run, cases=[case for case in run.cases if case.id in ids[_key(run)]])
        for run in plan.runs
        if _key(run) in ids
    ]
    return structs.replace(plan, runs=runs)


def _key(run: PlannedRun) -> Key:
    return run.suite.spec.name, run.target.id


# ------------------------------------------------------------------------------------------- the sides


class _GuidanceSide:
    """One column: its scenarios, and the runs they gave."""

    def __init__(self, name: str, plan: Plan, run: RunPlan | None, own: Sequence[Run] = ()) -> None:
        self.name = name
        self.cases: Mapping[Key, Sequence[ScenarioCase]] = {
            _key(one): [case for case in one.cases if isinstance(case, ScenarioCase)] for one in plan.runs
        }
        self.done = run(plan, name) if run is not None else Executed(own)
        self.runs: Mapping[Key, Run] = {(one.suite, one.target): one for one in self.done.runs}


def _own(plan: Plan, comparing: Comparing, run: RunPlan) -> _GuidanceSide:
    return _GuidanceSide(comparing.current, plan, run if comparing.own is None else None, comparing.own or ())


def _not_measured(run: PlannedRun, why: str, reason: str) -> GuidanceComparison:
    suite, target = _key(run)
    return GuidanceComparison(suite=suite, target=target, why=why, not_measured=reason)


def _compared(run: PlannedRun, sides: Sequence[_GuidanceSide], why: str) -> GuidanceComparison:
    suite, target = key = _key(run)
    if run.not_measured is not None:
        return _not_measured(run, why, run.not_measured)
    wanted = {side.name: side.done for side in sides if key in side.cases}
    present = [side for side in sides if key in side.runs and key in side.cases]
    if (why_not := too_few(wanted)) is not None:
        return _not_measured(run, why, why_not)
    ids = {case.id for case in run.cases}
    files = _differing([side.cases[key] for side in present])
    columns = [
        GuidanceResults(side.name, [result for result in side.runs[key].cases if result.id in ids], changed)
        for side, changed in zip(present, files, strict=True)
    ]
    found = compare_guidance(suite, target, columns, READING, random=run.target.random, why=why)
    judged = list(run.suite.judges.warnings) if run.suite.judges is not None else []
    return found.model_copy(update={"notes": [*found.notes, *ended_early(wanted), *judged]})


def too_few(done: Mapping[str, Executed]) -> str | None:
    """Why there is nothing to compare: a signal came before a second side was begun."""
    begun = [one for one in done.values() if one.runs]
    stopped = next((one.stopped for one in done.values() if one.stopped), None)
    return None if len(begun) > 1 or stopped is None else f"the run ended early: {stopped}"


def ended_early(done: Mapping[str, Executed]) -> list[str]:
    """Notes on the sides, by name, that aren't whole."""
    return [
        f"With {name} it ended early: {one.interrupted}." if one.runs else f"{name} was not run: {one.interrupted}."
        for name, one in done.items()
        if one.interrupted
    ]


def _differing(columns: Sequence[Sequence[ScenarioCase]]) -> list[dict[str, str]]:
    """Per column the fingerprints of files that aren't the same in all columns; empty for one that isn't there."""
    found = [_fingerprints(cases) for cases in columns]
    paths = dict.fromkeys(path for one in found for path in one)
    changed = [path for path in paths if len({one.get(path, "") for one in found}) > 1]
    return [{path: one.get(path, "") for path in changed} for one in found]


def _fingerprints(cases: Sequence[ScenarioCase]) -> dict[str, str]:
    """A path's files in all fixtures, as one fingerprint."""
    seen: dict[str, dict[str, str]] = {}
    for case in cases:
        for path, fingerprint in (case.guidance | case.tool_files).items():
            seen.setdefault(path, {})[case.id] = fingerprint
        seen.setdefault("(system prompt)", {})[case.id] = case.system or ""
    return {path: digest(prints) for path, prints in seen.items()}

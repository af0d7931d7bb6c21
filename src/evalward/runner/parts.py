"""A shard of a plan as the keeper orders it, and a plan of which shards have measured most."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from msgspec import structs

from evalward.engine.beside import key_of
from evalward.engine.parts import remeasured
from evalward.engine.plan import Plan, PlannedRun
from evalward.engine.shards import KnownTimes, sharded
from evalward.records.part import Part, Shard
from evalward.records.problem import InputError, wrong
from evalward.records.report import Report, Run
from evalward.records.result import Result, by_case
from evalward.records.texts import MOST_IN_REPORT, bounded_texts
from evalward.records.unchanged import UNCHANGED
from evalward.render.numbers import plural
from evalward.suites.across import diagnose
from evalward.wire import messages as m

LEFT_OUT = "Give --changed-since to the shards and to --parts alike, or measure all shards again."
SAME = "Measure and judge the same commit, with the same --suite, --target, --case and --trials."


def shard_of(plan: Plan, order: m.ShardOrder) -> tuple[Plan, Part]:
    """The shard's part of the plan, and what its report says of that."""
    cases = {(suite, target): known for suite, runs in order.durations.items() for target, known in runs.items()}
    usual = {(suite, target): time for suite, runs in order.usual.items() for target, time in runs.items()}
    shared, part = sharded(plan, Shard(order.index, order.total), KnownTimes(cases, usual), order.left)
    return shared, part.model_copy(update={"attempt": order.attempt})


def not_in_parts(plan: Plan, known: Report) -> Plan:
    """The part of the plan that no shard has measured: suites that are left to whoever judges all parts."""
    there = {(run.suite, run.target) for run in known.runs}
    return structs.replace(plan, runs=[run for run in plan.runs if key_of(run) not in there])


def refuse_unmeasured(plan: Plan, known: Report, left: Collection[str]) -> None:
    """Raises `InputError` for a run that no shard measured, unless its suite is `left` to whoever judges all parts."""
    missing = next((run for run in not_in_parts(plan, known).runs if run.suite.spec.name not in left), None)
    if missing is not None:
        raise _another(" × ".join(key_of(missing)), "no shard measured it")


def with_parts(plan: Plan, known: Report, report: Report) -> Report:
    """The report of a plan, of which shards have measured all but what `report` has.

    Raises `InputError` where they measured something else.
    """
    here = {(run.suite, run.target): run for run in report.runs}
    there = {(run.suite, run.target): run for run in known.runs}
    runs = [here[key_of(run)] if key_of(run) in here else _checked(run, there[key_of(run)]) for run in plan.runs]
    extra = there.keys() - {key_of(run) for run in plan.runs}
    if extra:
        raise _another(" × ".join(sorted(extra)[0]), "the plan has no such run")
    texts = bounded_texts([*known.texts.items(), *report.texts.items()], MOST_IN_REPORT)
    warnings = list(dict.fromkeys([*report.warnings, *known.warnings]))
    more = {"runs": runs, "findings": diagnose(runs), "texts": texts, "warnings": warnings}
    return report.model_copy(update=more)


def _checked(planned: PlannedRun, run: Run) -> Run:
    """The run as it would have been here: its cases in the order of the plan, all trials of all of them there."""
    name = run.name
    if planned.not_measured is None and run.not_measured == UNCHANGED:
        raise wrong(name, "the parts left it out as unchanged since the baseline, and here it is measured", LEFT_OUT)
    if planned.not_measured is not None or run.not_measured is not None:
        return run
    if planned.subject.hash != run.subject.hash:
        raise _another(name, "its prompt, tool, model or version is another")
    found: Mapping[str, Sequence[Result]] = by_case(run.cases)
    for case in planned.cases:
        results = found.get(case.id, ())
        if [one.trial for one in results] != list(planned.numbers_of(case)):
            raise _another(name, f"the case {case.id} has {plural(len(results), 'trial')}, not {planned.trials}")
        if any(one.definition != case.definition for one in results):
            raise _another(name, f"the case {case.id} has a different definition")
    if len(found) > len(planned.cases):
        raise _another(name, f"it has {plural(len(found), 'case')}, not {len(planned.cases)}")
    whole = planned.whole if planned.whole > len(planned.cases) else None
    ordered = [one for case in planned.cases for one in found[case.id]]
    return remeasured(run.model_copy(update={"whole": whole}), ordered)


def _another(run: str, why: str) -> InputError:
    return wrong(run, f"the parts were measured of something else: {why}", SAME)

"""Suites with several versions of what is evaluated, such as the descriptions of tools: each is run, and compared."""

from __future__ import annotations

from collections.abc import Mapping

from msgspec import structs

from evalward.decide.guidance import GuidanceResults, compare_guidance, differing_parts
from evalward.engine.plan import Plan, PlannedRun
from evalward.engine.scheduler import Executed
from evalward.records.guidance import GuidanceComparison
from evalward.records.target_id import target_id
from evalward.runner.guidance_runs import CURRENT, ended_early, too_few
from evalward.runner.measure import RunPlan
from evalward.suites.base import Prepared, guidance_of

WHY = "The suite as it is, and its variants."
_READ_NOTHING = "this target reads no descriptions: name a model under `targets`"
_NO_READERS = frozenset({"oracle", "nop", "replay"})


def compare_suite_variants(plan: Plan, run: RunPlan) -> list[GuidanceComparison]:
    """Runs every suite that has variants as it is, and with each; a comparison per suite and target."""
    variants = {id(one): one.kind.variants(one.suite) for one in plan.runs}
    varied = [one for one in plan.runs if variants[id(one)]]
    measured = [one for one in varied if _why_not(one) is None]
    names = dict.fromkeys(name for one in measured for name in variants[id(one)])
    done = {CURRENT: run(structs.replace(plan, runs=measured), CURRENT)} if measured else {}
    for name in names:
        runs = [structs.replace(one, suite=variants[id(one)][name]) for one in measured if name in variants[id(one)]]
        done[name] = run(structs.replace(plan, runs=runs), name)
    return [_compared(one, variants[id(one)], done) for one in varied]


def _why_not(run: PlannedRun) -> str | None:
    """Why a target's results would say nothing about a variant, if so."""
    if run.not_measured is not None:
        return run.not_measured
    return _READ_NOTHING if target_id(run.target.id).form in _NO_READERS else None


def _compared(run: PlannedRun, variants: Mapping[str, Prepared], done: Mapping[str, Executed]) -> GuidanceComparison:
    suite, target = run.suite.spec.name, run.target.id
    why_not, reading = _why_not(run), guidance_of(run.kind.name)
    if why_not is not None or reading is None:
        not_measured = why_not or _READ_NOTHING
        return GuidanceComparison(
            suite=suite, target=target, compares="descriptions", why=WHY, not_measured=not_measured
        )
    sides = {CURRENT: run.suite, **variants}
    wanted = {name: done[name] for name in sides}
    if (not_begun := too_few(wanted)) is not None:
        return GuidanceComparison(suite=suite, target=target, compares="descriptions", why=WHY, not_measured=not_begun)
    changed = differing_parts([one.subject for one in sides.values()])
    columns = [
        GuidanceResults(
            name,
            [each for one in done[name].runs if (one.suite, one.target) == (suite, target) for each in one.cases],
            {part: one.subject.get(part, "") for part in changed},
        )
        for name, one in sides.items()
        if done[name].runs
    ]
    found = compare_guidance(suite, target, columns, reading, random=run.target.random, why=WHY)
    return found.model_copy(update={"notes": [*found.notes, *ended_early(wanted)]})

"""The outline of a plan: how many trials of what, and what is known of who is asked. Nothing is run for it."""

from __future__ import annotations

from collections.abc import Collection, Mapping

from evalward.config import LoadedConfig
from evalward.config.harness import HarnessSuite, needed_keys
from evalward.config.targets import predecessor_of
from evalward.engine.keeping import OutputStore
from evalward.engine.plan import GatheredSuite, Plan, PlannedRun
from evalward.engine.scheduler import AT_ONCE, jobs_of
from evalward.engine.subject import dependence_of
from evalward.records.outline import LeftOut, OutlinedCase, OutlinedHarness, OutlinedRun, PlanOutline
from evalward.targets.base import Evaluated, Free, in_batches


def outline_of(
    plan: Plan,
    loaded: LoadedConfig,
    env: Mapping[str, str],
    *,
    both_sides: Collection[str] = (),
    base: bool = False,
    not_measured: Mapping[str, str] | None = None,
    resumed: OutputStore | None = None,
) -> PlanOutline:
    """The outline. `both_sides` are the suites that are compared with the base, which `base` says can be measured.

    `not_measured` are gathered suites that are not run, and why; `resumed` has the trials that are done already.
    """
    why = not_measured or {}
    return PlanOutline(
        runs=[_run(run, both_sides, resumed) for run in plan.runs],
        harnesses=[_harness(suite, env, why.get(suite.spec.name)) for suite in plan.gathered],
        left_out=_left_out(plan, loaded),
        partial=plan.partial,
        base=base,
        resumed=resumed is not None,
    )


def _run(run: PlannedRun, both_sides: Collection[str], store: OutputStore | None) -> OutlinedRun:
    suite, target = run.suite.spec, run.target
    was = predecessor_of(suite, target.id)
    judges = [] if run.suite.judges is None else run.suite.judges.all
    keys = [target.missing_key, *(run.suite.judges.missing_keys.values() if run.suite.judges else ())]
    kept = _kept(run, store) if store is not None else {}
    subject = run.subject
    return OutlinedRun(
        suite=suite.name,
        kind=run.kind.name,
        target=target.id,
        trials=run.trials,
        cases=[
            OutlinedCase(
                id=case.id,
                trials=len(run.numbers_of(case)),
                kept=kept.get(case.id, 0),
                definition=case.definition,
                depends=dependence_of(case, subject),
            )
            for case in run.cases
        ],
        whole=run.whole,
        standing=run.standing,
        random=target.random,
        free=_free(target),
        queue=target.id if target.at_once else "",
        at_once=target.at_once or AT_ONCE,
        both_sides=suite.name in both_sides,
        judges=[judge.model for judge in judges if not _free(judge.target)],
        missing_key=next((key for key in keys if key), None),
        not_measured=run.not_measured,
        was=was.suite if was is not None else None,
        batched=in_batches(target),
        subject=subject.hash,
    )


def _free(target: Evaluated) -> bool:
    """True for who asks no model that we know of: its trials cost nothing."""
    return isinstance(target, Free)


def _kept(run: PlannedRun, store: OutputStore) -> Mapping[str, int]:
    """How many finished trials of each case an earlier run has left, as resuming it would find them."""
    kept: dict[str, int] = {}
    for job in jobs_of(run, run.subject):
        if store.find(job.wanted).result is not None:
            kept[job.case.id] = kept.get(job.case.id, 0) + 1
    return kept


def _harness(suite: GatheredSuite, env: Mapping[str, str], why: str | None) -> OutlinedHarness:
    spec = suite.spec
    harness = spec if isinstance(spec, HarnessSuite) else None
    keys = [] if harness is None or harness.run is None else needed_keys(harness)
    return OutlinedHarness(
        suite=spec.name,
        kind=suite.kind.name,
        source=suite.kind.gathered_from(spec),
        command=harness is None or harness.run is not None,
        again=harness is not None and harness.rerun is not None,
        trials=spec.trials if "trials" in spec.model_fields_set else None,
        missing_key=next((key for key in keys if not env.get(key, "").strip()), None),
        not_measured=why,
    )


def _left_out(plan: Plan, loaded: LoadedConfig) -> list[LeftOut]:
    """What the configuration has and the selection leaves out: suites as a whole, or targets of those that are run."""
    here = {(run.suite.spec.name, run.target.id) for run in plan.runs}
    names = {suite for suite, _ in here} | plan.gathered_names
    found: list[LeftOut] = []
    for suite in loaded.config.suites:
        if suite.name not in names:
            found.append(LeftOut(suite=suite.name))
            continue
        found += [
            LeftOut(suite=suite.name, target=target) for target in suite.targets if (suite.name, target) not in here
        ]
    return found

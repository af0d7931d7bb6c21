"""The runner's stages in a row: plan → trials → report, and once more for what the keeper wants to be tried again."""

from __future__ import annotations

import asyncio
import platform
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Protocol

from msgspec import Struct, field, structs

from evalward import __version__
from evalward.config import LoadedConfig
from evalward.engine.beside import Pairs, beside_plan, measured_base, whole_plan, with_beside
from evalward.engine.confirm import confirm_plan, with_confirmation
from evalward.engine.control import Ended, Spending
from evalward.engine.gathering import gather_all, gathered_again, with_gathered
from evalward.engine.keeping import OutputStore, Records, RunRetrials
from evalward.engine.plan import Plan, PlannedRun, make_plan
from evalward.engine.scheduler import Executed, ExecutionSettings, execute
from evalward.engine.selection import Selection
from evalward.engine.texts import planned_texts
from evalward.git import GitTree
from evalward.records.budget import Budget
from evalward.records.guidance import GuidanceComparison
from evalward.records.part import Part
from evalward.records.problem import InputError, Place, Problem
from evalward.records.report import Provenance, Report, Tool
from evalward.records.unchanged import UNCHANGED
from evalward.render.numbers import plural
from evalward.runner.base_side import BaseCommit
from evalward.runner.gathering import RunnersGatherer, StartsHarnesses
from evalward.runner.outside import Outside
from evalward.runner.parts import not_in_parts, with_parts
from evalward.runner.progress import ProgressLine
from evalward.suites.across import diagnose, unfed_rules
from evalward.targets.asking import Asker
from evalward.targets.under_way import TrialsUnderWay


def prepare(
    loaded: LoadedConfig, selection: Selection, env: Mapping[str, str] | None = None, asker: Asker | None = None
) -> Plan:
    """Load and check everything before the first trial. Raises `InputError` with every problem found.

    `env` says which keys live targets have; `asker` asks their models.
    """
    problems = list(unfed_rules(loaded))
    try:
        plan = make_plan(loaded, selection, env, asker)
    except InputError as error:
        raise InputError([*problems, *error.problems]) from None
    if problems:
        raise InputError(problems)
    return plan


OtherGuidance = Callable[[Plan, Report, "RunPlan"], list[GuidanceComparison]]
"""What is measured beside the planned trials, by the same account, and belongs to no run of the report."""


class Beyond(Struct, frozen=True):
    """What a run may need beyond its plan.

    `guidance` says how changed guidance compares with another; its trials are in no run. `base` is what doubts are
    settled with. `not_measured` are gathered suites that can't be measured here, and why; `withheld` those of them
    whose commands are not run. `part`: the plan is this shard's. `known` is what shards have measured of the plan;
    `settled`: none of that is tried again. `confirms`: the planned trials leave a confirm stage its part of the budget.
    `under_way` counts the trials at work.
    """

    guidance: OtherGuidance | None = None
    base: BaseCommit | None = None
    not_measured: Mapping[str, str] = field(default_factory=dict)
    part: Part | None = None
    known: Report | None = None
    withheld: Collection[str] = ()
    settled: bool = False
    confirms: bool = False
    under_way: TrialsUnderWay = field(default_factory=TrialsUnderWay)


class WhereMeasured(Records, StartsHarnesses, Protocol):
    """Who keeps the records and starts the commands of other harnesses."""


def run_plan(
    loaded: LoadedConfig,
    plan: Plan,
    records: WhereMeasured,
    outside: Outside,
    beyond: Beyond,
    *,
    resume: bool = False,
) -> Report:
    """Run every trial; the records get the report at every stage of it.

    Cases that failed are tried again where the records' keeper wants that before it believes a drop; where it then
    still doubts, they are measured of both sides. A live target without its key is told before anything is run: as
    `InputError`.
    """
    refuse_missing_keys(loaded, not_in_parts(plan, beyond.known) if beyond.known and beyond.settled else plan)
    guidance, base = beyond.guidance, beyond.base
    records.ready()
    stage = _stage(loaded, records, outside, resume=resume, confirms=beyond.confirms)
    stage = structs.replace(stage, under_way=beyond.under_way)
    by = RunnersGatherer(records, records, outside.say, outside.now)
    # first: mistakes in files before money is spent
    gathered = gather_all(loaded, plan, by, beyond.not_measured, beyond.withheld)
    report = with_gathered(_planned(stage, loaded, plan, beyond), gathered, loaded)
    stage.account.release()
    retries = records.checkpoint(report)
    again = [retry for retry in retries if not retry.beside]
    ours = [retry for retry in again if retry.suite not in plan.gathered_names]
    ended = None
    if ours:
        outside.say(_announced(ours))
        done = stage.run(confirm_plan(plan, ours))
        ended = done.interrupted
        report = with_confirmation(report, ours, done)
    if len(again) > len(ours) and not report.interrupted:
        report = gathered_again(loaded, report, gathered, again, by)
    if again:
        retries = records.checkpoint(report)
    doubts = [retry for retry in retries if retry.beside and retry.suite not in plan.gathered_names]
    if doubts and base is not None and not report.interrupted:
        report = stage.settled(plan, report, doubts, base, ended)
        records.checkpoint(report)
    found = guidance(plan, report, stage.run_guidance) if guidance is not None else []
    if found:
        report = report.model_copy(update={"guidance": found})
        records.checkpoint(report)
    return report


def _planned(stage: _MeasuringStage, loaded: LoadedConfig, plan: Plan, beyond: Beyond) -> Report:
    """The report of the planned trials, whether they are all run here, are a shard's, or were run by shards."""
    known = beyond.known
    if known is None:
        return stage.planned(loaded, plan, beyond.base).model_copy(update={"part": beyond.part})
    for result in (result for run in known.runs for result in run.cases):
        for usage in result.usages:
            stage.account.known(usage)
    return with_parts(plan, known, stage.planned(loaded, not_in_parts(plan, known), beyond.base))


def guidance_runner(
    loaded: LoadedConfig, records: Records, outside: Outside, ended: Ended, *, resume: bool = False
) -> RunPlan:
    """Runs plans of one budget, each in a folder of its own, until one is `ended`; nothing is reported."""
    return structs.replace(_stage(loaded, records, outside, resume=resume), ended=ended).run_guidance


def _stage(
    loaded: LoadedConfig, records: Records, outside: Outside, *, resume: bool, confirms: bool = False
) -> _MeasuringStage:
    config = loaded.config
    account = Spending(Budget.planned(config.budget_usd, config.budget_tokens, confirms=confirms))
    return _MeasuringStage(records, records, account, outside, resume)


RunPlan = Callable[[Plan, str], Executed]
"""Runs a plan of the same account; its trials are kept apart from all others, under this name."""


class _MeasuringStage(Struct, frozen=True):
    """One after the other, the planned trials and the fresh ones: of one account, in one folder."""

    records: Records
    store: OutputStore
    account: Spending
    outside: Outside
    resume: bool
    under_way: TrialsUnderWay = field(default_factory=TrialsUnderWay)
    ended: Ended = field(default_factory=Ended)

    def run(self, plan: Plan) -> Executed:
        if not plan.runs:
            return Executed([])
        sizes = (
            (f"{run.suite.spec.name} × {run.target.id}", run.size) for run in plan.runs if run.not_measured is None
        )
        progress = ProgressLine(sizes, self.outside.err, live=self.outside.err.isatty())
        execution = ExecutionSettings(
            self.store,
            progress,
            resume=self.resume,
            account=self.account,
            base_store=self.records.of_base(),
            under_way=self.under_way,
            ended=self.ended,
        )
        done = asyncio.run(execute(plan, execution))
        progress.close()
        if not plan.size:
            self.outside.say(_nothing_to_run(plan))
        elif self.resume:
            self.outside.say(f"Kept {progress.kept:,} of {plural(plan.size, 'trial')} of the earlier run.")
        return done

    def planned(self, loaded: LoadedConfig, plan: Plan, base: BaseCommit | None) -> Report:
        """The report of the planned trials; of the suites that are compared with the base, both sides are run."""
        if base is None or not base.side.suites:
            return _report(loaded, plan, self.run(plan), self.outside, planned_texts(plan.runs))
        whole = whole_plan(plan, base.side.suites, base)
        for name, note in whole.notes.items():
            self.outside.say(f"{name} is not measured on the base's side: {note}.")
        on_base = [run for run in whole.plan.runs if run.of_base]
        if on_base:
            trials, sha = plural(sum(run.size for run in on_base), "trial"), (base.commit or "")[:7]
            names = ", ".join(dict.fromkeys(run.suite.spec.name for run in on_base))
            self.outside.say(f"Both sides of {names}: {trials} of the base commit {sha} alongside this one.")
        done = self.run(whole.plan)
        heads = [run for planned, run in zip(whole.plan.runs, done.runs, strict=True) if not planned.of_base]
        texts = planned_texts([*plan.runs, *whole.known.values()])
        report = _report(loaded, plan, structs.replace(done, runs=heads), self.outside, texts)
        return report.model_copy(update={"base": measured_base(whole, done, base.commit)})

    def settled(
        self, plan: Plan, report: Report, doubts: Sequence[RunRetrials], base: BaseCommit, ended: str | None
    ) -> Report:
        """The report with what was in doubt measured of both sides; `ended`: why nothing more may be run, if so."""
        pairs = _not_begun(doubts, ended) if ended else beside_plan(plan, report, doubts, base.run)
        for name, note in pairs.notes.items():
            self.outside.say(f"In doubt: {' × '.join(name)}: {note}.")
        if not pairs.plan.runs:
            return with_beside(report, pairs, Executed([]), base.commit)
        cases, trials = plural(pairs.cases, "case"), plural(pairs.trials, "trial")
        sha = (base.commit or "")[:7]
        self.outside.say(f"In doubt: {cases}, {trials} on each side, the base commit {sha} alongside this one.")
        return with_beside(report, pairs, self.run(pairs.plan), base.commit)

    def run_guidance(self, plan: Plan, name: str) -> Executed:
        """Run a plan of another guidance, with its trials in a folder of its own; none after a signal."""
        if self.ended.reason is not None:
            return Executed([], self.ended.reason, "signal")
        self.outside.say(f"Guidance {name}: {plural(plan.size, 'trial')}.")
        return structs.replace(self, store=self.records.of_guidance(name)).run(plan)


def _nothing_to_run(plan: Plan) -> str:
    standing = sum(run.not_measured == UNCHANGED for run in plan.runs)
    if standing == len(plan.runs):
        return f"Nothing to run: {'the one run stands' if standing == 1 else f'all {standing} runs stand'} as measured."
    left = len(plan.runs) - standing
    apart = f", {plural(standing, 'run')} as measured before" if standing else ""
    return f"Nothing to run: {plural(left, 'run')} can't be measured here{apart}."


def _not_begun(doubts: Sequence[RunRetrials], ended: str) -> Pairs:
    return Pairs(Plan([]), {(one.suite, one.target): f"it was not begun: {ended}" for one in doubts})


def _announced(retries: Sequence[RunRetrials]) -> str:
    cases = sum(len(retry.trials) for retry in retries)
    trials = sum(sum(retry.trials.values()) for retry in retries)
    failed = "1 case that failed" if cases == 1 else f"{cases} cases that failed"
    return f"Confirming: {plural(trials, 'retrial')} of {failed}, before a drop is reported."


def _report(loaded: LoadedConfig, plan: Plan, done: Executed, outside: Outside, texts: Mapping[str, str]) -> Report:
    runs = list(done.runs)
    return Report(
        tool=Tool(version=__version__),
        created_at=outside.now(),
        provenance=Provenance(
            commit=GitTree(loaded.root).head() if outside.versioned else None,
            config_sha256=loaded.sha256,
            platform=f"{platform.system()} {platform.machine()}, Python {platform.python_version()}",
        ),
        partial=plan.partial,
        interrupted=done.interrupted,
        interrupted_by=done.interrupted_by,
        warnings=[*plan.warnings, *done.warnings],
        findings=diagnose(runs),
        runs=runs,
        texts=dict(texts),
    )


def refuse_missing_keys(loaded: LoadedConfig, plan: Plan) -> None:
    """Raises `InputError` with one problem per missing key."""
    live = [run for run in plan.runs if run.not_measured is None]
    missing = {run.target.missing_key: run.target.id for run in live}
    problems = _keyless_judges(loaded, live)
    problems += [
        Problem(
            place=Place(file=loaded.file, line=loaded.line("suites")),
            field="targets",
            message=f"{target} needs a key, and {variable} is not set",
            remedy=f"Set {variable}, or leave the target out with --target.",
        )
        for variable, target in missing.items()
        if variable is not None
    ]
    if problems:
        raise InputError(problems)


def _keyless_judges(loaded: LoadedConfig, runs: Sequence[PlannedRun]) -> list[Problem]:
    missing = {name: key for run in runs if run.suite.judges for name, key in run.suite.judges.missing_keys.items()}
    return [
        Problem(
            place=Place(file=loaded.file, line=loaded.line("judge", "model")),
            field="judge",
            message=f"the judge {judge} needs a key, and {variable} is not set",
            remedy=f"Set {variable}, or name another judge.",
        )
        for judge, variable in missing.items()
    ]

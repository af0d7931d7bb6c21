"""The stages in a row: config → plan → trials → report → comparison → verdict."""

from __future__ import annotations

import asyncio
import platform
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from errno import EISDIR
from fnmatch import fnmatchcase
from pathlib import Path

from evalward import __version__
from evalward.commands.progress import ProgressLine
from evalward.commands.world import World
from evalward.config import LoadedConfig
from evalward.config.words import near_or_known
from evalward.decide.compare import Measure, compare
from evalward.decide.confirm import Retry, to_confirm
from evalward.decide.history import trend
from evalward.decide.samples import gather
from evalward.decide.staleness import with_staleness
from evalward.decide.standing import with_standing
from evalward.decide.timings import with_timings
from evalward.decide.verdict import judge
from evalward.decide.worst import with_worst_case, worst_case
from evalward.engine.confirm import confirm_plan, with_confirmation
from evalward.engine.control import Account, Budget
from evalward.engine.plan import Plan, PlannedRun, Selection, make_plan
from evalward.engine.scheduler import Executed, Execution, execute
from evalward.engine.store import Store, safe_name, write_atomic
from evalward.github.base import GitTree
from evalward.records.baseline import Baseline
from evalward.records.comparison import Comparison
from evalward.records.guidance import GuidanceComparison
from evalward.records.history import HistoryEntry
from evalward.records.policy import Policy, Rule
from evalward.records.problem import InputError, Place, Problem, wrong
from evalward.records.report import Finding, Provenance, Report, Run, Tool
from evalward.records.trend import Trend
from evalward.records.verdict import Judgement, Verdict
from evalward.render.numbers import plural
from evalward.suites import Kind, kind_named, kinds

REPORT_FILE = "report.json"
GUIDANCE_FOLDER = "guidance"


def prepare(loaded: LoadedConfig, selection: Selection, env: Mapping[str, str] | None = None) -> Plan:
    """Load and check everything before the first trial. Raises `InputError` with every problem found.

    `env` is where the keys of live targets are looked up.
    """
    problems = list(unfed_rules(loaded))
    try:
        plan = make_plan(loaded, selection, env)
    except InputError as error:
        raise InputError([*problems, *error.problems]) from None
    if problems:
        raise InputError(problems)
    return plan


def unfed_rules(loaded: LoadedConfig) -> list[Problem]:
    """Rules whose metric none of their suites has: nobody shall believe to be protected who is not."""
    found: list[Problem] = []
    config = loaded.config
    groups: list[tuple[tuple[str | int, ...], Sequence[Rule]]] = [(("policy",), config.policy)]
    groups += [(("profiles", name, "policy"), profile.policy) for name, profile in config.profiles.items()]
    for path, rules in groups:
        for index, rule in enumerate(rules):
            suites = [s for s in config.suites if any(rule.holds_for(s.name, target) for target in s.targets)]
            known = list(dict.fromkeys(m for s in suites for m in kind_named(s.kind).metric_ids))
            if known and not any(fnmatchcase(rule.metric, metric) for metric in known):
                place = Place(file=loaded.file, line=loaded.line(*path, index, "metric"))
                message = f"no suite that this rule holds for has the metric {rule.metric!r}"
                remedy = near_or_known(rule.metric, known, "Metrics")
                field = f"{'.'.join(map(str, path))}[{index}].metric"
                found.append(Problem(place=place, field=field, message=message, remedy=remedy))
    return found


@dataclass(frozen=True)
class Judging:
    """What a report is judged by."""

    baseline: Baseline | None
    policy: Policy


def run_plan(
    loaded: LoadedConfig,
    plan: Plan,
    output: Path,
    world: World,
    *,
    resume: bool = False,
    judging: Judging | None = None,
    beside: Beside | None = None,
) -> Report:
    """Run every trial; leaves `report.json` and `trials/` in the output folder.

    With `judging`, cases that failed are tried again where its policy wants that before it believes a drop. `beside`
    says how changed guidance compares with another; its trials are in no run. A live target without its key is told
    before anything is run: as `InputError`.
    """
    refuse_missing_keys(loaded, plan)
    refuse_output(output)
    stage = _stage(loaded, output, world, resume=resume)
    report = _report(loaded, plan, stage.run(plan), world)
    write_atomic(output / REPORT_FILE, dump_report(report))
    retries = _retries(report, judging) if judging else []
    if retries:
        world.say(_announced(retries))
        done = stage.run(confirm_plan(plan, retries))
        report = with_confirmation(report, retries, done)
        write_atomic(output / REPORT_FILE, dump_report(report))
    found = beside(plan, report, stage.apart) if beside is not None else []
    if found:
        report = report.model_copy(update={"guidance": found})
        write_atomic(output / REPORT_FILE, dump_report(report))
    return report


def run_apart(loaded: LoadedConfig, output: Path, world: World, *, resume: bool = False) -> RunPlan:
    """Runs plans of one budget, each in a folder of its own below `output/guidance`; nothing is reported."""
    return _stage(loaded, output, world, resume=resume).apart


def _stage(loaded: LoadedConfig, output: Path, world: World, *, resume: bool) -> _Stage:
    account = Account(Budget(loaded.config.budget_usd, loaded.config.budget_tokens))
    return _Stage(Store(output), account, world, resume)


RunPlan = Callable[[Plan, str], Executed]
"""Runs a plan of the same account; its trials are kept apart from all others, under this name."""
Beside = Callable[[Plan, Report, RunPlan], list[GuidanceComparison]]
"""What is measured beside the planned trials, by the same account, and belongs to no run of the report."""


@dataclass(frozen=True)
class _Stage:
    """One after the other, the planned trials and the fresh ones: of one account, in one folder."""

    store: Store
    account: Account
    world: World
    resume: bool

    def run(self, plan: Plan) -> Executed:
        progress = ProgressLine(plan.size, self.world.err, live=self.world.err.isatty())
        done = asyncio.run(execute(plan, Execution(self.store, progress, resume=self.resume, account=self.account)))
        progress.close()
        return done

    def apart(self, plan: Plan, name: str) -> Executed:
        """Run a plan of another guidance, with its trials in a folder of its own."""
        self.world.say(f"Guidance {name}: {plural(plan.size, 'trial')}.")
        own = Store(self.store.folder / GUIDANCE_FOLDER / safe_name(name))
        return replace(self, store=own).run(plan)


def _retries(report: Report, judging: Judging) -> list[Retry]:
    comparison = compare(report, judging.baseline, measures(report))
    return to_confirm(comparison, judging.policy, default_rules(report))


def _announced(retries: Sequence[Retry]) -> str:
    cases, trials = sum(len(retry.trials) for retry in retries), sum(retry.total for retry in retries)
    failed = "1 case that failed" if cases == 1 else f"{cases} cases that failed"
    return f"Confirming: {trials} fresh trials of {failed}, before a drop is believed."


def _report(loaded: LoadedConfig, plan: Plan, done: Executed, world: World) -> Report:
    runs = list(done.runs)
    return Report(
        tool=Tool(version=__version__),
        created_at=world.now(),
        provenance=Provenance(
            commit=GitTree(loaded.root).head(),
            config_sha256=loaded.sha256,
            platform=f"{platform.system()} {platform.machine()}, Python {platform.python_version()}",
        ),
        partial=plan.partial,
        interrupted=done.interrupted,
        warnings=[*plan.warnings, *done.warnings],
        findings=diagnose(runs),
        runs=runs,
    )


def refuse_output(output: Path) -> None:
    """Raises `InputError` when nothing could be written there: before anything is run, and paid for."""
    try:
        (output / "trials").mkdir(parents=True, exist_ok=True)
        if (output / REPORT_FILE).is_dir():
            raise IsADirectoryError(EISDIR, "it holds a folder named report.json")
    except OSError as error:
        remedy = "Choose another folder with --output, or with the action's input output-dir."
        raise wrong(str(output), f"can't be the output folder: {error.strerror}", remedy) from error


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


def diagnose(runs: Sequence[Run]) -> list[Finding]:
    """What several targets on one suite show together, suite by suite. Kinds that this version lacks say nothing."""
    suites = dict.fromkeys((run.suite, run.kind) for run in runs if run.kind in kinds())
    return [
        finding
        for suite, kind in suites
        for finding in kind_named(kind).diagnose([run for run in runs if (run.suite, run.kind) == (suite, kind)])
    ]


def dump_report(report: Report) -> str:
    """The text of `report.json`."""
    return report.model_dump_json(by_alias=True, indent=1) + "\n"


def remeasured(report: Report, file: str) -> Report:
    """A report that somebody else wrote, with every number that its cases give computed anew.

    Runs that list fewer cases than they planned keep their numbers: what is missing there counts as broken. Raises
    `InputError` for a kind that this version doesn't know: nothing could protect its metrics.
    """
    return report.model_copy(update={"runs": [_remeasured_run(run, file) for run in report.runs]})


def _remeasured_run(run: Run, file: str) -> Run:
    if run.kind not in kinds():
        raise wrong(file, f"{run.name} is of kind {run.kind!r}", f"This version knows: {', '.join(kinds())}.")
    if run.not_measured is not None or len(run.cases) < run.planned or not run.cases:
        return run
    measurement = kind_named(run.kind).measure(run.cases)
    return run.model_copy(update={"metrics": measurement.metrics, "categories": measurement.categories})


def _kinds_of(report: Report) -> dict[str, Kind]:
    """The kinds that a report has runs of, as far as this version knows them: no other is loaded."""
    names = dict.fromkeys(run.kind for run in report.runs if run.kind in kinds())
    return {name: kind_named(name) for name in names}


def measures(report: Report) -> Mapping[str, Measure]:
    """For each kind of the report, the function that computes its metrics."""
    return {name: kind.measure for name, kind in _kinds_of(report).items()}


def default_rules(report: Report) -> Mapping[str, Sequence[Rule]]:
    """For each kind of the report, its own rules."""
    return {name: kind.default_rules for name, kind in _kinds_of(report).items()}


def judge_report(
    report: Report, baseline: Baseline | None, policy: Policy, history: Sequence[HistoryEntry] = ()
) -> Judgement:
    """Compare and decide. `history` names what is flaky and shows trends; it decides nothing."""
    comparison, verdict = _decided(report, baseline, policy, history)
    worst = worst_case(report, baseline, measures(report))
    if worst is not None:
        verdict = with_worst_case(verdict, _decided(worst.report, baseline, policy, history)[1], worst)
    return Judgement(comparison=comparison, verdict=verdict, trends=_trends(verdict, history))


def _decided(
    report: Report, baseline: Baseline | None, policy: Policy, history: Sequence[HistoryEntry]
) -> tuple[Comparison, Verdict]:
    known = measures(report)
    samples = gather(report, baseline, known)
    comparison = with_staleness(compare(report, baseline, known), report, baseline)
    comparison = with_timings(with_standing(comparison, baseline, history), report, baseline)
    return comparison, judge(comparison, policy, default_rules(report), samples)


def _trends(verdict: Verdict, history: Sequence[HistoryEntry]) -> list[Trend]:
    """The protected metrics over the last measurements, where there are at least two to draw a line through."""
    ruled = dict.fromkeys((rule.suite, rule.target, rule.rule.metric) for rule in verdict.rules)
    found = [trend(history, *each) for each in ruled] if history else []
    return [each for each in found if len(each.known) > 1]


def dump_judgement(judgement: Judgement) -> str:
    """The text of a judgement."""
    return judgement.model_dump_json(by_alias=True, indent=1) + "\n"

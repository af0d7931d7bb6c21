"""The container action: event → base and head → check → comment, summary, outputs; the exit code comes last."""

from __future__ import annotations

import contextlib
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from evalward.commands.edits import Edits, edits_of
from evalward.commands.faults import internal_error
from evalward.commands.files import read_report
from evalward.commands.pipeline import (
    REPORT_FILE,
    Judging,
    judge_report,
    prepare,
    remeasured,
    run_plan,
    unfed_rules,
)
from evalward.commands.publish import publish
from evalward.commands.secrets import Redaction, redact_files, redaction_of
from evalward.commands.stored_history import history_of
from evalward.commands.surfaces import Page, Surfaces, annotated
from evalward.commands.world import World
from evalward.config import LoadedConfig, load_config
from evalward.engine.plan import Selection, without_missing_keys
from evalward.github.base import GitTree, resolve_base
from evalward.github.client import GitHub
from evalward.github.comment import Marker, PullRequest
from evalward.github.errors import GitHubError
from evalward.github.event import EventPlan, plan_event, read_payload
from evalward.github.protect import protected_changes
from evalward.github.runner_files import Annotation, Level, Outputs, append_summary, write_outputs
from evalward.github.settings import Runner, Settings, read_runner, read_settings
from evalward.github.sides import Sides, read_sides
from evalward.records.problem import InputError, Problem
from evalward.records.report import Report
from evalward.records.verdict import EXIT_INPUT, EXIT_OK, EXIT_UNJUDGED
from evalward.render.context import Context
from evalward.render.problems import problems_markdown


@dataclass(frozen=True)
class Job:
    """What the whole run of the action needs to know."""

    world: World
    settings: Settings
    runner: Runner
    plan: EventPlan
    redaction: Redaction = field(repr=False)

    @property
    def folder(self) -> Path:
        """The working directory."""
        return self.surfaces.folder

    @property
    def output(self) -> Path:
        """Where reports are left."""
        return self.surfaces.output

    @property
    def surfaces(self) -> Surfaces:
        """Where we show what we found."""
        settings, runner, plan = self.settings, self.runner, self.plan
        marker = Marker(settings.comment_id, plan.head_sha, runner.run_id, runner.run_attempt)
        pull = None
        if plan.comment and plan.pull_number is not None:
            pull = PullRequest(plan.repository, plan.pull_number, plan.fork, plan.dependabot)
        return Surfaces(self.world, settings, runner, marker, pull, self.redaction)

    def tell(self, *lines: str) -> None:
        """Write workflow commands and lines of ours to the log."""
        self.surfaces.tell(*lines)


def run_action(world: World) -> int:
    """The exit code: 0 pass, 1 the gate failed, 2 the input is wrong, 3 could not be judged."""
    runner = read_runner(world.env)
    try:
        settings = read_settings(world.env)
        if settings.publish is not None:
            return publish(world, settings)
        plan = plan_event(world.env, read_payload(runner.event_path))
    except InputError as error:
        return _wrong_inputs(world, runner, error.problems)
    job = Job(world, settings, runner, plan, Redaction(world.env))
    job.surfaces.mask()
    if plan.run_head:
        return _evaluate(job)
    level: Level = "notice" if plan.nothing_to_do else "error"
    job.tell(Annotation(level, plan.reason_not or "Nothing to do.", title="Evalward").command())
    code = EXIT_OK if plan.nothing_to_do else EXIT_INPUT
    job.surfaces.write(Outputs(verdict="" if plan.nothing_to_do else "error", exit_code=code))
    return code


def _wrong_inputs(world: World, runner: Runner, problems: Sequence[Problem]) -> int:
    """The action's own inputs are wrong: nothing could start, and the check says why."""
    for command in annotated(problems):
        world.out.write(command + "\n")
    text = problems_markdown("the action's inputs are wrong", problems, run_url=runner.run_url)
    if runner.summary is not None:
        with contextlib.suppress(OSError):
            append_summary(runner.summary, text)
    if runner.output is not None:
        write_outputs(runner.output, Outputs(verdict="error", exit_code=EXIT_INPUT).values())
    return EXIT_INPUT


def _evaluate(job: Job) -> int:
    with GitHub(job.settings.github_token, job.runner.api_url) as client:
        try:
            page = _page(job, client)
        except InputError as error:
            job.tell(*annotated(error.problems))
            page = job.surfaces.unjudged("the input is wrong", error.problems, EXIT_INPUT)
        except GitHubError as error:
            job.tell(Annotation("error", str(error), title="Evalward").command())
            page = job.surfaces.unjudged(str(error), (), EXIT_UNJUDGED)
        except Exception as error:  # our own fault must not leave an older run's "passed" standing
            told = internal_error(error)
            job.tell(Annotation("error", told, title="Evalward").command())
            page = job.surfaces.unjudged(told, (), EXIT_UNJUDGED)
        return job.surfaces.publish(client, page).exit_code


# --- measuring and judging ------------------------------------------------------------------------------------------


def _page(job: Job, client: GitHub) -> Page:
    config = job.folder / job.settings.config
    loaded = load_config(config, job.surfaces.shown(config))
    tree = GitTree(
        job.runner.workspace,
        repository=job.plan.repository,
        remote=client if job.settings.github_token else None,
        search_path=job.runner.search_path,
    )
    base = resolve_base(job.plan, tree)
    sides = read_sides(job.settings, job.plan, base, tree, loaded)
    job = replace(job, redaction=redaction_of(job.world.env, sides.providers, loaded.config.providers))
    job.surfaces.mask()  # now with the variables that the configuration names for keys
    spare = job.plan.fork or job.plan.dependabot or sides.unprotected
    report = _report(job, sides, sides.applied(loaded), spare_keyless=spare)
    redact_files(job.output, job.redaction)
    report = job.redaction.record(report)
    history = history_of(loaded, job.world)
    judgement = judge_report(report, sides.judging.baseline, sides.judging.policy, history)
    remote = client if job.settings.github_token else None
    edits = edits_of(sides, report, protected_changes(job.settings, job.plan, sides, tree, remote))
    context = _context(job, sides, edits)
    job.surfaces.show(judgement, annotate_cases=True)
    return job.surfaces.judged(judgement, report, context)


def _report(job: Job, sides: Sides, loaded: LoadedConfig, *, spare_keyless: bool) -> Report:
    """The report that an earlier step made, or a new one.

    `spare_keyless`: a live target without its key is not measured, which is said plainly, instead of being an error.
    """
    settings = job.settings
    selection = Selection(suites=settings.suites, targets=settings.targets, trials=settings.trials)
    if settings.report is not None:
        problems = unfed_rules(loaded)
        if problems:
            raise InputError(problems)
        report = remeasured(read_report(job.folder / settings.report), settings.report)
        return report.model_copy(update={"partial": selection.partial})  # what is partial, only the job says
    with job.surfaces.guarded_log():
        plan = prepare(loaded, selection, job.world.env)
        if spare_keyless:
            plan = without_missing_keys(plan)
        judging = Judging(sides.judging.baseline, sides.judging.policy)
        return run_plan(loaded, plan, job.output, job.world, judging=judging)


def _context(job: Job, sides: Sides, edits: Edits) -> Context:
    config = job.settings.config
    return Context(
        head_sha=job.plan.head_sha,
        base_sha=sides.base.sha,
        run_url=job.runner.run_url,
        report_path=_report_path(job),
        command=f"evalward check --config {config}",
        accept=(
            f"update the baseline: `evalward run --config {config}`, then "
            f"`evalward baseline update --config {config}`, and commit it"
        ),
        repository=job.plan.repository,
        marker=job.surfaces.marker.format(),
        unprotected=sides.unprotected,
        edits=edits.sentences,
        edit_lines=edits.lines,
    )


def _report_path(job: Job) -> str:
    if job.settings.report is not None:
        return job.surfaces.shown(job.folder / job.settings.report)
    return job.surfaces.shown(job.output / REPORT_FILE)

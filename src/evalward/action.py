"""The container action: event → base and head → check → comment, summary, outputs; the exit code comes last."""

from __future__ import annotations

import posixpath
from collections.abc import Callable
from dataclasses import replace
from functools import partial

from msgspec import structs

from evalward.commands.accept import accept_comment
from evalward.commands.accepted import Honoured, find_accepted
from evalward.commands.accepting import in_ci
from evalward.commands.again import again_of, decide_again, of_others, remembered
from evalward.commands.base_files import head_files
from evalward.commands.edits import edits_of
from evalward.commands.job import Checkout, Job, Measured
from evalward.commands.job_history import anchor_of_job, history_of_job, keep_measured
from evalward.commands.link import link
from evalward.commands.measuring import load, runner_of
from evalward.commands.modes import MODES
from evalward.commands.pipeline import Criteria, decide_report
from evalward.commands.publish import publish
from evalward.commands.published import Failing, published
from evalward.commands.reporting import ReportingJob, new_report, report_of_step
from evalward.commands.shard_job import shard_page
from evalward.commands.surfaces import Publication, wrong_inputs
from evalward.commands.world import World
from evalward.decide.proposal import as_proposed
from evalward.github.base import resolve_base
from evalward.github.client import GitHub
from evalward.github.event import plan_event, read_payload
from evalward.github.protect import protected_changes
from evalward.github.runner_files import Annotation, Level, Outputs
from evalward.github.settings import ActionInputs, read_runner, read_settings
from evalward.github.sides import BaseAndHead, read_sides
from evalward.keeper.session import RunnerSession as HeadRunner
from evalward.records.exits import EXIT_INPUT, EXIT_OK
from evalward.records.history import HistoryEntry
from evalward.records.problem import InputError
from evalward.records.report import Report
from evalward.records.tries import Try
from evalward.records.verdict import Judgement
from evalward.render.context import PageContext


def _history_page(world: World, settings: ActionInputs) -> int:
    from evalward.commands.job_history_page import write_history_page  # noqa: PLC0415 - few runs make one

    return write_history_page(world, settings)


_ALONE: dict[str, Callable[[World, ActionInputs], int]] = {"link": link, "history-page": _history_page}
"""Modes that judge nothing."""


def run_action(world: World) -> int:
    """The exit code: 0 pass, 1 the gate failed, 2 the input is wrong, 3 could not be judged."""
    runner = read_runner(world.env)
    try:
        settings = read_settings(world.env)
        if settings.mode in _ALONE:
            return _ALONE[settings.mode](world, settings)
        if settings.publish is not None:
            return publish(world, settings)
        if settings.mode == "accept" and world.env.get("GITHUB_EVENT_NAME") == "issue_comment":
            return accept_comment(world, settings)
        plan = plan_event(world.env, read_payload(runner.event_path))
    except InputError as error:
        return wrong_inputs(world, runner, error.problems)
    job = Job.of(world, settings, runner, plan)
    job.surfaces.mask()
    if not plan.run_head:
        return _nothing_run(job)
    with GitHub(settings.github_token, runner.api_url) as client:
        return published(
            job.surfaces,
            client,
            lambda opened: _page(replace(job, surfaces=opened), client),
            Failing("the input is wrong"),
        )


def _nothing_run(job: Job) -> int:
    """The event asks for nothing, or for what must not be run."""
    plan = job.plan
    level: Level = "notice" if plan.nothing_to_do else "error"
    job.tell(Annotation(level, plan.reason_not or "Nothing to do.", title="Evalward").command())
    code = EXIT_OK if plan.nothing_to_do else EXIT_INPUT
    job.surfaces.write(Outputs(verdict="" if plan.nothing_to_do else "error", exit_code=code))
    return code


def _page(job: Job, client: GitHub) -> Publication:
    """The page, with a runner at hand: whatever of the head is opened, it opens."""
    if job.settings.report is None:
        job.left.clear()  # nothing of an earlier run lies where this one measures
    with runner_of(job.surfaces.world, job.runner.workspace) as head:
        return _judged_page(job, client, head)


def _judged_page(job: Job, client: GitHub, head: HeadRunner) -> Publication:
    settings = job.settings
    config = posixpath.join(settings.working_directory, settings.config)
    loaded, read = load(head, config, posixpath.normpath(config), ".")
    job = job.hiding(loaded.config.key_names)
    checkout = Checkout(job, client, job.surfaces.tree(client), loaded, head)
    mode = MODES[settings.mode](checkout)
    mode.before()
    job, sides, accepted = _sides(checkout)
    judging = Criteria(sides.judging.baseline, sides.judging.policy)
    work = _work(job, checkout, sides)
    report, digest = report_of_step(work, read) if settings.report is not None else new_report(work, judging)
    if report.part is not None:
        return shard_page(job, report, report.part)
    history = history_of_job(job, checkout, sides)
    anchor = anchor_of_job(job, checkout, sides)
    judgement, tried = _judgement(work, client, report, judging.decide(report, history, anchor), history)
    judgement = accepted.attributed(judgement) if accepted else judgement
    context = _context(job, checkout, sides, report, judging, judgement=judgement)
    if accepted:
        context = structs.replace(context, notes=(accepted.note,))
    job.surfaces.show(judgement, annotate_cases=True)
    job.surfaces.show_page(judgement, report, judging.baseline, context, trials=True)
    page = remembered(job.surfaces.judged(judgement, report, context, digest), tried)
    keep_measured(job, checkout, report, judgement)
    judge = partial(decide_report, history=history, anchor=anchor)
    return mode.after(Measured(job, report, digest, sides.judging.policy, judgement.verdict, judge), page)


def _sides(checkout: Checkout) -> tuple[Job, BaseAndHead, Honoured | None]:
    """Base and head, with the baseline that a maintainer accepted here; the job, which now hides the base's keys."""
    job, tree, client = checkout.job, checkout.tree, checkout.client
    base = resolve_base(job.plan, tree)
    files = head_files(checkout.head, job.settings)
    sides = read_sides(job.settings, job.plan, base, tree, checkout.loaded, files=files)
    job = job.hiding(sides.key_names)
    accepted = find_accepted(job.surfaces, job.plan, sides.judging, tree, client) if sides.base.sha else None
    sides = sides.accepting(accepted.baseline) if accepted else sides
    job.surfaces.mask()  # now with the variables that the configuration names for keys
    return job, sides, accepted


def _work(job: Job, checkout: Checkout, sides: BaseAndHead) -> ReportingJob:
    """What is to be measured."""
    spare = job.plan.fork or job.plan.dependabot or sides.unprotected
    head = checkout.loaded
    return ReportingJob(
        job.surfaces,
        job.plan,
        checkout.head,
        sides,
        sides.applied(head),
        checkout.tree,
        spare_keyless=spare,
        withheld=sides.withheld(head),
    )


def _judgement(
    work: ReportingJob, client: GitHub, report: Report, judgement: Judgement, history: list[HistoryEntry]
) -> tuple[Judgement, Try]:
    """The judgement by the base's rules, with what earlier tries of the same commit gave."""
    surfaces, plan, sides = work.surfaces, work.plan, work.sides
    policy, baseline = sides.judging.policy, sides.judging.baseline
    pushed = of_others(history, report) if plan.event == "push" else ()
    again = again_of(surfaces, client, policy, baseline, pushed)
    judgement, tried = decide_again(surfaces, judgement, report, baseline, again)
    if plan.proposed:
        unjudged = sides.unprotected and not surfaces.settings.bootstrap
        judgement = as_proposed(judgement, policy, unjudged=unjudged, fail_on=surfaces.settings.fail_on)
    return judgement, tried


def _context(
    job: Job, checkout: Checkout, sides: BaseAndHead, report: Report, judging: Criteria, *, judgement: Judgement
) -> PageContext:
    """What the comment says besides the judgement: what the change edits in what judges it, and how to accept it."""
    surfaces = job.surfaces
    protected = protected_changes(job.settings, job.plan, sides, checkout.tree, surfaces.remote(checkout.client))
    edits = edits_of(sides, report, protected)
    accept = in_ci(job.settings, job.runner, job.plan, report, judging, judgement=judgement)
    context = surfaces.context(accept, sides.base.sha, job.report_file)
    return structs.replace(context, unprotected=sides.unprotected, edits=edits.sentences, edit_lines=edits.lines)

"""The container action: event → base and head → check → comment, summary, outputs; the exit code comes last."""

from __future__ import annotations

import posixpath
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path

from evalward.commands.accept import Case, accept_comment, accept_label, label_case
from evalward.commands.accepted import honoured
from evalward.commands.accepting import in_ci
from evalward.commands.again import again_of, judge_again, of_others, remembered
from evalward.commands.anchoring import Anchoring, find_anchor
from evalward.commands.base_files import head_files
from evalward.commands.baseline_ci import BlockedError, Update, needs_token, repository_baseline, update_baseline
from evalward.commands.ci_history import Keeping, keep_history, read_branch_history, read_commit_history
from evalward.commands.edits import Edits, edits_of
from evalward.commands.faults import internal_error
from evalward.commands.measuring import load, runner_of
from evalward.commands.pipeline import Judge, Judging, judge_report
from evalward.commands.publish import publish
from evalward.commands.release import ReleaseOptions, judge_release, leave_release
from evalward.commands.reporting import Work, new_report, report_of_step
from evalward.commands.stored_history import history_of
from evalward.commands.surfaces import Page, Surfaces, annotated, wrong_inputs
from evalward.commands.world import World
from evalward.config import LoadedConfig
from evalward.config.providers import Providers
from evalward.decide.anchor import Anchor
from evalward.decide.proposal import as_proposed
from evalward.git import GitTree, repository_path
from evalward.github.base import resolve_base
from evalward.github.client import GitHub
from evalward.github.comment import Marker, PullRequest
from evalward.github.commits import only_baseline_pushed
from evalward.github.errors import GitHubError
from evalward.github.event import EventPlan, plan_event, read_payload
from evalward.github.protect import protected_changes
from evalward.github.repository import Repository
from evalward.github.runner_files import Annotation, Level, Outputs
from evalward.github.settings import Runner, Settings, read_runner, read_settings
from evalward.github.sides import Sides, read_sides
from evalward.github.status import status_state
from evalward.keeper.outputs import OutputFolder
from evalward.keeper.session import Runner as HeadRunner
from evalward.records.history import HistoryEntry
from evalward.records.policy import Policy
from evalward.records.problem import InputError, wrong
from evalward.records.release import ReleaseReport
from evalward.records.report import REPORT_FILE, Report
from evalward.records.verdict import EXIT_FAILED, EXIT_INPUT, EXIT_OK, EXIT_UNJUDGED, Judgement, Verdict
from evalward.redaction import Redaction
from evalward.render.context import Accepting, Context
from evalward.render.escape import log_text, md_prose
from evalward.render.sentences import headline


@dataclass(frozen=True)
class Job:
    """What the whole run of the action needs to know."""

    world: World
    settings: Settings
    runner: Runner
    plan: EventPlan
    redaction: Redaction = field(repr=False)
    outputs: OutputFolder | None = None

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
        if settings.mode == "check" and plan.comment and plan.pull_number is not None:
            pull = PullRequest(plan.repository, plan.pull_number, plan.fork, plan.dependabot)
        return Surfaces(self.world, settings, runner, marker, pull, self.redaction, self.outputs, plan.base_ref)

    def opened(self) -> Job:
        """With the output folder open, and nothing of an earlier run where this one measures. Raises `InputError`."""
        outputs = self.surfaces.opened().outputs
        if outputs is not None and self.settings.report is None:
            outputs.clear()
        return replace(self, outputs=outputs)

    def hiding(self, *configured: Providers) -> Job:
        """What is told and left from here on is without the keys whose variables a configuration names."""
        world = self.world.hiding(frozenset().union(*(each.key_names for each in configured)))
        outputs = self.outputs.hiding(world.redaction) if self.outputs is not None else None
        return replace(self, world=world, redaction=world.redaction, outputs=outputs)

    @property
    def left(self) -> OutputFolder:
        """The output folder, once it is open."""
        if self.outputs is None:
            raise RuntimeError("the output folder is not open")
        return self.outputs

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
        if settings.mode == "accept" and world.env.get("GITHUB_EVENT_NAME") == "issue_comment":
            return accept_comment(world, settings)
        plan = plan_event(world.env, read_payload(runner.event_path))
    except InputError as error:
        return wrong_inputs(world, runner, error.problems)
    job = Job(world, settings, runner, plan, world.redaction)
    job.surfaces.mask()
    if plan.run_head:
        return _evaluate(job)
    level: Level = "notice" if plan.nothing_to_do else "error"
    job.tell(Annotation(level, plan.reason_not or "Nothing to do.", title="Evalward").command())
    code = EXIT_OK if plan.nothing_to_do else EXIT_INPUT
    job.surfaces.write(Outputs(verdict="" if plan.nothing_to_do else "error", exit_code=code))
    return code


def _evaluate(job: Job) -> int:
    with GitHub(job.settings.github_token, job.runner.api_url) as client:
        try:
            job = job.opened()
            page = _page(job, client)
        except _IdleError as idle:
            job.surfaces.write(Outputs(verdict="", exit_code=idle.exit_code))
            return idle.exit_code
        except InputError as error:
            job.tell(*annotated(error.problems))
            page = job.surfaces.unjudged("the input is wrong", error.problems, EXIT_INPUT)
        except GitHubError as error:
            job.tell(Annotation("error", str(error), title="Evalward").command())
            page = job.surfaces.unjudged(str(error), (), EXIT_UNJUDGED)
        except Exception as error:  # our own fault must not leave an older run's "passed" standing
            told = internal_error(error, job.redaction)
            job.tell(Annotation("error", told, title="Evalward").command())
            page = job.surfaces.unjudged(told, (), EXIT_UNJUDGED)
        return job.surfaces.publish(client, page).exit_code


class _IdleError(Exception):
    """There is nothing to measure, and that has been told."""

    def __init__(self, exit_code: int) -> None:
        self.exit_code = exit_code
        super().__init__(exit_code)


# --- measuring and judging ------------------------------------------------------------------------------------------


def _page(job: Job, client: GitHub) -> Page:
    """The page, with a runner at hand: whatever of the head is opened, it opens."""
    with runner_of(job.world, job.runner.workspace) as head:
        return _judged_page(job, client, head)


def _judged_page(job: Job, client: GitHub, head: HeadRunner) -> Page:
    config = posixpath.join(job.settings.working_directory, job.settings.config)
    loaded, read = load(head, config, posixpath.normpath(config), ".")
    tree = GitTree(
        job.runner.workspace,
        repository=job.plan.repository,
        remote=client if job.settings.github_token else None,
        search_path=job.runner.search_path,
    )
    job = job.hiding(loaded.config.providers)
    finish = _finisher(job, client, tree, loaded, head)
    base = resolve_base(job.plan, tree)
    sides = read_sides(job.settings, job.plan, base, tree, loaded, files=head_files(head, job.settings))
    job = job.hiding(sides.providers)
    word = honoured(job.surfaces, job.plan, sides.judging, tree, client) if sides.base.sha else None
    sides = sides.accepting(word.baseline) if word else sides
    job.surfaces.mask()  # now with the variables that the configuration names for keys
    spare = job.plan.fork or job.plan.dependabot or sides.unprotected
    work = Work(job.surfaces, job.plan, head, sides, sides.applied(loaded), tree, spare_keyless=spare)
    report, digest = report_of_step(work, read) if job.settings.report is not None else new_report(work)
    history = _history(job, client, tree, sides, head)
    judge = partial(judge_report, history=history, anchor=_anchor(job, tree, sides))
    judgement = judge(report, sides.judging.baseline, sides.judging.policy)
    pushed = of_others(history, report) if job.plan.kind == "push" else ()
    again = again_of(job.surfaces, client, sides.judging.policy, sides.judging.baseline, pushed)
    judgement, tried = judge_again(job.surfaces, judgement, report, sides.judging.baseline, again)
    if job.plan.proposed:
        judgement = as_proposed(
            judgement,
            sides.judging.policy,
            unjudged=sides.unprotected and not job.settings.bootstrap,
            asked=job.settings.fail_on,
        )
    judgement = word.told(judgement) if word else judgement
    remote = client if job.settings.github_token else None
    edits = edits_of(sides, report, protected_changes(job.settings, job.plan, sides, tree, remote))
    judging = Judging(sides.judging.baseline, sides.judging.policy)
    accept = in_ci(job.settings, job.runner, job.plan, report, judging, judgement=judgement)
    context = _context(job, sides, edits, accept, (word.note,) if word else ())
    job.surfaces.show(judgement, annotate_cases=True)
    page = remembered(job.surfaces.judged(judgement, report, context, digest), tried)
    _keep_history(job, client, _keeping(job, tree, loaded), report, judgement)
    return finish(Measured(job, report, digest, sides.judging.policy, judgement.verdict, judge), page)


def _anchor(job: Job, tree: GitTree, sides: Sides) -> Anchor | None:
    """What slow losses are measured against, as the base says. A change that is only proposed is warned of them."""
    plan, judging = job.plan, sides.judging
    path = repository_baseline(job.settings, tree, judging.baseline_path)
    blocks = not plan.proposed and plan.pull_number is None
    anchor, notes = find_anchor(tree, Anchoring(judging.policy, [path], plan.branch, blocks))
    for note in notes:
        job.tell(Annotation("notice", note, title="Evalward").command())
    return anchor


def _history(job: Job, client: GitHub, tree: GitTree, sides: Sides, head: HeadRunner) -> list[HistoryEntry]:
    """What earlier runs measured: where the base says that it is, of the data branch or of the base commit.

    A pull request doesn't choose what speaks about its cases. That nothing can be read changes no verdict.
    """
    place, settings = sides.judging.history, job.settings
    try:
        if place is not None and place.branch is not None and settings.github_token:
            found = read_branch_history(Repository(client, job.plan.repository), place.branch)
        elif place is not None and place.folder is not None and sides.base.sha is not None:
            parts = [settings.working_directory, posixpath.dirname(settings.config), place.folder]
            found = read_commit_history(tree, sides.base.sha, repository_path(tree.prefix(), parts))
        else:
            return history_of(head, place, job.world)
    except (GitHubError, InputError) as error:
        job.tell(Annotation("notice", f"The history was not read: {error}", title="Evalward").command())
        return []
    for warning in found.warnings:
        job.tell(Annotation("notice", warning, title="Evalward").command())
    return list(found.entries)


def _keeping(job: Job, tree: GitTree, loaded: LoadedConfig) -> Keeping | None:
    """Where what a push to a branch measured is kept, whatever the verdict."""
    place, settings = loaded.config.history, job.settings
    if place is None or place.branch is None or settings.mode != "update-baseline":
        return None
    config = repository_path(tree.prefix(), [settings.working_directory, settings.config])
    return Keeping(place.branch, job.plan.branch, config, settings.dry_run)


def _keep_history(job: Job, client: GitHub, keeping: Keeping | None, report: Report, judgement: Judgement) -> None:
    """That it can't be kept is told, and is no failure."""
    if keeping is None:
        return
    try:
        job.tell(log_text(keep_history(Repository(client, job.plan.repository), keeping, report, judgement)))
    except (GitHubError, InputError) as error:
        job.tell(Annotation("warning", f"The history was not kept: {error}", title="Evalward").command())


def _context(job: Job, sides: Sides, edits: Edits, accept: Accepting, notes: tuple[str, ...]) -> Context:
    config = job.settings.config
    return Context(
        head_sha=job.plan.head_sha,
        base_ref=job.plan.base_ref,
        base_sha=sides.base.sha,
        run_url=job.runner.run_url,
        report_path=_report_path(job),
        command=f"evalward check --config {config}",
        accept=accept,
        repository=job.plan.repository,
        marker=job.surfaces.marker.format(),
        unprotected=sides.unprotected,
        notes=notes,
        edits=edits.sentences,
        edit_lines=edits.lines,
    )


def _report_path(job: Job) -> str:
    if job.settings.report is not None:
        return job.surfaces.shown(job.folder / job.settings.report)
    return job.surfaces.shown(job.output / REPORT_FILE)


# --- what else than judging may be asked for ------------------------------------------------------------------------


@dataclass(frozen=True)
class Measured:
    """A judged report, its digest, the policy that judged it, the verdict, and how it was judged.

    `job` is the one that measured: it knows every secret.
    """

    job: Job
    report: Report
    digest: str
    policy: Policy
    verdict: Verdict
    judge: Judge


Finish = Callable[[Measured, Page], Page]


def _finisher(job: Job, client: GitHub, tree: GitTree, loaded: LoadedConfig, head: HeadRunner) -> Finish:
    """What is done after judging, checked before anything is measured. Raises `_IdleError` if there is no need."""
    if job.settings.mode == "check":
        return lambda _, page: page
    if job.settings.mode == "release":
        return lambda measured, page: _released(measured.job, loaded, head, measured, page)
    needs_token(job.settings.github_token)
    if job.settings.mode == "accept":
        case, code = label_case(job.surfaces, client, job.plan)
        if case is None:
            raise _IdleError(code)
        return lambda measured, page: _accepted(case, measured, page)
    return _updater(job, client, tree, loaded)


def _released(job: Job, loaded: LoadedConfig, head: HeadRunner, measured: Measured, page: Page) -> Page:
    """The page of a release check: both verdicts, the worse of which counts."""
    settings = job.settings
    options = ReleaseOptions(
        report=job.output / REPORT_FILE,
        config=job.folder / settings.config,
        output=job.output,
        branch=job.plan.branch,
        profile=settings.profile,
        fail_on=settings.fail_on,
    )
    found = job.redaction.record(_release(loaded, head, measured, options))
    text = leave_release(found, job.left, f"evalward release --config {settings.config}")
    code = found.exit_code
    verdict = found.worse.verdict
    outputs = replace(page.outputs, exit_code=code, verdict=verdict.outcome)
    return replace(page, summary=text, outputs=outputs, state=status_state(code), headline=headline(verdict))


def _release(loaded: LoadedConfig, head: HeadRunner, measured: Measured, options: ReleaseOptions) -> ReleaseReport:
    return judge_release(loaded, measured.report, options, head.read, measured.judge)


def _accepted(case: Case, measured: Measured, page: Page) -> Page:
    code, url = accept_label(case, measured.report, measured.digest)
    return replace(page, outputs=replace(page.outputs, exit_code=code, baseline_url=url or None))


def _updater(job: Job, client: GitHub, tree: GitTree, loaded: LoadedConfig) -> Finish:
    settings, plan = job.settings, job.plan
    if plan.pull_number is not None or plan.kind == "merge_group" or plan.branch is None:
        message = f"'update-baseline' has no branch to write to in an event {plan.kind} of {plan.head_ref!r}"
        raise wrong("input mode", message, "Use it for pushes to a branch, schedule or workflow_dispatch.")
    branch = plan.branch
    path = repository_baseline(settings, tree, loaded.config.baseline_for(branch, settings.profile))
    repository = Repository(client, plan.repository)
    if plan.kind == "push" and only_baseline_pushed(repository, plan.base_sha, plan.head_sha, path):
        note = f"The push changes nothing but {path}: there is nothing new to measure."
        job.tell(Annotation("notice", note, title="Evalward").command())
        raise _IdleError(EXIT_OK)

    def finish(measured: Measured, page: Page) -> Page:
        update = Update(
            report=measured.report,
            policy=measured.policy,
            branch=branch,
            path=path,
            to=settings.baseline_to,
            pull_branch=settings.baseline_branch,
            mode=settings.baseline_mode,
            dry_run=settings.dry_run,
            run_url=job.runner.run_url,
            judge=measured.judge,
        )
        return _updated(job, repository, update, measured, page)

    return finish


def _updated(job: Job, repository: Repository, update: Update, measured: Measured, page: Page) -> Page:
    """The page with what became of the baseline. What fails the gate is not pushed; what is not judged goes nowhere."""
    if measured.verdict.exit_code == EXIT_UNJUDGED:
        return page
    try:
        told = update_baseline(repository, update)
    except BlockedError as error:
        job.tell(Annotation("error", str(error), title="Evalward").command())
        text = f"{page.summary}\n{md_prose(str(error))}\n"
        return replace(page, summary=text, outputs=replace(page.outputs, exit_code=EXIT_FAILED))
    job.tell(log_text(told.line))
    leaked = any(reason.stage == "anchor" for reason in measured.verdict.reasons)  # merging a proposal mends no leak
    code = measured.verdict.exit_code if leaked else EXIT_OK
    outputs = replace(page.outputs, exit_code=code, baseline_url=told.url or None)
    return replace(page, summary=f"{page.summary}\n### Baseline\n\n{told.markdown}\n", outputs=outputs)

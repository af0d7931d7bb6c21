"""The container action: event → base and head → check → comment, summary, outputs; the exit code comes last."""

from __future__ import annotations

import contextlib
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from evalward.commands.check import COMMENT_FILE, JUDGEMENT_FILE
from evalward.commands.faults import internal_error
from evalward.commands.files import read_report, write_text
from evalward.commands.pipeline import (
    REPORT_FILE,
    dump_judgement,
    judge_report,
    prepare,
    remeasured,
    run_plan,
    unfed_rules,
)
from evalward.commands.world import World
from evalward.config import LoadedConfig, load_config
from evalward.engine.plan import Selection, without_missing_keys
from evalward.github.base import GitTree, resolve_base
from evalward.github.client import GitHub
from evalward.github.comment import Marker, Posted, PullRequest, post
from evalward.github.errors import GitHubError
from evalward.github.event import EventPlan, plan_event, read_payload
from evalward.github.runner_files import (
    Annotation,
    Level,
    Outputs,
    annotation_commands,
    append_summary,
    commands_stopped,
    give_to_owner,
    mask_commands,
    write_outputs,
)
from evalward.github.settings import Runner, Settings, read_runner, read_settings
from evalward.github.sides import Sides, read_sides
from evalward.records.problem import InputError, Problem
from evalward.records.report import Report
from evalward.records.verdict import EXIT_INPUT, EXIT_OK, EXIT_UNJUDGED, Judgement, Outcome
from evalward.render.context import Context
from evalward.render.escape import log_text
from evalward.render.markdown import fit, summary
from evalward.render.problems import problems_markdown
from evalward.render.terminal import judgement_text


@dataclass(frozen=True)
class Job:
    """What the whole run of the action needs to know."""

    world: World
    settings: Settings
    runner: Runner
    plan: EventPlan

    @property
    def folder(self) -> Path:
        """The working directory."""
        return self.runner.workspace / self.settings.working_directory

    @property
    def output(self) -> Path:
        """Where reports are left."""
        return self.folder / self.settings.output_dir

    @property
    def marker(self) -> Marker:
        """What our comment says of itself."""
        return Marker(self.settings.comment_id, self.plan.head_sha, self.runner.run_id, self.runner.run_attempt)

    def tell(self, *lines: str) -> None:
        """Write workflow commands and lines of ours to the log."""
        for line in lines:
            self.world.out.write(line + "\n")
        self.world.out.flush()


@dataclass(frozen=True)
class Page:
    """What is published: the comment's text, the summary's, and what the outputs say."""

    comment: str
    summary: str
    outputs: Outputs
    changed: bool
    failed: bool


def run_action(world: World) -> int:
    """The exit code: 0 pass, 1 the gate failed, 2 the input is wrong, 3 could not be judged."""
    runner = read_runner(world.env)
    try:
        settings = read_settings(world.env)
        plan = plan_event(world.env, read_payload(runner.event_path))
    except InputError as error:
        return _wrong_inputs(world, runner, error.problems)
    job = Job(world, settings, runner, plan)
    job.tell(*mask_commands(settings.github_token))
    if plan.run_head:
        return _evaluate(job)
    level: Level = "notice" if plan.nothing_to_do else "error"
    job.tell(Annotation(level, plan.reason_not or "Nothing to do.", title="Evalward").command())
    code = EXIT_OK if plan.nothing_to_do else EXIT_INPUT
    _write_outputs(job, Outputs(verdict="" if plan.nothing_to_do else "error", exit_code=code))
    return code


def _wrong_inputs(world: World, runner: Runner, problems: Sequence[Problem]) -> int:
    """The action's own inputs are wrong: nothing could start, and the check says why."""
    for command in _annotations(problems):
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
            page = _wrong_input(job, error.problems)
        except GitHubError as error:
            page = _unreadable(job, error)
        except Exception as error:  # our own fault must not leave an older run's "passed" standing
            page = _broken(job, error)
        posted = _publish(job, client, page)
    outputs = _with_url(page.outputs, posted)
    _write_outputs(job, outputs)
    give_to_owner([job.output], job.runner.workspace)
    return outputs.exit_code


# --- measuring and judging ------------------------------------------------------------------------------------------


def _page(job: Job, client: GitHub) -> Page:
    loaded = load_config(job.folder / job.settings.config, _shown(job, job.folder / job.settings.config))
    tree = GitTree(
        job.runner.workspace,
        repository=job.plan.repository,
        remote=client if job.settings.github_token else None,
        search_path=job.runner.search_path,
    )
    base = resolve_base(job.plan, tree)
    sides = read_sides(job.settings, job.plan, base, tree, loaded)
    report = _report(
        job, sides.applied(loaded), spare_keyless=job.plan.fork or job.plan.dependabot or sides.unprotected
    )
    judgement = judge_report(report, sides.judging.baseline, sides.judging.policy)
    write_text(job.output / JUDGEMENT_FILE, dump_judgement(judgement))
    context = _context(job, sides, report)
    _log(job, judgement)
    return Page(
        comment=fit(judgement, context),
        summary=summary(judgement, context),
        outputs=_outputs(job, judgement, report),
        changed=_changed(judgement),
        failed=judgement.verdict.outcome is not Outcome.PASS,
    )


def _report(job: Job, loaded: LoadedConfig, *, spare_keyless: bool) -> Report:
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
    with _guarded_log(job):
        plan = prepare(loaded, selection, job.world.env)
        if spare_keyless:
            plan = without_missing_keys(plan)
        return run_plan(loaded, plan, job.output, job.world)


@contextlib.contextmanager
def _guarded_log(job: Job) -> Iterator[None]:
    """What comes from cases and models is no workflow command, whatever it looks like."""
    with commands_stopped(job.tell):
        yield


def _context(job: Job, sides: Sides, report: Report) -> Context:
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
        marker=job.marker.format(),
        unprotected=sides.unprotected,
        notes=tuple(_edits(sides, report)),
    )


def _edits(sides: Sides, report: Report) -> Iterator[str]:
    """What the pull request changes in its own rules, and what difference that would make."""
    if sides.note:
        yield sides.note
    if sides.providers_edited:
        yield "This pull request edits providers or budgets. The base's are used: keys go only where it says."
    edited = [word for word, yes in (("policy", sides.policy_edited), ("baseline", sides.baseline_edited)) if yes]
    if not edited or sides.unprotected:
        return
    own = judge_report(report, sides.head.baseline, sides.head.policy).verdict
    yield (
        f"This pull request edits its {' and its '.join(edited)}. It is judged by the base's; "
        f"by its own the verdict would be: {own.outcome} ({own.headline})."
    )


def _changed(judgement: Judgement) -> bool:
    """Something is worth a look: a case or a metric with a direction moved."""
    return any(
        run.added or run.missing or run.subject or any(case.change != "same" for case in run.cases)
        for run in judgement.comparison.runs
    )


def _outputs(job: Job, judgement: Judgement, report: Report) -> Outputs:
    verdict = judgement.verdict
    return Outputs(
        verdict=verdict.outcome,
        exit_code=verdict.exit_code,
        regressions=sum(reason.outcome is Outcome.FAIL for reason in verdict.reasons),
        report_json=_report_path(job),
        comment_file=_shown(job, job.output / COMMENT_FILE),
        csr=_worst(report, "csr"),
        safety_accuracy=_worst(report, "safety_accuracy"),
        tool_call_success_rate=_worst(report, "tool_call_success_rate"),
        pass_rate=_worst(report, "pass_rate"),
    )


def _worst(report: Report, name: str) -> float | None:
    """The metric of several runs: the lowest, as all four are better when higher; `None` where none has it."""
    values = [metric.value for run in report.runs if (metric := run.metrics.get(name)) and metric.value is not None]
    return min(values, default=None)


def _report_path(job: Job) -> str:
    if job.settings.report is not None:
        return _shown(job, job.folder / job.settings.report)
    return _shown(job, job.output / REPORT_FILE)


def _shown(job: Job, path: Path) -> str:
    """A path as a later step of the workflow can use it: relative to the workspace."""
    return str(path.relative_to(job.runner.workspace)) if path.is_relative_to(job.runner.workspace) else str(path)


# --- what went wrong before there was anything to judge -------------------------------------------------------------


def _wrong_input(job: Job, problems: Sequence[Problem]) -> Page:
    job.tell(*_annotations(problems))
    return _error_page(job, "the input is wrong", problems, EXIT_INPUT)


def _annotations(problems: Sequence[Problem]) -> list[str]:
    return annotation_commands(
        Annotation("error", f"{p.field + ': ' if p.field else ''}{p.message}. {p.remedy}", p.place.file, p.place.line)
        for p in problems
    )


def _unreadable(job: Job, error: GitHubError) -> Page:
    job.tell(Annotation("error", str(error), title="Evalward").command())
    return _error_page(job, str(error), (), EXIT_UNJUDGED)


def _broken(job: Job, error: Exception) -> Page:
    told = internal_error(error)
    job.tell(Annotation("error", told, title="Evalward").command())
    return _error_page(job, told, (), EXIT_UNJUDGED)


def _error_page(job: Job, headline: str, problems: Sequence[Problem], code: int) -> Page:
    text = problems_markdown(headline, problems, marker=job.marker.format(), run_url=job.runner.run_url)
    outputs = Outputs(verdict="error", exit_code=code, comment_file=_shown(job, job.output / COMMENT_FILE))
    return Page(comment=text, summary=text, outputs=outputs, changed=True, failed=True)


# --- publishing -----------------------------------------------------------------------------------------------------


def _log(job: Job, judgement: Judgement) -> None:
    with _guarded_log(job):
        job.tell(log_text(judgement_text(judgement, colour=False, width=100)))
    verdict = judgement.verdict
    if verdict.outcome is Outcome.PASS:
        return
    level: Level = "error" if verdict.exit_code else "warning"
    job.tell(Annotation(level, verdict.headline, title=f"Evalward: {verdict.outcome}").command())


def _publish(job: Job, client: GitHub, page: Page) -> Posted | None:
    """Comment and summary; nothing that goes wrong here changes the verdict."""
    if job.runner.summary is not None:
        with contextlib.suppress(OSError):
            append_summary(job.runner.summary, page.summary)
    comment_file = _comment_file(job)
    if not job.plan.comment or job.plan.pull_number is None:
        write_text(comment_file, page.comment)
        return None
    if not job.settings.github_token:
        write_text(comment_file, page.comment)
        job.tell(Annotation("notice", f"No github-token: the comment is in {comment_file} only.").command())
        return None
    posted = post(
        client,
        PullRequest(job.plan.repository, job.plan.pull_number, job.plan.fork, job.plan.dependabot),
        job.marker,
        page.comment,
        mode=job.settings.comment,
        changed=page.changed,
        failed=page.failed,
        comment_file=comment_file,
    )
    if posted.notice:
        job.tell(Annotation("notice", posted.notice, title="Evalward").command())
    return posted


def _comment_file(job: Job) -> Path:
    """Where the comment's text is kept: in the output folder, or where there is none, in one of our own."""
    try:
        job.output.mkdir(parents=True, exist_ok=True)
        if not (job.output / COMMENT_FILE).is_dir():
            return job.output / COMMENT_FILE
    except OSError:
        pass
    return Path(tempfile.mkdtemp(prefix="evalward-")) / COMMENT_FILE


def _with_url(outputs: Outputs, posted: Posted | None) -> Outputs:
    return replace(outputs, comment_url=posted.url) if posted and posted.url else outputs


def _write_outputs(job: Job, outputs: Outputs) -> None:
    if job.runner.output is not None:
        write_outputs(job.runner.output, outputs.values())

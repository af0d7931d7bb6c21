"""Where a run of the action shows what it found: log, comment, job summary, outputs, files. Secrets reach none."""

from __future__ import annotations

import contextlib
import posixpath
import tempfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from evalward.commands.downloading import download_command, report_name
from evalward.commands.ending import sources_of, write_page
from evalward.commands.ending import write_outputs as write_files
from evalward.commands.spelling import DEFAULT_OUTPUT, cases_here, check_here, shown_by
from evalward.commands.world import World
from evalward.git import GitTree
from evalward.github.accept import evidence_line
from evalward.github.annotations import Roots, judgement_annotations
from evalward.github.client import GitHub, IssueComment
from evalward.github.comment import Marker, Posted, PullRequest, post
from evalward.github.event import EventPlan
from evalward.github.runner_files import (
    Annotation,
    Outputs,
    annotation_commands,
    append_summary,
    commands_stopped,
    give_to_owner,
    mask_commands,
    tell_in_groups,
    write_outputs,
)
from evalward.github.settings import ActionInputs, RunnerEnvironment
from evalward.github.status import CommitStatus, State, post_status, status_state
from evalward.github.tries import MAX_LINE, earlier_tries, with_tries
from evalward.keeper.outputs import OutputFolder
from evalward.records.baseline import Baseline
from evalward.records.comparison import Comparison
from evalward.records.exits import EXIT_INPUT
from evalward.records.problem import InputError, Problem
from evalward.records.report import Report
from evalward.records.tries import Try
from evalward.records.verdict import Judgement, Outcome, Reason, Verdict
from evalward.redaction import NOTHING, Redaction
from evalward.render.context import Accepting, PageContext
from evalward.render.markdown import COMMENT_LIMIT, fit, summary
from evalward.render.outputs import COMMENT_FILE, Display, ShownJudgement, text_of
from evalward.render.problems import problems_markdown
from evalward.render.sentences import headline

TELLING_S = 60.0
"""Seconds for comment and status together: a GitHub that is slow keeps no verdict back."""


@dataclass(frozen=True)
class Publication:
    """What is published: the comment's text, the summary's, and what the outputs say; `base` is what judged.

    `tried` is what later runs on this commit shall know, `None` where nothing was judged.
    """

    comment: str
    summary: str
    outputs: Outputs
    headline: str
    state: State
    changed: bool = True
    failed: bool = True
    base: str = ""
    tried: Try | None = None


@dataclass(frozen=True)
class Surfaces:
    """The places, and in whose name we write there. `pull` is `None` where nothing is to be commented.

    `outputs` is `None` until the output folder is opened, and where it can't be used. `base_ref` is the branch that a
    pull request goes into.
    """

    world: World
    settings: ActionInputs
    runner: RunnerEnvironment
    marker: Marker
    pull: PullRequest | None
    redaction: Redaction = field(default=NOTHING, repr=False)
    outputs: OutputFolder | None = None
    base_ref: str | None = None

    @property
    def folder(self) -> Path:
        """The working directory."""
        return self.runner.workspace / self.settings.working_directory

    @property
    def output(self) -> Path:
        """Where reports are left."""
        return self.folder / self.settings.output_dir

    def tree(self, client: GitHub) -> GitTree:
        """The commits of the repository: from the checkout's objects, else, with a token, through the API."""
        runner = self.runner
        remote = self.remote(client)
        return GitTree(runner.workspace, repository=runner.repository, remote=remote, search_path=runner.search_path)

    def remote(self, client: GitHub) -> GitHub | None:
        """The client where there is a token for it."""
        return client if self.settings.github_token else None

    def hiding(self, key_names: frozenset[str]) -> Surfaces:
        """The same places; what these variables hold reaches none of them."""
        world = self.world.hiding(key_names)
        outputs = self.outputs.hiding(world.redaction) if self.outputs is not None else None
        return replace(self, world=world, redaction=world.redaction, outputs=outputs)

    def opened(self) -> Surfaces:
        """With the output folder open. No link of the checkout is followed to it. Raises `InputError`."""
        path = Path(self.settings.working_directory, self.settings.output_dir)
        found = OutputFolder.open(
            path,
            self.redaction,
            anchor=self.runner.workspace,
            shared=self.settings.report is not None or self.settings.publish is not None,
            search_path=self.runner.search_path,
        )
        return replace(self, outputs=found)

    def shown(self, path: Path) -> str:
        """A path as a later step of the workflow can use it: relative to the workspace."""
        return str(path.relative_to(self.runner.workspace)) if path.is_relative_to(self.runner.workspace) else str(path)

    def tell(self, *lines: str) -> None:
        """Write workflow commands and lines of ours to the log."""
        for line in lines:
            self.world.out.write(self.redaction.text(line) + "\n")
        self.world.out.flush()

    def mask(self) -> None:
        """Have the runner hide every secret that we know of, in whatever is logged from here on.

        Where no runner reads these lines they would print the secrets instead of hiding them.
        """
        if self.world.env.get("GITHUB_ACTIONS") != "true":
            return
        for secret in dict.fromkeys([self.settings.github_token, *self.redaction.values]):
            for command in mask_commands(secret):
                self.world.out.write(command + "\n")
        self.world.out.flush()

    @contextlib.contextmanager
    def guarded_log(self) -> Iterator[None]:
        """What comes from cases and models is no workflow command, whatever it looks like."""
        with commands_stopped(self.tell):
            yield

    # --- pages ------------------------------------------------------------------------------------------------------

    def context(self, accept: Accepting, base_sha: str | None, report: Path, notes: Sequence[str] = ()) -> PageContext:
        """Where a judgement of this run comes from; `report` is the file that was judged."""
        return PageContext(
            head_sha=self.marker.head,
            base_ref=self.base_ref,
            base_sha=base_sha,
            run_url=self.runner.run_url,
            report_path=self.shown(report),
            command=check_here(self.settings.config),
            cases=cases_here(self.settings.config),
            accept=accept,
            repository=self.runner.repository,
            marker=self.marker.format(),
            notes=tuple(notes),
            show=shown_by(DEFAULT_OUTPUT / report_name(self.settings)),
            download=download_command(self.settings, self.runner, DEFAULT_OUTPUT),
        )

    def judged(self, judgement: Judgement, report: Report, context: PageContext, digest: str = "") -> Publication:
        """The page of a judgement. `digest` is the report's, for whoever accepts what the comment shows."""
        return Publication(
            comment=_with_evidence(judgement, context, digest),
            summary=summary(judgement, context),
            outputs=self._outputs(judgement, report, context),
            headline=headline(judgement.verdict),
            state=status_state(judgement.verdict.exit_code),
            changed=_changed(judgement),
            failed=judgement.verdict.outcome is not Outcome.PASS,
            base=context.base,
        )

    def unjudged(self, headline: str, problems: Sequence[Problem], code: int) -> Publication:
        """The page that says what went wrong before there was anything to judge."""
        text = problems_markdown(headline, problems, marker=self.marker.format(), run_url=self.runner.run_url)
        outputs = Outputs(verdict="error", exit_code=code, comment_file=self.shown(self.output / COMMENT_FILE))
        self._write_files(Judgement(comparison=Comparison(baseline=None), verdict=_no_verdict(headline, problems)))
        return Publication(comment=text, summary=text, outputs=outputs, headline=headline, state="error")

    def _outputs(self, judgement: Judgement, report: Report, context: PageContext) -> Outputs:
        verdict = judgement.verdict
        return Outputs(
            verdict=verdict.outcome,
            exit_code=verdict.exit_code,
            regressions=sum(reason.outcome is Outcome.FAIL for reason in verdict.reasons),
            report_json=context.report_path,
            comment_file=self.shown(self.output / COMMENT_FILE),
            csr=_worst(report, "csr"),
            safety_accuracy=_worst(report, "safety_accuracy"),
            tool_call_success_rate=_worst(report, "tool_call_success_rate"),
            pass_rate=_worst(report, "pass_rate"),
        )

    def show_page(
        self, judgement: Judgement, report: Report, baseline: Baseline | None, context: PageContext, *, trials: bool
    ) -> None:
        """The HTML page in the output folder; `trials`: those that were measured lie there, too."""
        place = self._place()
        if place is None:
            return
        sources = sources_of(report, baseline, place if trials else None, self.redaction)
        shown = ShownJudgement(self.redaction.record(judgement), context, sources=sources)
        write_page(shown, place, self.warn)

    def warn(self, text: str) -> None:
        """Something that went wrong and changes no verdict."""
        self.tell(Annotation("warning", text, title="Evalward").command())

    # --- writing ----------------------------------------------------------------------------------------------------

    def show(self, judgement: Judgement, *, annotate_cases: bool) -> None:
        """The judgement in files and in the log, and as annotations; `annotate_cases`: the case files are here."""
        if self.outputs is not None:
            write_files(ShownJudgement(judgement), self.outputs, ["json"])
        self._write_files(judgement)
        config = posixpath.join(self.settings.working_directory, posixpath.dirname(self.settings.config))
        roots = Roots(str(self.runner.workspace), config) if annotate_cases else None
        self.tell(*annotation_commands(judgement_annotations(judgement, roots)))
        display = Display(grouped=self.world.env.get("GITHUB_ACTIONS") == "true")
        tell_in_groups(text_of("terminal", ShownJudgement(judgement, display=display)), self.tell)

    def _write_files(self, judgement: Judgement) -> None:
        """The files for other tools; an output folder that can't be written is told elsewhere."""
        place = self._place()
        if place is None:
            return
        with contextlib.suppress(InputError):
            write_files(ShownJudgement(judgement), place, ["junit", "badge"], self.redaction.text)

    def publish(self, client: GitHub, page: Publication) -> Outputs:
        """Summary, comment and outputs; nothing that goes wrong here changes the verdict.

        The summary, which says all that the comment does, comes first: GitHub has `TELLING_S` seconds for the rest.
        """
        page = replace(page, comment=self.redaction.text(page.comment), summary=self.redaction.text(page.summary))
        if self.runner.summary is not None:
            with contextlib.suppress(OSError):
                append_summary(self.runner.summary, page.summary)
        kept: list[Path] = []

        def keep(text: str) -> Path:
            kept.append(self._keep_comment(text))
            return kept[-1]

        with client.http.within(TELLING_S):
            posted = self._comment(client, page, keep)
            self._status(client, page)
        outputs = replace(page.outputs, comment_file=self.shown(kept[0])) if kept else page.outputs
        url = posted.url if posted else ""
        outputs = replace(outputs, comment_url=url) if url else outputs
        self.write(outputs)
        place = self._place()
        if place is not None:
            give_to_owner([place.folder], self.runner.workspace)
        return outputs

    def _comment(self, client: GitHub, page: Publication, keep: Callable[[str], Path]) -> Posted | None:
        if self.pull is None:
            keep(page.comment)
            return None
        if not self.settings.github_token:
            comment_file = keep(page.comment)
            self.tell(Annotation("notice", f"No github-token: the comment is in {comment_file} only.").command())
            return None
        posted = post(
            client,
            self.pull,
            self.marker,
            page.comment,
            mode=self.settings.comment,
            changed=page.changed,
            failed=page.failed,
            keep=keep,
            finish=lambda body, existing, login: self._with_tries(body, existing, login, page.tried),
        )
        if posted.notice:
            self.tell(Annotation("notice", posted.notice, title="Evalward").command())
        return posted

    def _with_tries(self, body: str, existing: Sequence[IssueComment], login: str, tried: Try | None) -> str:
        """The comment with a hidden line that tells later runs on this commit what this one and those before gave."""
        marker = self.marker
        ours = tried or Try(run=marker.run, attempt=marker.attempt, outcome=Outcome.ERROR)
        return with_tries(body, [*earlier_tries(existing, login, marker), ours])

    def _place(self) -> OutputFolder | None:
        """The output folder, opened now where it wasn't; `None` where it can't be used, which is told elsewhere."""
        with contextlib.suppress(InputError):
            return self.outputs or self.opened().outputs
        return None

    def _keep_comment(self, text: str) -> Path:
        """Keep the comment's text in the output folder, or where that can't be, in a folder of our own."""
        place = self._place()
        if place is not None:
            with contextlib.suppress(InputError):
                place.write(COMMENT_FILE, text)
                return self.output / COMMENT_FILE
        own = Path(tempfile.mkdtemp(prefix="evalward-"))
        return OutputFolder.open(own, self.redaction).write(COMMENT_FILE, text)

    def _status(self, client: GitHub, page: Publication) -> None:
        """The commit status, where one is wanted. That it can't be posted fails nothing."""
        name = self.settings.status_against(self.base_ref)
        if not name:
            return
        if not self.settings.github_token:
            self.tell(Annotation("notice", "No github-token: no commit status was posted.", title="Evalward").command())
            return
        status = CommitStatus(name, page.state, self.redaction.text(page.headline), self.runner.run_url, page.base)
        notice = post_status(client, self.runner.repository, self.marker.head, status)
        if notice:
            self.tell(Annotation("notice", notice, title="Evalward").command())

    def write(self, outputs: Outputs) -> None:
        """The action's outputs."""
        if self.runner.output is not None:
            values = {name: self.redaction.text(value) for name, value in outputs.values().items()}
            write_outputs(self.runner.output, values)


def surfaces_of(
    world: World, settings: ActionInputs, runner: RunnerEnvironment, plan: EventPlan, *, comments: bool
) -> Surfaces:
    """The places of an event; `comments`: on its pull request, where it has one and that may be."""
    marker = Marker(settings.comment_id, plan.head_sha, runner.run_id, runner.run_attempt)
    pull = None
    if comments and plan.comment and plan.pull_number is not None:
        pull = PullRequest(plan.repository, plan.pull_number, plan.fork, plan.dependabot)
    return Surfaces(world, settings, runner, marker, pull, world.redaction, base_ref=plan.base_ref)


def _with_evidence(judgement: Judgement, context: PageContext, digest: str) -> str:
    """The comment, with a hidden second line that names the report."""
    room = COMMENT_LIMIT - MAX_LINE - 1  # what later runs on this commit shall know comes in between
    if not digest or not context.marker:
        return fit(judgement, context, room)
    line = evidence_line(digest)
    marker, _, rest = fit(judgement, context, room - len(line) - 1).partition("\n")
    return f"{marker}\n{line}\n{rest}"


def annotated(problems: Sequence[Problem]) -> list[str]:
    """The annotations of problems, at their places."""
    return annotation_commands(
        Annotation("error", f"{p.field + ': ' if p.field else ''}{p.message}. {p.remedy}", p.place.file, p.place.line)
        for p in problems
    )


def wrong_inputs(world: World, runner: RunnerEnvironment, problems: Sequence[Problem]) -> int:
    """The action's own inputs are wrong: nothing could start, and the check says why. The exit code."""
    for command in annotated(problems):
        world.out.write(world.redaction.text(command) + "\n")
    text = problems_markdown("the action's inputs are wrong", problems, run_url=runner.run_url)
    if runner.summary is not None:
        with contextlib.suppress(OSError):
            append_summary(runner.summary, world.redaction.text(text))
    if runner.output is not None:
        write_outputs(runner.output, Outputs(verdict="error", exit_code=EXIT_INPUT).values())
    return EXIT_INPUT


def _no_verdict(headline: str, problems: Sequence[Problem]) -> Verdict:
    """What there is to say where nothing was judged."""
    messages = [str(problem) for problem in problems] or [headline]
    reasons = [Reason(stage="validity", outcome=Outcome.ERROR, message=message) for message in messages]
    return Verdict(outcome=Outcome.ERROR, headline=headline, reasons=reasons)


def _changed(judgement: Judgement) -> bool:
    """Something is worth a look: a case or a metric with a direction moved."""
    return any(
        run.added or run.missing or run.replaced or run.subject or any(case.change != "same" for case in run.cases)
        for run in judgement.comparison.runs
    )


def _worst(report: Report, name: str) -> float | None:
    """The metric of several runs: the lowest, as all four are better when higher; `None` where none has it."""
    values = [metric.value for run in report.runs if (metric := run.metrics.get(name)) and metric.value is not None]
    return min(values, default=None)

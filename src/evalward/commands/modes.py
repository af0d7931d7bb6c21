"""What the action does around a judgement, by its input `mode`. What it needs is checked before anything is run."""

from __future__ import annotations

from dataclasses import dataclass, replace

from evalward.commands.accept import AcceptContext as AcceptCase
from evalward.commands.accept import accept_label, label_case
from evalward.commands.baseline_ci import BlockedError, UpdateRequest, needs_token, repository_baseline, update_baseline
from evalward.commands.ending import write_outputs, write_page
from evalward.commands.job import Checkout, Measured
from evalward.commands.published import IdleError
from evalward.commands.release import ReleaseOptions, decide_release
from evalward.commands.spelling import release_again
from evalward.commands.surfaces import Publication
from evalward.github.commits import only_baseline_pushed
from evalward.github.repository import RepositoryWriter
from evalward.github.runner_files import Annotation
from evalward.github.status import status_state
from evalward.records.exits import EXIT_FAILED, EXIT_OK, EXIT_UNJUDGED
from evalward.records.problem import wrong
from evalward.records.report import REPORT_FILE
from evalward.render.escape import log_text, md_prose
from evalward.render.outputs import RELEASE_MARKDOWN, text_of
from evalward.render.sentences import headline


@dataclass
class ActionMode:
    """One way of using the action on a checkout."""

    checkout: Checkout

    def before(self) -> None:
        """Check what is needed. Raises `IdleError` where nothing is to be measured, `InputError`, `GitHubError`."""

    def after(self, measured: Measured, page: Publication) -> Publication:  # noqa: ARG002
        """The page of what was judged, with what this mode made of it."""
        return page


class CheckMode(ActionMode):
    """`check`: the verdict is all."""


class ReleaseCheck(ActionMode):
    """`release`: the report is judged against the last release, too; the worse verdict counts."""

    def after(self, measured: Measured, page: Publication) -> Publication:
        """The page of the release report, which is left in the output folder."""
        job, loaded = measured.job, self.checkout.loaded
        settings, surfaces = job.settings, job.surfaces
        options = ReleaseOptions(
            report=surfaces.output / REPORT_FILE,
            config=surfaces.folder / settings.config,
            output=surfaces.output,
            branch=job.plan.branch,
            profile=settings.profile,
            fail_on=settings.fail_on,
        )
        decided = decide_release(loaded, measured.report, options, self.checkout.head.read, measured.judge)
        found = surfaces.redaction.record(decided.found)
        shown = replace(decided, found=found).shown(release_again(settings.config), job.left, surfaces.redaction)
        text = text_of("markdown", shown)
        write_outputs(shown, job.left, ["json"])
        job.left.write(RELEASE_MARKDOWN, text)
        write_page(shown, job.left, surfaces.warn)
        code, verdict = found.exit_code, found.worse.verdict
        outputs = replace(page.outputs, exit_code=code, verdict=verdict.outcome)
        return replace(page, summary=text, outputs=outputs, state=status_state(code), headline=headline(verdict))


class Accept(ActionMode):
    """`accept`: a maintainer's label makes what is measured the baseline of the pull request's branch."""

    case: AcceptCase

    def before(self) -> None:
        """Who asks, and whether they may."""
        job = self.checkout.job
        needs_token(job.settings.github_token)
        case, code = label_case(job.surfaces, self.checkout.client, job.plan)
        if case is None:
            raise IdleError(code)
        self.case = case

    def after(self, measured: Measured, page: Publication) -> Publication:
        """The page, with the exit code of the acceptance in place of the verdict's."""
        code, url = accept_label(self.case, measured.report, measured.digest)
        return replace(page, outputs=replace(page.outputs, exit_code=code, baseline_url=url or None))


class UpdateBaseline(ActionMode):
    """`update-baseline`: what was measured on a branch becomes its baseline."""

    branch: str
    path: str
    repository: RepositoryWriter

    def before(self) -> None:
        """Which branch and file; a push of nothing but the baseline is no reason to measure."""
        job = self.checkout.job
        settings, plan = job.settings, job.plan
        needs_token(settings.github_token)
        if plan.pull_number is not None or plan.event == "merge_group" or plan.branch is None:
            message = f"'update-baseline' has no branch to write to in an event {plan.event} of {plan.head_ref!r}"
            raise wrong("input mode", message, "Use it for pushes to a branch, schedule or workflow_dispatch.")
        config = self.checkout.loaded.config
        self.branch = plan.branch
        self.path = repository_baseline(
            settings, self.checkout.tree, config.baseline_for(plan.branch, settings.profile)
        )
        self.repository = RepositoryWriter(self.checkout.client, plan.repository)
        if plan.event == "push" and only_baseline_pushed(self.repository, plan.base_sha, plan.head_sha, self.path):
            job.note(f"The push changes nothing but {self.path}: there is nothing new to measure.")
            raise IdleError(EXIT_OK)

    def after(self, measured: Measured, page: Publication) -> Publication:
        """The page with what became of the baseline. What fails the gate is not pushed; what is not judged goes
        nowhere.
        """
        if measured.verdict.exit_code == EXIT_UNJUDGED:
            return page
        job = measured.job
        try:
            outcome = update_baseline(self.repository, self._update(measured))
        except BlockedError as error:
            job.tell(Annotation("error", str(error), title="Evalward").command())
            text = f"{page.summary}\n{md_prose(str(error))}\n"
            return replace(page, summary=text, outputs=replace(page.outputs, exit_code=EXIT_FAILED))
        job.tell(log_text(outcome.line))
        leaked = any(reason.stage == "anchor" for reason in measured.verdict.reasons)  # a proposal mends no leak
        code = measured.verdict.exit_code if leaked else EXIT_OK
        outputs = replace(page.outputs, exit_code=code, baseline_url=outcome.url or None)
        return replace(page, summary=f"{page.summary}\n### Baseline\n\n{outcome.markdown}\n", outputs=outputs)

    def _update(self, measured: Measured) -> UpdateRequest:
        settings = measured.job.settings
        return UpdateRequest(
            report=measured.report,
            policy=measured.policy,
            branch=self.branch,
            path=self.path,
            to=settings.baseline_to,
            pull_branch=settings.baseline_branch,
            mode=settings.baseline_mode,
            dry_run=settings.dry_run,
            run_url=measured.job.runner.run_url,
            judge=measured.judge,
        )


MODES: dict[str, type[ActionMode]] = {
    "check": CheckMode,
    "release": ReleaseCheck,
    "accept": Accept,
    "update-baseline": UpdateBaseline,
}
"""By the input `mode`."""

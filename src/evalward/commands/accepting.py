"""How a change is accepted: commands that run as they stand, what a maintainer writes, and what is said after it."""

from __future__ import annotations

import posixpath
from typing import TYPE_CHECKING

from msgspec import Struct

from evalward.commands.downloading import download_command, report_name
from evalward.commands.keeping import kept_baseline
from evalward.commands.pipeline import Criteria
from evalward.commands.spelling import REASON, UpdateCommand
from evalward.decide.pooling import NamedReport
from evalward.github.spoken import COMMAND
from evalward.records.comparison import Comparison
from evalward.records.problem import InputError
from evalward.records.report import REPORT_FILE, Report
from evalward.records.verdict import Judgement, Outcome, Verdict
from evalward.render.context import Accepting
from evalward.render.names import quoted
from evalward.render.sentences import headline, remedy

if TYPE_CHECKING:
    from evalward.github.event import EventPlan
    from evalward.github.settings import ActionInputs, RunnerEnvironment

WORKFLOW = "baseline-accept.yml"


def at_hand(update: UpdateCommand, file: str, report: Report, judging: Criteria, judgement: Judgement) -> Accepting:
    """For whoever ran the check: the report is here. `file` is the baseline to commit."""
    verdict = judgement.verdict
    if verdict.outcome is Outcome.ERROR or report.all_unchanged:
        return Accepting()
    if verdict.outcome is Outcome.PASS and report.cases_stand:
        return Accepting()
    command = update.text(verdict)
    commit = f"Commit {quoted(file)} with the change."
    if verdict.outcome is Outcome.PASS:
        return Accepting(f"This makes these results the baseline. {commit}", command)
    then = prospect(report, judging, judgement.comparison)
    if not then.possible:
        return Accepting(then.says)
    own = f" Write your own reason for {quoted(REASON)}." if verdict.outcome is Outcome.FAIL else ""
    text = f"This makes these results the baseline.{own} {commit} The check then says: {then.says}"
    return Accepting(text, command, first=then.helps)


def in_ci(
    settings: ActionInputs,
    runner: RunnerEnvironment,
    plan: EventPlan,
    report: Report,
    judging: Criteria,
    *,
    judgement: Judgement,
) -> Accepting:
    """For a workflow's run, whose report is in an artifact."""
    verdict = judgement.verdict
    if verdict.outcome is Outcome.ERROR or report.all_unchanged:
        return Accepting()
    if report.cases_stand and (verdict.outcome is Outcome.PASS or plan.pull_number is None):
        return Accepting()
    command = downloaded(settings, runner, verdict)
    if verdict.outcome is Outcome.PASS or plan.pull_number is None:
        return Accepting("This makes these results the baseline; commit it.", command)
    then = prospect(report, judging, judgement.comparison)
    if not then.possible:
        return Accepting(then.says)
    if plan.fork:
        return Accepting(
            "Only a branch of this repository can be accepted: push this one to it, and open the pull request from "
            f"there. By hand, this makes these results the baseline; the check then says: {then.says}",
            command,
            first=then.helps,
        )
    after = _after(settings.status_against(plan.base_ref), then.says)
    text = (
        f"A maintainer writes that as a comment, with a reason of their own; the workflow `{WORKFLOW}` answers it. "
        "It commits the baseline of this report to the branch, with every trial that was made and who accepted it. "
        f"{after} Later runs on this pull request are compared with what was accepted."
    )
    return Accepting(text, command, f"{COMMAND} {REASON}", then.helps)


def of_fork(settings: ActionInputs, runner: RunnerEnvironment, report: Report, verdict: Verdict) -> Accepting:
    """For the second stage of a fork's run."""
    if verdict.outcome is Outcome.ERROR or report.all_unchanged or report.cases_stand:
        return Accepting()
    text = (
        "Only a branch of this repository can be accepted: push this one to it, and open the pull request from "
        "there. By hand, this makes these results the baseline:"
    )
    return Accepting(text, downloaded(settings, runner, verdict))


def _after(status: str, then: str) -> str:
    if status:
        return f"The status {quoted(status)} of that commit says: {then}"
    return f"Close and reopen the pull request to start the check on that commit. It says: {then}"


class Prospect(Struct, frozen=True):
    """What the check `says` once a report is accepted, or why it can't be. `helps`: what does, where that does not."""

    says: str
    possible: bool = True
    helps: str = ""


def prospect(report: Report, judging: Criteria, comparison: Comparison) -> Prospect:
    """What comes of accepting a report."""
    try:
        kept = kept_baseline(NamedReport(report, REPORT_FILE), judging.baseline, judging.policy, comparison)
    except InputError as error:
        return Prospect(f"This report can't be accepted: {error.problems[0]}", possible=False)
    verdict = kept.verdict
    if verdict.outcome is Outcome.PASS:
        return Prospect("passed.")
    advice = remedy(verdict.reasons[0]) if verdict.reasons else ""
    helps = f"A new baseline alone does not make this pass. {advice}".rstrip()
    return Prospect(f"{verdict.outcome}, {headline(verdict).rstrip('.')}.", helps=helps)


def downloaded(settings: ActionInputs, runner: RunnerEnvironment, verdict: Verdict) -> str:
    """The commands that fetch the artifact and make it the baseline, from the top of a clone."""
    folder = f"evalward-run-{runner.run_id}"
    name = report_name(settings)
    update = UpdateCommand(
        f"{folder}/{name}",
        config=_from_top(settings, settings.config),
        baseline=_from_top(settings, settings.baseline) if settings.baseline else None,
        profile=verdict.profile,
    )
    return f"{download_command(settings, runner, folder)}\n{update.text(verdict)}"


def _from_top(settings: ActionInputs, path: str) -> str:
    return posixpath.normpath(posixpath.join(settings.working_directory, path))

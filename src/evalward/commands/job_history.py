"""What the action reads of earlier measurements, and where it keeps the new one. None of it changes who judges."""

from __future__ import annotations

from evalward.commands.anchoring import Anchoring, find_anchor
from evalward.commands.baseline_ci import repository_baseline
from evalward.commands.ci_history import HistoryRequest, keep_history, read_base_history, read_branch_history
from evalward.commands.job import Checkout, Job
from evalward.commands.stored_history import history_of
from evalward.decide.anchor import Anchor
from evalward.git import MAX_FILE_BYTES, repository_path
from evalward.github.errors import GitHubError
from evalward.github.repository import RepositoryWriter
from evalward.github.runner_files import Annotation
from evalward.github.sides import BaseAndHead
from evalward.records.history import HistoryEntry
from evalward.records.problem import InputError
from evalward.records.report import Report
from evalward.records.verdict import Judgement
from evalward.render.escape import log_text


def anchor_of_job(job: Job, checkout: Checkout, sides: BaseAndHead) -> Anchor | None:
    """What slow losses are measured against, as the base says. A change that is only proposed is warned of them."""
    plan, judging = job.plan, sides.judging
    path = repository_baseline(job.settings, checkout.tree, judging.baseline_path)
    blocks = not plan.proposed and plan.pull_number is None
    anchor, notes = find_anchor(checkout.tree, Anchoring(judging.policy, [path], plan.branch, blocks))
    for note in notes:
        job.note(note)
    return anchor


def history_of_job(job: Job, checkout: Checkout, sides: BaseAndHead) -> list[HistoryEntry]:
    """What earlier runs measured: where the base says that it is, of the data branch or of the base commit.

    A pull request doesn't choose what is read about its cases. That nothing can be read changes no verdict.
    """
    place, settings, tree = sides.judging.history, job.settings, checkout.tree
    try:
        if place is not None and place.branch is not None and settings.github_token:
            found = read_branch_history(RepositoryWriter(checkout.client, job.plan.repository), place.branch)
        elif place is not None and place.folder is not None and sides.base.sha is not None:
            found = read_base_history(settings, tree, sides.base.sha, place.folder)
        else:
            read = checkout.head.read
            return history_of(job.surfaces.world, place, lambda name: read(name, limit=MAX_FILE_BYTES))
    except (GitHubError, InputError) as error:
        job.note(f"The history was not read: {error}")
        return []
    for warning in found.warnings:
        job.note(warning)
    return list(found.entries)


def keep_measured(job: Job, checkout: Checkout, report: Report, judgement: Judgement) -> None:
    """Keep what a push to a branch measured, whatever the verdict. That it can't be kept is told, and is no failure."""
    place, settings, tree = checkout.loaded.config.history, job.settings, checkout.tree
    if place is None or place.branch is None or settings.mode != "update-baseline":
        return
    config = repository_path(tree.prefix(), [settings.working_directory, settings.config])
    keeping = HistoryRequest(place.branch, job.plan.branch, config, settings.dry_run)
    try:
        repository = RepositoryWriter(checkout.client, job.plan.repository)
        job.tell(log_text(keep_history(repository, keeping, report, judgement)))
    except (GitHubError, InputError) as error:
        job.tell(Annotation("warning", f"The history was not kept: {error}", title="Evalward").command())

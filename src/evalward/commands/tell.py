"""The second of two jobs of one run: it judges and tells what the first measured, and opens nothing else of the head.

The first job has the models' keys and no token that writes, this one has the token and no key. Policy, baseline and the
list of protected files are the base's and GitHub's; of the artifact, one file is read as data. Unlike the second stage
of a fork's run, this job is the check: its exit code is the verdict's.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from msgspec import structs

from evalward.commands.accepted import find_accepted
from evalward.commands.accepting import in_ci
from evalward.commands.again import again_of, decide_again, remembered
from evalward.commands.artifact import artifact_bytes, parse_report, recomputed
from evalward.commands.edits import edits_of
from evalward.commands.given import of_commit
from evalward.commands.pipeline import Criteria, decide_report
from evalward.commands.published import Failing, published
from evalward.commands.standing import LeftOutRuns, PullHead
from evalward.commands.surfaces import Publication, Surfaces, surfaces_of
from evalward.commands.world import World
from evalward.decide.proposal import as_proposed
from evalward.git import GitTree
from evalward.github.base import BaseChoice
from evalward.github.client import GitHub
from evalward.github.event import EventPlan, plan_event
from evalward.github.protect import ProtectedChanges, protected_changes
from evalward.github.runner_files import Annotation, Outputs
from evalward.github.settings import ActionInputs, RunnerEnvironment
from evalward.github.sides import BaseAndHead, SideRules, base_side
from evalward.records.exits import EXIT_OK
from evalward.records.policy import Policy
from evalward.records.problem import InputError
from evalward.records.report import REPORT_FILE, Report, digest_of
from evalward.records.tries import Try
from evalward.records.verdict import Judgement

TELLS = frozenset({"pull_request", "merge_group"})
"""The events for which one job measures and another one tells."""

ANOTHER_JOB = (
    "Measured by another job of this run, and judged here with the base's policy and baseline. That job's results are "
    "trusted: anyone who can change the workflow can change them."
)
NO_CONFIG = "The base has no configuration: only each kind's own rules were applied, and nothing was compared."


def tell(world: World, settings: ActionInputs, runner: RunnerEnvironment, payload: Mapping[str, Any]) -> int:
    """The verdict's exit code; 2: the artifact or the base's files are wrong; 3: it could not be judged.

    Raises `InputError` when the event's payload is not GitHub's.
    """
    plan = plan_event(world.env, payload)
    surfaces = surfaces_of(world, settings, runner, plan, comments=True)
    surfaces.mask()
    if not plan.run_head:
        surfaces.tell(Annotation("notice", plan.reason_not or "Nothing to do.", title="Evalward").command())
        surfaces.write(Outputs(verdict="", exit_code=EXIT_OK))
        return EXIT_OK
    with GitHub(settings.github_token, runner.api_url) as client:
        # An artifact may be anything: whatever goes wrong with it has a page.
        failing = Failing("these results can't be judged")
        return published(surfaces, client, lambda _: _judged(surfaces, client, plan), failing, opens=False)


def _judged(surfaces: Surfaces, client: GitHub, plan: EventPlan) -> Publication:
    settings, runner = surfaces.settings, surfaces.runner
    data = artifact_bytes(surfaces.folder / (settings.publish or ""))
    artifact = of_commit(parse_report(data), REPORT_FILE, plan)
    anew = recomputed(artifact, of_base=True)
    remote, tree = surfaces.remote(client), surfaces.tree(client)
    side, notes = _side(surfaces, plan, tree)
    accepted = find_accepted(surfaces, plan, side, tree, client) if side else None
    if side and accepted:
        side, notes = replace(side, baseline=accepted.baseline), [accepted.note, *notes]
    report, left_out = LeftOutRuns.of(artifact).decided(anew.report, surfaces, client, _pull_head(plan), side)
    notes += left_out
    judgement, tried = _judgement(surfaces, client, report, side)
    judgement = accepted.attributed(judgement) if accepted else judgement
    surfaces.show(judgement, annotate_cases=False)
    protected = _protected(surfaces, plan, side, tree, remote)
    edits = edits_of(_base_only(side, plan), report, protected) if side else None
    notes += anew.notes()
    accept = in_ci(settings, runner, plan, report, _judging(side), judgement=judgement)
    file = surfaces.folder / (settings.publish or "") / REPORT_FILE
    context = surfaces.context(accept, plan.base_sha, file, notes)
    if edits:
        context = structs.replace(context, edits=edits.sentences, edit_lines=edits.lines)
    surfaces.show_page(judgement, report, _judging(side).baseline, context, trials=False)
    return remembered(surfaces.judged(judgement, report, context, digest_of(data)), tried)


def _pull_head(plan: EventPlan) -> PullHead | None:
    if plan.event != "pull_request" or plan.pull_number is None:
        return None
    return PullHead(plan.repository, plan.pull_number, plan.head_sha, plan.base_sha)


def _side(surfaces: Surfaces, plan: EventPlan, tree: GitTree) -> tuple[SideRules | None, list[str]]:
    """The base's rules, and what there is to say about them; a broken base has none where the workflow lets it pass."""
    settings = surfaces.settings
    if plan.base_sha is None:
        return None, [ANOTHER_JOB, NO_CONFIG]
    try:
        side = base_side(settings, plan.branch, plan.base_sha, tree, (surfaces.folder / settings.config).parent)
    except InputError as error:
        if not settings.bootstrap:
            raise
        return None, [ANOTHER_JOB, f"The base's own files are wrong, so they can't judge: {error.problems[0]}"]
    return side, [ANOTHER_JOB] if side else [ANOTHER_JOB, NO_CONFIG]


def _judging(side: SideRules | None) -> Criteria:
    return Criteria(side.baseline, side.policy) if side else Criteria(None, Policy())


def _judgement(surfaces: Surfaces, client: GitHub, report: Report, side: SideRules | None) -> tuple[Judgement, Try]:
    settings = surfaces.settings
    policy = side.policy if side else Policy(fail_on=settings.fail_on or "regression")
    baseline = side.baseline if side else None
    again = again_of(surfaces, client, policy, baseline)
    judgement, tried = decide_again(surfaces, decide_report(report, baseline, policy), report, baseline, again)
    unjudged = side is None and not settings.bootstrap
    return as_proposed(judgement, policy, unjudged=unjudged, fail_on=settings.fail_on), tried


def _protected(
    surfaces: Surfaces, plan: EventPlan, side: SideRules | None, tree: GitTree, remote: GitHub | None
) -> ProtectedChanges:
    if side is None:
        return ProtectedChanges()
    return protected_changes(surfaces.settings, plan, _base_only(side, plan), tree, remote)


def _base_only(side: SideRules, plan: EventPlan) -> BaseAndHead:
    """Both sides, where nothing of the head's is read: what it edits shows in the list of its files."""
    return BaseAndHead(side, replace(side), unprotected=False, base=BaseChoice(plan.base_sha, "event", ""))

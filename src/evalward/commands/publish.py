"""`evalward publish DIR`: the second stage of a fork's run, in a trusted workflow on the default branch.

The first stage ran on the pull request without secrets and left its output folder as an artifact. Here nothing of it is
run or believed beyond the cases' results: the pull request is GitHub's word, policy and baseline are the base's, the
metrics and the verdict are computed anew, and the text is ours.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from evalward.commands.accepting import of_fork
from evalward.commands.again import again_of, decide_again, remembered
from evalward.commands.artifact import read_artifact, recomputed
from evalward.commands.pipeline import decide_report
from evalward.commands.published import Failing, not_judged, published
from evalward.commands.standing import ALL_STAND, LeftOutRuns, PullHead
from evalward.commands.surfaces import Publication, Surfaces, annotated
from evalward.commands.tell import NO_CONFIG, TELLS, tell
from evalward.commands.world import World
from evalward.decide.proposal import as_proposed
from evalward.github.client import GitHub, OpenPull
from evalward.github.comment import Marker, PullRequest
from evalward.github.errors import GitHubError
from evalward.github.event import read_payload
from evalward.github.runner_files import Annotation, Outputs
from evalward.github.settings import ActionInputs, read_runner
from evalward.github.sides import SideRules, base_side
from evalward.github.workflow_run import TriggeringRun, pull_of_run, read_triggering_run
from evalward.records.exits import EXIT_INPUT, EXIT_OK
from evalward.records.policy import Policy
from evalward.records.problem import InputError
from evalward.records.report import REPORT_FILE

UNVERIFIED = (
    "Measured by the pull request's own workflow run, which its author controls; the results are not verified. "
    "The metrics and the verdict are computed from them here, with the base's policy and baseline."
)


def publish(world: World, settings: ActionInputs) -> int:
    """The exit code: 0 when it was told, whatever the verdict; with `fail_on` the verdict's own.

    The pull request's required check is the first stage; this one reports. In the pull request's own run it is the
    check: see `tell`. 2: the artifact, the base's files or the
    event are wrong; 3: GitHub could not be asked, or does not say which pull request it is.
    """
    runner = read_runner(world.env)
    surfaces = Surfaces(world, settings, runner, _marker(settings, None), None, world.redaction)
    surfaces.mask()
    try:
        payload = read_payload(runner.event_path)
        if world.env.get("GITHUB_EVENT_NAME") in TELLS:
            return tell(world, settings, runner, payload)
        run = read_triggering_run(world.env, payload)
    except InputError as error:
        surfaces.tell(*annotated(error.problems))
        surfaces.write(Outputs(verdict="error", exit_code=EXIT_INPUT))
        return EXIT_INPUT
    # What people are led to is the run that measured, not the one that tells about it.
    runner = replace(runner, run_id=run.id, run_attempt=run.run_attempt)
    surfaces = replace(surfaces, runner=runner, marker=_marker(settings, run))
    with GitHub(settings.github_token, runner.api_url) as client:
        return _publish(surfaces, client, run)


def _marker(settings: ActionInputs, run: TriggeringRun | None) -> Marker:
    if run is None:
        return Marker(settings.comment_id, "0" * 40, 0, 0)
    return Marker(settings.comment_id, run.head_sha, run.id, run.run_attempt)


def _publish(surfaces: Surfaces, client: GitHub, run: TriggeringRun) -> int:
    try:
        pull, why_not = pull_of_run(run, client, surfaces.runner.repository)
    except GitHubError as error:
        return surfaces.publish(client, not_judged(surfaces, str(error))).exit_code
    if pull is None:
        surfaces.tell(Annotation("notice", why_not, title="Evalward").command())
        surfaces.write(Outputs(verdict="", exit_code=EXIT_OK))
        return EXIT_OK
    surfaces = replace(surfaces, pull=PullRequest(surfaces.runner.repository, pull.number), base_ref=pull.base.ref)
    # An artifact may be anything: whatever goes wrong with it has a page.
    failing = Failing("the fork's run can't be judged", "the run could not be judged: ")
    return published(surfaces, client, lambda opened: _judge(opened, client, pull), failing)


def _judge(surfaces: Surfaces, client: GitHub, pull: OpenPull) -> Publication:
    settings, runner = surfaces.settings, surfaces.runner
    artifact = read_artifact(surfaces.folder / (settings.publish or ""))
    anew = recomputed(artifact)
    side = _base(surfaces, client, pull)
    head = PullHead(runner.repository, pull.number, pull.head.sha, pull.base.sha)
    report, left_out = LeftOutRuns.of(artifact).decided(anew.report, surfaces, client, head, side)
    policy = side.policy if side else Policy(fail_on=settings.fail_on or "regression")
    baseline = side.baseline if side else None
    judgement = decide_report(report, baseline, policy)
    judgement, tried = decide_again(surfaces, judgement, report, baseline, again_of(surfaces, client, policy, baseline))
    if settings.fail_on:
        unjudged = side is None and not settings.bootstrap
        judgement = as_proposed(judgement, policy, unjudged=unjudged, fail_on=settings.fail_on)
    notes = [ALL_STAND if report.all_unchanged else UNVERIFIED, *left_out, *([] if side else [NO_CONFIG])]
    notes += anew.notes()
    surfaces.show(judgement, annotate_cases=False)
    accept = of_fork(settings, runner, report, judgement.verdict)
    file = surfaces.folder / (settings.publish or "") / REPORT_FILE
    context = surfaces.context(accept, pull.base.sha, file, notes)
    surfaces.show_page(judgement, report, baseline, context, trials=False)
    page = remembered(surfaces.judged(judgement, report, context), tried)
    return page if settings.fail_on else replace(page, outputs=replace(page.outputs, exit_code=EXIT_OK))


def _base(surfaces: Surfaces, client: GitHub, pull: OpenPull) -> SideRules | None:
    """Policy and baseline of the pull request's base: from the checkout's objects, else through the API."""
    root = (surfaces.folder / surfaces.settings.config).parent
    return base_side(surfaces.settings, pull.base.ref, pull.base.sha, surfaces.tree(client), root)


def publish_folder(world: World, folder: Path, settings: ActionInputs) -> int:
    """`publish` from the command line: the token comes from GITHUB_TOKEN or GH_TOKEN."""
    token = world.env.get("GITHUB_TOKEN") or world.env.get("GH_TOKEN") or ""
    env = {"GITHUB_WORKSPACE": str(world.cwd.absolute()), **world.env}
    return publish(
        replace(world, env=env), replace(settings, publish=str(world.cwd.absolute() / folder), github_token=token)
    )

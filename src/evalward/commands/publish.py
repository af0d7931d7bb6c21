"""`evalward publish DIR`: the second stage of a fork's run, in a trusted workflow on the default branch.

The first stage ran on the pull request without secrets and left its output folder as an artifact. Here nothing of it is
run or believed beyond the cases' results: the pull request is GitHub's word, policy and baseline are the base's, the
metrics and the verdict are computed anew, and the text is ours.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from evalward.commands.accepting import of_fork
from evalward.commands.again import again_of, judge_again, remembered
from evalward.commands.artifact import measured_anew, read_artifact
from evalward.commands.faults import internal_error
from evalward.commands.pipeline import judge_report
from evalward.commands.surfaces import Page, Surfaces, annotated
from evalward.commands.tell import NO_CONFIG, TELLS, tell
from evalward.commands.world import World
from evalward.decide.proposal import as_proposed
from evalward.git import GitTree
from evalward.github.client import GitHub, OpenPull
from evalward.github.comment import Marker, PullRequest
from evalward.github.errors import GitHubError
from evalward.github.event import read_payload
from evalward.github.runner_files import Annotation, Outputs
from evalward.github.settings import Runner, Settings, read_runner
from evalward.github.sides import Side, base_side
from evalward.github.workflow_run import TriggeringRun, pulls_of_run, read_triggering_run
from evalward.records.policy import Policy
from evalward.records.problem import InputError
from evalward.records.report import REPORT_FILE
from evalward.records.verdict import EXIT_INPUT, EXIT_OK, EXIT_UNJUDGED
from evalward.render.context import Context

UNVERIFIED = (
    "Measured by the pull request's own workflow run, which its author controls; the results are not verified. "
    "The metrics and the verdict are computed here from them, by the base's policy and baseline."
)


class AmbiguousError(GitHubError):
    """One head, several open pull requests: nobody can tell which of them the run was for."""


def publish(world: World, settings: Settings) -> int:
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


def _marker(settings: Settings, run: TriggeringRun | None) -> Marker:
    if run is None:
        return Marker(settings.comment_id, "0" * 40, 0, 0)
    return Marker(settings.comment_id, run.head_sha, run.id, run.run_attempt)


def _publish(surfaces: Surfaces, client: GitHub, run: TriggeringRun) -> int:
    try:
        pull, why_not = _pull(surfaces.runner, client, run)
    except GitHubError as error:
        return surfaces.publish(client, _unreadable(surfaces, error)).exit_code
    if pull is None:
        surfaces.tell(Annotation("notice", why_not, title="Evalward").command())
        surfaces.write(Outputs(verdict="", exit_code=EXIT_OK))
        return EXIT_OK
    surfaces = replace(surfaces, pull=PullRequest(surfaces.runner.repository, pull.number), base_ref=pull.base.ref)
    try:
        surfaces = surfaces.opened()
        page = _judge(surfaces, client, run, pull)
    except InputError as error:
        surfaces.tell(*annotated(error.problems))
        page = surfaces.unjudged("the fork's run can't be judged", error.problems, EXIT_INPUT)
    except GitHubError as error:
        page = _unreadable(surfaces, error)
    except Exception as error:  # an artifact may be anything: an older run's "passed" must not be left standing
        told = internal_error(error)
        surfaces.tell(Annotation("error", told, title="Evalward").command())
        page = surfaces.unjudged(f"the run could not be judged: {told}", (), EXIT_UNJUDGED)
    return surfaces.publish(client, page).exit_code


def _pull(runner: Runner, client: GitHub, run: TriggeringRun) -> tuple[OpenPull | None, str]:
    """The pull request that the run was for, or why there is none to tell."""
    if run.event != "pull_request":
        return None, f"The finished run was one of {run.event}, not of a pull request: there is nothing to publish."
    if run.repository is None or not run.head_branch:
        return None, "The pull request's repository or branch is gone: there is nothing to publish."
    owner = run.repository.split("/", 1)[0]
    pulls = pulls_of_run(run, client.open_pulls(runner.repository, owner, run.head_branch))
    if not pulls:
        return None, f"No open pull request has the head {run.head_sha[:12]} any more: there is nothing to publish."
    if len(pulls) > 1:
        numbers = ", ".join(f"#{pull.number}" for pull in pulls)
        advice = "Close all but one of them, or give each a branch of its own."
        raise AmbiguousError(None, f"The head {run.head_sha[:12]} belongs to several pull requests: {numbers}.", advice)
    return pulls[0], ""


def _judge(surfaces: Surfaces, client: GitHub, run: TriggeringRun, pull: OpenPull) -> Page:
    settings, runner = surfaces.settings, surfaces.runner
    report, told = measured_anew(read_artifact(surfaces.folder / (settings.publish or "")))
    side = _base(surfaces, client, pull)
    policy = side.policy if side else Policy(fail_on=settings.fail_on or "regression")
    baseline = side.baseline if side else None
    judgement = judge_report(report, baseline, policy)
    judgement, tried = judge_again(surfaces, judgement, report, baseline, again_of(surfaces, client, policy, baseline))
    if settings.fail_on:
        unjudged = side is None and not settings.bootstrap
        judgement = as_proposed(judgement, policy, unjudged=unjudged, asked=settings.fail_on)
    notes = [UNVERIFIED, *([] if side else [NO_CONFIG])]
    if told:
        more = f" and {len(told) - 5} more" if len(told) > 5 else ""
        notes.append(f"What it says of itself doesn't fit its cases, so it was not used: {'; '.join(told[:5])}{more}.")
    surfaces.show(judgement, annotate_cases=False)
    context = Context(
        head_sha=run.head_sha,
        base_ref=pull.base.ref,
        base_sha=pull.base.sha,
        run_url=runner.run_url,
        report_path=_report_path(surfaces),
        command=f"evalward check --config {settings.config}",
        accept=of_fork(settings, runner, judgement.verdict),
        repository=runner.repository,
        marker=surfaces.marker.format(),
        notes=tuple(notes),
    )
    page = remembered(surfaces.judged(judgement, report, context), tried)
    return page if settings.fail_on else replace(page, outputs=replace(page.outputs, exit_code=EXIT_OK))


def _report_path(surfaces: Surfaces) -> str:
    return surfaces.shown(surfaces.folder / (surfaces.settings.publish or "") / REPORT_FILE)


def _base(surfaces: Surfaces, client: GitHub, pull: OpenPull) -> Side | None:
    """Policy and baseline of the pull request's base: from the checkout's objects, else through the API."""
    runner, settings = surfaces.runner, surfaces.settings
    tree = GitTree(
        runner.workspace,
        repository=runner.repository,
        remote=client if settings.github_token else None,
        search_path=runner.search_path,
    )
    root = (surfaces.folder / settings.config).parent
    return base_side(settings, pull.base.ref, pull.base.sha, tree, root)


def _unreadable(surfaces: Surfaces, error: GitHubError) -> Page:
    surfaces.tell(Annotation("error", str(error), title="Evalward").command())
    return surfaces.unjudged(str(error), (), EXIT_UNJUDGED)


def publish_folder(world: World, folder: Path, settings: Settings) -> int:
    """`publish` from the command line: the token comes from GITHUB_TOKEN or GH_TOKEN."""
    token = world.env.get("GITHUB_TOKEN") or world.env.get("GH_TOKEN") or ""
    env = {"GITHUB_WORKSPACE": str(world.cwd.absolute()), **world.env}
    return publish(
        replace(world, env=env), replace(settings, publish=str(world.cwd.absolute() / folder), github_token=token)
    )

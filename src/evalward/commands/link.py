"""The action's mode `link`: run, upload, link. It leads from the comment of this run's check to the uploaded page.

Nothing is measured, judged or opened here, and no key is needed. What is missing (an upload that failed, a comment, the
permission to write, GitHub itself) is a notice, and never a reason to fail.
"""

from __future__ import annotations

import contextlib
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from evalward.commands.surfaces import TELLING_S, Surfaces, wrong_inputs
from evalward.commands.world import World
from evalward.github.client import GitHub
from evalward.github.comment import Marker, Posted, PullRequest
from evalward.github.errors import GitHubError
from evalward.github.event import plan_event, read_payload
from evalward.github.report_link import link_report
from evalward.github.runner_files import Annotation, Outputs, append_summary
from evalward.github.settings import ActionInputs, RunnerEnvironment, read_runner
from evalward.github.workflow_run import EVENT, TriggeringRun, pull_of_run, read_triggering_run
from evalward.records.exits import EXIT_OK
from evalward.records.problem import InputError

NO_URL = "`report-url` is empty: the step before uploaded no page, so there is nothing to link to."
NO_TOKEN = "No github-token, so the comment is not linked to the report."  # noqa: S105 - a sentence
COMMENT_OFF = "The input `comment` is off, so no comment is linked to the report."
NO_COMMENT = "This event has no comment to link to the report: the job summary has the link."


@dataclass(frozen=True)
class _Told:
    """Whose comment is meant: of this run on `pull`, or of the finished `run` that this workflow tells about."""

    marker: Marker
    pull: PullRequest | None = None
    run: TriggeringRun | None = None


def link(world: World, settings: ActionInputs) -> int:
    """The exit code: 0 linked, or a notice says why not; 2 the event is not one that GitHub sends."""
    runner = read_runner(world.env)
    try:
        told = _told(world, settings, runner, read_payload(runner.event_path))
    except InputError as error:
        return wrong_inputs(world, runner, error.problems)
    surfaces = Surfaces(world, settings, runner, told.marker, told.pull, world.redaction)
    surfaces.mask()
    if settings.report_url and runner.summary is not None:
        with contextlib.suppress(OSError):
            append_summary(runner.summary, f"[Report]({settings.report_url}): every case and every trial\n")
    posted = _linked(surfaces, told)
    if posted.notice:
        surfaces.tell(Annotation("notice", posted.notice, title="Evalward").command())
    surfaces.write(Outputs(verdict="", exit_code=EXIT_OK, comment_url=posted.url or None))
    return EXIT_OK


def _told(world: World, settings: ActionInputs, runner: RunnerEnvironment, payload: Mapping[str, Any]) -> _Told:
    """From the event: which comment the check of this run wrote. Raises `InputError`."""
    if world.env.get("GITHUB_EVENT_NAME") == EVENT:
        run = read_triggering_run(world.env, payload)
        return _Told(Marker(settings.comment_id, run.head_sha, run.id, run.run_attempt), run=run)
    plan = plan_event(world.env, payload)
    marker = Marker(settings.comment_id, plan.head_sha, runner.run_id, runner.run_attempt)
    if not plan.comment or plan.pull_number is None:
        return _Told(marker)
    return _Told(marker, PullRequest(plan.repository, plan.pull_number, plan.fork, plan.dependabot))


def _linked(surfaces: Surfaces, told: _Told) -> Posted:
    """What became of it; GitHub has `TELLING_S` seconds."""
    settings, runner = surfaces.settings, surfaces.runner
    nothing = _nothing_to_link(settings, told)
    if nothing:
        return Posted("skipped", notice=nothing)
    with GitHub(settings.github_token, runner.api_url) as client, client.http.within(TELLING_S):
        try:
            told, why_not = _with_pull(told, client, runner.repository)
        except GitHubError as error:
            return Posted("unable", notice=f"The comment is not linked to the report: {error}")
        if told.pull is None:
            return Posted("skipped", notice=why_not)
        return link_report(client, told.pull, told.marker, settings.report_url)


def _nothing_to_link(settings: ActionInputs, told: _Told) -> str:
    """Why GitHub need not even be asked; empty where it has to be."""
    reasons = [
        (not settings.report_url, NO_URL),
        (settings.comment == "off", COMMENT_OFF),
        (told.pull is None and told.run is None, NO_COMMENT),
        (not settings.github_token, NO_TOKEN),
    ]
    return next((text for holds, text in reasons if holds), "")


def _with_pull(told: _Told, client: GitHub, repository: str) -> tuple[_Told, str]:
    """With the pull request that the finished run was for, or why there is none. Raises `GitHubError`."""
    if told.run is None:
        return told, ""
    pull, why_not = pull_of_run(told.run, client, repository)
    return replace(told, pull=PullRequest(repository, pull.number) if pull else None), why_not

"""`evalward baseline commit` and `evalward accept`: what the action does, from a step of one's own."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path

from evalward.commands.accept import accept_comment
from evalward.commands.baseline_ci import BlockedError, UpdateRequest, needs_token, repository_baseline, update_baseline
from evalward.commands.measuring import load, read_report_of, runner_of
from evalward.commands.pipeline import remeasured
from evalward.commands.release import branch_of
from evalward.commands.world import World
from evalward.git import GitTree
from evalward.github.client import API_URL, GitHub
from evalward.github.errors import GitHubError
from evalward.github.repository import RepositoryWriter
from evalward.github.settings import BRANCH, ActionInputs, BaselineMode, BaselineTo
from evalward.records.exits import EXIT_FAILED, EXIT_OK, EXIT_UNJUDGED
from evalward.records.problem import wrong


@dataclass(frozen=True)
class CommitOptions:
    """What `baseline commit` was asked for. `branch` is the one that gets the baseline."""

    report: Path
    config: Path
    to: BaselineTo
    branch: str | None = None
    pull_branch: str = ActionInputs.baseline_branch
    profile: str | None = None
    dry_run: bool = False
    mode: BaselineMode = ActionInputs.baseline_mode


def commit_report(world: World, options: CommitOptions) -> int:
    """0 committed, proposed, or no news; 1 the report fails the gate; 3 GitHub refused."""
    branch = options.branch or branch_of(world.env)
    name = world.env.get("GITHUB_REPOSITORY", "")
    if branch is None:
        raise wrong("--branch", "there is no branch to write to", "Name one: GITHUB_REF has none.")
    if name.count("/") != 1:
        raise wrong("environment", "GITHUB_REPOSITORY is not set", "Set it to owner/name.")
    if not BRANCH.fullmatch(options.pull_branch):
        raise wrong("--pull-branch", "can't be a branch's name", "Use letters, digits and single . _ / or -.")
    with runner_of(world) as runner:
        loaded, _ = load(runner, str(options.config))
        report = read_report_of(runner, str(options.report))
    tree = GitTree(loaded.root, search_path=world.env.get("PATH", ""))
    path = loaded.config.baseline_for(branch, options.profile)
    update = UpdateRequest(
        report=remeasured(report, str(options.report)),
        policy=loaded.config.policy_for(branch, options.profile, file=loaded.file),
        branch=branch,
        path=repository_baseline(ActionInputs(config="evalward.yml"), tree, path),
        to=options.to,
        pull_branch=options.pull_branch,
        mode=options.mode,
        dry_run=options.dry_run,
    )
    return _written(world, name, update)


def _written(world: World, name: str, update: UpdateRequest) -> int:
    token = _token(world)
    try:
        needs_token(token)
        with GitHub(token, world.env.get("GITHUB_API_URL") or API_URL) as client:
            outcome = update_baseline(RepositoryWriter(client, name), update)
    except BlockedError as error:
        world.show(str(error))
        return EXIT_FAILED
    except GitHubError as error:
        world.say(f"error: {error}")
        return EXIT_UNJUDGED
    world.show(outcome.line)
    if outcome.url:
        world.show(outcome.url)
    return EXIT_OK


def accept_event(world: World, settings: ActionInputs) -> int:
    """`accept` for the event that GITHUB_EVENT_PATH describes; the token comes from GITHUB_TOKEN or GH_TOKEN."""
    env = {"GITHUB_WORKSPACE": str(world.cwd.absolute()), **world.env}
    return accept_comment(replace(world, env=env), replace(settings, github_token=_token(world)))


def _token(world: World) -> str:
    return world.env.get("GITHUB_TOKEN") or world.env.get("GH_TOKEN") or ""

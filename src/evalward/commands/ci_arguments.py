"""The arguments of the commands that write to GitHub and check releases. What they need is loaded when they run."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from evalward.commands.shared_arguments import FAIL_ON, add_config, add_folder, add_profile, add_quiet

if TYPE_CHECKING:
    from evalward.commands.world import World

Handler = Callable[["World", argparse.Namespace], int]
Commands = argparse._SubParsersAction  # the only name that argparse gives what add_subparsers returns
AddCommand = Callable[["Commands[argparse.ArgumentParser]", str, str, Handler], argparse.ArgumentParser]

_CONFIG = "evalward.yml"  # of the base commit: no folder of the checkout is searched for it
REPORT = "a report, or the folder that it is in"


def add_baseline_commit(actions: Commands[argparse.ArgumentParser], command: AddCommand) -> None:
    """`evalward baseline commit`."""
    parser = command(actions, "commit", "commit the baseline through GitHub's API, or propose it", _baseline_commit)
    parser.set_defaults(keys=True)
    add_config(parser, what="config that names the baseline")
    parser.add_argument("--report", type=Path, required=True, metavar="REPORT", help=REPORT)
    parser.add_argument("--to", choices=("push", "pull-request"), required=True, help="a commit, or a pull request")
    how = parser.add_mutually_exclusive_group()
    how.add_argument("--pool", action="store_true", help="add the report's trials to the baseline's (default)")
    how.add_argument("--replace", action="store_true", help="use the report's trials instead of the baseline's")
    parser.add_argument("--branch", metavar="BRANCH", help="the branch that gets it; default: the workflow run's")
    parser.add_argument(
        "--pull-branch",
        default="evalward/baseline",
        metavar="BRANCH",
        help="the pull request's own branch; default: evalward/baseline",
    )
    add_profile(parser, "the one of the branch")
    parser.add_argument("--dry-run", action="store_true", help="say what would be done")


def add_accept(commands: Commands[argparse.ArgumentParser], command: AddCommand) -> None:
    """`evalward accept`."""
    parser = command(commands, "accept", "carry out a maintainer's `/evalward accept REASON` on GitHub", _accept)
    parser.set_defaults(keys=True)
    parser.add_argument(
        "--config", default=_CONFIG, metavar="FILE", help="the config in the base commit; default: evalward.yml"
    )
    parser.add_argument(
        "--report", metavar="REPORT", help="the report to accept; default: of the run that the comment shows"
    )
    parser.add_argument(
        "--artifact",
        default="evalward",
        metavar="NAME",
        help="the artifact in which that run left it; default: evalward",
    )
    parser.add_argument(
        "--comment-id", default="evalward", metavar="ID", help="the same as in the check; default: evalward"
    )
    parser.add_argument("--status", default="", metavar="NAME", help="commit status for the new head")
    parser.add_argument("--dry-run", action="store_true", help="say what would be done")


def add_release(commands: Commands[argparse.ArgumentParser], command: AddCommand) -> None:
    """`evalward release`."""
    summary = "judge a report against the branch's baseline and the last release"
    parser = command(commands, "release", summary, _release)
    parser.add_argument("--report", type=Path, required=True, metavar="REPORT", help=REPORT)
    add_config(parser)
    parser.add_argument("--branch", metavar="BRANCH", help="selects the profile; default: the checked-out branch")
    add_profile(parser, "the one of the branch")
    parser.add_argument("--tag", metavar="TAG", help="the release to compare with; default: the highest version")
    parser.add_argument("--fail-on", choices=FAIL_ON, help="which verdicts make the exit code 1")
    add_folder(parser)
    add_quiet(parser)


def _baseline_commit(world: World, args: argparse.Namespace) -> int:
    from evalward.commands.baseline_commit import CommitOptions, commit_report
    from evalward.commands.config_place import config_file
    from evalward.commands.files import report_in

    options = CommitOptions(
        report=report_in(world.cwd, args.report),
        config=config_file(world.cwd, args.config),
        to=args.to,
        branch=args.branch,
        pull_branch=args.pull_branch,
        profile=args.profile,
        dry_run=args.dry_run,
        mode="replace" if args.replace else "pool",
    )
    return commit_report(world, options)


def _accept(world: World, args: argparse.Namespace) -> int:
    from evalward.commands.baseline_commit import accept_event
    from evalward.github.settings import ActionInputs

    settings = ActionInputs(
        mode="accept",
        config=args.config,
        report=args.report,
        artifact=args.artifact,
        comment_id=args.comment_id,
        status=args.status,
        dry_run=args.dry_run,
    )
    return accept_event(world, settings)


def _release(world: World, args: argparse.Namespace) -> int:
    from evalward.commands.config_place import config_file, output_folder
    from evalward.commands.files import report_in
    from evalward.commands.release import ReleaseOptions, release

    options = ReleaseOptions(
        report=report_in(world.cwd, args.report),
        config=config_file(world.cwd, args.config),
        output=output_folder(world.cwd, args.output, args.config),
        branch=args.branch,
        profile=args.profile,
        tag=args.tag,
        fail_on=args.fail_on,
    )
    return release(world, options)

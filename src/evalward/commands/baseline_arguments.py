"""The arguments of `evalward baseline`. What its actions need is loaded when they run."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from evalward.commands.ci_arguments import AddCommand, Commands, add_baseline_commit
from evalward.commands.shared_arguments import LAST_REPORT, add_config, add_output_file, add_profile

if TYPE_CHECKING:
    from evalward.commands.world import World


def add_baseline(commands: Commands[argparse.ArgumentParser], command: AddCommand) -> None:
    """`evalward baseline` with its actions."""
    parser = commands.add_parser("baseline", help="make, show or compare the committed baseline")
    actions = parser.add_subparsers(title="actions", metavar="ACTION", required=True)
    _add_update(actions, command)
    _options(command(actions, "show", "show what the baseline holds", _show))
    _add_diff(actions, command)
    add_baseline_commit(actions, command)


def _add_diff(actions: Commands[argparse.ArgumentParser], command: AddCommand) -> None:
    summary = "show the differences between two baselines: files or git revisions"
    differ = command(actions, "diff", summary, _diff)
    help_text = "a file, or a git branch, tag or commit; default: HEAD"
    differ.add_argument("old", nargs="?", metavar="OLD", help=help_text)
    differ.add_argument("new", nargs="?", metavar="NEW", help="the same; default: the baseline in the working tree")
    add_config(differ, what="config that names the baseline")
    add_profile(differ)
    forms = ("terminal", "markdown", "json")
    differ.add_argument("--format", choices=forms, default="terminal", help="default: terminal")
    add_output_file(differ)


def _add_update(actions: Commands[argparse.ArgumentParser], command: AddCommand) -> None:
    action = command(actions, "update", "make the baseline from a report", _update)
    _options(action)
    action.add_argument(
        "--report",
        type=Path,
        action="append",
        metavar="REPORT",
        help=f"a report or its folder; several are pooled; {LAST_REPORT}",
    )
    how = action.add_mutually_exclusive_group()
    how.add_argument(
        "--replace",
        action="store_true",
        help="use the report's trials instead of the baseline's (the default), even if a drop is in doubt",
    )
    how.add_argument("--pool", action="store_true", help="add the report's trials to the baseline's")
    how.add_argument(
        "--keep",
        action="store_true",
        help="add all trials, retrials too; only cases that changed lose their earlier trials (default with --accept)",
    )
    action.add_argument("--accept", metavar="REASON", help="accept a drop; the reason is written into the baseline")
    action.add_argument("--dry-run", action="store_true", help="show what would change, write nothing")


def _options(action: argparse.ArgumentParser) -> None:
    add_config(action, what="config that names the baseline")
    action.add_argument("--baseline", type=Path, metavar="FILE", help="the baseline; default: the config's")
    add_profile(action)


def _update(world: World, args: argparse.Namespace) -> int:
    from evalward.commands.baseline import UpdateOptions, baseline_path, update, update_policy
    from evalward.commands.config_place import config_file, usual_report
    from evalward.commands.files import report_in

    first, *also = [report_in(world.cwd, file) for file in args.report or [usual_report(world.cwd, None, args.config)]]
    config = config_file(world.cwd, args.config)
    options = UpdateOptions(
        also=tuple(also),
        pool=args.pool,
        replace=args.replace,
        keep=args.keep or (args.accept is not None and not (args.pool or args.replace or also)),
        policy=update_policy(config, args.baseline, args.profile),
        accept=args.accept,
        dry_run=args.dry_run,
    )
    return update(world, first, baseline_path(config, args.baseline, args.profile), options)


def _show(world: World, args: argparse.Namespace) -> int:
    from evalward.commands.baseline import baseline_path, show
    from evalward.commands.config_place import config_file

    return show(world, baseline_path(config_file(world.cwd, args.config), args.baseline, args.profile))


def _diff(world: World, args: argparse.Namespace) -> int:
    from evalward.commands.baseline import diff
    from evalward.commands.baseline_sides import BaselineSides
    from evalward.commands.config_place import find_config
    from evalward.config.load import load_config

    config = args.config or find_config(world.cwd)
    sides = BaselineSides(world, load_config(config) if config else None, args.profile)
    old, new = sides.pair(args.old, args.new)
    return diff(world, old, new, args.format, args.output)

"""The arguments of `evalward baseline`. What its actions need is loaded when they run."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from evalward.commands.ci_arguments import AddCommand, Commands, add_baseline_commit

if TYPE_CHECKING:
    from evalward.commands.world import World


def add_baseline(commands: Commands[argparse.ArgumentParser], command: AddCommand, config: Path, report: Path) -> None:
    """`evalward baseline` with its actions. `config` and `report` are where both are looked for."""
    parser = commands.add_parser("baseline", help="make, show or compare the committed baseline")
    actions = parser.add_subparsers(title="actions", metavar="ACTION", required=True)
    _add_update(actions, command, config, report)
    _options(command(actions, "show", "show what the baseline holds", _show), config)
    differ = command(actions, "diff", "show what is different between two baselines", _diff)
    differ.add_argument("old", type=Path, metavar="OLD")
    differ.add_argument("new", type=Path, metavar="NEW")
    differ.add_argument("--format", choices=("terminal", "markdown", "json"), default="terminal")
    differ.add_argument("--output", type=Path, metavar="FILE", help="default: standard output")
    add_baseline_commit(actions, command)


def _add_update(actions: Commands[argparse.ArgumentParser], command: AddCommand, config: Path, report: Path) -> None:
    action = command(actions, "update", "make the baseline from a report", _update)
    _options(action, config)
    action.set_defaults(usual_report=report)
    action.add_argument(
        "--report", type=Path, action="append", metavar="R.json", help=f"several are pooled; default: {report}"
    )
    how = action.add_mutually_exclusive_group()
    how.add_argument(
        "--replace",
        action="store_true",
        help="the report's trials instead of the baseline's: the default, and with this also where a drop is in doubt",
    )
    how.add_argument("--pool", action="store_true", help="the report's trials beside the baseline's")
    how.add_argument(
        "--keep",
        action="store_true",
        help="all trials, fresh ones too; cases that did as before keep their earlier ones (default with --accept)",
    )
    action.add_argument("--accept", metavar="REASON", help="take a drop on purpose; the reason is written down")
    action.add_argument("--dry-run", action="store_true", help="show what would change, write nothing")


def _options(action: argparse.ArgumentParser, config: Path) -> None:
    action.add_argument("--config", type=Path, default=config, metavar="FILE", help="names the baseline")
    action.add_argument("--baseline", type=Path, metavar="FILE", help="default: the config's")
    action.add_argument("--profile", metavar="NAME", help="the profile of the config that holds")


def _update(world: World, args: argparse.Namespace) -> int:
    from evalward.commands.baseline import UpdateOptions, baseline_path, update, update_policy

    first, *also = args.report or [args.usual_report]
    options = UpdateOptions(
        also=tuple(also),
        pool=args.pool,
        replace=args.replace,
        keep=args.keep or (args.accept is not None and not (args.pool or args.replace or also)),
        policy=update_policy(args.config, args.baseline, args.profile),
        accept=args.accept,
        dry_run=args.dry_run,
    )
    return update(world, first, baseline_path(args.config, args.baseline, args.profile), options)


def _show(world: World, args: argparse.Namespace) -> int:
    from evalward.commands.baseline import baseline_path, show

    return show(world, baseline_path(args.config, args.baseline, args.profile))


def _diff(world: World, args: argparse.Namespace) -> int:
    from evalward.commands.baseline import diff

    return diff(world, args.old, args.new, args.format, args.output)

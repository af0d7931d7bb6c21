"""The arguments of `evalward show` and `evalward view`. What they need is loaded when they run."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from evalward.commands.ci_arguments import AddCommand, Commands
from evalward.commands.parsing import number_up_to
from evalward.commands.shared_arguments import LAST_REPORT, add_patterns

if TYPE_CHECKING:
    from evalward.commands.world import World

_FROM_CONFIG = Path()  # what --baseline without a file stands for


def add_show(commands: Commands[argparse.ArgumentParser], command: AddCommand) -> None:
    """`evalward show` and `evalward view`."""
    parser = command(commands, "show", "read one trial: its conversation and checks; no CASE: what failed", _show)
    parser.set_defaults(screen=True)
    parser.add_argument("case", nargs="?", metavar="CASE", help="its id, or a pattern; none: list the failed cases")
    add_patterns(parser, "suite", "target")
    parser.add_argument(
        "--trial", type=number_up_to(1_000_000), metavar="N", help="its number; default: the first that failed"
    )
    parser.add_argument(
        "--report",
        type=Path,
        metavar="REPORT",
        help=f"a report, or the folder that it is in; {LAST_REPORT}",
    )
    parser.add_argument(
        "--baseline",
        type=Path,
        nargs="?",
        const=_FROM_CONFIG,
        metavar="FILE",
        help="also the baseline's trial; without FILE the config's baseline",
    )
    parser.add_argument("--full", action="store_true", help="show long outputs in full")
    viewer = command(commands, "view", "open the last run's report.html in a browser", _view)
    viewer.set_defaults(screen=True)
    viewer.add_argument(
        "--report",
        type=Path,
        metavar="REPORT",
        help=f"a report, or the folder that it is in; {LAST_REPORT}",
    )


def _show(world: World, args: argparse.Namespace) -> int:
    from evalward.commands.config_place import usual_report
    from evalward.commands.show import ShowTrialOptions, show

    options = ShowTrialOptions(
        report=usual_report(world.cwd, args.report),
        case=args.case,
        suites=tuple(args.suite),
        targets=tuple(args.target),
        trial=args.trial,
        baseline=None if args.baseline == _FROM_CONFIG else args.baseline,
        compared=args.baseline is not None,
        full=args.full,
    )
    return show(world, options)


def _view(world: World, args: argparse.Namespace) -> int:
    from evalward.commands.config_place import usual_report
    from evalward.commands.view import view

    return view(world, usual_report(world.cwd, args.report))

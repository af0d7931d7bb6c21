"""The arguments of `evalward history`. What it needs is loaded when it runs."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from evalward.commands.ci_arguments import AddCommand, Commands

if TYPE_CHECKING:
    from evalward.commands.world import World


def add_history(commands: Commands[argparse.ArgumentParser], command: AddCommand) -> None:
    """`evalward history append|show`."""
    parser = commands.add_parser("history", help="keep what was measured, show trends and flaky cases")
    actions = parser.add_subparsers(title="actions", metavar="ACTION", required=True)
    append = command(actions, "append", "add a line for each run of a report", _history_append)
    report = Path("evalward-out/report.json")
    append.add_argument("--report", type=Path, default=report, metavar="R.json", help=f"default: {report}")
    append.add_argument(
        "--judgement", type=Path, metavar="J.json", help="adds the verdict; its rules' metrics are kept"
    )
    append.add_argument("--ref", metavar="NAME", help="the branch that was measured; default: GITHUB_REF_NAME")
    show = command(actions, "show", "show trends, flaky and broken cases", _history_show)
    for name in ("suite", "target", "metric"):
        show.add_argument(f"--{name}", action="append", default=[], metavar="GLOB", help=f"only these {name}s")
    show.add_argument("--baseline", type=Path, metavar="FILE", help="its trials count for the flaky cases too")
    level = "a release's baseline, whose level is drawn; default: the oldest runs"
    show.add_argument("--anchor", type=Path, metavar="FILE", help=level)
    show.add_argument("--format", choices=("terminal", "markdown", "json"), default="terminal")
    show.add_argument("--output", type=Path, metavar="FILE", help="default: standard output")
    for action in (append, show):
        places = action.add_mutually_exclusive_group()
        places.add_argument("--folder", type=Path, default=Path(".evalward"), metavar="DIR", help="default: .evalward")
        places.add_argument("--branch", metavar="NAME", help="a branch for data, which is not checked out")


def _history_append(world: World, args: argparse.Namespace) -> int:
    from evalward.commands.history import Where, append

    return append(world, Where(args.folder, args.branch), args.report, args.judgement, args.ref)


def _history_show(world: World, args: argparse.Namespace) -> int:
    from evalward.commands.history import ShowOptions, Where, show

    options = ShowOptions(
        where=Where(args.folder, args.branch),
        suites=tuple(args.suite),
        targets=tuple(args.target),
        metrics=tuple(args.metric),
        baseline=args.baseline,
        anchor=args.anchor,
        format=args.format,
        output=args.output,
    )
    return show(world, options)

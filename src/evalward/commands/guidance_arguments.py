"""The command line of `evalward guidance`; apart from the command itself, so that `--help` loads nothing for it."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from evalward.commands.world import World

Handler = Callable[["World", argparse.Namespace], int]
Add = Callable[
    ["argparse._SubParsersAction[argparse.ArgumentParser]", str, str, Handler],
    argparse.ArgumentParser,
]


def add_guidance(
    commands: argparse._SubParsersAction[argparse.ArgumentParser],
    add: Add,
    selection_options: Callable[[argparse.ArgumentParser], None],
) -> None:
    """Add the command `guidance`, with the options by which suites are chosen and run."""
    parser = add(commands, "guidance", "compare what agents do with one AGENTS.md and with another", _guidance)
    parser.set_defaults(keys=True)
    selection_options(parser)
    parser.add_argument(
        "reports", nargs="*", metavar="REPORT", help="compare these reports instead of running anything"
    )
    parser.add_argument(
        "--against", metavar="COMMIT", help="compare with the guidance of this commit, not with variants"
    )
    parser.add_argument(
        "--format", choices=("terminal", "markdown", "json"), default="terminal", help="default: terminal"
    )


def _guidance(world: World, args: argparse.Namespace) -> int:
    from pathlib import Path

    from evalward.commands.config_place import config_file, output_folder
    from evalward.commands.files import report_in
    from evalward.commands.guidance import GuidanceOptions, compare_reports, guidance
    from evalward.engine.selection import Selection
    from evalward.records.problem import wrong

    if args.reports:
        if len(args.reports) == 1:
            raise wrong(args.reports[0], "one report has nothing to be compared with", "Name another one.")
        return compare_reports(world, [report_in(world.cwd, Path(name)) for name in args.reports], args.format, None)
    options = GuidanceOptions(
        config=config_file(world.cwd, args.config),
        output=output_folder(world.cwd, args.output, args.config),
        selection=Selection(tuple(args.suite), tuple(args.target), tuple(args.case), args.trials),
        against=args.against,
        resume=args.resume,
        format=args.format,
    )
    return guidance(world, options)

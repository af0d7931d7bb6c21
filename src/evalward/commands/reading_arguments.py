"""The arguments of `compare`, `report`, `validate` and `schema`. What they need is loaded when they run."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from evalward.commands.ci_arguments import AddCommand, Commands
from evalward.commands.exchange_arguments import OR_FOREIGN, add_score_option
from evalward.commands.shared_arguments import (
    LAST_REPORT,
    VERBOSE,
    VERBOSE_CHECK,
    add_config,
    add_formats,
    add_judging,
    add_output_file,
    add_quiet,
)
from evalward.registry import SCHEMAS, ours

if TYPE_CHECKING:
    from evalward.commands.world import World


def add_compare(commands: Commands[argparse.ArgumentParser], command: AddCommand) -> None:
    """`evalward compare`."""
    parser = command(commands, "compare", "judge a report as `check` does; the verdict sets the exit code", _compare)
    help_text = f"a report or the folder that it is in, {OR_FOREIGN}; {LAST_REPORT}"
    parser.add_argument("--report", type=Path, metavar="REPORT", help=help_text)
    parser.add_argument(
        "--baseline", type=Path, metavar="BASELINE", help=f"a baseline, {OR_FOREIGN}; default: the config's"
    )
    add_score_option(parser)
    add_config(parser, alias="--policy", what="config with the rules; without one, each kind's own")
    add_judging(parser)
    add_formats(parser)
    how_much = parser.add_mutually_exclusive_group()
    how_much.add_argument("--verbose", action="store_true", help=VERBOSE_CHECK)
    add_quiet(how_much)


def add_report(commands: Commands[argparse.ArgumentParser], command: AddCommand) -> None:
    """`evalward report`."""
    parser = command(commands, "report", "show a report without a baseline, or several side by side", _report)
    help_text = f"a report, the folder that it is in, {OR_FOREIGN}"
    parser.add_argument("reports", type=Path, nargs="+", metavar="REPORT", help=help_text)
    parser.add_argument("--verbose", action="store_true", help=VERBOSE)
    add_formats(parser)


def add_validate(commands: Commands[argparse.ArgumentParser], command: AddCommand) -> None:
    """`evalward validate`."""
    summary = "check config, cases and baseline: every problem, with file and line"
    parser = command(commands, "validate", summary, _validate)
    parser.set_defaults(asks_for_keys=True)
    parser.add_argument("paths", type=Path, nargs="*", metavar="FILE", help="configs, baselines, files of cases")
    add_config(parser, what="the same")
    parser.add_argument("--no-prove", action="store_true", help="don't run the cases' solutions and wrong answers")
    add_quiet(parser)


def add_schema(commands: Commands[argparse.ArgumentParser], command: AddCommand) -> None:
    """`evalward schema`."""
    parser = command(commands, "schema", "print the JSON Schema of a file, for editors and programs", _schema)
    parser.add_argument("name", nargs="?", metavar="NAME", help=f"{', '.join(ours(SCHEMAS))}; none: list the names")
    add_output_file(parser)


def _compare(world: World, args: argparse.Namespace) -> int:
    from evalward.commands.compare import compare_files
    from evalward.commands.config_place import find_config, usual_report
    from evalward.commands.files import result_in
    from evalward.commands.options import CompareOptions

    options = CompareOptions(
        report=result_in(world.cwd, usual_report(world.cwd, args.report, args.config)),
        baseline=args.baseline,
        config=args.config or find_config(world.cwd),
        profile=args.profile,
        fail_on=args.fail_on,
        format=args.format,
        output=args.output,
        scores=args.scores,
        verbose=args.verbose,
    )
    return compare_files(world, options)


def _report(world: World, args: argparse.Namespace) -> int:
    from evalward.commands.files import result_in
    from evalward.commands.report import show_reports

    files = [result_in(world.cwd, file) for file in args.reports]
    return show_reports(world, files, args.format, args.output, verbose=args.verbose)


def _validate(world: World, args: argparse.Namespace) -> int:
    from evalward.commands.config_place import config_file
    from evalward.commands.validate import validate

    named = [*args.paths, *([args.config] if args.config else [])]
    return validate(world, named or [config_file(world.cwd, None)], prove=not args.no_prove)


def _schema(world: World, args: argparse.Namespace) -> int:
    from evalward.commands.schema import show_schema

    return show_schema(world, args.name, args.output)

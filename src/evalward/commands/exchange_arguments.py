"""The arguments of `evalward import` and `evalward export`. What they need is loaded when they run."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from evalward.commands.ci_arguments import AddCommand, Commands
from evalward.registry import EXPORTERS, FORMATS, IMPORTERS, ours

OR_FOREIGN = "or a result file of another harness, known by its content"

if TYPE_CHECKING:
    from evalward.commands.world import World


def add_exchange(commands: Commands[argparse.ArgumentParser], command: AddCommand) -> None:
    """`evalward import` and `evalward export`."""
    importer = command(commands, "import", "read another tool's result files as a report", _import)
    formats = ", ".join([*ours(IMPORTERS), *ours(FORMATS)])
    importer.add_argument("form", metavar="FORMAT", help=f"one of {formats}; or auto: found by the files' content")
    importer.add_argument(
        "files", type=Path, nargs="+", metavar="FILE", help="result files; of fc-eval also a run's folder"
    )
    importer.add_argument(
        "--output", type=Path, required=True, metavar="REPORT", help="the file to write; trials and cases go next to it"
    )
    add_score_option(importer)
    exporter = command(commands, "export", "write a run in another tool's form", _export)
    exporter.add_argument("form", metavar="FORMAT", help=f"one of {', '.join(ours(EXPORTERS))}")
    exporter.add_argument("report", type=Path, metavar="REPORT", help="a report, or the folder that it is in")
    exporter.add_argument("--output", type=Path, required=True, metavar="FILE", help="the file to write")
    exporter.add_argument("--target", metavar="TARGET", help="the run to write, when the report has several")
    exporter.add_argument("--suite", metavar="SUITE", help="the suite of the run to write")


def add_score_option(parser: argparse.ArgumentParser) -> None:
    """`--score`, where other harnesses' results are read."""
    parser.add_argument(
        "--score",
        dest="scores",
        action="append",
        default=[],
        metavar="NAME[=LEAST]",
        help="which score of a foreign file passes a trial; with LEAST from which value on. May be repeated",
    )


def _import(world: World, args: argparse.Namespace) -> int:
    from evalward.commands.exchange import import_files

    return import_files(world, args.form, args.files, args.output, args.scores)


def _export(world: World, args: argparse.Namespace) -> int:
    from evalward.commands.exchange import export_file
    from evalward.commands.files import report_in

    report = report_in(world.cwd, args.report)
    return export_file(world, args.form, report, args.output, target=args.target, suite=args.suite)

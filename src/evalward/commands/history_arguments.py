"""The arguments of `evalward history`. What it needs is loaded when it runs."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from evalward.commands.ci_arguments import AddCommand, Commands
from evalward.commands.shared_arguments import LAST_REPORT, add_config, add_output_file, add_patterns, add_profile

if TYPE_CHECKING:
    from evalward.commands.world import World

_FOLDER = Path(".evalward")


def add_history(commands: Commands[argparse.ArgumentParser], command: AddCommand) -> None:
    """`evalward history append|show|page`."""
    parser = commands.add_parser("history", help="keep what was measured, show trends and flaky cases")
    actions = parser.add_subparsers(title="actions", metavar="ACTION", required=True)
    append = command(actions, "append", "add a line for each run of a report", _history_append)
    append.add_argument(
        "--report",
        type=Path,
        metavar="REPORT",
        help=f"a report, or the folder that it is in; {LAST_REPORT}",
    )
    append.add_argument(
        "--judgement",
        type=Path,
        metavar="FILE",
        help="judgement.json, or its folder: adds the verdict and its rules' metrics",
    )
    append.add_argument("--ref", metavar="NAME", help="the measured branch; default: GITHUB_REF_NAME")
    show = command(actions, "show", "show trends, flaky and failing cases", _history_show)
    add_patterns(show, "suite", "target", "metric")
    show.add_argument("--baseline", type=Path, metavar="FILE", help="its trials also count for the flaky cases")
    level = "a release's baseline, drawn as a level; default: the oldest runs"
    show.add_argument("--anchor", type=Path, metavar="FILE", help=level)
    page = command(actions, "page", "make a web page of the whole history", _history_page)
    _add_page(page, level)
    show.add_argument(
        "--format", choices=("terminal", "markdown", "json"), default="terminal", help="default: terminal"
    )
    add_output_file(show)
    for action, folder in ((append, _FOLDER), (show, _FOLDER), (page, None)):
        places = action.add_mutually_exclusive_group()
        default = folder or f"the configuration's, else {_FOLDER}"
        where = f"folder of history.jsonl; default: {default}"
        places.add_argument("--folder", type=Path, default=folder, metavar="DIR", help=where)
        places.add_argument("--branch", metavar="NAME", help="a branch for data, which is not checked out")


def _add_page(page: argparse.ArgumentParser, level: str) -> None:
    page.add_argument("--output", "--output-dir", type=Path, required=True, metavar="DIR", help="folder for index.html")
    add_config(page, what="whose rules' metrics and limits are drawn")
    add_profile(page)
    add_patterns(page, "suite", "target", "ref")
    page.add_argument("--baseline", type=Path, metavar="FILE", help="its trials also count for the flaky cases")
    page.add_argument("--anchor", type=Path, metavar="FILE", help=level)
    page.add_argument("--repository", metavar="URL", help="where links of commits lead; default: in Actions, its own")


def _history_append(world: World, args: argparse.Namespace) -> int:
    from evalward.commands.config_place import usual_report
    from evalward.commands.files import report_in
    from evalward.commands.history import Where, append

    report = report_in(world.cwd, usual_report(world.cwd, args.report))
    return append(world, Where(args.folder, args.branch), report, args.judgement, args.ref)


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


def _history_page(world: World, args: argparse.Namespace) -> int:
    from evalward.commands.config_place import find_config
    from evalward.commands.history import Where
    from evalward.commands.history_page import FOLDER, HistoryPageOptions, page

    named = args.folder is not None or args.branch is not None
    options = HistoryPageOptions(
        output=args.output,
        where=Where(args.folder or FOLDER, args.branch) if named else None,
        config=args.config or find_config(world.cwd),
        profile=args.profile,
        suites=tuple(args.suite),
        targets=tuple(args.target),
        refs=tuple(args.ref),
        baseline=args.baseline,
        anchor=args.anchor,
        repository=args.repository,
    )
    return page(world, options)

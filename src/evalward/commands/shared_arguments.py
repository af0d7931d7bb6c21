"""Arguments that several commands have, each written once."""

from __future__ import annotations

import argparse
from pathlib import Path

from evalward.commands.parsing import listed
from evalward.registry import OUTPUTS, installed, ours

FAIL_ON = ("regression", "inconclusive", "never")
PROFILE = "apply this profile of the config"
VERBOSE = "show passed trials too, every check, and each trial's turns, calls, tokens and time"
VERBOSE_CHECK = "show the tables of runs that are fine, too"


def add_config(parser: argparse.ArgumentParser, *, alias: str | None = None, what: str = "") -> None:
    """`--config`; without it the nearest `evalward.yml`, here or above. `what` it is read for."""
    names = ["--config", *([alias] if alias else [])]
    default = "default: the nearest evalward.yml or evalward.yaml, here or in a folder above"
    help_text = f"{what or 'the config'}; {default}"
    parser.add_argument(*names, dest="config", type=Path, metavar="FILE", help=help_text)


def add_profile(parser: argparse.ArgumentParser, default: str = "") -> None:
    """`--profile`."""
    parser.add_argument("--profile", metavar="NAME", help=f"{PROFILE}; default: {default}" if default else PROFILE)


def add_judging(parser: argparse.ArgumentParser) -> None:
    """What decides about the exit code."""
    add_profile(parser)
    parser.add_argument("--fail-on", choices=FAIL_ON, help="which verdicts make the exit code 1; default: the config's")


def add_quiet(parser: argparse._ActionsContainer) -> None:
    """`-q`."""
    parser.add_argument("-q", "--quiet", action="store_true", help="print one line, the verdict, and no progress")


LAST_REPORT = "default: evalward-out/report.json, next to the config"
"""Where the last run's report is looked for: see `config_place.usual_report`."""


def add_batch(parser: argparse.ArgumentParser) -> None:
    """`--batch`."""
    what = "send requests in batches, at half price; takes up to 24 h"
    parser.add_argument("--batch", action="store_true", help=what)


def add_changed_since(parser: argparse.ArgumentParser) -> None:
    """`--changed-since REV`."""
    what = "leave out suites that no change since this commit can have touched: the baseline's trials stand"
    parser.add_argument("--changed-since", metavar="REV", help=what)


def add_folder(
    parser: argparse.ArgumentParser, default: Path | None = None, what: str = "folder for the results"
) -> None:
    """`--output` where a folder is meant, also under the name that it has in the action. Without `default`:
    `config_place.output_folder`.
    """
    help_text = f"{what}; default: {default or 'evalward-out, next to the config'}"
    parser.add_argument("--output", "--output-dir", type=Path, default=default, metavar="DIR", help=help_text)


def add_patterns(parser: argparse.ArgumentParser, *names: str) -> None:
    """`--suite`, `--target` and the like: patterns, several between commas or by repeating the option."""
    for name in names:
        help_text = f"only these {name}s: a pattern, or several separated by commas"
        parser.add_argument(f"--{name}", action="extend", type=listed, default=[], metavar="GLOB", help=help_text)


def add_formats(parser: argparse.ArgumentParser) -> None:
    """`--format` and `--output` of a command whose result every output format can show."""
    forms = ", ".join(ours(OUTPUTS))
    help_text = f"{forms}, or an installed one; default: terminal"
    parser.add_argument("--format", type=_form, default="terminal", metavar="FORMAT", help=help_text)
    add_output_file(parser)


def add_output_file(parser: argparse.ArgumentParser) -> None:
    """`--output` where a file is meant that need not be."""
    parser.add_argument("--output", type=Path, metavar="FILE", help="write to this file; default: standard output")


def _form(name: str) -> str:
    if name in ours(OUTPUTS) or name in installed(OUTPUTS):
        return name
    from evalward.records.words import near_or_known, shown

    known = near_or_known(name, installed(OUTPUTS), "Known")
    raise argparse.ArgumentTypeError(f"unknown value {shown(name)}. {known}")

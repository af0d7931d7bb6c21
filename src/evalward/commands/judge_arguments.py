"""The command line of `evalward judge`; apart from the command itself, so that `--help` loads nothing for it."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from evalward.commands.world import World

MOST_VOTES = 9


def add_judge(commands: argparse._SubParsersAction[argparse.ArgumentParser], config: Path) -> None:
    """Add the command `judge` with its action `check`. `config` is where the configuration is looked for."""
    parser = commands.add_parser("judge", help="hold a judge against labelled transcripts")
    actions = parser.add_subparsers(title="actions", metavar="ACTION", required=True)
    summary = "show how far a judge can be believed"
    check = actions.add_parser("check", help=summary, description=summary[0].upper() + summary[1:] + ".")
    handler: Callable[[World, argparse.Namespace], int] = _check
    check.set_defaults(handler=handler, keys=True)
    check.add_argument("rubric", type=Path, metavar="RUBRIC.yaml")
    check.add_argument("labelled", type=Path, metavar="LABELLED.jsonl", help="transcripts with the right verdicts")
    check.add_argument("--config", type=Path, default=config, metavar="FILE", help=f"default: {config}")
    check.add_argument("--model", metavar="JUDGE", help="default: as for a run")
    check.add_argument("--votes", type=_votes, metavar="N", help="questions per transcript; default: the config's")
    check.add_argument("--threshold", type=_share, metavar="X", help="the score that passes; default: the config's")
    check.add_argument("--min-kappa", type=_share, default=0.6, metavar="X", help="agreement wanted; default: 0.6")
    check.add_argument("--format", choices=("terminal", "json"), default="terminal")
    check.add_argument("--output", type=Path, metavar="FILE", help="default: standard output")


def _votes(text: str) -> int:
    if not text.isascii() or not text.isdigit() or not 1 <= int(text) <= MOST_VOTES:
        raise argparse.ArgumentTypeError(f"{text!r} is no whole number from 1 to {MOST_VOTES}")
    return int(text)


def _share(text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = -1.0
    if not 0 <= value <= 1:
        raise argparse.ArgumentTypeError(f"{text!r} is no number from 0 to 1")
    return value


def _check(world: World, args: argparse.Namespace) -> int:
    from evalward.commands.judge import JudgeCheckOptions, judge_check

    options = JudgeCheckOptions(
        rubric=args.rubric,
        labelled=args.labelled,
        config=args.config,
        model=args.model,
        votes=args.votes,
        threshold=args.threshold,
        min_kappa=args.min_kappa,
        format=args.format,
        output=args.output,
    )
    return judge_check(world, options)

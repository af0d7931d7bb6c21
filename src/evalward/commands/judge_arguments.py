"""The command line of `evalward judge`; apart from the command itself, so that `--help` loads nothing for it."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from evalward.commands.parsing import number_up_to
from evalward.commands.shared_arguments import add_config, add_output_file

if TYPE_CHECKING:
    from evalward.commands.world import World

MOST_VOTES = 9


def add_judge(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add the command `judge` with its action `check`."""
    parser = commands.add_parser("judge", help="compare a judge with labelled transcripts")
    actions = parser.add_subparsers(title="actions", metavar="ACTION", required=True)
    summary = "show how far a judge can be trusted"
    check = actions.add_parser("check", help=summary, description=summary[0].upper() + summary[1:] + ".")
    handler: Callable[[World, argparse.Namespace], int] = _check
    check.set_defaults(handler=handler, keys=True)
    check.add_argument("rubric", type=Path, metavar="RUBRIC.yaml", help="the rubric that the judge is given")
    check.add_argument("labelled", type=Path, metavar="LABELLED.jsonl", help="transcripts with the right verdicts")
    add_config(check)
    check.add_argument("--model", metavar="JUDGE", help="the judge; default: the one that a run would ask")
    check.add_argument(
        "--votes",
        type=number_up_to(MOST_VOTES),
        metavar="N",
        help="questions per transcript, 1 to 9; default: the config's",
    )
    check.add_argument(
        "--threshold", type=_share, metavar="SHARE", help="the score that passes, 0 to 1; default: the config's"
    )
    check.add_argument(
        "--min-kappa", type=_share, default=0.6, metavar="SHARE", help="the required agreement, 0 to 1; default: 0.6"
    )
    check.add_argument("--format", choices=("terminal", "json"), default="terminal", help="default: terminal")
    add_output_file(check)


def _share(text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = -1.0
    if not 0 <= value <= 1:
        raise argparse.ArgumentTypeError(f"must be a number from 0 to 1, not {text!r}.")
    return value


def _check(world: World, args: argparse.Namespace) -> int:
    from evalward.commands.config_place import config_file
    from evalward.commands.judge import JudgeCheckOptions, judge_check

    options = JudgeCheckOptions(
        rubric=args.rubric,
        labelled=args.labelled,
        config=config_file(world.cwd, args.config),
        model=args.model,
        votes=args.votes,
        threshold=args.threshold,
        min_kappa=args.min_kappa,
        format=args.format,
        output=args.output,
    )
    return judge_check(world, options)

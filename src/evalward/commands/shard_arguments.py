"""The arguments of shards: `--shard`, `--parts`, `evalward merge`. What they need is loaded when they run."""

from __future__ import annotations

import argparse
import re
from pathlib import Path
from typing import TYPE_CHECKING

from evalward.commands.ci_arguments import AddCommand, Commands
from evalward.commands.parsing import number_up_to

if TYPE_CHECKING:
    from evalward.commands.world import World

MOST_SHARDS = 256  # as in records.part, which is too slow to load for --help
_SHARD = re.compile(r"([0-9]{1,3})/([0-9]{1,3})")


def add_shard_option(parser: argparse.ArgumentParser) -> None:
    """`--shard I/N`."""
    parser.add_argument(
        "--shard", type=_shard, metavar="I/N", help="run shard I of N only; judge all of them with `check --parts`"
    )


def add_parts_option(parser: argparse.ArgumentParser) -> None:
    """`--parts DIR…`."""
    parser.add_argument(
        "--parts", type=Path, nargs="+", metavar="DIR", help="judge the output folders of all shards as one run"
    )


def add_on_options(parser: argparse.ArgumentParser) -> None:
    """`--on ray`, and into how many bundles the plan is divided there."""
    parser.add_argument("--on", choices=("ray",), help="run on the Ray cluster of this node, or of RAY_ADDRESS")
    what = f"with --on: how many bundles of cases, 1 to {MOST_SHARDS}; default: 4 for each CPU of the cluster"
    parser.add_argument("--shards", type=number_up_to(MOST_SHARDS), metavar="N", help=what)


def refuse_with_on(args: argparse.Namespace) -> None:
    """Raises `InputError` for options that a run on a cluster can't have, or that only such a run has."""
    from evalward.records.problem import wrong

    if args.on is None and args.shards is not None:
        raise wrong("--shards", "is of a run on a cluster", "Add --on ray, or name one shard with --shard I/N.")
    given = [
        name for name in ("shard", "resume", "failed", "changed_since") if args.on is not None and getattr(args, name)
    ]
    if given:
        remedy = "Leave it out: a cluster always runs the whole plan."
        raise wrong(f"--{given[0].replace('_', '-')}", "can't be used with --on ray", remedy)


def add_merge(commands: Commands[argparse.ArgumentParser], command: AddCommand) -> None:
    """`evalward merge`."""
    parser = command(commands, "merge", "put the parts of all shards together as one report", _merge)
    parser.add_argument("parts", type=Path, nargs="+", metavar="DIR", help="the output folder of a shard")
    parser.add_argument(
        "--output",
        type=Path,
        required=True,
        metavar="FILE",
        help="the report, called report.json; its trials go next to it",
    )


def _merge(world: World, args: argparse.Namespace) -> int:
    from evalward.commands.merge import merge

    return merge(world, args.parts, args.output)


def _shard(text: str) -> tuple[int, int]:
    found = _SHARD.fullmatch(text)
    index, total = (int(found[1]), int(found[2])) if found else (0, 0)
    if not 1 <= index <= total <= MOST_SHARDS:
        raise argparse.ArgumentTypeError(f"{text!r} is not a shard: write I/N, as 2/4; at most {MOST_SHARDS} shards")
    return index, total

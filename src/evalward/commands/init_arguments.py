"""The arguments of `evalward init`. What it needs is loaded when it runs."""

from __future__ import annotations

import argparse
import sys
from typing import TYPE_CHECKING

from evalward.commands.ci_arguments import AddCommand, Commands

if TYPE_CHECKING:
    from evalward.commands.world import World

_WHAT_IT_DOES = """\
Looks at the files of the repository, asks at most three questions, and writes
evalward.yml with a first suite, a workflow, and a line in .gitignore. Nothing
of the repository is run, and no file is overwritten.
"""


def add_init(commands: Commands[argparse.ArgumentParser], command: AddCommand) -> None:
    """`evalward init`."""
    parser = command(commands, "init", "write a first evalward.yml, cases and workflow for this repository", _init)
    parser.set_defaults(asks_for_keys=True)
    parser.epilog = _WHAT_IT_DOES
    parser.add_argument("--yes", action="store_true", help="ask nothing, take the defaults")


def _init(world: World, args: argparse.Namespace) -> int:
    from evalward.commands.init import init

    terminal = sys.stdin is not None and sys.stdin.isatty()
    return init(world, sys.stdin.readline if terminal and not args.yes else None, silent=args.yes)

"""The arguments of `evalward demo`. What it needs is loaded when it runs."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from evalward.commands.ci_arguments import AddCommand, Commands
from evalward.commands.shared_arguments import add_folder

if TYPE_CHECKING:
    from evalward.commands.world import World

DEFAULT_FOLDER = Path("evalward-demo")


def add_demo(commands: Commands[argparse.ArgumentParser], command: AddCommand) -> None:
    """`evalward demo`."""
    parser = command(commands, "demo", "check an example pull request that breaks something, without a key", _demo)
    parser.set_defaults(screen=True)
    add_folder(parser, DEFAULT_FOLDER, "a new folder for the example and its reports")


def _demo(world: World, args: argparse.Namespace) -> int:
    from evalward.commands.demo import demo

    return demo(world, args.output)

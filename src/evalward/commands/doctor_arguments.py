"""The arguments of `evalward doctor`. What it needs is loaded when it runs."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from evalward.commands.ci_arguments import AddCommand, Commands
from evalward.commands.shared_arguments import add_config

if TYPE_CHECKING:
    from evalward.commands.world import World

_WHAT_IT_DOES = """\
Starts nothing of the repository, and shows no value of any variable: of keys
only whether they are set. Exit code 1: the configuration needs something that
is missing here. 2: the configuration or the baseline can't be used.
"""


def add_doctor(commands: Commands[argparse.ArgumentParser], command: AddCommand) -> None:
    """`evalward doctor`."""
    parser = command(commands, "doctor", "show what this machine offers, and what the configuration lacks", _doctor)
    parser.set_defaults(asks_for_keys=True, asks_for_names=True)
    parser.epilog = _WHAT_IT_DOES
    add_config(parser)
    parser.add_argument("--network", action="store_true", help="also try to reach the hosts of the configured models")
    parser.add_argument("--format", choices=("terminal", "json"), default="terminal", help="default: terminal")


def _doctor(world: World, args: argparse.Namespace) -> int:
    from evalward.commands.doctor import DoctorOptions, doctor

    return doctor(world, DoctorOptions(args.config, network=args.network, json=args.format == "json"))

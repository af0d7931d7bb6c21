"""The arguments of `evalward help` and `evalward completion`."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from evalward.commands.ci_arguments import AddCommand, Commands

if TYPE_CHECKING:
    from evalward.commands.parsing import CommandParser
    from evalward.commands.world import World

SHELLS = ("bash", "zsh", "fish")


def add_help(commands: Commands[argparse.ArgumentParser], command: AddCommand, top: CommandParser) -> None:
    """`evalward help`. `top` is the parser of all commands."""
    parser = command(commands, "help", "show what a command does, with its options and examples", _help)
    parser.set_defaults(top=top)
    parser.add_argument("words", nargs="*", metavar="COMMAND", help="a command, such as `baseline update`; none: all")


def add_completion(commands: Commands[argparse.ArgumentParser], command: AddCommand, top: CommandParser) -> None:
    """`evalward completion`. `top` is the parser of all commands."""
    parser = command(commands, "completion", "print a shell's completion script for Evalward", _completion)
    parser.set_defaults(top=top)
    parser.add_argument("shell", choices=SHELLS, help="the shell that the script is for")


def _help(world: World, args: argparse.Namespace) -> int:
    from evalward.commands.emitting import emit
    from evalward.commands.parsing import below

    parser: argparse.ArgumentParser = args.top
    for word in args.words:
        known = below(parser)
        if word not in known:
            _unknown(parser, word, list(known))
        parser = known[word]
    emit(world, parser.format_help(), None)
    return 0


def _unknown(parser: argparse.ArgumentParser, word: str, known: list[str]) -> None:
    from evalward.records.problem import wrong
    from evalward.records.words import near_or_known, shown

    remedy = near_or_known(word, known, "Commands") if known else "It has no actions: leave the word out."
    raise wrong(f"{parser.prog} {word}", f"there is no such command as {shown(word)}", remedy)


def _completion(world: World, args: argparse.Namespace) -> int:
    from evalward.commands.completion import completion_script
    from evalward.commands.emitting import emit

    emit(world, completion_script(args.top, args.shell), None)
    return 0

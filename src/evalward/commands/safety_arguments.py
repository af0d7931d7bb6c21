"""The command line of `evalward safety`; apart from the command itself, so that `--help` loads nothing for it."""

from __future__ import annotations

import argparse
import re
import sys
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from evalward.commands.world import World

LEVELS = ("strict", "moderate", "permissive")
MOST_INPUT = 16 << 20  # bytes of standard input
_CONTINUED = re.compile(r"(?<!\\)((?:\\\\)*)\\\n")
"""A backslash that isn't itself quoted, at the end of a line: to a shell what follows is the same line."""


def add_safety(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add the command `safety`."""
    summary = "rate how dangerous shell commands are, without running them"
    parser = commands.add_parser("safety", help=summary, description=summary[0].upper() + summary[1:] + ".")
    handler: Callable[[World, argparse.Namespace], int] = _safety
    parser.set_defaults(handler=handler)
    parser.add_argument(
        "command",
        nargs="*",
        metavar="COMMAND",
        help="commands to rate, each in quotes; none, or -: each line of standard input",
    )
    parser.add_argument("--level", choices=LEVELS, help="exit with 1 when a command is riskier than this level allows")
    parser.add_argument("--format", choices=("terminal", "json"), default="terminal", help="default: terminal")


def _safety(world: World, args: argparse.Namespace) -> int:
    from evalward.commands.safety import SafetyOptions, safety

    given = args.command if args.command not in ([], ["-"]) else _lines()
    return safety(world, SafetyOptions(given, args.level, args.format))


def _lines() -> Sequence[str]:
    """The lines of standard input that aren't blank; a continued one is one.

    Raises `InputError` for more than fit, and where it is closed.
    """
    from evalward.records.problem import wrong

    if sys.stdin is None:
        raise wrong("standard input", "is closed", "Give the commands as arguments, or one a line.")
    content = sys.stdin.buffer.read(MOST_INPUT + 1)
    if len(content) > MOST_INPUT:
        raise wrong("standard input", f"is longer than {MOST_INPUT >> 20} MiB", "Split it.")
    text = content.decode("utf-8", "surrogateescape")
    return [line for line in _CONTINUED.sub(r"\1", text).split("\n") if line.strip()]

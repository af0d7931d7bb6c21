"""docs/cli-options.md: every command with its arguments and options, by the parser. `make schemas` writes it."""

from __future__ import annotations

import argparse
import textwrap
from collections.abc import Iterator
from pathlib import Path

from evalward.cli import build_parser

PAGE = Path(__file__).resolve().parents[2] / "docs" / "cli-options.md"
HEAD = """\
# All options

Every command with its arguments and options, as `evalward COMMAND --help` prints them.
[Commands and exit codes](cli.md) says which command does what.
"""


def names() -> list[str]:
    """Every command, as it is typed."""
    return [parser.prog for parser in _commands(build_parser())]


def page() -> str:
    """The page's text."""
    return "\n".join([HEAD, *(_section(parser) for parser in _commands(build_parser()))])


def _commands(parser: argparse.ArgumentParser) -> Iterator[argparse.ArgumentParser]:
    """The commands below a parser that have none below them, in its order, each once."""
    below = [action for action in parser._actions if isinstance(action, argparse._SubParsersAction)]
    if not below:
        yield parser
    for action in below:
        for choice in dict.fromkeys(action.choices.values()):
            yield from _commands(choice)


def _section(parser: argparse.ArgumentParser) -> str:
    rows = [
        _row(action) for action in parser._actions if action.help is not argparse.SUPPRESS and action.dest != "help"
    ]
    table = ["| argument | meaning |", "|---|---|", *rows, ""] if rows else []
    epilog = textwrap.dedent(parser.epilog or "").strip()
    more = ["```text", epilog, "```", ""] if epilog else []
    return "\n".join([f"## {parser.prog}", "", _sentence(parser.description or ""), "", *table, *more])


def _row(action: argparse.Action) -> str:
    """One line of a table: how the argument is written, and what it says."""
    value = action.metavar or ("|".join(map(str, action.choices)) if action.choices else action.dest)
    shown = " ".join(value) if isinstance(value, tuple) else str(value)
    takes = action.nargs != 0
    names = [f"{name} {shown}" if takes else name for name in action.option_strings] or [shown]
    meaning = (action.help or "") % {**vars(action), "prog": "evalward"}
    return f"| {', '.join(map(_code, names))} | {_sentence(meaning)} |"


def _code(text: str) -> str:
    return f"<code>{_sentence(text)}</code>"


def _sentence(text: str) -> str:
    """A text that is one, in a cell of a table."""
    for character, written in {
        "&": "&amp;",
        "<": "&lt;",
        "|": "&#124;",
        "*": "&#42;",
        "_": "&#95;",
        "`": "&#96;",
    }.items():
        text = text.replace(character, written)
    return " ".join(text.split())


if __name__ == "__main__":
    PAGE.write_text(page(), "utf-8")

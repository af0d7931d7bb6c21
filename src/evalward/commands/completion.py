"""`evalward completion`: the script by which a shell completes commands, options, words and files."""

from __future__ import annotations

import argparse
from pathlib import Path

import shtab

from evalward.commands.parsing import all_parsers
from evalward.registry import EXPORTERS, FORMATS, IMPORTERS, OUTPUTS, SCHEMAS, ours

_WORDS = {
    "import": (*ours(IMPORTERS), *ours(FORMATS), "auto"),
    "export": tuple(ours(EXPORTERS)),
    "schema": tuple(ours(SCHEMAS)),
}
"""The words that a command's first argument can be."""


def completion_script(parser: argparse.ArgumentParser, shell: str) -> str:
    """The script for `bash`, `zsh` or `fish`. The parser is marked with what it needs: nothing else uses it then."""
    for command, each in all_parsers(parser):
        for action in each._actions:
            _mark(command, action)
    return shtab.complete(parser, shell=shell)


def _mark(command: str, action: argparse.Action) -> None:
    """What can stand there: one of some words, a folder, or a file."""
    if action.type is Path or action.metavar in {"FILE", "DIR"}:
        action.complete = shtab.DIR if action.metavar == "DIR" else shtab.FILE  # type: ignore[attr-defined]
    elif action.dest == "format" and action.choices is None:
        action.choices = tuple(ours(OUTPUTS))
    elif not action.option_strings and command in _WORDS:
        action.choices = _WORDS[command]

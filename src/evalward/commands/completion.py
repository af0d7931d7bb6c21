"""`evalward completion`: the script by which a shell completes commands, options, words and files."""

from __future__ import annotations

import argparse
import re
from collections.abc import Sequence
from pathlib import Path

import shtab

from evalward.commands.parsing import all_parsers, below
from evalward.registry import EXPORTERS, FORMATS, IMPORTERS, OUTPUTS, SCHEMAS, ours

_WORDS = {
    "import": (*ours(IMPORTERS), *ours(FORMATS), "auto"),
    "export": tuple(ours(EXPORTERS)),
    "schema": tuple(ours(SCHEMAS)),
}
"""The words that a command's first argument can be."""


_REPEATED = re.compile(r'^  "\(\*\)::?', re.MULTILINE)
_VALUED = re.compile(r"""^  (?:"\*?(?:--[\w-]+)|\{(?:--[\w-]+,?)+\}")(?=\[.*\]:)""", re.MULTILINE)
_LONG = re.compile(r"--[\w-]+")


def completion_script(parser: argparse.ArgumentParser, shell: str) -> str:
    """The script for `bash`, `zsh` or `fish`. The parser is marked with what it needs: nothing else uses it then."""
    words = {**_WORDS, "help": tuple(below(parser))}
    for command, each in all_parsers(parser):
        for action in each._actions:
            _mark(action, words.get(command, ()))
    script = shtab.complete(parser, shell=shell)
    return _for_zsh(script) if shell == "zsh" else script


def _for_zsh(script: str) -> str:
    """Its script, in which shtab lets an argument that may be repeated stand once, and no value behind a `=`."""
    repeated = _REPEATED.sub('  "*:', script)
    return _VALUED.sub(lambda found: _LONG.sub(lambda name: f"{name[0]}=", found[0]), repeated)


def _mark(action: argparse.Action, words: Sequence[str]) -> None:
    """What can stand there: one of some words, a folder, or a file."""
    if action.type is Path or action.metavar in {"FILE", "DIR"}:
        action.complete = shtab.DIR if action.metavar == "DIR" else shtab.FILE  # type: ignore[attr-defined]
    elif action.dest == "format" and action.choices is None:
        action.choices = tuple(ours(OUTPUTS))
    elif not action.option_strings and words:
        action.choices = words

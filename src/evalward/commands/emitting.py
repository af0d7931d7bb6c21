"""Where a command's result goes. It loads no record: what prints a line of text needs none."""

from __future__ import annotations

from pathlib import Path

from evalward.commands.world import World
from evalward.records.problem import unwritable
from evalward.redaction import NOTHING, Redaction
from evalward.writing import write_file


def write_text(path: Path, text: str, redaction: Redaction = NOTHING) -> None:
    """Write a file whole or not at all, without secrets: readers never see half of it, a full disk leaves the old one.

    Raises `InputError` when that is not possible, or where a link would have to be followed.
    """
    try:
        write_file(path, redaction.file(path.name, text))
    except OSError as error:
        raise unwritable(str(path), error, "Choose another place with --output.") from error


def emit(world: World, text: str, output: Path | None) -> None:
    """A result: to the file if one was named, else to standard output."""
    if output is not None:
        write_text(world.cwd / output, text, world.redaction)
        return
    world.show(text)

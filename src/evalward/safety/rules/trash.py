"""The trash of a desktop: what goes there can be got back until it is emptied."""

from __future__ import annotations

from collections.abc import Iterator

from evalward.safety.call import Answer, NestedCommand, ProgramCall
from evalward.safety.harm import put_into_trash
from evalward.safety.model import MODERATE
from evalward.safety.registry import rule
from evalward.safety.words import literal


@rule("trash trash-put rmtrash")
def trash(call: ProgramCall) -> Iterator[Answer]:
    """A folder goes with all in it; macOS's ``trash`` has options that look at the trash itself."""
    options = call.options("e/empty s/secure-empty l/list help version trash-dir: home-fallback")
    if options.has("help", "version", "l"):
        return
    if options.has("e", "s"):
        yield _emptied(call)
    yield from put_into_trash(call, options.operands)


@rule("trash-empty trash-rm")
def empty_trash(call: ProgramCall) -> Iterator[Answer]:
    """What is in the trash is gone for good."""
    if not call.options("dry-run help version trash-dir:").has("dry-run", "help", "version"):
        yield _emptied(call)


def _emptied(call: ProgramCall) -> Answer:
    return call.find("deletion.cache", MODERATE, "empties the trash")


@rule("gio gvfs-trash gvfs-rm")
def desktop_files(call: ProgramCall) -> Iterator[Answer]:
    """``gio VERB FILE…``, and the older programs of one verb each."""
    options = call.options("f/force empty list restore")
    verb, operands = call.program.removeprefix("gvfs-"), options.operands
    if call.program == "gio":
        verb, operands = operands[0].text if operands else "", operands[1:]
    if verb in ("remove", "rm"):
        yield NestedCommand(words=(literal("rm"), literal("-r"), *operands))
    elif verb == "trash" and options.has("empty"):
        yield _emptied(call)
    elif verb == "trash" and not options.has("list", "restore"):
        yield from put_into_trash(call, operands)

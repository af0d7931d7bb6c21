"""Long texts page by page, where a person sits at a terminal."""

from __future__ import annotations

import shlex
import signal
import subprocess
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress

from evalward.commands.emitting import emit
from evalward.commands.world import World
from evalward.edge import SCREEN, harmless

_PAGER = "less -R"
_LESS = "FRX"
"""As git has it: a text that fits on the screen needs no page, colours are shown, the text stays afterwards."""


def paged(world: World, text: str) -> None:
    """Write a text to standard output; at a terminal by the user's pager. Only our own colours may be in it."""
    words = pager_words(world.env) if world.out.isatty() else []
    if not (words and _shown_by(words, world, world.redaction.known(text))):
        emit(world, text, None)


def pager_words(env: Mapping[str, str]) -> list[str]:
    """The program that PAGER names; none where it is empty, `cat`, or can't be read."""
    try:
        words = shlex.split(env.get("PAGER", _PAGER))
    except ValueError:
        return []
    return [] if words == ["cat"] else words


def _shown_by(words: list[str], world: World, text: str) -> bool:
    """Whether the program could be started; how it ends is its user's affair."""
    world.out.flush()
    try:
        program = subprocess.Popen(words, stdin=subprocess.PIPE, env=_environment(world.env))  # noqa: S603 - the user's
    except OSError:
        return False
    with _interrupts_are_its_own():
        with suppress(OSError):  # it may end before it has read everything
            program.communicate(text.encode("utf-8", "replace"))
        program.wait()
    return True


def _environment(env: Mapping[str, str]) -> dict[str, str]:
    """Nothing that is secret, and how `less` shows colours."""
    return {"LESS": _LESS, **harmless(env), **{name: env[name] for name in SCREEN if name in env}}


@contextmanager
def _interrupts_are_its_own() -> Iterator[None]:
    """Control-C at a terminal reaches the pager, too, which knows what it means there."""
    before = signal.signal(signal.SIGINT, lambda *_: None)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)

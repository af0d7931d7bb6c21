"""Does an answer do what the expected command does? Both run in virtual shells over the same files; nowhere else."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass

from evalward.sandbox.virtual import HOME, VirtualShell

LIMIT_S = 10.0  # seconds for one command, which has only a few small files to work on
NOT_FOUND = 127
TIMED_OUT = 124


@dataclass(frozen=True)
class Effect:
    """What a command left: its output, its exit code, all files."""

    stdout: str
    exit_code: int
    files: Mapping[str, bytes | None]

    @property
    def known(self) -> bool:
        """False when the virtual shell doesn't have the program, or time ran out: then it says nothing."""
        return self.exit_code not in {NOT_FOUND, TIMED_OUT}


async def effect_of(command: str, files: Mapping[str, str]) -> Effect:
    """Run a command over files (absolute paths, or relative to the home folder). Raises `SandboxError`."""
    shell = VirtualShell(_absolute(files), LIMIT_S)
    done = await shell.run(command)
    return Effect(done.stdout, done.exit_code, await asyncio.to_thread(shell.files))


def _absolute(files: Mapping[str, str]) -> dict[str, str]:
    return {path if path.startswith("/") else f"{HOME}/{path}": text for path, text in files.items()}


async def behaves_alike(answer: str, expected: str, files: Mapping[str, str]) -> bool | None:
    """Equal output, exit code and files; `None` when the expected command says nothing here."""
    known = tuple(sorted(files.items()))
    effect = await _cached_effect(expected, known)
    if not effect.known:
        return None
    return answer.strip() == expected.strip() or await _cached_effect(answer, known) == effect


async def _cached_effect(command: str, files: tuple[tuple[str, str], ...]) -> Effect:
    """The effect of a command, tried once: many cases and trials ask for the same."""
    cached = _effects.get((command, files))
    if cached is None:
        cached = _effects[command, files] = await effect_of(command, dict(files))
        if len(_effects) > _MOST:
            _effects.pop(next(iter(_effects)))
    return cached


_MOST = 1000
_effects: dict[tuple[str, tuple[tuple[str, str], ...]], Effect] = {}

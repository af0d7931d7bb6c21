"""Sides measured in turns: a machine that gets slower, or busier, does so to all of them alike."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from statistics import median

from evalward.suites.speedup.measure.adapters import Times

GIVES_UP = 2  # rounds in a row without any time, after which a side isn't asked again


@dataclass
class SideSamples:
    """One side's samples so far: per benchmark one of each round that gave one, in seconds."""

    samples: dict[str, list[float]] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)
    silent: int = 0

    def add(self, times: Times) -> None:
        """The times of a round: each process counts once, however many times it took."""
        self.silent = 0 if times else self.silent + 1
        for name, values in times.items():
            self.samples.setdefault(name, []).append(median(values))

    @property
    def given_up(self) -> bool:
        """No further round is worth its time."""
        return self.silent >= GIVES_UP


Once = Callable[[str], Awaitable[tuple[Times, str | None]]]
"""Measures a side once: its times, and a note when something was wrong."""


def order(names: Sequence[str], round_: int) -> list[str]:
    """Who comes when in a round, counted from 0: each side is first equally often, and follows each other as often.

    After so many rounds as there are sides the order turns round, and back: what one side leaves behind (a warm cache,
    a processor's heat) is not the same side's gain every time. Source: Williams 1949, balanced for first residuals.
    """
    turn, start = divmod(round_, len(names))
    rotated = [*names[start:], *names[:start]]
    return rotated[::-1] if turn % 2 else rotated


async def interleave(names: Sequence[str], rounds: int, once: Once) -> dict[str, SideSamples]:
    """So many rounds over all sides. A side that gives nothing twice in a row is left out from then on."""
    found = {name: SideSamples() for name in names}
    for round_ in range(rounds):
        for name in order(names, round_):
            side = found[name]
            if side.given_up:
                continue
            times, note = await once(name)
            side.add(times)
            if note is not None and note not in side.notes:
                side.notes.append(note)
    return found

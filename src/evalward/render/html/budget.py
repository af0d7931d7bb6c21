"""What is left out of the page, so that it stays below its size: decided in one order, the same for the same input.

What failed comes first. Transcripts of passing trials go first, then long texts are cut, then transcripts go at all.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Generic, TypeVar

from msgspec import Struct, field

from evalward.render.html.passages import TextLimits

PAGE_BYTES = 10_000_000
SPARE = 100_000  # bytes for headings of runs and the words that say what is left out
CASES_BYTES = 3_500_000
"""Of the table of all cases; a release has two."""
RESERVED = 5  # a fifth of the trials' part is kept for transcripts of what failed, before cases without them
TIERS = (
    TextLimits(200_000, 2_000_000),
    TextLimits(40_000, 400_000),
    TextLimits(8_000, 80_000),
    TextLimits(1_300, 16_000),
    TextLimits(300, 3_000),
)
"""How much is kept of a trial, from the most to the least."""

SAMPLE, FAR = 32, 1.5

T = TypeVar("T")
Html = TypeVar("Html", bound=str)


class TrialBody(Struct, frozen=True):
    """The transcript of one trial as HTML. `left_out`: characters of it that aren't in the page."""

    html: str
    left_out: int = 0

    @property
    def size(self) -> int:
        """Its bytes."""
        return size_of(self.html)


class Filled(Struct, Generic[T], frozen=True):
    """What a page has room for: bodies by their places in the input, and what is left out."""

    bodies: dict[int, TrialBody] = field(default_factory=dict)
    dropped: int = 0

    @property
    def size(self) -> int:
        """Bytes of all bodies."""
        return sum(body.size for body in self.bodies.values())

    @property
    def cut(self) -> tuple[int, int]:
        """In how many bodies something is left out, and how many characters."""
        cut = [body.left_out for body in self.bodies.values() if body.left_out]
        return len(cut), sum(cut)


def size_of(html: str) -> int:
    """The bytes of a text in the page's file."""
    return len(html) if html.isascii() else len(html.encode())


def fitting_rows(rows: Sequence[tuple[bool, int]], room: int) -> set[int]:
    """The places of the rows that fit into `room` bytes: urgent ones first, then in order. A row: urgent, its bytes."""
    fitting = set()
    for place in sorted(range(len(rows)), key=lambda place: not rows[place][0]):
        room -= rows[place][1]
        if room < 0:
            break
        fitting.add(place)
    return fitting


def fitting_first(items: Iterable[T], room: int, make: Callable[[T], Html]) -> list[Html]:
    """What is made of the first items, up to the first that doesn't fit into `room` bytes with those before."""
    made = []
    for item in items:
        html = make(item)
        room -= size_of(html)
        if room < 0:
            break
        made.append(html)
    return made


Make = Callable[[T, TextLimits], TrialBody]


def filled(trials: Sequence[T], urgent: Callable[[T], bool], room: int, make: Make[T]) -> Filled[T]:
    """Bodies for as many trials as `room` bytes hold; `make` is called for no more than have a chance.

    Urgent trials come first, all cut to the same limits: the largest that leave room for all of them. The others
    follow in their order, up to the first that doesn't fit.
    """
    first = [place for place, trial in enumerate(trials) if urgent(trial)]
    others = [place for place, trial in enumerate(trials) if not urgent(trial)]
    limits, bodies = _all_of(first, trials, room, make)
    left = room - sum(body.size for body in bodies.values())
    if len(bodies) == len(first):
        bodies.update(_up_to(others, trials, left, limits, make))
    return Filled(dict(sorted(bodies.items())), len(trials) - len(bodies))


def _all_of(
    places: Sequence[int], trials: Sequence[T], room: int, make: Make[T]
) -> tuple[TextLimits, dict[int, TrialBody]]:
    """The first limits under which all of them fit; else as many as do under the last."""
    limits, bodies = TIERS[0], dict[int, TrialBody]()
    for limits in TIERS:
        if limits != TIERS[-1] and _hopeless(places, trials, room, limits, make):
            continue
        bodies = _up_to(places, trials, room, limits, make)
        if len(bodies) == len(places):
            break
    return limits, bodies


def _hopeless(places: Sequence[int], trials: Sequence[T], room: int, limits: TextLimits, make: Make[T]) -> bool:
    """True where a sample says that all of them are far too large: making them all only to see it takes seconds."""
    sample = places[:: len(places) // SAMPLE + 1] if len(places) > 2 * SAMPLE else []
    sizes = [make(trials[place], limits).size for place in sample]
    return bool(sizes) and sum(sizes) / len(sizes) * len(places) > FAR * room


def _up_to(
    places: Iterable[int], trials: Sequence[T], room: int, limits: TextLimits, make: Make[T]
) -> dict[int, TrialBody]:
    """Bodies in order, up to the first that doesn't fit."""
    bodies: dict[int, TrialBody] = {}
    for place in places:
        body = make(trials[place], limits)
        room -= body.size
        if room < 0:
            break
        bodies[place] = body
    return bodies

"""What a change does to the surface of a product: to what it offers to models, piece by piece."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal, NamedTuple

from evalward.records.base import Record

MOST_PIECES = 100
"""Of one surface, whose changes are kept one by one."""
MOST_FACTS, LONGEST_FACT = 20, 300
"""Of one piece; characters of one fact."""
LONGEST_PIECE = 4_000
"""Characters of the words of one piece that are kept of each side."""


class PartText(NamedTuple):
    """A part of a subject: its hash, and the text that this stands for; `None` where that isn't kept."""

    hash: str
    text: str | None


PartTexts = Mapping[str, PartText]
"""The parts of one side's subject by name."""


class PieceChange(Record):
    """One piece of a surface, such as a tool, that one side has or that differs.

    `was` is the name that a renamed one had. `breaks` says what worked before and doesn't any more, `other` what else
    changed. `before` and `now` are the words that models read, where they differ. `unread`: the text of a side isn't
    kept, so that nothing beyond the change itself is known.
    """

    name: str
    how: Literal["added", "removed", "renamed", "changed"]
    was: str = ""
    breaks: list[str] = []
    other: list[str] = []
    before: str = ""
    now: str = ""
    unread: bool = False

    @property
    def breaking(self) -> bool:
        """Whether something that worked before doesn't any more."""
        return bool(self.breaks) or self.how in {"removed", "renamed"}


class Surface(Record):
    """What changed in a surface. Its pieces are called `piece` (one) and `pieces_word` (several), as in "3 tools".
    `breaks` is what a piece that is gone, or has another name, breaks.

    `total` counts all that changed, also beyond those kept here. `notes` say what else of the whole differs, such as
    the order of its pieces. `tokens_before` and `tokens_now` are about what the whole takes in every request; `None`
    where a side isn't known.
    """

    piece: str
    pieces_word: str
    breaks: str = "earlier calls"
    changes: list[PieceChange]
    total: int
    breaking: int
    notes: list[str] = []
    tokens_before: int | None = None
    tokens_now: int | None = None


def surface_of(
    piece: str,
    pieces_word: str,
    changes: Sequence[PieceChange],
    tokens: tuple[int | None, int | None],
    notes: Sequence[str] = (),
    *,
    breaks: str = "earlier calls",
) -> Surface | None:
    """The surface of these changes, those that break something first; `None` where nothing changed."""
    if not changes and not notes:
        return None
    ordered = sorted(changes, key=lambda each: (not each.breaking, each.name))
    return Surface(
        piece=piece,
        pieces_word=pieces_word,
        breaks=breaks,
        changes=ordered[:MOST_PIECES],
        total=len(changes),
        breaking=sum(each.breaking for each in changes),
        notes=list(notes),
        tokens_before=tokens[0],
        tokens_now=tokens[1],
    )

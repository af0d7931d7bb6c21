"""What changed in what models are offered, as a page shows it: plain text, not yet escaped."""

from __future__ import annotations

from msgspec import Struct


class SurfaceLine(Struct, frozen=True):
    """One piece that changed: what happened to it, and the facts, those that break something first."""

    text: str
    facts: list[str]
    more: int
    breaking: bool


class SurfaceView(Struct, frozen=True):
    """What changed in the surface of one suite.

    `more` counts the pieces that are not shown, `notes` say what else differs; `words` is a diff of what models read.
    """

    headline: str
    breaking: int
    lines: list[SurfaceLine]
    more: int
    notes: list[str]
    words: str

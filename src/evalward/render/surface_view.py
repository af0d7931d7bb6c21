"""What changed in what models are offered, as a page shows it: plain text, not yet escaped."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class SurfaceLine:
    """One piece that changed: what happened to it, and the facts, those that break something first."""

    text: str
    facts: list[str]
    more: int
    breaking: bool


@dataclass(frozen=True)
class SurfaceView:
    """What changed in the surface of one suite. `words` is a diff of what models read, sentence by sentence."""

    headline: str
    breaking: int
    lines: list[SurfaceLine]
    more: int
    words: str

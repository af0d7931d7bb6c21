"""What a change does to the surface that models see, as pages show it: before anything says how models fared."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from evalward.records.comparison import RunComparison
from evalward.records.surface import PieceChange, Surface
from evalward.render.changed_sentences import changed_lines
from evalward.render.escape import one_line
from evalward.render.names import quoted
from evalward.render.numbers import format_delta
from evalward.render.surface_view import SurfaceLine, SurfaceView
from evalward.render.view import Caps

_LINE_ENDS = re.compile("[\\r\\v\\f\\x1c-\\x1e\\x85\\u2028\\u2029]")
_SIGNS = {"removed": "-", "added": "+", "same": " "}
_FACTS = 5  # of one piece on a page


def surface_views(runs: Sequence[RunComparison], caps: Caps) -> list[SurfaceView]:
    """A view for each suite whose surface changed: the targets of a suite share it."""
    views: list[SurfaceView] = []
    known: list[tuple[str, Surface]] = []
    suites = {run.suite for run in runs}
    for run in runs:
        if run.surface is None or (run.suite, run.surface) in known:
            continue
        known.append((run.suite, run.surface))
        views.append(_view(run.surface, run.suite if len(suites) > 1 else "", caps))
    return views[: caps.runs]


def _view(surface: Surface, suite: str, caps: Caps) -> SurfaceView:
    shown = surface.changes[: caps.changes] if caps.detail != "headline" else []
    return SurfaceView(
        headline=_headline(surface, suite),
        breaking=surface.breaking,
        lines=[_line(change, surface.piece) for change in shown],
        more=surface.total - len(shown) if shown else 0,
        notes=surface.notes if caps.detail != "headline" else [],
        words="\n".join(_words(surface.changes)) if caps.detail == "full" else "",
    )


def _headline(surface: Surface, suite: str) -> str:
    """`12 tools changed in the suite orders …`: how many of each sort, what breaks, tokens."""
    counts = {how: sum(each.how == how for each in surface.changes) for how in ("added", "removed", "renamed")}
    others = surface.total - sum(counts.values())
    sorts = [f"{count:,} {how}" for how, count in {**counts, "changed": others}.items() if count]
    parts = [f"{', '.join(sorts) or 'none changed'}{f' in {quoted(suite)}' if suite else ''}"]
    if surface.breaking:
        parts.append(f"{surface.breaking:,} of them {'breaks' if surface.breaking == 1 else 'break'} {surface.breaks}")
    before, now = surface.tokens_before, surface.tokens_now
    if before is not None and now is not None:
        moved = f" ({format_delta(now - before, 'count')})" if now != before else ""
        parts.append(f"≈ {before:,} → {now:,} tokens in every request{moved}")
    return f"{surface.pieces_word.capitalize()}: {'; '.join(parts)}"


def _line(change: PieceChange, piece: str) -> SurfaceLine:
    facts = [*change.breaks, *change.other]
    if change.unread:
        facts = [f"what the {piece} was before isn't kept, so only the change itself is known"]
    return SurfaceLine(_happened(change), facts[:_FACTS], max(0, len(facts) - _FACTS), change.breaking)


def _happened(change: PieceChange) -> str:
    if change.how == "renamed":
        return f"{quoted(change.was)} is called {quoted(change.name)} now"
    if change.how == "changed":
        return quoted(change.name)
    return f"{quoted(change.name)} {'is new' if change.how == 'added' else 'is gone'}"


def _words(changes: Sequence[PieceChange]) -> Iterator[str]:
    """The diff of the words of all pieces that both sides have."""
    for change in changes:
        if change.how in {"changed", "renamed"} and change.before != change.now:
            yield f"@@ {one_line(change.name)} @@"
            for line in changed_lines(change.before, change.now):
                yield f"{_SIGNS[line.mark]} {_one(line.text)}"


def _one(text: str) -> str:
    """A line that stays one: what also ends lines, for some who show it, is shown."""
    return _LINE_ENDS.sub("⏎", text)

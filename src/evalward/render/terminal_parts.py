"""What the texts of judgements and of reports have in common at a terminal: lists, tables of cases, findings."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeVar

from evalward.render.console import Screen
from evalward.render.escape import one_line, without_marks
from evalward.render.surface_view import SurfaceView
from evalward.render.view import CaseMatrix, CaseTable, FindingLine, JudgementPage, ListingTable, Some

_T = TypeVar("_T")

WITH_COUNTS = 100  # columns from which there is room for n of N
_HEAD = 100  # characters of a column's head


def say_headline(screen: Screen, page: JudgementPage) -> None:
    """The verdict and its reason, in one sentence."""
    screen.say(f"{page.title}: {page.badge.word} — {page.headline}", mark=page.badge.mark, colour=page.badge.colour)


def say_surface(screen: Screen, view: SurfaceView) -> None:
    """What changed in what models are offered; the words themselves stand with the subject."""
    screen.heading(without_marks(view.headline))
    for line in view.lines:
        facts = "; ".join([*line.facts, *([f"and {line.more} more"] if line.more else [])])
        text = without_marks(f"{line.text}: {facts}" if facts else line.text)
        screen.say(text, 2, "!" if line.breaking else "–", "red" if line.breaking else "dim")
    if view.more:
        screen.say(f"and {view.more} more", 2)
    for note in view.notes:
        screen.say(without_marks(note), 2, "–", "dim")


def say_table(screen: Screen, table: CaseTable) -> None:
    """A row per case, and how to read it."""
    cells = [[row.id, f"{row.badge.mark} {row.outcome}", *row.cells] for row in table.rows.shown]
    screen.table([table.head, "outcome", *table.columns], cells, "ll" + "r" * len(table.columns))
    say_more(screen, table.rows)
    if table.note:
        screen.say(table.note)
    screen.blank()


def say_listing(screen: Screen, listing: ListingTable) -> None:
    """What a run has beside its cases, and how to read it."""
    screen.heading(listing.title)
    rows = [[name, *cells] for name, cells in listing.rows.shown]
    screen.table([listing.head, *listing.columns], rows, "l" + "r" * len(listing.columns))
    say_more(screen, listing.rows)
    if listing.note:
        screen.say(listing.note)
    screen.blank()


def say_matrix(screen: Screen, matrix: CaseMatrix) -> None:
    """Cases and targets."""
    screen.heading(f"{matrix.title} of {matrix.suite}")
    cells = [
        [name, *(f"{badge.mark} {text}" if badge else text for badge, text in row)] for name, row in matrix.rows.shown
    ]
    heads = [one_line(agent, _HEAD) for agent in matrix.targets]
    screen.table([matrix.head, *heads], cells, "l" * (1 + len(matrix.targets)))
    say_more(screen, matrix.rows)


def say_listed(screen: Screen, title: str, items: Some[_T], show: Callable[[_T], None]) -> None:
    """A list of its own under a title, which counts all of it."""
    if not items:
        return
    screen.heading(f"{title}: {items.total}")
    for item in items.shown:
        show(item)
    say_more(screen, items)


def say_more(screen: Screen, items: Some[_T]) -> None:
    """How many more there are than are shown."""
    if items.more:
        screen.say(f"and {items.more} more", 2)


def say_findings(screen: Screen, title: str, findings: Sequence[FindingLine]) -> None:
    """What the numbers show, under a title."""
    if findings:
        screen.heading(title)
    for finding in findings:
        say_finding(screen, finding, 2)


def say_finding(screen: Screen, finding: FindingLine, indent: int) -> None:
    """What the numbers show, why, and what to do about it."""
    why = f" ({finding.numbers})" if finding.numbers else ""
    screen.say(f"{finding.message}{why}", indent, finding.badge.mark, finding.badge.colour)
    for command in finding.commands:
        screen.say(command, indent + 4)
    if finding.advice:
        screen.say(finding.advice, indent + 2, "→")

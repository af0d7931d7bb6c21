"""Cases to choose from, for a terminal: one a line, each with the command that shows it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from evalward.records.result import Status
from evalward.render.console import Screen
from evalward.render.escape import html_shown, one_line
from evalward.render.view import RESULTS

_WIDEST = 48  # columns of a name; commands are never cut


@dataclass(frozen=True)
class CaseChoice:
    """A case of a run: how its trials ended, as the worst of them and in words, and the command that shows one."""

    case: str
    run: str
    status: Status
    ended: str
    command: str


def choices_text(title: str, choices: Sequence[CaseChoice], *, colour: bool, width: int) -> str:
    """A line for each case, aligned. Where all are of one run it isn't repeated."""
    screen = Screen(colour, width)
    screen.say(html_shown(title))
    several = len({choice.run for choice in choices}) > 1
    rows = [[choice.case, *([choice.run] if several else []), choice.ended] for choice in choices]
    cells = [[one_line(html_shown(cell[: 4 * _WIDEST]), _WIDEST) for cell in row] for row in rows]
    widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
    for choice, row in zip(choices, cells, strict=True):
        badge = RESULTS[choice.status]
        names = "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True))
        before = f"  {screen.paint(badge.mark, badge.colour)} {names}  "
        screen.command(choice.command, before, whole=True)
    return screen.text()

"""The parts of terminal output: colours, paragraphs, and tables that fit."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Sequence
from dataclasses import dataclass, field

from evalward.render.escape import html_shown, log_text, one_line, plain
from evalward.render.view import Colour

_CODES: dict[Colour | str, str] = {"green": "32", "red": "31", "yellow": "33", "dim": "2", "bold": "1"}
_LEAST_WIDTH = 40
_LEAST_COLUMN = 12
_GAP = 2  # between columns
_NO_BREAK = "\u00a0"


@dataclass
class Screen:
    """Collects the lines of an output. Every method takes untrusted text and makes it harmless.

    `width` is in columns; what can't be wrapped (commands) may be longer.
    """

    colour: bool
    width: int
    lines: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.width = max(self.width, _LEAST_WIDTH)

    def paint(self, text: str, colour: Colour | str) -> str:
        """Our own text in a colour, if there are colours."""
        return f"\x1b[{_CODES[colour]}m{text}\x1b[0m" if self.colour else text

    def blank(self) -> None:
        """One empty line, not at the start and not twice."""
        if self.lines and self.lines[-1]:
            self.lines.append("")

    def heading(self, text: str) -> None:
        """A title, with an empty line before it."""
        self.blank()
        self.lines.append(self.paint(one_line(text, 300), "bold"))

    def say(self, text: str, indent: int = 0, mark: str = "", colour: Colour | None = None) -> None:
        """A wrapped sentence; `mark` is put before it in its colour."""
        first = " " * indent + (f"{mark} " if mark else "")
        rest = " " * len(first)
        wrapped = textwrap.wrap(
            one_line(text, 2000), max(self.width, len(rest) + 20), initial_indent=first, subsequent_indent=rest
        ) or [first.rstrip()]
        if mark and colour:
            wrapped[0] = wrapped[0].replace(mark, self.paint(mark, colour), 1)
        self.lines.extend(wrapped)

    def verbatim(self, text: str, indent: int, limit: int = 2000) -> None:
        """Text whose lines stay as they are, dimmed."""
        for line in plain(text, limit).split("\n"):
            self.lines.append(" " * indent + self.paint(line, "dim") if line else "")

    def exact(self, text: str, indent: int = 0, colour: Colour | str | None = None) -> None:
        """Text whose lines stay as they are, with signs for what can't be seen: nothing is left out."""
        for line in html_shown(text).split("\n"):
            shown = self.paint(line, colour) if colour else line
            self.lines.append(" " * indent + shown if line else "")

    def command(self, text: str, before: str = "") -> None:
        """A command to copy: whole, on one line however long; `before` stands in front of it."""
        self.lines.append(f"{before}{self.paint(plain(text).replace(chr(10), ' '), 'bold')}")

    def table(self, headers: Sequence[str], rows: Sequence[Sequence[str]], align: str) -> None:
        """An aligned table; `align` has l or r for each column. Wide columns are wrapped where there is no room."""
        from tabulate import tabulate  # noqa: PLC0415 - only who prints tables pays for it

        cells = [[_unbroken(one_line(cell)) for cell in row] for row in rows]
        widths = self._widths(headers, cells)
        text = tabulate(
            [[self._status(_wrapped(cell, width)) for cell, width in zip(row, widths, strict=True)] for row in cells],
            headers=list(headers),
            tablefmt="simple",
            colalign=["right" if side == "r" else "left" for side in align] if cells else None,
            disable_numparse=True,
        )
        self.lines.extend(line.rstrip() for line in text.replace(_NO_BREAK, " ").split("\n"))

    def text(self) -> str:
        """The whole output, with a newline at its end."""
        return log_text("\n".join(self.lines).strip("\n")) + "\n"

    def _widths(self, headers: Sequence[str], rows: Sequence[Sequence[str]]) -> Sequence[int]:
        """The columns' widths: their contents', the widest cut down until all fit; words are broken last."""
        padded = [header + " " * _GAP for header in headers]  # as tabulate does
        columns = list(zip(padded, *rows, strict=True))
        widths = [max(map(len, column)) for column in columns]
        words = [
            max([len(column[0]), *(len(word) for cell in column[1:] for word in cell.split(" "))]) for column in columns
        ]
        room = self.width - _GAP * (len(widths) - 1)
        for least in (words, [_LEAST_COLUMN] * len(widths)):
            while sum(widths) > room:
                spare = [width if width > floor else 0 for width, floor in zip(widths, least, strict=True)]
                if not any(spare):
                    break
                widths[spare.index(max(spare))] -= 1
        return [max(width, 1) for width in widths]

    def _status(self, cell: str) -> str:
        """A status cell in its colour."""
        colour = _STATUS_COLOURS.get(cell.replace(_NO_BREAK, " "))
        return self.paint(cell, colour) if colour else cell


_STATUS_COLOURS: dict[str, Colour] = {
    "✓ ok": "green",
    "✓ passed": "green",
    "✗ fail": "red",
    "✗ failed": "red",
    "! warn": "yellow",
    "! error": "yellow",
    "? inconclusive": "yellow",
    "? not available": "yellow",
    "– info": "dim",
    "– skipped": "dim",
}


def _unbroken(cell: str) -> str:
    """A cell in which no line ends inside of a status or between a number and its unit."""
    if cell in _STATUS_COLOURS:
        return cell.replace(" ", _NO_BREAK)
    return re.sub(r"(?<=\d) (?=%|pp\b|s\b|min\b|h\b|ms\b)", _NO_BREAK, cell)


def _wrapped(cell: str, width: int) -> str:
    """The cell in lines. tabulate's own wrapping takes a text for a number, and breaks over `1,000`."""
    return "\n".join(textwrap.wrap(cell, width))

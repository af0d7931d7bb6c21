"""The parts of terminal output: colours, paragraphs, and tables that fit."""

from __future__ import annotations

import itertools
import re
import textwrap
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Literal

from evalward.render.escape import html_shown, log_text, one_line, plain, workflow_data

Colour = Literal["green", "red", "yellow", "dim"]

_CODES: dict[Colour | str, str] = {"green": "32", "red": "31", "yellow": "33", "dim": "2", "bold": "1"}
_LEAST_WIDTH = 40
UNBROKEN = 1_000_000
"""A width at which no line is broken."""
_GAP = 2  # between columns
_GROUP, _END_OF_GROUP = "::group::", "::endgroup::"
_NO_BREAK = "\u00a0"
_JOINED = re.compile(r"(?<=\d) (?=%|pp\b|s\b|min\b|h\b|ms\b)|(?<=[≤≥<>=→]) (?=[\d−+-])|(?<= [p≤≥<>]) (?=[=<>] \d)")
"""Between a number and its unit, and between a sign and its number."""
_SHELL_WORD = re.compile(r"""(?:'[^']*'|"(?:\\.|[^"\\])*"|\\.|[^\s'"\\]|['"\\])+""")


@dataclass
class Screen:
    """Collects the lines of an output. Every method takes untrusted text and makes it harmless.

    `width` is in columns; a name that is longer stays whole, so that it can be copied. `grouped`: the log of a GitHub
    job, whose groups fold.
    """

    colour: bool
    width: int
    lines: list[str] = field(default_factory=list)
    grouped: bool = False
    _folds: list[tuple[int, str]] = field(default_factory=list)  # where a group begins, "" where it ends

    def __post_init__(self) -> None:
        self.width = max(self.width, _LEAST_WIDTH)

    def paint(self, text: str, colour: Colour | str) -> str:
        """Our own text in a colour, if there are colours."""
        return f"\x1b[{_CODES[colour]}m{text}\x1b[0m" if self.colour else text

    def blank(self) -> None:
        """One empty line, not at the start and not twice."""
        if self.lines and self.lines[-1]:
            self.lines.append("")

    def fold(self, title: str) -> None:
        """What follows is a group of the log, until `unfold` or the next one."""
        if self.grouped:
            self._folds.append((len(self.lines), one_line(title, 200)))

    def unfold(self) -> None:
        """What follows is seen by everyone who looks at the log."""
        if self.grouped:
            self._folds.append((len(self.lines), ""))

    def heading(self, text: str) -> None:
        """A title, with an empty line before it."""
        self.blank()
        self.lines.extend(self.paint(line, "bold") for line in _lines(one_line(text, 300), self.width, "", "  "))

    def say(self, text: str, indent: int = 0, mark: str = "", colour: Colour | None = None) -> None:
        """A wrapped sentence; `mark` is put before it in its colour."""
        first = " " * indent + (f"{mark} " if mark else "")
        rest = " " * len(first)
        wrapped = _lines(one_line(text, 2000), max(self.width, len(rest) + 20), first, rest) or [first.rstrip()]
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

    def command(self, text: str, before: str = "", *, whole: bool = False) -> None:
        """A command to copy, continued in further lines as a shell reads them; `before` stands in front of it.

        `whole`: on one line however long, as in a list.
        """
        if whole:
            self.lines.append(f"{before}{self.paint(plain(text).replace(chr(10), ' '), 'bold')}")
            return
        indent = " " * (len(before) + _GAP)
        for number, line in enumerate(_continued(plain(text).replace("\n", " "), self.width - len(indent))):
            self.lines.append(f"{indent if number else before}{self.paint(line, 'bold')}")

    def table(self, headers: Sequence[str], rows: Sequence[Sequence[str]], align: str) -> None:
        """An aligned table; `align` has l or r for each column.

        Wide cells are wrapped between words where there is no room, and columns that don't fit even then follow in a
        table of their own, with the first column again.
        """
        cells = [[_unbroken(one_line(cell)) for cell in row] for row in rows]
        beside, tables = _GAP, self._fitting(headers, cells, _GAP)
        if len(tables) > 1 and len(narrow := self._fitting(headers, cells, 0)) < len(tables):
            beside, tables = 0, narrow
        for number, shown in enumerate(tables):
            if number:
                self.blank()
            some = [[row[index] for index in shown] for row in cells]
            self._table([headers[index] for index in shown], some, [align[index] for index in shown], beside)

    def _table(self, headers: Sequence[str], cells: Sequence[Sequence[str]], align: Sequence[str], beside: int) -> None:
        """One table, each of whose columns is so many blanks wider than its head."""
        import tabulate  # noqa: PLC0415 - only who prints tables pays for it

        widths = self._widths(headers, cells, beside)
        tabulate.MIN_PADDING = beside  # its own setting for just that, and it has no other way in
        text = tabulate.tabulate(
            [[self._status(_wrapped(cell, width)) for cell, width in zip(row, widths, strict=True)] for row in cells],
            headers=[_wrapped(head, width - beside) for head, width in zip(headers, widths, strict=True)],
            tablefmt="simple",
            colalign=["right" if side == "r" else "left" for side in align] if cells else None,
            disable_numparse=True,
        )
        self.lines.extend(line.rstrip() for line in text.replace(_NO_BREAK, " ").split("\n"))

    def _status(self, cell: str) -> str:
        """A status cell in its colour."""
        colour = _STATUS_COLOURS.get(cell.replace(_NO_BREAK, " "))
        return self.paint(cell, colour) if colour else cell

    def text(self) -> str:
        """The whole output, with a newline at its end."""
        bounds = [(0, ""), *self._folds, (len(self.lines), "")]
        parts = [
            _group(title, log_text("\n".join(self.lines[start:end]).strip("\n")))
            for (start, title), (end, _) in itertools.pairwise(bounds)
        ]
        return "\n\n".join(filter(None, parts)) + "\n"

    def _fitting(self, headers: Sequence[str], rows: Sequence[Sequence[str]], beside: int) -> list[list[int]]:
        """Which columns share a table: the first of all, and as many as fit, each `beside` wider than its head."""
        least = _word_widths(headers, rows, beside)
        tables: list[list[int]] = [[0]]
        for index in range(1, len(headers)):
            used = sum(least[each] + _GAP for each in tables[-1])
            if len(tables[-1]) > 1 and used + least[index] > self.width:
                tables.append([0])
            tables[-1].append(index)
        return tables

    def _widths(self, headers: Sequence[str], rows: Sequence[Sequence[str]], beside: int) -> Sequence[int]:
        """The columns' widths: their contents', the widest cut down until all fit; no word is broken."""
        padded = [header + " " * beside for header in headers]
        widths = [max(map(len, column)) for column in zip(padded, *rows, strict=True)]
        least = _word_widths(headers, rows, beside)
        room = self.width - _GAP * (len(widths) - 1)
        while sum(widths) > room:
            spare = [width if width > floor else 0 for width, floor in zip(widths, least, strict=True)]
            if not any(spare):
                break
            widths[spare.index(max(spare))] -= 1
        return [max(width, 1) for width in widths]


_STATUS_COLOURS: dict[str, Colour] = {
    "✓ ok": "green",
    "✓ ok (noise)": "green",
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
    return _JOINED.sub(_NO_BREAK, cell)


def _wrapped(cell: str, width: int) -> str:
    """The cell in lines. tabulate's own wrapping takes a text for a number, and breaks over `1,000`."""
    return "\n".join(textwrap.wrap(cell, max(width, 1), break_long_words=False, break_on_hyphens=False))


def _word_widths(headers: Sequence[str], rows: Sequence[Sequence[str]], beside: int) -> list[int]:
    """The longest word of each column, the least that it can be wide."""
    return [max(_longest(head) + beside, *map(_longest, cells), 1) for head, *cells in zip(headers, *rows, strict=True)]


def _longest(text: str) -> int:
    return max(map(len, text.split(" ")))


def _lines(text: str, width: int, first: str, rest: str) -> list[str]:
    """A sentence in lines: no name is cut, and no number is parted from its unit."""
    wrapped = textwrap.wrap(
        _unbroken(text),
        width,
        initial_indent=first,
        subsequent_indent=rest,
        break_long_words=False,
        break_on_hyphens=False,
    )
    return [line.replace(_NO_BREAK, " ") for line in wrapped]


def _continued(command: str, width: int) -> list[str]:
    """A command in lines that a shell reads as one; an option stands with its value."""
    if len(command) <= width:
        return [command]
    parts: list[str] = []
    for word in _SHELL_WORD.findall(command):
        value = bool(parts) and parts[-1].startswith("-") and " " not in parts[-1] and not word.startswith("-")
        parts = [*parts[:-1], f"{parts[-1]} {word}"] if value else [*parts, word]
    lines = [""]
    for part in parts:
        if lines[-1] and len(lines[-1]) + len(part) + len(" \\") >= width:
            lines.append("")
        lines[-1] = f"{lines[-1]} {part}".lstrip()
    return [f"{line} \\" for line in lines[:-1]] + lines[-1:]


def _group(title: str, text: str) -> str:
    """Text of the log, in a group where it has a title."""
    return f"{_GROUP}{workflow_data(log_text(title))}\n{text}\n{_END_OF_GROUP}" if title and text else text


def is_group_command(line: str) -> bool:
    """True for the lines of a log that begin or end a group; no other line of a screen looks like them."""
    return line.startswith(_GROUP) or line == _END_OF_GROUP

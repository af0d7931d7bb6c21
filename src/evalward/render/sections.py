"""The sections that kinds give, prepared for every output: plain text, ordered and cut, not yet escaped."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from evalward.records.result import Status
from evalward.records.sections import Bars, Grid, Row, RunListing, Section, Table
from evalward.render.bars import draw
from evalward.render.escape import md_cell
from evalward.render.view import RESULTS, Badge, CaseMatrix, CaseRow, CaseTable, ListingTable, Some

NOTHING = "–"


def tables(sections: Iterable[Section], limit: int, before: Mapping[str, str] = {}) -> list[CaseTable]:
    """The tables, with the cases that didn't pass first. `before`: how the ones that changed used to end."""
    return [_table(each, limit, before) for each in sections if isinstance(each, Table)] if limit else []


def listings(sections: Iterable[Section], limit: int) -> list[ListingTable]:
    """What the runs have beside their cases, in the kind's order."""
    return [_listing(each, limit) for each in sections if isinstance(each, RunListing)] if limit else []


def _listing(listing: RunListing, limit: int) -> ListingTable:
    rows = [(row.label, row.values) for row in listing.rows[:limit]]
    return ListingTable(
        listing.title,
        listing.head,
        listing.columns,
        Some(rows, len(listing.rows)),
        listing.note,
        listing.open,
        listing.counted,
    )


def bars(sections: Iterable[Section]) -> str:
    """The bars, drawn as text."""
    return "\n\n".join(draw(each) for each in sections if isinstance(each, Bars))


def grid_markdown(grid: Grid) -> str:
    """The table as Markdown."""
    lines = [["", *(md_cell(head) for head in grid.heads)], ["---", *("---:" for _ in grid.heads)]]
    lines += [[row.label, *(md_cell(value, 200) for value in row.values)] for row in grid.rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines) + "\n"


def matrices(runs: Iterable[tuple[str, str, Sequence[Section]]], limit: int) -> list[CaseMatrix]:
    """One for each table of a suite that several targets have. `runs`: suite, target, sections."""
    found: dict[tuple[str, str, str], dict[str, Table]] = {}
    for suite, target, sections in runs:
        for table in (each for each in sections if isinstance(each, Table)):
            found.setdefault((suite, table.title, table.head), {})[target] = table
    return [_matrix(suite, by_target, limit) for (suite, _, _), by_target in found.items() if len(by_target) > 1]


def _table(table: Table, limit: int, before: Mapping[str, str]) -> CaseTable:
    ordered = sorted(table.rows, key=lambda row: row.status is Status.PASSED)
    rows = [_row(row, before.get(row.id, "")) for row in ordered[:limit]]
    return CaseTable(table.title, table.head, table.columns, Some(rows, len(ordered)), table.note)


def _row(row: Row, before: str) -> CaseRow:
    text = row.outcome + (f"; {before} in the baseline" if before else "")
    return CaseRow(row.id, RESULTS[row.status], text, row.cells)


def _matrix(suite: str, by_target: Mapping[str, Table], limit: int) -> CaseMatrix:
    """Cases in rows, targets in columns."""
    names = list(dict.fromkeys(row.id for table in by_target.values() for row in table.rows))
    columns = [{row.id: row for row in table.rows} for table in by_target.values()]
    rows = [(name, [_cell(column.get(name)) for column in columns]) for name in names]
    one = next(iter(by_target.values()))
    return CaseMatrix(one.title, suite, one.head, list(by_target), Some(rows[:limit], len(rows)))


def _cell(row: Row | None) -> tuple[Badge | None, str]:
    return (None, NOTHING) if row is None else (RESULTS[row.status], row.brief)

"""What a kind shows of a run beside what every run has: records that each output draws in its own way.

All text is as it was found, not yet escaped: names and commands are others'.
"""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from evalward.records.base import Record
from evalward.records.result import Status


class Row(Record):
    """One case in a table: how it ended, as a status and in words, and the cells of the table's columns.

    `brief` is what stands for it in a table of several targets, `id` the case's, so that outputs can say what changed.
    """

    id: str
    status: Status
    outcome: str
    cells: list[str]
    brief: str = ""


class Table(Record):
    """The cases of a run, a row each, in the order of the run. `title` says what they are, `head` what one of them is.

    `columns` are those beyond name and outcome, `note` says how to read them. Where several targets have a table of
    the same suite and title, outputs show these side by side, too.
    """

    type: Literal["table"] = "table"
    title: str
    head: str
    columns: list[str]
    rows: list[Row]
    note: str = ""


class BarGroup(Record):
    """Bars that belong together, one for each label; `None` is not available. `mark` is put behind the first number."""

    name: str
    values: list[float | None]
    mark: str = ""


class Bars(Record):
    """Factors on a logarithmic scale: above 1 a bar goes to the right."""

    type: Literal["bars"] = "bars"
    labels: list[str]
    groups: list[BarGroup]


class Note(Record):
    """A sentence in the place of one that outputs say of every run: of trials that broke, or of a replay."""

    type: Literal["note"] = "note"
    about: Literal["errors", "replay"]
    text: str


class GridRow(Record):
    """One line: what it is, and its text for each run or column."""

    label: str
    values: list[str]


class RunListing(Record):
    """What a run has beside its cases, a row each: tools, pairs of them. `head` says what one of them is.

    `columns` are those beyond the name, `note` says how to read them. `open`: it is worth seeing at once. Not
    `counted`: how many rows it has says nothing.
    """

    type: Literal["listing"] = "listing"
    title: str
    head: str
    columns: list[str]
    rows: list[GridRow]
    note: str = ""
    open: bool = False
    counted: bool = True


Section = Annotated[Table | Bars | Note | RunListing, Field(discriminator="type")]


class Grid(Record):
    """What runs have in common: labels in rows, runs in columns."""

    heads: list[str]
    rows: list[GridRow]


class Facts(Record):
    """Names and values of one trial, in order: a score by part, counts of tests, a file's size."""

    type: Literal["facts"] = "facts"
    title: str
    rows: list[GridRow]
    """A label and its value or values; `heads` names the values where there is more than one."""
    heads: list[str] = []


class FileText(Record):
    """A file that a trial left or began with. `text` is `None` for what is no text; `cut`: bytes that were left out."""

    type: Literal["file"] = "file"
    name: str
    text: str | None
    cut: int = 0


class SampleGroup(Record):
    """Samples of one benchmark by label (`before`, `human patch`, `now`), in the order in which they were taken."""

    name: str
    samples: dict[str, list[float]]


class SamplePlot(Record):
    """Samples that outputs draw, group by group. `unit` is theirs: `s`."""

    type: Literal["samples"] = "samples"
    title: str
    unit: str
    groups: list[SampleGroup]


TrialSection = Annotated[Facts | FileText | SamplePlot, Field(discriminator="type")]
"""What a kind shows of one trial beside its checks and conversation."""

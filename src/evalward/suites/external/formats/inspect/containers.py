"""The two forms of a log: an archive with a member per sample, and one JSON document."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from typing import Any, BinaryIO, Protocol

from evalward.records.json_stream import JsonStream
from evalward.records.json_text import NoJsonError
from evalward.records.trace import Trace
from evalward.suites.external.formats.archive import Archive
from evalward.suites.external.formats.base import ForeignFile, unreadable
from evalward.suites.external.formats.document import Document
from evalward.suites.external.formats.inspect.asked import FIELDS, asked_by, thinned
from evalward.suites.external.formats.inspect.conversation import trace_of
from evalward.suites.external.formats.inspect.header import MOST_VALUES, Header
from evalward.suites.external.formats.inspect.messages import SHELL, Opened, field, messages_in, messages_of
from evalward.suites.external.formats.inspect.trials import InspectSample, identity
from evalward.suites.external.formats.unpacking import CHUNK
from evalward.suites.external.formats.values import text

TITLE = "a log of inspect"
HEADER, START, SUMMARIES = "header.json", "_journal/start.json", "summaries.json"
ONLY_ONCE = frozenset({HEADER, START, SUMMARIES})
_JOURNAL = re.compile(r"_journal/summaries/(\d{1,9})\.json")
_STEP = 1 << 14  # bytes of a sample that are read at once: most say within these what they ask
_ENOUGH = frozenset({"id", "epoch", "input", "target"})
MOST_ROW, MOST_ASKED = 100_000, 200_000
"""Values of a summary, and of each part of what a sample asks."""

Row = Mapping[str, Any]


class Log(Protocol):
    """A log of either form."""

    @property
    def file(self) -> ForeignFile:
        """Where it lies."""
        ...

    @property
    def header(self) -> Header:
        """What it says of its run."""
        ...

    def rows(self) -> Iterator[Row]:
        """Its samples' summaries, in order."""
        ...

    def samples(self) -> Iterator[InspectSample]:
        """Its samples, in the same order."""
        ...


class JsonLog:
    """A log that is one document: its samples are their own summaries."""

    def __init__(self, file: ForeignFile) -> None:
        """Read all but the samples. Raises `InputError`."""
        self.file = file
        self._document = Document(file, TITLE, ("samples",), without=(("reductions",),))
        self.header = Header(self._document.head)

    def rows(self) -> Iterator[Row]:
        """The samples' own documents."""
        if "samples" in self._document.head:
            yield from (each for each in self._document.items() if isinstance(each, dict))

    def samples(self) -> Iterator[InspectSample]:
        """The samples."""
        for row in self.rows():
            trace = partial(_trace_in, row)
            yield InspectSample(row, asked_by(row), _invalid(row.get("invalidation")), trace)


class EvalLog:
    """A log that is an archive. Summaries say how samples ended, samples what they ask; nothing else is opened."""

    def __init__(self, file: ForeignFile) -> None:
        """Read its directory and its header. Raises `InputError`."""
        self.file = file
        self._archive = Archive(file, TITLE)
        self._names = self._archive.members
        for name in sorted(ONLY_ONCE & self._archive.repeated):
            raise unreadable(file, TITLE, f"it has {name} twice")
        start = HEADER if HEADER in self._names else START
        if start not in self._names:
            raise unreadable(file, TITLE, f"it has neither {HEADER} nor {START}")
        with self._reading() as opened:
            header = JsonStream(opened(start)).value(MOST_VALUES)
        if not isinstance(header, dict):
            raise unreadable(file, TITLE, f"its {start} is not an object")
        self.header = Header(header)

    def rows(self) -> Iterator[Row]:
        """The rows of `summaries.json`, or of the journal where the run has no end."""
        with self._reading() as opened:
            for name in self._summaries():
                stream = JsonStream(opened(name))
                for _ in stream.elements():
                    row = stream.value(MOST_ROW)
                    if isinstance(row, dict):
                        yield row
                stream.end()

    def samples(self) -> Iterator[InspectSample]:
        """The samples, each with what it asks, and why it is invalid where the log says that some are."""
        with self._reading() as opened:
            for row in self.rows():
                name = self._name(row)
                asked = None if name is None else self._asked(opened, name, row)
                if name is None or asked is None:
                    yield InspectSample(row, thinned(row))
                    continue
                trace = partial(self._trace, name, row)
                yield InspectSample(row, asked, self._why_invalid(opened, name), trace)

    def _summaries(self) -> list[str]:
        if SUMMARIES in self._names:
            return [SUMMARIES]
        found = [(int(match[1]), name) for name in self._names if (match := _JOURNAL.fullmatch(name))]
        return [name for _, name in sorted(found)]

    def _name(self, row: Row) -> str | None:
        """The member of a sample: a document, or the first of those that one was cut into."""
        case, epoch = identity(row) or ("", 0)
        name = f"samples/{case}_epoch_{epoch}".split("\0")[0]
        return next((each for each in (f"{name}.json", f"{name}{SHELL}", name) if each in self._names), None)

    def _asked(self, opened: Opened, name: str, row: Row) -> Any:
        """What the sample asks; `None` where the member is another's: two ids may be the same up to a NUL."""
        found = _head(JsonStream(opened(name), _STEP))
        return asked_by(found) if identity(found) == identity(row) else None

    def _why_invalid(self, opened: Opened, name: str) -> str | None:
        if not self.header.invalidated or not _mentions(opened(name), b'"invalidation"'):
            return None
        return _invalid(field(JsonStream(opened(name)), "invalidation"))

    def _trace(self, name: str, row: Row) -> Trace | None:
        """The conversation; `None` where it is too long to be held, or no list of messages."""
        with self._archive.reading() as opened:
            try:
                return trace_of(messages_of(opened, self._names, name), row)
            except NoJsonError:
                return None

    @contextmanager
    def _reading(self) -> Iterator[Opened]:
        with self._archive.reading() as opened:
            try:
                yield opened
            except NoJsonError as error:
                raise unreadable(self.file, TITLE, str(error)) from None


def _head(stream: JsonStream) -> dict[str, Any]:
    """What a sample's document begins with. The rest is longer by far, and stays unread."""
    found: dict[str, Any] = {}
    for key in stream.members():
        if key in FIELDS:
            found[key] = stream.value(MOST_ASKED)
        elif found.keys() >= _ENOUGH:
            break
        else:
            stream.skip()
    return found


def _mentions(stream: BinaryIO, words: bytes) -> bool:
    """Whether these bytes stand in a stream anywhere: a sample is seldom declared invalid, and long."""
    before = b""
    while piece := stream.read(CHUNK):
        seen = before + piece
        if words in seen:
            return True
        before = seen[-len(words) :]
    return False


def _trace_in(sample: Row) -> Trace | None:
    return trace_of(messages_in(sample), sample)


def _invalid(value: Any) -> str | None:
    """Why a sample was declared invalid; `None` when it wasn't."""
    return (text(value.get("reason")) or "declared invalid") if isinstance(value, dict) else None

"""The two forms of a log: an archive with a member per sample, and one JSON document."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from typing import Any, BinaryIO, Protocol, TypeVar

from evalward.records.json_stream import JsonStream
from evalward.records.json_text import NoJsonError
from evalward.records.trace import Trace
from evalward.suites.external.formats.archive import Archive
from evalward.suites.external.formats.base import ForeignFile, unreadable
from evalward.suites.external.formats.document import Document
from evalward.suites.external.formats.inspect.asked import FIELDS, asked_by, thinned
from evalward.suites.external.formats.inspect.conversation import trace_of
from evalward.suites.external.formats.inspect.fields import list_at, text_at
from evalward.suites.external.formats.inspect.header import Header
from evalward.suites.external.formats.inspect.trials import InspectSample, identity

TITLE = "a log of inspect"
HEADER, START, SUMMARIES = "header.json", "_journal/start.json", "summaries.json"
ONLY_ONCE = frozenset({HEADER, START, SUMMARIES})
_JOURNAL = re.compile(r"_journal/summaries/(\d{1,9})\.json")
_STEP = 1 << 14  # bytes of a sample that are read at once: most say within these what they ask
_ENOUGH = frozenset({"id", "epoch", "input", "target"})
MOST_ROW, MOST_ASKED, MOST_MESSAGES = 100_000, 200_000, 500_000
"""Values of a summary, of what a sample asks, and of its messages."""

T = TypeVar("T")
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
            yield InspectSample(row, asked_by(row), _invalid(row.get("invalidation")), partial(_trace, row, row))


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
            header = JsonStream(opened(start)).value()
        if not isinstance(header, dict):
            raise unreadable(file, TITLE, f"its {start} is no object")
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
                yield InspectSample(
                    row, self._asked(opened, name, row), self._why_invalid(opened, name), self._trace(name, row)
                )

    def _summaries(self) -> list[str]:
        if SUMMARIES in self._names:
            return [SUMMARIES]
        found = [(int(match[1]), name) for name in self._names if (match := _JOURNAL.fullmatch(name))]
        return [name for _, name in sorted(found)]

    def _name(self, row: Row) -> str | None:
        """The member of a sample: a document, or the first of those that one was cut into."""
        case, epoch = identity(row) or ("", 0)
        name = f"samples/{case}_epoch_{epoch}".split("\0")[0]
        return next((each for each in (f"{name}.json", f"{name}/sample.json", name) if each in self._names), None)

    def _asked(self, opened: Callable[[str], BinaryIO], name: str | None, row: Row) -> Any:
        if name is not None:
            found = _head(JsonStream(opened(name), _STEP))
            if identity(found) == identity(row):
                return asked_by(found)
        return thinned(row)

    def _why_invalid(self, opened: Callable[[str], BinaryIO], name: str | None) -> str | None:
        if name is None or not self.header.invalidated:
            return None
        return _invalid(_field(JsonStream(opened(name)), "invalidation"))

    def _trace(self, name: str | None, row: Row) -> Callable[[], Trace | None] | None:
        if name is None:
            return None
        return partial(self._read_trace, name, row)

    def _read_trace(self, name: str, row: Row) -> Trace | None:
        with self._reading() as opened:
            return _trace({"messages": self._messages(opened, name)}, row)

    def _messages(self, opened: Callable[[str], BinaryIO], name: str) -> list[Any]:
        stream = JsonStream(opened(name), _STEP)
        if not name.endswith("/sample.json"):
            found = _field(stream, "messages")
            return found if isinstance(found, list) else []
        refs = _field(stream, "message_refs")
        folder = name.removesuffix("sample.json")
        pool = [each for part in self._parts(f"{folder}messages/") for each in _items(JsonStream(opened(part)))]
        ranges = [each for each in refs if _is_range(each)] if isinstance(refs, list) else []
        return [message for begin, end in ranges for message in pool[begin:end]]

    def _parts(self, folder: str) -> Iterator[str]:
        number = 0
        while (name := f"{folder}{number}.json") in self._names:
            yield name
            number += 1

    @contextmanager
    def _reading(self) -> Iterator[Callable[[str], BinaryIO]]:
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


def _field(stream: JsonStream, wanted: str) -> Any:
    """The value of one key of the object that is next; `None` where it has none."""
    for key in stream.members():
        if key == wanted:
            return stream.value(MOST_MESSAGES)
        stream.skip()
    return None


def _items(stream: JsonStream) -> Iterator[Any]:
    for _ in stream.elements():
        yield stream.value(MOST_ROW)


def _is_range(value: Any) -> bool:
    return isinstance(value, list) and len(value) == 2 and all(type(each) is int and each >= 0 for each in value)


def _invalid(value: Any) -> str | None:
    """Why a sample was declared invalid; `None` when it wasn't."""
    return (text_at(value, "reason") or "declared invalid") if isinstance(value, dict) else None


def _trace(sample: Row, row: Row) -> Trace | None:
    return trace_of(list_at(sample, "messages"), row)

"""JSON of other harnesses in bounded memory: what stands around a long array, and its items one by one; JSON lines."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from evalward.records.json_stream import MOST_BYTES, MOST_VALUE, JsonStream
from evalward.records.json_text import NoJsonError, foreign_json
from evalward.suites.external.formats.base import ForeignFile, unreadable

MOST_ITEM_VALUES = 1_000_000
"""Of one item, and of all that stands around the items."""


@dataclass
class _Room:
    """What may still be kept of what stands around the items."""

    values: int
    characters: int

    def value(self, stream: JsonStream) -> Any:
        """The next value, if there is room for it."""
        characters = stream.characters
        found, parts = stream.counted(MOST_ITEM_VALUES)
        self.values -= parts
        self.characters -= stream.characters - characters
        if self.characters < 0:
            raise NoJsonError(f"what surrounds its results is larger than {MOST_VALUE >> 20} MiB")
        if self.values < 0:
            raise NoJsonError(f"what surrounds its results has more than {MOST_ITEM_VALUES:,} parts")
        return found


def _pass_by(_item: Any) -> None:
    return


class Document:
    """A JSON object with one long array at `path`, as `("results", "results")`.

    `head` is the object with that array left empty, and without what stands at the paths `without`: other long parts,
    which nobody reads. NaN, infinite numbers and what no record can hold are `None` in both, lone surrogates replaced.
    The file is gone through twice, so that no item of a file is given that turns out to be cut off further down;
    `look` is shown each item the first time.
    """

    def __init__(
        self,
        file: ForeignFile,
        title: str,
        path: tuple[str, ...],
        without: Sequence[tuple[str, ...]] = (),
        look: Callable[[Any], None] = _pass_by,
    ) -> None:
        """Go through all of it, and keep the head. Raises `InputError`."""
        self._file, self._title, self._path, self._without = file, title, path, tuple(without)
        self.has_items = False
        self.head: dict[str, Any] = {}
        for item in self._read(self.head):
            look(item)

    def items(self) -> Iterator[Any]:
        """The items of the array, in order. Raises `InputError` when there is no such array."""
        if not self.has_items:
            raise unreadable(self._file, self._title, f"it has no list {'.'.join(self._path)}")
        yield from self._read({})

    def _read(self, head: dict[str, Any]) -> Iterator[Any]:
        """The items; the head is filled meanwhile."""
        if self._file.size > MOST_BYTES:
            raise unreadable(self._file, self._title, f"it is larger than {MOST_BYTES >> 20} MiB")
        with self._file.open() as opened:
            try:
                stream = JsonStream(opened)
                if stream.next() != "{":
                    raise NoJsonError("it is not an object" if stream.next() else "it is empty")
                yield from self._within(stream, (), head, _Room(MOST_ITEM_VALUES, MOST_VALUE))
                stream.end()
            except NoJsonError as error:
                raise unreadable(self._file, self._title, str(error)) from None

    def _within(self, stream: JsonStream, above: tuple[str, ...], head: dict[str, Any], room: _Room) -> Iterator[Any]:
        """The items below the object that is next. `room`: what the head may still have."""
        for key in stream.members():
            here = (*above, key)
            opening = stream.next()
            if key in head:
                raise stream.twice(key)
            if here == self._path and opening == "[":
                self.has_items = True
                head[key] = []
                for _ in stream.elements():
                    yield stream.value(MOST_ITEM_VALUES)
            elif here in self._without:
                stream.skip()
            elif opening == "{" and self._leads_on(here):
                head[key] = inner = dict[str, Any]()
                yield from self._within(stream, here, inner, room)
            else:
                head[key] = room.value(stream)

    def _leads_on(self, here: tuple[str, ...]) -> bool:
        return any(path[: len(here)] == here for path in (self._path, *self._without))


class Lines:
    """JSON lines: an object a line."""

    def __init__(self, file: ForeignFile, title: str) -> None:
        self._file, self._title = file, title

    def items(self) -> Iterator[dict[str, Any]]:
        """The objects, in order, as records can hold them. Raises `InputError` for a line that is none."""
        with self._file.open() as opened:
            number = 0
            while line := opened.readline(MOST_VALUE + 1):
                number += 1
                if not line.isspace():
                    yield self._object(line, number)

    def _object(self, line: bytes, number: int) -> dict[str, Any]:
        if len(line) > MOST_VALUE:
            raise unreadable(self._file, self._title, f"line {number:,} is larger than {MOST_VALUE >> 20} MiB")
        try:
            value = foreign_json(line, MOST_ITEM_VALUES)
        except NoJsonError as error:
            raise unreadable(self._file, self._title, f"line {number:,}: {error}") from None
        if not isinstance(value, dict):
            raise unreadable(self._file, self._title, f"line {number:,} is not an object")
        return value

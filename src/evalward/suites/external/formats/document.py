"""JSON documents of other harnesses in bounded memory: what stands around a long array, and its items one by one."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from evalward.records.base import fitting
from evalward.records.json_text import NoJsonError, read_json
from evalward.suites.external.formats.base import ForeignFile, unreadable

MOST_BYTES = 1 << 30
"""Of one document."""
MOST_ITEM_VALUES = 1_000_000
"""Of one item, and of all that stands around the items."""


class Document:
    """A JSON object with one long array at `path`, as `("results", "results")`.

    `head` is the object with that array left empty. NaN, infinite numbers and what no record can hold are `None` in
    both, lone surrogates replaced.
    """

    def __init__(self, file: ForeignFile, title: str, path: tuple[str, ...]) -> None:
        """Read the head. Raises `InputError`."""
        self._items: list[Any] = []
        self.head = self._read(file, title, path)

    def items(self) -> Iterator[Any]:
        """The items of the array, in order. Raises `InputError` for one that can't be read."""
        yield from self._items

    def _read(self, file: ForeignFile, title: str, path: tuple[str, ...]) -> dict[str, Any]:
        with file.open() as stream:
            data = stream.read(MOST_BYTES + 1)
        if len(data) > MOST_BYTES:
            raise unreadable(file, title, f"it is larger than {MOST_BYTES >> 20} MiB")
        try:
            value = fitting(read_json(data, lenient=True), MOST_ITEM_VALUES)
        except (NoJsonError, ValueError) as error:
            raise unreadable(file, title, str(error)) from None
        if not isinstance(value, dict):
            raise unreadable(file, title, "it is no object")
        within: Any = value
        for key in path[:-1]:
            within = within.get(key)
            if not isinstance(within, dict):
                return value
        items = within.get(path[-1])
        if isinstance(items, list):
            self._items = items
            within[path[-1]] = []
        return value

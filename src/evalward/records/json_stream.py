"""JSON of anybody's that is too large to be read at once: one value after the other, each within bounds."""

from __future__ import annotations

import codecs
import json
import re
from collections.abc import Iterator
from math import isfinite
from typing import Any, BinaryIO

from evalward.records.base import MAX_INTEGER, MAX_NESTING, fitting
from evalward.records.json_text import NoJsonError, refuse_depth
from evalward.records.json_words import json_words

CHUNK = 1 << 20
"""Bytes that are read at once."""
MOST_BYTES = 1 << 30
"""Of one stream."""
MOST_VALUE = 64 << 20
"""Characters of one value that is read at once."""
_MOST_GROWTH = 4 << 20  # before the values in it are counted again: so many empty lists take no more than 100 MB
_BLANK = re.compile(r"[ \t\n\r]*")
_AFTER_NUMBER = " \t\n\r,]}"
_MARGIN = 20  # characters: an error further from the end of what was read isn't one of a value that is cut there
_CUT = "it ends in the middle: it was cut off"


class JsonStream:
    """A JSON text whose objects and arrays are gone through by whoever knows them, its other values read whole.

    Every method raises `NoJsonError` for what is no JSON, is cut off, or is beyond a bound. Values are as records can
    hold them: NaN, infinite numbers and those beyond 64 bits are `None`, lone surrogates replaced.
    """

    def __init__(self, stream: BinaryIO, chunk: int = CHUNK) -> None:
        self._stream, self._chunk = stream, chunk
        first = stream.read(max(chunk, 4))
        self._decoder = codecs.getincrementaldecoder(json.detect_encoding(first[:4]))("strict")
        self._bytes, self._lines, self._passed = len(first), 0, 0
        self._text, self._at, self._ended = "", 0, False
        self._take(first)

    @property
    def characters(self) -> int:
        """How many were gone past."""
        return self._passed + self._at

    def next(self) -> str:
        """The next character that is no blank, "" at the end; it stays the next."""
        while True:
            self._at = self._after_blanks(self._at)
            if self._at < len(self._text) or not self._more(self._chunk):
                return self._text[self._at : self._at + 1]

    def members(self) -> Iterator[str]:
        """The keys of the object that is next. Whoever takes one reads its value before the following one."""
        for _ in self._parts("{", "}"):
            if self.next() not in {'"', ""}:
                raise self._wrong("a key in quotes is missing")
            key = str(self.value())
            self._pass(":")
            yield key

    def elements(self) -> Iterator[None]:
        """Stops before each element of the array that is next. Whoever goes through them reads each one's value."""
        yield from self._parts("[", "]")

    def value(self, most: int = MOST_VALUE) -> Any:
        """The value that is next. It may have `most` values in it."""
        value, end = self._complete(most)
        if end - self._at > most:  # no value has more parts than characters
            self._parts_to(end, most)
        return self._held(value, end)

    def counted(self, most: int) -> tuple[Any, int]:
        """The same, and how many values are in it, at most."""
        value, end = self._complete(most)
        parts = self._parts_to(end, most)
        return self._held(value, end), parts

    def end(self) -> None:
        """Nothing may follow."""
        if self.next():
            raise self._wrong("something follows after its end")

    def skip(self) -> None:
        """Go past the value that is next, whatever its size: of the longest arrays and objects one part at a time."""
        opening = self.next()
        if opening == "{":
            for _ in self.members():
                self.value()
        elif opening == "[":
            for _ in self.elements():
                self.value()
        else:
            self.value()

    def _parts(self, opening: str, closing: str) -> Iterator[None]:
        self._pass(opening)
        if self.next() == closing:
            self._at += 1
            return
        while True:
            yield
            if self._pass("," + closing) == closing:
                return

    def _pass(self, expected: str) -> str:
        """Go past the next character, which has to be one of these."""
        found = self.next()
        if not found:
            raise self._wrong(_CUT)
        if found not in expected:
            raise self._wrong(f"{' or '.join(map(repr, expected))} is missing")
        self._at += 1
        return found

    def _complete(self, most: int) -> tuple[Any, int]:
        """The next value and where it ends, after reading on as far as it takes."""
        if not self.next():
            raise self._wrong(_CUT)
        step = self._chunk
        while (found := self._whole()) is None:
            self._parts_to(len(self._text), most)
            if len(self._text) - self._at > MOST_VALUE:
                raise self._wrong(f"a value in it is larger than {MOST_VALUE >> 20} MiB")
            self._more(step)
            step = min(2 * step, _MOST_GROWTH)
        return found

    def _whole(self) -> tuple[Any, int] | None:
        """The next value and where it ends; `None` when it may go on beyond what was read."""
        try:
            value, end = _DECODER.raw_decode(self._text, self._at)
        except json.JSONDecodeError as error:
            if self._ended or not self._may_be_cut(error):
                raise self._wrong(_CUT if self._may_be_cut(error) else json_words(error), error.pos) from None
            return None
        except RecursionError:
            raise self._wrong("it is nested too deeply") from None
        except ValueError:  # Python converts no more than some thousand digits
            raise self._wrong("a number has too many digits") from None
        return None if self._may_go_on(end) else (value, end)

    def _may_be_cut(self, error: json.JSONDecodeError) -> bool:
        return error.msg.startswith("Unterminated string") or error.pos > len(self._text) - _MARGIN

    def _may_go_on(self, end: int) -> bool:
        """Whether what was read up to here may be the beginning of a longer number: `1` of `1e5`."""
        if self._ended or self._text[end - 1] not in _NUMBER_ENDS:
            return False
        return end > len(self._text) - _MARGIN and self._text[end : end + 1] not in tuple(_AFTER_NUMBER)

    def _parts_to(self, end: int, most: int) -> int:
        parts = 1 + sum(self._text.count(mark, self._at, end) for mark in ",[{")
        if parts > most:
            raise self._wrong(f"a value in it has more than {most:,} parts")
        return parts

    def _held(self, value: Any, end: int) -> Any:
        """The value as records can hold it; it is gone past. Half a character can only have come in by an escape."""
        at, self._at = self._at, end
        try:
            if self._text.find("\\u", at, end) >= 0:
                return fitting(value, end - at)
            if self._text.count("[", at, end) + self._text.count("{", at, end) > MAX_NESTING:
                refuse_depth(value)
        except ValueError as error:
            raise self._wrong(str(error)) from None
        return value

    def _after_blanks(self, at: int) -> int:
        found = _BLANK.match(self._text, at)
        return found.end() if found else at

    def _more(self, least: int) -> bool:
        """Read on, and forget what was gone past. False at the end."""
        self._lines += self._text.count("\n", 0, self._at)
        self._passed += self._at
        self._text, self._at = self._text[self._at :], 0
        before = len(self._text)
        while not self._ended and len(self._text) - before < least:
            block = self._stream.read(least)
            self._bytes += len(block)
            if self._bytes > MOST_BYTES:
                raise NoJsonError(f"it is larger than {MOST_BYTES >> 20} MiB")
            self._take(block)
        return len(self._text) > before

    def _take(self, block: bytes) -> None:
        try:
            self._text += self._decoder.decode(block, final=not block)
        except UnicodeDecodeError as error:
            raise self._wrong(f"it isn't UTF-8: {error.reason}" if block else _CUT) from None
        self._ended = not block

    def twice(self, key: str) -> NoJsonError:
        """What is wrong with a key that was gone past before, in the same object."""
        return self._wrong(f"the key {key[:60]!r} occurs in it twice")

    def _wrong(self, message: str, at: int | None = None) -> NoJsonError:
        line = self._lines + self._text.count("\n", 0, self._at if at is None else at) + 1
        return NoJsonError(f"{message} (line {line:,})", line)


def _float(text: str) -> float | None:
    value = float(text)
    return value if isfinite(value) else None


def _integer(text: str) -> int | None:
    if len(text) <= _SHORT:  # as nearly all are
        return int(text)
    value = int(text)
    return value if abs(value) < MAX_INTEGER else None


def _constant(_name: str) -> None:
    return None


_SHORT = len(str(MAX_INTEGER)) - 1
_NUMBER_ENDS = "0123456789"
_DECODER = json.JSONDecoder(parse_float=_float, parse_int=_integer, parse_constant=_constant)

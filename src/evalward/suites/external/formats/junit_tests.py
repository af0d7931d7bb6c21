"""JUnit XML as a stream of its tests: no document type, no entity, no deep nesting, no endless tag.

Control characters are no XML, and jest-junit and promptfoo write them raw: in a title, or in the answer of a model that
a failure quotes. They are read as `#x1B`, as pytest writes them: they are never part of the markup, and one answer
must not be able to make a whole run unreadable.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from xml.parsers import expat

from evalward.suites.external.formats.base import MOST_TRIALS, ForeignFile, too_many, unreadable

TITLE = "a JUnit XML file"

MOST_BYTES = 1 << 30
"""Of one file."""
MOST_TESTS = MOST_TRIALS
"""Of one file."""
MOST_ELEMENTS = 2_000_000
"""Of one file: each test with forty."""
MOST_DEPTH = 64
MOST_TOKEN_BYTES = 8 << 20
"""Of one tag with its attributes."""
MOST_MESSAGE = 4_000
"""Characters kept of one failure."""
MOST_MESSAGES = 32_000_000
"""Characters kept of all failures of a file; of those after, only the beginning."""
SHORT_MESSAGE = 200
MOST_NAME = 20_000
"""Characters of a name, more is refused."""
MOST_PROPERTIES = 1_000

_CHUNK = 65_536
_NO_XML = re.compile(rb"[\x00-\x08\x0b\x0c\x0e-\x1f]|\xef\xbf[\xbe\xbf]")
_ENDINGS = ("failure", "error", "skipped")


@dataclass(frozen=True)
class JunitSuite:
    """A `testsuite`: `attributes` in the order of the file, which tells writers apart; `root` is what stands around."""

    number: int = 0
    root: str = ""
    attributes: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class JunitEnding:
    """A `failure`, `error` or `skipped` element: what it says, of what type."""

    message: str = ""
    type: str = ""


@dataclass(frozen=True)
class JunitTest:
    """A `testcase` element. `properties`: of equal names the last."""

    suite: JunitSuite
    classname: str
    name: str
    seconds: float | None
    properties: Mapping[str, str]
    failure: JunitEnding | None = None
    error: JunitEnding | None = None
    skipped: JunitEnding | None = None


def junit_tests(file: ForeignFile) -> Iterator[JunitTest]:
    """The tests of a file, in its order. Raises `InputError` for what is no XML, or none that anybody should read."""
    reader = _Reader()
    try:
        with file.open() as stream:
            while chunk := stream.read(_CHUNK):
                reader.feed(chunk)
                yield from reader.taken()
        reader.end()
        yield from reader.taken()
    except _RefusedError as error:
        raise unreadable(file, TITLE, str(error)) from None
    except _TooManyError:
        raise too_many(file.name, MOST_TESTS) from None
    except expat.ExpatError as error:
        why = expat.ErrorString(error.code)
        raise unreadable(file, TITLE, f"it isn't well-formed at line {error.lineno}: {why}") from None


class _RefusedError(Exception):
    """Why a file is read no further."""


class _TooManyError(Exception):
    """It has more tests than can be held."""


class _Reader:
    """Pushes bytes through expat and collects the tests that are complete."""

    def __init__(self) -> None:
        self._parser = expat.ParserCreate("utf-8")
        self._parser.buffer_text = True
        self._parser.ordered_attributes = False
        self._parser.StartElementHandler = self._start
        self._parser.EndElementHandler = self._close
        self._parser.CharacterDataHandler = self._text
        self._parser.StartDoctypeDeclHandler = self._doctype
        self._parser.EntityDeclHandler = self._doctype
        self._fed, self._held = 0, b""
        self._depth, self._count, self._suites, self._elements = 0, 0, 0, 0
        self._root = ""
        self._around: list[JunitSuite] = [JunitSuite()]
        self._broken: list[int] = []
        self._test: dict[str, str] | None = None
        self._properties: dict[str, str] = {}
        self._endings: dict[str, JunitEnding] = {}
        self._ending: dict[str, str] | None = None
        self._words: list[str] = []
        self._room = MOST_MESSAGES
        self._done: list[JunitTest] = []

    def feed(self, chunk: bytes) -> None:
        """Take the next bytes."""
        data = self._held + chunk
        keep = 2 if data.endswith(b"\xef\xbf") else 1 if data.endswith(b"\xef") else 0
        self._held = data[len(data) - keep :]
        self._parse(data[: len(data) - keep], last=False)

    def end(self) -> None:
        """There are no more bytes."""
        self._parse(self._held, last=True)

    def taken(self) -> list[JunitTest]:
        """The tests that became complete since the last time."""
        done, self._done = self._done, []
        return done

    def _parse(self, data: bytes, *, last: bool) -> None:
        data = _NO_XML.sub(_spelled, data)
        self._fed += len(data)
        if self._fed > MOST_BYTES:
            raise _RefusedError(f"it is larger than {MOST_BYTES >> 20} MiB")
        self._parser.Parse(data, last)
        if self._fed - max(self._parser.CurrentByteIndex, 0) > MOST_TOKEN_BYTES:
            raise _RefusedError(f"a tag in it is longer than {MOST_TOKEN_BYTES >> 20} MiB")

    def _doctype(self, *_: object) -> None:
        raise _RefusedError("it declares a document type or entities, which no test runner does")

    def _start(self, tag: str, attributes: dict[str, str]) -> None:
        self._depth += 1
        self._elements += 1
        if self._elements > MOST_ELEMENTS:
            raise _RefusedError(f"it has more than {MOST_ELEMENTS:,} elements")
        if self._depth > MOST_DEPTH:
            raise _RefusedError("it is nested too deeply")
        if self._depth == 1:
            self._begin(tag, attributes)
        if tag == "testsuite":
            self._suites += 1
            self._around.append(JunitSuite(self._suites, self._root, attributes))
            self._broken.append(0)
        elif tag == "testcase":
            self._test, self._properties, self._endings = attributes, {}, {}
        elif self._test is not None:
            self._inside(tag, attributes)

    def _begin(self, tag: str, attributes: dict[str, str]) -> None:
        if tag not in {"testsuites", "testsuite"}:
            raise _RefusedError(f"its first element is <{tag[:40]}>, not <testsuites>")
        self._root = attributes.get("name", "") if tag == "testsuites" else ""

    def _inside(self, tag: str, attributes: dict[str, str]) -> None:
        if tag == "property" and len(self._properties) < MOST_PROPERTIES:
            self._properties[attributes.get("name", "")[:MOST_MESSAGE]] = attributes.get("value", "")[:MOST_MESSAGE]
        elif tag in _ENDINGS:
            self._ending, self._words = attributes, []

    def _text(self, text: str) -> None:
        if self._ending is not None and sum(map(len, self._words)) < MOST_MESSAGE:
            self._words.append(text[:MOST_MESSAGE])

    def _close(self, tag: str) -> None:
        self._depth -= 1
        if tag == "testsuite" and len(self._around) > 1:
            self._check(self._around.pop().attributes, self._broken.pop())
        elif tag == "testcase" and self._test is not None:
            self._complete(self._test)
            self._test = None
        elif tag in _ENDINGS and self._ending is not None:
            self._broken = [count + (tag != "skipped") for count in self._broken]
            self._endings.setdefault(tag, self._said(self._ending))
            self._ending = None

    def _check(self, attributes: Mapping[str, str], found: int) -> None:
        """A suite that says that more broke than its tests show would make failures look like passes."""
        counts = [attributes.get(name, "") for name in ("failures", "errors")]
        told = sum(int(count) for count in counts if count.isdecimal() and len(count) < 10)
        if told > found:
            raise _RefusedError(
                f"a suite in it counts {told} tests that failed or ended in an error, but only {found} of its tests did"
            )

    def _said(self, attributes: dict[str, str]) -> JunitEnding:
        words = attributes.get("message", "").strip() or "".join(self._words).strip()
        kept = words[: MOST_MESSAGE if self._room > 0 else SHORT_MESSAGE]
        self._room -= len(kept)
        return JunitEnding(kept, attributes.get("type", "")[:SHORT_MESSAGE])

    def _complete(self, attributes: dict[str, str]) -> None:
        self._count += 1
        if self._count > MOST_TESTS:
            raise _TooManyError
        classname, name = attributes.get("classname", ""), attributes.get("name", "")
        if len(classname) + len(name) > MOST_NAME:
            raise _RefusedError(f"the name of a test is longer than {MOST_NAME:,} characters")
        if not self._endings and (attributes.get("status"), attributes.get("result")) in _NOT_RUN:
            self._endings["skipped"] = JunitEnding("it was not run")
        test = JunitTest(
            self._around[-1], classname, name, _seconds(attributes.get("time")), self._properties, **self._endings
        )
        self._done.append(test)


_NOT_RUN = {("notrun", result) for result in (None, "suppressed", "skipped", "completed")} | {("skipped", None)}
"""`status` and `result` of a test that GoogleTest and others didn't run, without an element that says so."""


def _spelled(found: re.Match[bytes]) -> bytes:
    """A character that XML can't hold, as pytest spells it."""
    return b"#x%02X" % ord(found[0].decode())


def _seconds(text: str | None) -> float | None:
    """A time of the file; vitest and old versions of pytest write thousands with commas or not at all."""
    try:
        seconds = float((text or "").replace(",", ""))
    except ValueError:
        return None
    return seconds if 0 <= seconds < 10**9 else None

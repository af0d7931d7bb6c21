"""JUnit XML that somebody wrote to hurt: refused with one sentence, in bounded memory, or harmless."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from io import BytesIO, RawIOBase
from typing import BinaryIO, cast

import pytest

from evalward.records.problem import InputError
from evalward.records.result import Status
from evalward.suites.external.formats import junit_tests
from evalward.suites.external.formats.base import ForeignFile, ForeignTrial, format_named
from evalward.suites.external.results import Reading, read_results
from support.foreign.files import in_memory
from support.foreign.junit import case, jest_case, jest_xml, pytest_xml

ONE = '<testcase classname="m" name="t"/>'
LAUGHS = "".join(f'<!ENTITY l{n} "{f"&l{n - 1};" * 10}">' for n in range(1, 10))


def read(content: str | bytes | ForeignFile) -> list[ForeignTrial]:
    file = content if isinstance(content, ForeignFile) else in_memory(content, "junit.xml")
    (results,) = format_named("junit").read([file])
    return list(results.trials)


def refusal(content: str | bytes | ForeignFile) -> str:
    with pytest.raises(InputError) as refused:
        read(content)
    (problem,) = refused.value.problems
    assert "\n" not in str(problem)
    return problem.message


class _Made(RawIOBase):
    """A file that is made while it is read, so that it needs no room."""

    def __init__(self, parts: Iterator[bytes]) -> None:
        self._parts, self._left = parts, b""

    def read(self, size: int = -1) -> bytes:
        if not self._left:
            self._left = next(self._parts, b"")
        found, self._left = self._left[:size], self._left[size:]
        return found


def made(parts: Callable[[], Iterator[bytes]]) -> ForeignFile:
    return ForeignFile("junit.xml", 0, lambda: cast(BinaryIO, _Made(parts())))


@pytest.mark.parametrize(
    "declared",
    [
        f'<!DOCTYPE t [<!ENTITY l0 "ha">{LAUGHS}]>',
        '<!DOCTYPE t [<!ENTITY x SYSTEM "file:///etc/passwd">]>',
        '<!DOCTYPE t [<!ENTITY % p SYSTEM "http://127.0.0.1:9/x.dtd"> %p;]>',
        '<!DOCTYPE testsuites SYSTEM "http://127.0.0.1:9/x.dtd">',
        "<!DOCTYPE testsuites>",
    ],
)
def test_document_types_and_entities(declared: str) -> None:
    inside = f"<testsuites><testsuite>{ONE}<failure>&l9;&x;</failure></testsuite></testsuites>"
    text = f'<?xml version="1.0"?>{declared}{inside}'
    assert "declares a document type or entities" in refusal(text)


def test_an_entity_that_nobody_declared() -> None:
    assert "isn't well-formed at line 1" in refusal(f"<testsuites><testsuite>{ONE}&x;</testsuite></testsuites>")


def test_a_million_elements_within_each_other() -> None:
    assert "nested too deeply" in refusal("<testsuite>" * 1_000_000)
    assert "nested too deeply" in refusal("<testsuites><testsuite><testcase><failure>" + "<a>" * 1_000_000)


def test_attributes_and_comments_without_end(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(junit_tests, "MOST_TOKEN_BYTES", 1 << 20)

    def attribute() -> Iterator[bytes]:
        yield b'<testsuites><testsuite name="'
        while True:
            yield b"x" * 65_536

    def names() -> Iterator[bytes]:
        yield b"<testsuites><testsuite "
        for n in range(0, 10**9, 8_000):
            yield b"".join(b"a%d='' " % each for each in range(n, n + 8_000))

    def comment() -> Iterator[bytes]:
        yield b"<testsuites><!-- "
        while True:
            yield b"x" * 65_536

    for parts in (attribute, names, comment):
        assert "longer than 1 MiB" in refusal(made(parts))


def test_texts_without_end(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(junit_tests, "MOST_BYTES", 32 << 20)

    def text() -> Iterator[bytes]:
        yield b"<testsuites><testsuite><testcase name='t'><failure>"
        while True:
            yield b"x" * 65_536

    assert "larger than 32 MiB" in refusal(made(text))


def test_tests_without_end(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(junit_tests, "MOST_TESTS", 1_000)

    def tests() -> Iterator[bytes]:
        yield b"<testsuites><testsuite>"
        while True:
            yield ONE.encode() * 100

    assert "more than 1,000 trials" in refusal(made(tests))


def test_elements_without_end(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(junit_tests, "MOST_ELEMENTS", 1_000)

    def elements() -> Iterator[bytes]:
        yield b"<testsuites><testsuite><testcase name='t'><failure>"
        while True:
            yield b"<b/>" * 100

    assert "more than 1,000 elements" in refusal(made(elements))


def test_what_is_kept_of_messages_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(junit_tests, "MOST_MESSAGES", 10_000)
    found = read(pytest_xml(*(case("m", f"t{n}", f"failure:{'x' * 5_000}") for n in range(5))))
    assert [len(trial.message) for trial in found] == [4_000, 4_000, 4_000, 200, 200]


def test_names_without_end() -> None:
    assert "name of a test is longer" in refusal(pytest_xml(case("m", "x" * 20_001)))
    said = [(f"score:{n}", "1") for n in range(2_000)]
    (trial,) = read(pytest_xml(case("m", "t", properties=said)))
    assert len(trial.scores) == 1_000


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ("", "no element found"),
        ("<testsuites><testsuite>" + ONE, "no element found"),
        (pytest_xml(case("m", "t"))[:-20], "unclosed token"),
        (pytest_xml(case("m", "t")) + "<x/>", "junk after document element"),
        ("<testsuites><testsuite></testsuites>", "mismatched tag"),
        (pytest_xml(case("m", "t")).encode() + b"\xff", "not well-formed"),
        (b"<testsuites name='\xff'/>", "not well-formed"),
        (pytest_xml(case("m", "t")).encode("utf-16"), "not well-formed"),
        ("<report><testcase/></report>", "its first element is <report>"),
        ("<testsuites>&#0;</testsuites>", "reference to invalid character number"),
    ],
)
def test_no_xml_of_a_test_runner(content: str | bytes, words: str) -> None:
    assert words in refusal(content)


def test_control_characters_of_an_answer_fail_their_own_test_and_no_other() -> None:
    controls = "".join(map(chr, [*range(9), 11, 12, *range(14, 32), 0xFFFE, 0xFFFF]))
    answer = f"Error: expect(received)\n\nReceived: {controls}"
    raw = jest_xml("shell", jest_case("shell a", answer), jest_case("shell b"))
    found = read(raw)
    assert [trial.status for trial in found] == [Status.FAILED, Status.PASSED]
    assert found[0].message.isprintable() is False
    assert found[0].message.endswith("#x1E#x1F#xFFFE#xFFFF")


@pytest.mark.parametrize("chunk", [1, 2, 3, 7])
def test_a_character_that_is_cut_by_the_end_of_a_chunk(chunk: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(junit_tests, "_CHUNK", chunk)
    (trial,) = read(pytest_xml(case("m", "\xfc\uffee\u20ac\uffff\U0001f600x\ufffe")))
    assert trial.case == "m::\xfc\uffee\u20ac#xFFFF\U0001f600x#xFFFE"


def test_markup_written_with_control_characters_is_no_markup() -> None:
    (trial,) = read(pytest_xml(case("m", "a\x00/><testcase name='forged'/>")))
    assert trial.case == "m::a#x00/><testcase name='forged'/>"


def test_an_id_of_another_test_can_not_be_forged_into_a_trial_of_it() -> None:
    found = read(pytest_xml(case("m", "t[a-1-2]", "failure:no"), case("m", "t[a-2-2]"), case("m", "t[a]")))
    assert [(trial.case, trial.number) for trial in found] == [("m::t[a]", 1), ("m::t[a]", 2), ("m::t[a]", None)]


def test_hostile_names_are_cleaned_where_records_are_made() -> None:
    names = ["../../etc/passwd", "<script>alert(1)</script>", "**bold** | `x`", "\u202eevil", "a\nb", "x" * 5_000]
    file = in_memory(pytest_xml(*(case("m", name) for name in names)), "junit.xml")
    (run,) = read_results(format_named("junit").read([file]), Reading("junit"), "junit.xml").runs
    assert len(run.results) == len(names)
    assert all(result.id.isprintable() and len(result.id) <= 200 for result in run.results)


@pytest.mark.parametrize("number", ["9" * 5_000, "-1", "nan", "inf", "1e999", "0x10", "１２", ""])
def test_numbers_that_are_none(number: str) -> None:
    said = [("input_tokens", number), ("cost_usd", number), ("score:a", number)]
    (trial,) = read(pytest_xml(case("m", "t", time=number, properties=said)))
    assert trial.usage.input_tokens in {None, 12}
    assert trial.scores["a"].value in {None, -1.0, 12.0}
    assert trial.duration_ms in {None, 12_000}


def test_counts_that_are_no_number() -> None:
    xml = jest_xml("s", jest_case("a")).replace('tests="1"', f'tests="{"9" * 5_000}"')
    assert len(read(xml)) == 1
    assert len(read(BytesIO(xml.encode()).read())) == 1

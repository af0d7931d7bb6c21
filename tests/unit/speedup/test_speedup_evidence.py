"""The end of what tests printed is evidence, in lines; the message says in one what happened."""

from __future__ import annotations

from evalward.records.result import OtherDetails, Result, Status
from evalward.sandbox.process.running import Finished
from evalward.suites.speedup.details import SpeedupDetails
from evalward.suites.speedup.evidence import evidence
from evalward.suites.speedup.measure.session import SAID, SAID_LINES, _how_it_ended

PRINTED = "\n".join(f"line {number}" for number in range(100)) + "\n\nFAILED (failures=2)\n"


def ended(stderr: str) -> str:
    return _how_it_ended("the command", Finished(exit_code=1, stdout="", stderr=stderr, duration_ms=1))


def test_the_last_lines_stay_lines() -> None:
    what, *lines = ended(PRINTED).split("\n")
    assert what == "the command ended with exit code 1:"
    assert lines == ["line 95", "line 96", "line 97", "line 98", "line 99", "FAILED (failures=2)"]
    assert len(lines) == SAID_LINES


def test_one_line_stays_beside_the_exit_code() -> None:
    assert ended("no  luck\n") == "the command ended with exit code 1: no luck"
    assert ended("") == "the command ended with exit code 1"


def test_however_much_was_printed_it_is_bounded() -> None:
    for text in ("x" * 100_000, "x\n" * 100_000, ("y" * 500 + "\n") * 9):
        assert len(ended(text)) < 2 * SAID + 100


def result(*notes: str) -> Result:
    return Result(
        id="orders",
        category="c",
        definition="sha256:" + "0" * 64,
        trial=1,
        status=Status.FAILED,
        score=0.0,
        max_score=1.0,
        details=SpeedupDetails(key="agent", role="agent", notes=list(notes)),
    )


def test_evidence_is_the_end_of_the_tests() -> None:
    assert evidence(result("SNAPSHOT: x", f"TESTS: {ended(PRINTED)}")).stderr == "\n".join(
        [*(f"line {number}" for number in range(95, 100)), "FAILED (failures=2)"]
    )
    assert evidence(result("TESTS: the command ended with exit code 1: no luck")).stderr is None


def test_a_trial_of_another_kind_has_none() -> None:
    assert evidence(result().model_copy(update={"details": OtherDetails()})).stderr is None

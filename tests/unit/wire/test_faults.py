"""A failure crosses the boundary as what it was, and whatever comes instead of one is a failure, too."""

from __future__ import annotations

import traceback

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evalward.records.base import why_of
from evalward.records.problem import InputError, wrong
from evalward.targets.failures import Cause, TargetError
from evalward.wire.errors import InterruptedRunError, OtherSideError, RemoteFilesError
from evalward.wire.faults import MOST_BYTES, MOST_VALUES, error_of, fault_of_error
from evalward.wire.messages import written


def across(error: BaseException) -> Exception:
    return error_of(written(fault_of_error(error)))


def test_a_users_mistake_keeps_its_place() -> None:
    error = wrong("a.yml", "is wrong", "Mend it.", line=3, field="x.y")
    found = across(error)
    assert isinstance(found, InputError)
    assert found.problems == error.problems


@pytest.mark.parametrize("cause", list(Cause))
def test_a_targets_failure_keeps_its_cause(cause: Cause) -> None:
    found = across(TargetError(cause, "why", target="openai/x", retry_after=2.5))
    assert isinstance(found, TargetError)
    assert (found.cause, found.message, found.target, found.retry_after) == (cause, "why", "openai/x", 2.5)


def test_the_systems_refusal_keeps_its_number() -> None:
    found = across(OSError(28, "No space left on device"))
    assert isinstance(found, OSError)
    assert (found.errno, found.strerror) == (28, "No space left on device")


@pytest.mark.parametrize(
    "data",
    [
        b'{"kind": "input", "problems": [' + b"0," * MOST_VALUES + b"0]}",
        b'{"message": "' + b"x" * MOST_BYTES + b'"}',
    ],
    ids=["values", "bytes"],
)
def test_what_no_failure_says_is_not_read(data: bytes) -> None:
    """`make fuzz` found 46 MB of zeros in the place of problems, which took more than 10 s."""
    found = error_of(data)
    assert isinstance(found, OtherSideError)
    assert str(found) == "a failure that can't be read"


def test_many_mistakes_of_a_user_come_across() -> None:
    problems = [wrong("a.yml", "x, " * 500, "Mend it.", line=line).problems[0] for line in range(1_000)]
    found = across(InputError(problems))
    assert isinstance(found, InputError)
    assert list(found.problems) == problems


def test_others_keep_what_they_are() -> None:
    assert str(across(RemoteFilesError("why"))) == "why"
    assert isinstance(across(KeyboardInterrupt()), InterruptedRunError)
    other = across(ValueError("\ud800 odd"))
    assert isinstance(other, OtherSideError)
    assert str(other) == "ValueError: \ufffd odd"


def test_a_traceback_is_for_the_log_alone() -> None:
    try:
        raise ValueError("why")
    except ValueError as error:
        other = across(error)
    assert why_of(other) == "OtherSideError: ValueError: why"
    assert "in test_a_traceback_is_for_the_log_alone" in "".join(traceback.format_exception(other))


@given(st.binary(max_size=200))
def test_anything_else_is_the_other_sides_failure(data: bytes) -> None:
    assert isinstance(error_of(data), OtherSideError)


@pytest.mark.parametrize("text", [b'{"kind": "input"}', b'{"kind": "target", "cause": "none"}', b'{"kind": "system"}'])
def test_a_failure_that_says_too_little(text: bytes) -> None:
    assert isinstance(error_of(text), OtherSideError)

"""What a report says of the part that it holds."""

from __future__ import annotations

import pytest

from evalward.records.part import told_count


@pytest.mark.parametrize(("text", "number"), [("1", 1), ("17283940506", 17283940506), ("9" * 15, 10**15 - 1)])
def test_numbers_of_runs_and_attempts(text: str, number: int) -> None:
    assert told_count(text) == number


@pytest.mark.parametrize("text", ["", "x", "-1", "1.0", " 1", "٣", "²", "9" * 16])
def test_what_is_no_such_number_is_not_told(text: str) -> None:
    assert told_count(text) == 0

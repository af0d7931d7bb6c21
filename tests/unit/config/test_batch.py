"""What a configuration says about batches."""

from __future__ import annotations

import pytest
from pydantic import ValidationError

from evalward.config.batch import Batch, seconds_of
from evalward.records.problem import InputError
from support.live import live_config

TERMS = "or say how long a run waits, and what then"


@pytest.mark.parametrize(("wait", "seconds"), [("24h", 86400), ("1m", 60), ("90m", 5400), ("1440m", 86400)])
def test_a_wait_is_read(wait: str, seconds: int) -> None:
    assert seconds_of(wait) == Batch(wait=wait).wait_s == seconds


@pytest.mark.parametrize("wait", ["25h", "1441m"])
def test_a_wait_that_is_too_long_is_quoted(wait: str) -> None:
    with pytest.raises(ValidationError, match=f'"{wait}" is too long. At most 24h is allowed'):
        Batch(wait=wait)


@pytest.mark.parametrize("wait", ["0h", "-1h", "1d", "90", "1.5h", "", "1h ", "٣h"])
def test_what_is_no_such_time_is_refused(wait: str) -> None:
    with pytest.raises(ValidationError, match="like 90m or 24h"):
        Batch(wait=wait)


@pytest.mark.parametrize(
    ("given", "terms"),
    [
        (False, None),
        (True, Batch()),
        ({"wait": "5h"}, Batch(wait="5h", then="live")),
        ({"then": "stop"}, Batch(wait="24h", then="stop")),
    ],
)
def test_the_terms_of_a_configuration(given: object, terms: Batch | None) -> None:
    assert live_config(["anthropic/claude-haiku-4-5"], {}, batch=given).config.batches == terms
    assert live_config(["anthropic/claude-haiku-4-5"], {}).config.batches is None


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ({"then": "later"}, ['batch.then: unknown value "later"']),
        ({"wait": "25h"}, ['batch.wait: "25h" is too long. At most 24h is allowed.']),
        ({"wait": "1d"}, ['batch.wait: "1d" is not a time like 90m or 24h. Write minutes (m) or hours (h)']),
        ({"until": "5h"}, ['batch.until: unknown key "until"']),
        (3, ["batch: must be true or false"]),
        (1, [f"batch: must be true or false, {TERMS}: {{wait: 5h, then: live}} or {{wait: 5h, then: stop}}"]),
        ("90m", [f"batch: must be true or false, {TERMS}: {{wait: 90m, then: live}} or {{wait: 90m, then: stop}}"]),
        ("yes", [f"batch: must be true or false, {TERMS}: {{wait: 5h, then: live}} or {{wait: 5h, then: stop}}"]),
    ],
)
def test_a_mistake_is_told_once_and_where_it_is(given: object, told: list[str]) -> None:
    with pytest.raises(InputError) as caught:
        live_config(["anthropic/claude-haiku-4-5"], {}, batch=given)
    assert len(caught.value.problems) == len(told)
    for problem, words in zip(caught.value.problems, told, strict=True):
        assert words in str(problem)

"""The failure table: complete, frozen, and the one that the documentation shows."""

from __future__ import annotations

from pathlib import Path
from typing import Any, cast

import pytest

from evalward.records.result import Status
from evalward.targets.failures import FAILURES, Cause, TargetError, failures_table, key_words

DOCUMENT = Path(__file__).parents[3] / "docs" / "failures.md"


def test_every_cause_has_its_row() -> None:
    assert list(FAILURES) == list(Cause)
    assert all(rule.cause is cause for cause, rule in FAILURES.items())


def test_the_table_is_frozen() -> None:
    with pytest.raises(TypeError):
        cast(dict[Cause, Any], FAILURES)[Cause.KEY] = None
    with pytest.raises(AttributeError):
        cast(Any, FAILURES[Cause.KEY]).retried = True


def test_what_hits_everything_stops_the_run_and_is_not_retried() -> None:
    stopping = {cause for cause, rule in FAILURES.items() if rule.stops_run}
    assert stopping == {Cause.KEY, Cause.QUOTA, Cause.MODEL_NOT_FOUND, Cause.BUDGET, Cause.BATCH}
    assert not any(FAILURES[cause].retried for cause in stopping)


def test_only_the_targets_own_doing_counts_as_failed() -> None:
    failed = {cause for cause, rule in FAILURES.items() if rule.counted is Status.FAILED}
    assert failed == {Cause.CONTEXT_LENGTH, Cause.REFUSAL, Cause.UNREADABLE}


@pytest.mark.parametrize("cause", list(Cause))
def test_everybody_is_told_what_to_do(cause: Cause) -> None:
    told = FAILURES[cause].text.format(provider="PROVIDER", model="MODEL", variable="VARIABLE")
    assert "{" not in told
    assert told.endswith(".")
    assert told.count(". ") >= 1, "one sentence for what happened, one for what to do"


def test_an_error_knows_its_row() -> None:
    error = TargetError(Cause.QUOTA, "No credit.", target="openai/m")
    assert (str(error), error.rule, error.retry_after) == ("No credit.", FAILURES[Cause.QUOTA], None)


@pytest.mark.parametrize(("provider", "usual"), [("anthropic", "ANTHROPIC_API_KEY"), ("openai", "OPENAI_API_KEY")])
def test_where_no_key_was_sent_the_line_to_add_is_named(provider: str, usual: str) -> None:
    said = key_words(provider, "m", None)
    assert "to a `base_url` of your own no key is sent. " in said
    assert f"Add `key_env: {usual}` to `providers.{provider}`" in said
    assert "Set the environment variable MINE" in key_words(provider, "m", "MINE")


def test_the_documentation_shows_todays_table() -> None:
    assert failures_table() in DOCUMENT.read_text("utf-8"), "Write failures_table() into docs/failures.md"

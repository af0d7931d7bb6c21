"""From what a provider or an SDK says to a cause; servers of other makes say it in their own way."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evalward.targets.failures import Cause
from evalward.targets.models.faults import fault_of, reported, retry_after
from evalward.targets.models.reading import MalformedError, ProviderError

NOW = datetime(2026, 11, 21, 8, 0, 0, tzinfo=UTC)
VLLM_LONG = {
    "object": "error",
    "message": "This model's maximum context length is 4096 tokens. However, you requested 5000 tokens.",
    "type": "BadRequestError",
    "param": None,
    "code": 400,
}
LLAMA_LONG = {"error": {"code": 400, "message": "too long", "type": "exceed_context_size_error"}}
OLLAMA_MODEL = {"error": {"message": 'model "x" not found, try pulling it first', "type": "not_found_error"}}


@pytest.mark.parametrize(
    ("body", "status", "cause"),
    [
        (VLLM_LONG, 400, Cause.CONTEXT_LENGTH),
        (LLAMA_LONG, 400, Cause.CONTEXT_LENGTH),
        ({"error": {"message": "input length and `max_tokens` exceed context limit"}}, 400, Cause.CONTEXT_LENGTH),
        ({"error": {"message": "Input is too long for requested model."}}, 400, Cause.CONTEXT_LENGTH),
        ({"error": {"message": "max_tokens: 99999 > 64000, the maximum of this model"}}, 400, Cause.REJECTED),
        ({"error": {"message": "Encrypted content is not supported with this model."}}, 400, Cause.REJECTED),
        (OLLAMA_MODEL, 404, Cause.MODEL_NOT_FOUND),
        ({"detail": "Not Found"}, 404, Cause.MODEL_NOT_FOUND),
        ("404 page not found", 404, Cause.MODEL_NOT_FOUND),
        (None, 404, Cause.MODEL_NOT_FOUND),
        ({"message": "Item with id 'rs_1' not found.", "param": "input"}, 404, Cause.REJECTED),
        ({"error": {"message": "The model `x` does not exist."}}, 400, Cause.MODEL_NOT_FOUND),
        ({"message": "filtered", "code": "content_filter"}, 400, Cause.REFUSAL),
        ({"message": "Invalid prompt", "code": "invalid_prompt"}, None, Cause.REFUSAL),
        ({"error": {"type": "billing_error", "message": "?"}}, 403, Cause.QUOTA),
        ({"message": "Insufficient credits"}, 400, Cause.QUOTA),
        ({"message": "You exceeded your current quota"}, 429, Cause.RATE_LIMIT),  # Gemini's words for a rate limit
        ({"error": {"type": "overloaded_error"}}, 200, Cause.OVERLOAD),
        ({"error": {"type": "rate_limit_error"}}, 200, Cause.RATE_LIMIT),
        ({"error": {"type": "authentication_error"}}, 200, Cause.KEY),
        ({"type": "server_error"}, 504, Cause.TIMEOUT),
        ({}, 409, Cause.OVERLOAD),
        ({}, 408, Cause.TIMEOUT),
        ({}, 418, Cause.REJECTED),
        ({}, 599, Cause.OVERLOAD),
        ({}, 301, Cause.REJECTED),
        ("<html>", 502, Cause.OVERLOAD),
        (None, None, Cause.OVERLOAD),
        ([1], 400, Cause.REJECTED),
    ],
)
def test_what_a_provider_reports(body: Any, status: int | None, cause: Cause) -> None:
    assert reported(body, status).cause is cause


@pytest.mark.parametrize(
    ("error", "cause"),
    [
        (MalformedError("half"), Cause.MALFORMED),
        (ProviderError({"code": "rate_limit_exceeded"}), Cause.RATE_LIMIT),
        (json.JSONDecodeError("x", "", 0), Cause.MALFORMED),
        (UnicodeDecodeError("utf-8", b"x", 0, 1, "bad"), Cause.MALFORMED),
        (TimeoutError(), Cause.TIMEOUT),
        (ConnectionResetError("gone"), Cause.NETWORK),
        (ZeroDivisionError("ours"), Cause.OURS),
        (AttributeError("ours"), Cause.OURS),
    ],
)
def test_what_is_raised(error: Exception, cause: Cause) -> None:
    assert fault_of(error).cause is cause


def test_the_innermost_words_are_told() -> None:
    error = ConnectionError("Connection error.")
    error.__cause__ = OSError("certificate has expired")
    assert fault_of(error).said == "OSError: certificate has expired"


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({"retry-after": "7"}, 7),
        ({"retry-after": " 1.5 "}, 1.5),
        ({"retry-after-ms": "250", "retry-after": "1"}, 0.25),
        ({"retry-after-ms": "soon", "retry-after": "3"}, 3),
        ({"retry-after": "Sat, 21 Nov 2026 08:00:30 GMT"}, 30),
        ({"retry-after": "Sat, 21 Nov 2026 07:00:00 GMT"}, 0),
        ({"retry-after": "Sat, 21 Nov 2026 08:00:30"}, 30),
        ({"retry-after": "Mon, 01 Jan 2024 00:00:00 +99999999999999999999"}, None),
        ({"retry-after": "-1"}, None),
        ({"retry-after": "nan"}, None),
        ({"retry-after": "inf"}, None),
        ({"retry-after": "later"}, None),
        ({"retry-after": ""}, None),
        ({}, None),
    ],
)
def test_retry_after(headers: dict[str, str], seconds: float | None) -> None:
    assert retry_after(headers, NOW) == seconds


@given(st.text())
def test_any_retry_after_is_read(text: str) -> None:
    seconds = retry_after({"retry-after": text}, NOW)
    assert seconds is None or seconds >= 0


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.sampled_from(["error", "type", "code", "message", "x"]), inner),
    max_leaves=8,
)


@given(JSON, st.none() | st.integers(100, 599))
def test_any_body_has_a_cause(body: Any, status: int | None) -> None:
    assert isinstance(reported(body, status).cause, Cause)

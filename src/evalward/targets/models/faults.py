"""From whatever an SDK raises, or a provider reports, to a cause of the failure table.

The two SDKs' exceptions have the same names and fields, and below them lies the same HTTP library; they are told apart
by name, so that nothing has to be imported for it.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from math import isfinite
from typing import Any

from evalward.records.trace import StopReason
from evalward.targets.failures import Cause
from evalward.targets.models.reading import MalformedError, ProviderError, UnreadableAnswerError

STOPS: Mapping[Cause, StopReason] = {Cause.CONTEXT_LENGTH: "context_length", Cause.REFUSAL: "content_filter"}
"""Causes that are the target's own doing: they are answers, not failures."""


@dataclass(frozen=True)
class Fault:
    """What went wrong in one attempt: the cause, what was said (as it came), and the wait that was asked for."""

    cause: Cause
    said: str = ""
    retry_after: float | None = None


# The providers' own words (error type, code, `error_code`), strongest first: some come with a misleading status.
_WORDS: tuple[tuple[Cause, frozenset[str]], ...] = (
    (
        Cause.QUOTA,
        frozenset(
            (
                "insufficient_quota",
                "billing_error",
                "billing_hard_limit_reached",
                "billing_not_active",
                "enforced_spend_limit_reached",
                "contract_spend_limit_reached",
                "insufficient_credits",
            )
        ),
    ),
    (Cause.MODEL_NOT_FOUND, frozenset(("model_not_found",))),
    (Cause.CONTEXT_LENGTH, frozenset(("context_length_exceeded", "exceed_context_size_error", "request_too_large"))),
    (Cause.REFUSAL, frozenset(("content_filter", "content_policy_violation", "invalid_prompt", "bio_policy"))),
    (Cause.KEY, frozenset(("authentication_error", "permission_error", "invalid_api_key"))),
    (Cause.RATE_LIMIT, frozenset(("rate_limit_error", "rate_limit_exceeded"))),
    (Cause.TIMEOUT, frozenset(("timeout_error",))),
    (Cause.OVERLOAD, frozenset(("overloaded_error", "server_is_overloaded", "slow_down"))),
)

_STATUSES: Mapping[int, Cause] = {
    401: Cause.KEY,
    402: Cause.QUOTA,
    403: Cause.KEY,
    408: Cause.TIMEOUT,
    409: Cause.OVERLOAD,
    413: Cause.CONTEXT_LENGTH,
    429: Cause.RATE_LIMIT,
    504: Cause.TIMEOUT,
}

# For a 400, where neither the status nor, with many servers, a code says what it is.
_NO_CREDIT = re.compile(r"credit balance is too low|insufficient (credit|balance|funds)", re.I)
_TOO_LONG = re.compile(
    r"context.?(length|window|size|limit)|(prompt|input|request|conversation)\s(is\s)?too\slong|maximum context"
    r"|exceeds? (the )?(model's )?(maximum|context)[^.]*\btokens?\b",
    re.I,
)
_NO_MODEL = re.compile(r"\bmodel\b.{0,120}\b(not found|does not exist|doesn't exist|not exist|unknown|invalid)", re.I)


def fault_of(error: Exception) -> Fault:
    """The cause of an exception that came out of an SDK, or out of reading its answer."""
    unread = _unread(error)
    if unread is not None:
        return unread
    if isinstance(error, ProviderError):
        return reported(error.body)
    names = {base.__name__ for base in type(error).__mro__}
    if "APIStatusError" in names:
        response = getattr(error, "response", None)
        wait = retry_after(getattr(response, "headers", {}), datetime.now(UTC))
        fault = reported(getattr(error, "body", None), getattr(error, "status_code", None))
        return Fault(fault.cause, fault.said, wait)
    for known, cause in _EXCEPTIONS:
        if known in names:
            return Fault(cause, _why(error))
    if "APIError" in names:
        return reported(getattr(error, "body", None))
    return Fault(Cause.OURS, _why(error))


_TOO_MANY_DIGITS = "integer string conversion"  # Python's words
_EXCEPTIONS = (
    ("UnicodeError", Cause.MALFORMED),
    ("TimeoutError", Cause.TIMEOUT),
    ("APITimeoutError", Cause.TIMEOUT),
    ("TimeoutException", Cause.TIMEOUT),
    ("DecodingError", Cause.MALFORMED),
    ("APIResponseValidationError", Cause.MALFORMED),
    ("JSONDecodeError", Cause.MALFORMED),
    ("APIConnectionError", Cause.NETWORK),
    ("TransportError", Cause.NETWORK),
    ("StreamError", Cause.NETWORK),
    ("OSError", Cause.NETWORK),
)


def _unread(error: BaseException | None) -> Fault | None:
    """What reading the answer says was wrong with it, also where the SDK made a broken connection of that; what the
    SDK itself can't read of it, before we see any.
    """
    if isinstance(error, RecursionError):
        return Fault(Cause.MALFORMED, "the answer is nested too deeply")
    if isinstance(error, ValueError) and _TOO_MANY_DIGITS in str(error):
        return Fault(Cause.MALFORMED, "a number in the answer has too many digits")
    for _ in range(10):
        if isinstance(error, UnreadableAnswerError):
            return Fault(Cause.UNREADABLE, str(error))
        if isinstance(error, MalformedError):
            return Fault(Cause.MALFORMED, str(error))
        error = error.__cause__ if error is not None else None
    return None


def _why(error: Exception) -> str:
    """The innermost words: "Connection error." alone helps nobody."""
    inner: BaseException = error
    for _ in range(10):
        inner = inner.__cause__ or inner
    words = str(inner) or str(error)
    return f"{type(inner).__name__}: {words}" if words else type(inner).__name__


def reported(body: Any, status: int | None = None) -> Fault:
    """The cause of an error that the provider itself reports, by its words, its status and, for a 400, its text.

    `status` is `None` or 200 for an error in the middle of a stream.
    """
    error = body.get("error", body) if isinstance(body, Mapping) else body
    message = _text_of(error, status)
    words = _words_of(error)
    for cause, known in _WORDS:
        if words & known:
            return Fault(cause, message)
    return Fault(_by_status(error, message, status), message)


def _by_status(error: Any, message: str, status: int | None) -> Cause:
    if status is None or status < 300 or (status >= 500 and status not in _STATUSES):
        return Cause.OVERLOAD
    if status in _STATUSES:
        return _STATUSES[status]
    if status == 404:  # an unknown model or a wrong address, unless it is about something in the conversation
        about = error.get("param") if isinstance(error, Mapping) else None
        return Cause.REJECTED if str(about or "").startswith("input") else Cause.MODEL_NOT_FOUND
    patterns = ((_NO_CREDIT, Cause.QUOTA), (_TOO_LONG, Cause.CONTEXT_LENGTH), (_NO_MODEL, Cause.MODEL_NOT_FOUND))
    return next((cause for pattern, cause in patterns if pattern.search(message)), Cause.REJECTED)


def _words_of(error: Any) -> set[str]:
    if not isinstance(error, Mapping):
        return set()
    details = error.get("details")
    inner = details.get("error_code") if isinstance(details, Mapping) else None
    return {word for word in (error.get("type"), error.get("code"), inner) if isinstance(word, str)}


def _text_of(error: Any, status: int | None) -> str:
    found = error
    if isinstance(error, Mapping):
        found = next((error[key] for key in ("message", "detail", "error") if error.get(key)), "")
    text = found if isinstance(found, str) else "" if found is None else json.dumps(found, default=str)
    if status is not None and 300 <= status < 400:
        return f"HTTP {status}: it sends us to another address. Write that one into base_url."
    if status is None or status == 200:
        return text
    return f"HTTP {status}: {text}" if text else f"HTTP {status}"


def retry_after(headers: Mapping[str, str], now: datetime) -> float | None:
    """Seconds that the provider asks to wait: `retry-after-ms`, or `retry-after` in seconds or as a date."""
    milliseconds = _number(headers.get("retry-after-ms"))
    if milliseconds is not None:
        return milliseconds / 1000
    given = headers.get("retry-after")
    seconds = _number(given)
    if seconds is not None or given is None:
        return seconds
    try:
        then = parsedate_to_datetime(given)
        then = then if then.tzinfo else then.replace(tzinfo=UTC)
        return max(0.0, (then - now).total_seconds())
    except Exception:  # Python's reader of dates has more than one for a date that is none: it is no wait
        return None


def _number(text: str | None) -> float | None:
    try:
        value = float(text or "")
    except ValueError:
        return None
    return value if isfinite(value) and value >= 0 else None

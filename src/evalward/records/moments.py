"""When something was: other tools' times, in UTC to the second."""

from __future__ import annotations

import re
from collections.abc import Iterable
from datetime import UTC, datetime, tzinfo

_FINER_THAN_MICROSECONDS = re.compile(r"(\.\d{6})\d+")


def instant(text: str, zone: tzinfo | None = None) -> str:
    """The moment in UTC to the second: other writers append nanoseconds, or `+00:00` for `Z`.

    `zone` is that of a text which names none; without it such a text is refused. Raises `ValueError`.
    """
    try:
        moment = datetime.fromisoformat(_FINER_THAN_MICROSECONDS.sub(r"\1", text))
        moment = moment.replace(tzinfo=moment.tzinfo or zone)
        if moment.tzinfo is not None:
            return moment.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    except (ValueError, OverflowError) as error:  # the latter near the ends of the calendar
        raise ValueError("is not an ISO 8601 time such as 2026-01-09T12:34:56Z") from error
    raise ValueError("has no time zone; write 2026-01-09T12:34:56Z")


def latest(times: Iterable[object]) -> str | None:
    """The last of these moments, as `instant` writes it; what is no moment is passed over."""
    return max(filter(None, map(_moment, times)), default=None)


def _moment(value: object) -> str | None:
    try:
        return instant(value) if isinstance(value, str) else None
    except ValueError:
        return None

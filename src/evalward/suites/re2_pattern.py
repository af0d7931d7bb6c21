"""Patterns that people write for suites: RE2's, which takes time in proportion to a text whatever they say."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

from evalward.records.base import clean_text

SHOWN = 80  # characters of a pattern, and of what is wrong with it


@lru_cache(maxsize=512)  # each may take some MB, and a server of tools brings its own
def compiled(pattern: str) -> Any:
    """The compiled RE2 pattern. Raises `ValueError` that says what RE2 has against it."""
    import re2  # noqa: PLC0415 - only for suites with a pattern

    if clean_text(pattern) != pattern:  # a substitute for the lone surrogate would mean something else
        raise ValueError("the pattern holds half a character (a lone surrogate)")
    options = re2.Options()
    options.log_errors = False  # RE2 would write to stderr by itself
    try:
        return re2.compile(pattern, options)
    except re2.error as error:
        reason = error.args[0] if error.args else error
        reason = reason.decode("utf-8", "replace") if isinstance(reason, bytes) else str(reason)
        raise ValueError(f"{_cut(pattern)!r} is not an RE2 pattern: {_cut(reason)}") from error


def _cut(text: str) -> str:
    return text if len(text) <= SHOWN else text[:SHOWN] + "…"

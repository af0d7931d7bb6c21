"""How what somebody wrote is repeated in a message: in one line, short, without control characters."""

from __future__ import annotations

import difflib
from collections.abc import Iterable

_PART = 4  # letters of a word that stands for a longer one: `expected` for `expected_command`
_SIMILAR = 0.71  # `turns` is near `max_turns`, `providers` isn't near `profiles`


def one_line(text: str, limit: int = 60) -> str:
    """The text in one line, cut to `limit` characters, whatever can't be printed written as an escape."""
    cut = text[:limit] + ("…" if len(text) > limit else "")
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode("ascii") for c in cut)


def shown(text: str, limit: int = 60) -> str:
    """The text in quotes, by `one_line`."""
    return f'"{one_line(text, limit)}"'


def did_you_mean(word: str, known: Iterable[str]) -> str:
    """`Did you mean …?`, or nothing when no known word is near."""
    others = [each for each in known if each != word]  # what was written is no proposal
    parts = [each for each in others if len(word) >= _PART and f"_{word}_" in f"_{each}_"]
    near = difflib.get_close_matches(word[:64], others, n=1, cutoff=_SIMILAR) or (parts if len(parts) == 1 else [])
    return f"Did you mean {near[0]}?" if near else ""


def near_or_known(word: str, known: Iterable[str], kind: str) -> str:
    """`Did you mean …?`, or else the list of the known words under the heading `kind`."""
    words = list(known)
    return did_you_mean(word, words) or f"{kind}: {', '.join(words)}."

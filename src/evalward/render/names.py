"""Names inside sentences: of what to set as code, of commits and digests, and of moments."""

from __future__ import annotations

import re
from collections.abc import Iterable

SuiteTarget = tuple[str, str]
"""Suite and target of a run."""

DAY = 10  # characters of an ISO time that are its date
_HEX = re.compile(r"[0-9a-fA-F]{7,64}")


def quoted(text: str) -> str:
    """A name inside a sentence, to be set as code."""
    return "`" + text.replace("`", "'") + "`"


def spoken(name: str | None) -> str:
    """A name that programs read, such as a reason of a trial or a change of a case, as words: `not valid`."""
    return (name or "").replace("_", " ")


def short_hash(value: str | None) -> str:
    """A commit or digest as people write it: 7 digits of a commit, 12 of a digest; other text as it is."""
    if value is None:
        return "–"
    if value.startswith("sha256:") and _HEX.fullmatch(value[7:]):
        return value[7:19]
    return value[:7] if _HEX.fullmatch(value) else value


def told_apart(run: SuiteTarget, runs: Iterable[SuiteTarget]) -> tuple[str | None, str | None]:
    """Suite and target as far as they have to be named so that of these runs just this one is meant."""
    suite, target = run
    others = [other for other in runs if other != run]
    if not others:
        return None, None
    if all(other != target for _, other in others):
        return None, target
    return suite, None if all(other != suite for other, _ in others) else target


def moment(at: str, commit: str | None) -> str:
    """`2026-11-02 (abc1234)`: the day, and the commit where it is known. Plain text."""
    return at[:DAY] + (f" ({short_hash(commit)})" if commit else "")

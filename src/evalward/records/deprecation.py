"""Spellings that still work, and for how long: said wherever one is used, with what to write instead."""

from __future__ import annotations

from msgspec import Struct


class Deprecation(Struct, frozen=True):
    """An old spelling. `since` and `until` are ISO dates: it works on all days before `until`, and `instead` now."""

    instead: str
    since: str
    until: str

    def words(self, old: str) -> str:
        """One sentence for whoever still writes `old`."""
        return (
            f"`{old}` is deprecated since {self.since}: write `{self.instead}`. "
            f"It works until {self.until}; a release after that day may refuse it."
        )

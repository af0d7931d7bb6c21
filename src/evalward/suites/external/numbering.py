"""Which trial of its case each one is."""

from __future__ import annotations


class TrialNumbers:
    """The numbers of one case's trials, from 1, each given once. Taking one costs the same however many there are."""

    def __init__(self, before: int = 0) -> None:
        """`before`: trials that the case has already; theirs are the first numbers."""
        self._taken = set(range(1, before + 1))
        self._highest = before

    def take(self, wanted: int | None) -> int:
        """The number that is `wanted`, or where it is taken or `None`, the one after the highest."""
        number = self._highest + 1 if wanted is None or wanted in self._taken else wanted
        self._taken.add(number)
        self._highest = max(self._highest, number)
        return number

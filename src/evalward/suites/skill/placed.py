"""What an eval's file gave: cases as they are written, each with its place; what is wrong, and what is odd."""

from __future__ import annotations

import hashlib
import re
import unicodedata
from dataclasses import dataclass, field

from evalward.records.problem import Place, Problem
from evalward.suites.skill.case import SkillAsk

_WORD = re.compile(r"[a-z0-9]+")
_SLUG = 40
"""Characters of a query that its id repeats."""


@dataclass(frozen=True)
class PlacedAsk:
    """A case and where it is written.

    `of_skill`: the files that it names are those of a skill's own evals, by their paths from `folder`. Else they count
    from the configuration's.
    """

    ask: SkillAsk
    place: Place
    folder: str = ""
    of_skill: bool = False


@dataclass
class EvalsRead:
    """The cases of a file, and what is wrong or odd about the others."""

    asks: list[PlacedAsk] = field(default_factory=list)
    problems: list[Problem] = field(default_factory=list)
    warnings: list[Problem] = field(default_factory=list)

    def wrong(self, place: Place, message: str, remedy: str, key: str = "") -> None:
        """Take down a mistake."""
        self.problems.append(Problem(place=place, message=message, remedy=remedy, field=key))

    def odd(self, place: Place, message: str, remedy: str, key: str = "") -> None:
        """Take down what is no mistake, and still not what one would expect."""
        self.warnings.append(Problem(place=place, message=message, remedy=remedy, field=key))


def slug_of(text: str, most: int = _SLUG) -> str:
    """The first words of a text, in letters and digits that an id can have; empty for one without any."""
    plain = unicodedata.normalize("NFKD", text[:1000]).encode("ascii", "ignore").decode().lower()
    words = _WORD.findall(plain)
    kept = ""
    for word in words:
        longer = f"{kept}-{word}" if kept else word[:most]
        if len(longer) > most:
            break
        kept = longer
    return kept


def same_words(prompt: str) -> str:
    """What equal queries have in common: their words, whatever the case and the blanks between them."""
    return " ".join(prompt.split()).casefold()


def mark_of(prompt: str) -> str:
    """A few characters that tell one query from another, and stay as long as its words do."""
    return hashlib.sha256(same_words(prompt).encode("utf-8", "surrogatepass")).hexdigest()[:6]


def id_of_words(prompt: str) -> str:
    """An id from a query's words, wherever in its list it stands."""
    return "-".join(filter(None, (slug_of(prompt), mark_of(prompt))))

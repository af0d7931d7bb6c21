"""Patterns of names and of paths, the same wherever people write them."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from fnmatch import fnmatchcase

_WILDCARD = re.compile(r"[*?\[{]")


def chosen(name: str, patterns: Collection[str]) -> bool:
    """True when there are no patterns or one of them matches; a name with brackets matches itself."""
    return not patterns or any(name == pattern or fnmatchcase(name, pattern) for pattern in patterns)


def before_wildcard(pattern: str) -> str:
    """A pattern of files up to its first wildcard; all of it where there is none."""
    return _WILDCARD.split(pattern, maxsplit=1)[0]


def matches_any(path: str, patterns: Sequence[str]) -> bool:
    """True when one of the patterns matches the path: `*` within a name, `**` over any number of folders."""
    parts = path.split("/")
    return any(_matches(parts, pattern.split("/")) for pattern in patterns)


def matches_or_below(path: str, patterns: Sequence[str]) -> bool:
    """True when one of the patterns matches the path, or could match something below it."""
    return any(_places(path.split("/"), pattern.split("/")) for pattern in patterns)


def matches_all_below(path: str, patterns: Sequence[str]) -> bool:
    """True when one of the patterns is the path, or matches it and everything below it."""
    return path in patterns or matches_any(path, [each for each in patterns if each.split("/")[-1] == "**"])


def _matches(parts: Sequence[str], pattern: Sequence[str]) -> bool:
    return len(pattern) in _places(parts, pattern)


def _places(parts: Sequence[str], pattern: Sequence[str]) -> set[int]:
    """The places in the pattern that the parts can lead to, one by one: no pattern can make it slow."""
    places = _reachable({0}, pattern)
    for part in parts:
        here = {place for place in places if place < len(pattern)}
        stay = {place for place in here if pattern[place] == "**"}
        on = {place + 1 for place in here - stay if fnmatchcase(part, pattern[place])}
        places = _reachable(stay | on, pattern)
    return places


def _reachable(places: set[int], pattern: Sequence[str]) -> set[int]:
    """`**` may also stand for nothing."""
    found = set(places)
    for place in sorted(places):
        at = place
        while at < len(pattern) and pattern[at] == "**":
            at += 1
            found.add(at)
    return found

"""Symbolic links that lead to what a change changes: whoever names the link depends on it as well.

Paths only: nothing is opened or followed. Where a link leads is taken part by part from its text, and where that can't
tell, it counts as leading anywhere.
"""

from __future__ import annotations

import posixpath
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

from msgspec import Struct, field

MOST_LINKS = 2_000
"""Of more links none is resolved."""


class ChangedLinks(Struct, frozen=True):
    """Links by what a change does to what they lead to, by their paths from the repository's top.

    `leading_to`: to which changed file each leads that leads to one. `opaque`: those of them that lead to a folder, or
    to what other files stand behind. `unknown`: links of which nothing is known, or that leave the repository.
    """

    leading_to: Mapping[str, str] = field(default_factory=dict)
    opaque: Collection[str] = frozenset()
    unknown: Sequence[str] = ()


def changed_links(files: Sequence[str], opaque: Collection[str], links: Mapping[str, str]) -> ChangedLinks:
    """The links that lead to changed files, directly or over other links. `links`: where each says that it leads."""
    if len(links) > MOST_LINKS:
        return ChangedLinks(unknown=list(links))
    leads = {link: _resolved(link, target) for link, target in links.items()}
    inside = {link: place for link, place in leads.items() if place is not None}
    changed: dict[str, str] = {}  # each changed path, and each folder above one, to the file
    for file in files:
        changed |= {place: file for place in _upwards(file) if place not in changed}
    whole, plain = set(opaque), set(files) - set(opaque)
    found: dict[str, str] = {}
    below = _by_place(inside)
    asked: Iterable[str] = inside
    while new := {
        link: at for link in asked if link not in found and (at := _changed_at(inside[link], changed, whole))
    }:
        found |= new
        places: list[str] = []
        for link, file in new.items():
            places += (fresh := [place for place in _upwards(link) if place not in changed])
            changed |= dict.fromkeys(fresh, file)
        simple = {link for link in new if inside[link] in plain}
        whole |= new.keys() - simple
        plain |= simple
        # Only these can have changed in this round: asking all of them again takes a long chain's square.
        asked = dict.fromkeys(link for place in (*places, *new) for link in below.get(place, ()))
    return ChangedLinks(found, whole & found.keys(), [link for link, place in leads.items() if place is None])


def _by_place(inside: Mapping[str, str]) -> Mapping[str, list[str]]:
    """The links that lead to a place or below it."""
    below = defaultdict[str, list[str]](list)
    for link, place in inside.items():
        for above in _upwards(place):
            below[above].append(link)
    return below


def _changed_at(place: str, changed: Mapping[str, str], whole: Collection[str]) -> str | None:
    """The changed file that is this place, is below it, or that the place is behind."""
    if place in changed:
        return changed[place]
    return next((changed[above] for above in _upwards(place) if above in whole), None)


def _resolved(link: str, target: str) -> str | None:
    """Where a link leads, from the repository's top (`""`); `None` where its text alone can't tell, and outside."""
    parts = [part for part in target.split("/") if part not in {"", "."}]
    ups = next((at for at, part in enumerate(parts) if part != ".."), len(parts))
    folder = [part for part in posixpath.dirname(link).split("/") if part]
    if not target or target.startswith("/") or ".." in parts[ups:] or ups > len(folder):
        return None
    return "/".join([*folder[: len(folder) - ups], *parts[ups:]])


def _upwards(path: str) -> Iterator[str]:
    """A path, the folders above it, and the repository's top."""
    while path:
        yield path
        path = posixpath.dirname(path)
    yield ""

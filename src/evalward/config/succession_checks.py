"""Whose place targets and suites may take: one's that is gone, and each only once."""

from __future__ import annotations

from collections.abc import Iterator

from evalward.config.reading import get, items, suites, target_ids
from evalward.config.words import KeyPath, Value
from evalward.config.yaml_positions import Mistake
from evalward.records.words import shown


def check_succession(config: Value) -> Iterator[Mistake]:
    """Every mistake in the `replaces:` of suites and targets."""
    names = {name for _, suite in suites(config) if isinstance(name := get(suite, "name"), str)}
    named = [((*path, "replaces"), get(suite, "replaces")) for path, suite in suites(config)]
    yield from _unusable(named, names, "suite")
    for path, suite in suites(config):
        listed = get(suite, "targets")
        entries = items(listed, *path, "targets") if isinstance(listed, list) else ()
        replaced = [((*place, "replaces"), get(entry, "replaces")) for place, entry in entries]
        yield from _unusable(replaced, {target for _, target in target_ids(suite, *path)}, "target of this suite")


def _unusable(replaced: list[tuple[KeyPath, Value]], present: set[str], what: str) -> Iterator[Mistake]:
    seen: set[str] = set()
    for place, name in replaced:
        if not isinstance(name, str):
            continue
        if name in present:
            message = f"{shown(name)} is a {what}, so nothing can take its place"
            yield Mistake(place, message, "Remove one of the two: a replaced target is no longer measured.")
        elif name in seen:
            yield Mistake(
                place, f"{shown(name)} is replaced twice", "Keep `replaces` on one of them; the other is new."
            )
        seen.add(name)

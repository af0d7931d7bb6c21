"""Names for cases that nobody has named, and categories, from what the files of other harnesses hold."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from evalward.records.base import digest
from evalward.suites.external.formats.values import text

_MOST_NAME = 80
_SHORT = 60
_CATEGORIES = ("category", "area", "topic", "pluginId")


def short_name(words: str, asked: Any) -> str:
    """What a case asks as its name, for as long as it asks the same; where the words are long they are cut, with a hash
    of `asked`."""
    if len(words) <= _MOST_NAME and words.isprintable():
        return words
    cut = "".join(char if char.isprintable() else " " for char in words[:_SHORT]).rstrip()
    return f"{cut}… #{short_digest(asked)}"


def short_digest(value: Any) -> str:
    """A few digits of a JSON value's hash."""
    return digest(value).removeprefix("sha256:")[:8]


def category_of(metadata: Mapping[str, Any], tags: Any) -> str:
    """What a case's metadata call it, or the first of its tags; "" for none."""
    named = next((metadata[key] for key in _CATEGORIES if isinstance(metadata.get(key), str)), "")
    return named or (text(tags[0]) if isinstance(tags, list) and tags else text(tags))

"""What a foreign JSON object has under a key, if it is of the type that it should be."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

MOST_COUNT = 10**15


def text_at(value: Mapping[str, Any], key: str) -> str:
    """The text under a key; "" where there is none."""
    found = value.get(key)
    return found if isinstance(found, str) else ""


def object_at(value: Mapping[str, Any], key: str) -> Mapping[str, Any]:
    """The object under a key; an empty one where there is none."""
    found = value.get(key)
    return found if isinstance(found, dict) else {}


def list_at(value: Mapping[str, Any], key: str) -> Sequence[Any]:
    """The list under a key; an empty one where there is none."""
    found = value.get(key)
    return found if isinstance(found, list) else ()


def objects_at(value: Mapping[str, Any], key: str) -> Sequence[Mapping[str, Any]]:
    """The objects of the list under a key."""
    return [each for each in list_at(value, key) if isinstance(each, dict)]


def count_at(value: Mapping[str, Any], key: str) -> int | None:
    """The whole number under a key, from 0; `None` where there is none."""
    found = value.get(key)
    if isinstance(found, bool) or not isinstance(found, int) or not 0 <= found <= MOST_COUNT:
        return None
    return found


def amount_at(value: Mapping[str, Any], key: str) -> float | None:
    """The number under a key, from 0; `None` where there is none, or none that is finite."""
    found = value.get(key)
    if isinstance(found, bool) or not isinstance(found, int | float) or not 0 <= found <= MOST_COUNT:
        return None
    return float(found)

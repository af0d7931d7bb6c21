"""Tolerant reading of a configuration's plain values: what has an unexpected shape is passed over by the checks."""

from __future__ import annotations

from collections.abc import Iterator

from evalward.config.words import KeyPath, Value


def get(value: Value, key: str) -> Value:
    """What stands at a key, `None` where there is no such key or no mapping."""
    return value.get(key) if isinstance(value, dict) else None


def items(value: Value, *path: str | int) -> Iterator[tuple[KeyPath, Value]]:
    """The entries of a list or mapping, each with its key path."""
    if isinstance(value, list):
        yield from (((*path, index), item) for index, item in enumerate(value))
    elif isinstance(value, dict):
        yield from (((*path, key), item) for key, item in value.items())


def texts(value: Value, *path: str | int) -> Iterator[tuple[KeyPath, str]]:
    """The texts where one text or a list of them may stand."""
    if isinstance(value, str):
        yield path, value
    elif isinstance(value, list):
        yield from ((place, item) for place, item in items(value, *path) if isinstance(item, str))


def suites(config: Value) -> list[tuple[KeyPath, Value]]:
    """The suites, each with its key path."""
    found = get(config, "suites")
    return list(items(found, "suites")) if isinstance(found, list) else []


def target_ids(suite: Value, *path: str | int) -> Iterator[tuple[KeyPath, str]]:
    """The ids of a suite's targets, whether they are texts or say whom they replace."""
    listed = get(suite, "targets")
    for place, item in items(listed, *path, "targets") if isinstance(listed, list) else [((*path, "targets"), listed)]:
        if isinstance(item, str):
            yield place, item
        elif isinstance(name := get(item, "id"), str):
            yield (*place, "id"), name

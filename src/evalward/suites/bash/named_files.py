"""The files that the tasks of a file name: what a commit's tasks need beside their own file."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from contextlib import suppress
from typing import Any

from evalward.config.suite import FilesNamed
from evalward.graders.source import is_grader
from evalward.suites.yaml_list import entries_of, is_yaml, read_tree


def files_named(path: str, content: bytes) -> FilesNamed:
    """The graders; none in what can't be read: the loader says why."""
    tasks = _listed(content) if is_yaml(path) else _lines(content)
    return FilesNamed(graders=[check for check in _checks(tasks) if isinstance(check, str) and is_grader(check)])


def _lines(content: bytes) -> Iterator[Any]:
    for line in content.splitlines():
        with suppress(ValueError, RecursionError):
            yield json.loads(line)


def _listed(content: bytes) -> Iterator[Any]:
    tree = read_tree(content.decode("utf-8-sig", "replace"), _unheard)
    yield from (entry.value for entry in entries_of(tree, _unheard)) if tree is not None else ()


def _unheard(message: str, remedy: str = "", line: int | None = None) -> None:
    """The loader tells it."""


def _checks(tasks: Iterable[Any]) -> Iterator[Any]:
    for task in tasks:
        expectations = task.get("expectations") if isinstance(task, dict) else None
        listed = expectations if isinstance(expectations, list) else []
        yield from (one.get("check") for one in listed if isinstance(one, dict))

"""The files that the tasks of a file name: what a commit's tasks need beside their own file."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import suppress
from typing import Any

from evalward.config.suite import FilesNamed
from evalward.graders.source import is_grader


def files_named(content: bytes) -> FilesNamed:
    """The graders; none in lines that can't be read: the loader says why."""
    return FilesNamed(graders=[check for check in _checks(content) if isinstance(check, str) and is_grader(check)])


def _checks(content: bytes) -> Iterator[Any]:
    for line in content.splitlines():
        with suppress(ValueError, RecursionError):
            task = json.loads(line)
            expectations = task.get("expectations") if isinstance(task, dict) else None
            listed = expectations if isinstance(expectations, list) else []
            yield from (one.get("check") for one in listed if isinstance(one, dict))

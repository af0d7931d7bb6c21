"""Result files that lie in memory or in the tests' data."""

from __future__ import annotations

import json
from collections.abc import Mapping
from io import BytesIO
from pathlib import Path

from evalward.suites.external.formats.base import ForeignFile

DATA = Path(__file__).parents[2] / "data" / "foreign"


def in_memory(content: str | bytes, name: str = "results/file") -> ForeignFile:
    """A file of this content."""
    data = content if isinstance(content, bytes) else content.encode("utf-8", "surrogatepass")
    return ForeignFile(name, len(data), lambda: BytesIO(data))


def files_of(values: Mapping[str, object]) -> list[ForeignFile]:
    """Files by their names: bytes as they are, everything else as JSON."""
    return [in_memory(value if isinstance(value, bytes) else json.dumps(value), name) for name, value in values.items()]


def stored(name: str) -> ForeignFile:
    """A file that a real program wrote, from a project of ours."""
    path = DATA / name
    return ForeignFile(name, path.stat().st_size, lambda: path.open("rb"))

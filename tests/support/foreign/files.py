"""Files in memory, for readers of other harnesses' formats."""

from __future__ import annotations

from io import BytesIO

from evalward.suites.external.formats.base import ForeignFile


def file_of(data: str | bytes, name: str = "results.json", changed: float | None = None) -> ForeignFile:
    """A file with this content."""
    content = data.encode() if isinstance(data, str) else data
    return ForeignFile(name, len(content), lambda: BytesIO(content), changed)

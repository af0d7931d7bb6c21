"""Selection by pattern, the same wherever people select."""

from __future__ import annotations

from collections.abc import Collection
from fnmatch import fnmatchcase


def chosen(name: str, patterns: Collection[str]) -> bool:
    """True when there are no patterns or one of them matches; a name with brackets matches itself."""
    return not patterns or any(name == pattern or fnmatchcase(name, pattern) for pattern in patterns)

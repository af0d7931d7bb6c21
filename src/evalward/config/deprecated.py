"""The deprecated keys that a configuration uses."""

from __future__ import annotations

from collections.abc import Iterator

from evalward.config.loaded import LoadedConfig
from evalward.config.words import field_name


def deprecated_keys(loaded: LoadedConfig) -> Iterator[str]:
    """A sentence, with its place, for each old key that stands in the file."""
    for index, suite in enumerate(loaded.config.suites):
        for key, deprecation in suite.deprecated.items():
            path = ("suites", index, key)
            if path in loaded.lines:
                yield f"{loaded.file}:{loaded.lines[path]}: {field_name(path)}: {deprecation.words(key)}"

"""Distributions of third parties, installed for a test: folders of `tests/plugins/` on the path, with metadata."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from evalward import registry

PLUGINS = Path(__file__).parent.parent / "plugins"


@contextmanager
def plugin(name: str) -> Iterator[None]:
    """Have it installed in this process."""
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(PLUGINS / name)
        _forget()
        try:
            yield
        finally:
            _forget()


def _forget() -> None:
    for each in (registry.installed, registry.added, registry.load):
        each.cache_clear()

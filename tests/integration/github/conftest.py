from __future__ import annotations

from collections.abc import Iterator

import pytest

from evalward.github.client import GitHub
from support.github_api import TOKEN, FakeGitHub


@pytest.fixture
def api() -> Iterator[FakeGitHub]:
    with FakeGitHub() as server:
        yield server


@pytest.fixture
def waits() -> list[float]:
    """The seconds that the client wanted to sleep."""
    return []


@pytest.fixture
def client(api: FakeGitHub, waits: list[float]) -> Iterator[GitHub]:
    with GitHub(TOKEN, api.url, sleep=waits.append, jitter=lambda: 0.5, now=lambda: 1_000_000.0) as github:
        yield github

"""A browser for each module, and the pages that several of them look at."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack
from typing import Any

import pytest

from support.browser.chromium import NoBrowserError, chromium
from support.browser.documents import Pages
from support.needs import missing


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    """Chromium. It ends with the module: while it runs, no test may start an event loop of its own."""
    with ExitStack() as stack:
        try:
            found = stack.enter_context(chromium())
        except NoBrowserError as error:
            missing("browser", error)
        yield found


@pytest.fixture(scope="session")
def pages(tmp_path_factory: pytest.TempPathFactory) -> Pages:
    """The pages, each made when it is first asked for."""
    return Pages(tmp_path_factory.mktemp("pages"))

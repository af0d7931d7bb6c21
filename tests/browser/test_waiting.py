"""How the tests themselves wait: under a policy that forbids `eval`, a busy machine must not make them fail."""

from __future__ import annotations

from typing import Any

import pytest

from support.browser import chromium
from support.browser.chromium import visit
from support.browser.documents import Pages

pytestmark = pytest.mark.browser

THIRD_TIME = "(window.asked = (window.asked || 0) + 1) >= 3"


def test_what_is_not_yet_true_is_asked_again(browser: Any, pages: Pages) -> None:
    with visit(browser, pages.failing()) as page:
        page.until(THIRD_TIME)
        assert page.ask("window.asked") == 3
        assert page.complaints == []


def test_what_never_becomes_true_is_a_failure(browser: Any, pages: Pages, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(chromium, "PATIENCE_S", 0.1)
    with visit(browser, pages.failing()) as page, pytest.raises(AssertionError, match="not true within"):
        page.until("window.asked === 'never'")

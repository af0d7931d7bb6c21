"""The page on paper: as a PDF of A4 sheets, with everything in it that was folded."""

from __future__ import annotations

from typing import Any

import pytest

from support.browser.chromium import visit
from support.browser.documents import NAMES, Pages

pytestmark = pytest.mark.browser


@pytest.mark.parametrize("name", NAMES)
def test_it_prints(browser: Any, pages: Pages, name: str) -> None:
    with visit(browser, pages.named(name)) as page:
        data: bytes = page.page.pdf(format="A4")
        assert data.startswith(b"%PDF-")
        assert data.count(b"/Type /Page\n") >= 2
        assert page.complaints == []


@pytest.mark.parametrize("scripts", [True, False])
def test_folds_are_open_on_paper(browser: Any, pages: Pages, scripts: bool) -> None:
    """What is folded on the screen takes room on paper, whether or not scripts run; nothing scrolls there."""
    with visit(browser, pages.failing(), scripts=scripts, lenient=True) as page:
        folded = page.page.locator("details.group:not([open]), details.trial[data-bad]")
        assert folded.count() >= 4
        screen = [folded.nth(place).bounding_box()["height"] for place in range(folded.count())]
        page.page.emulate_media(media="print")
        paper = [folded.nth(place).bounding_box()["height"] for place in range(folded.count())]
        assert all(after > before for before, after in zip(screen, paper, strict=True)), list(
            zip(screen, paper, strict=True)
        )


def test_what_only_a_screen_has_is_not_printed(browser: Any, pages: Pages) -> None:
    with visit(browser, pages.failing()) as page:
        page.page.emulate_media(media="print")
        for selector in ("nav", ".skip", "#filter", "#help"):
            assert page.one(selector).is_hidden(), selector
        scrolling = page.ask(
            """Array.from(document.querySelectorAll("pre, .scroll"))
                 .filter((each) => each.checkVisibility() && each.scrollHeight > each.clientHeight + 2).length"""
        )
        assert scrolling == 0


def test_paper_is_white_though_the_screen_was_dark(browser: Any, pages: Pages) -> None:
    with visit(browser, pages.failing(), scheme="dark") as page:
        page.page.emulate_media(media="print", color_scheme="dark")
        colours = page.ask("(({color, backgroundColor}) => [color, backgroundColor])(getComputedStyle(document.body))")
        ink, paper = (sum(int(part) for part in colour[4:-1].split(",")) for colour in colours)
        assert ink < 200
        assert paper > 700

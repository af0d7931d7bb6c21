"""What assistive technology needs, by axe-core: every page in both colour schemes, narrow and wide, folded and open."""

from __future__ import annotations

from typing import Any, get_args

import pytest

from support.browser.axe import violations
from support.browser.chromium import WIDTHS, Scheme, Visit, visit
from support.browser.documents import NAMES, Pages

pytestmark = pytest.mark.browser
SCHEMES = get_args(Scheme)
KEPT = 6
"""Cases with their trials that axe looks at: all are made by the same templates, and each element takes it time."""


def open_folds(page: Visit) -> None:
    """Open everything, trials with all that is in them, too."""
    page.ask("document.querySelectorAll('details').forEach((fold) => { fold.open = true; })")
    page.until("document.querySelector('script.texts') === null")


def with_few_trials(page: Visit) -> None:
    """Take all trials but those of the first cases out of the page, and all but the first cases out of its table."""
    page.ask(
        """(kept) => {
          for (const many of ["article.trials", ".all-cases tr[data-status]"]) {
            Array.from(document.querySelectorAll(many)).slice(kept).forEach((each) => each.remove());
          }
        }""",
        KEPT,
    )


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("scheme", SCHEMES)
@pytest.mark.parametrize("name", NAMES)
def test_axe_finds_nothing(browser: Any, pages: Pages, name: str, scheme: Scheme, width: int) -> None:
    with visit(browser, pages.named(name), scheme=scheme, width=width, lenient=True) as page:
        with_few_trials(page)
        assert violations(page) == []
        open_folds(page)
        assert violations(page) == []
        assert page.complaints == []


@pytest.mark.parametrize("scheme", SCHEMES)
def test_axe_finds_nothing_in_the_help(browser: Any, pages: Pages, scheme: Scheme) -> None:
    with visit(browser, pages.failing(), scheme=scheme, lenient=True) as page:
        with_few_trials(page)
        page.page.keyboard.press("?")
        assert page.one("#help").is_visible()
        assert violations(page) == []


@pytest.mark.parametrize("name", NAMES)
def test_no_page_is_wider_than_a_telephone(browser: Any, pages: Pages, name: str) -> None:
    with visit(browser, pages.named(name), width=360) as page:
        open_folds(page)
        assert page.ask("document.documentElement.scrollWidth") == 360


def test_what_has_the_focus_is_seen(browser: Any, pages: Pages) -> None:
    """The first forty places that the tab key comes to have an outline, and none of them lies under the navigation."""
    with visit(browser, pages.failing()) as page:
        for place in range(40):
            page.page.keyboard.press("Tab")
            name, style, width = page.ask(
                """() => {
                  const element = document.activeElement, style = getComputedStyle(element);
                  return [element.outerHTML.slice(0, 80), style.outlineStyle, parseFloat(style.outlineWidth)];
                }"""
            )
            assert name[:5] != "<body", place
            assert (style, width >= 2) == ("solid", True), name


def test_the_first_key_leads_past_the_navigation(browser: Any, pages: Pages) -> None:
    with visit(browser, pages.failing()) as page:
        page.page.keyboard.press("Tab")
        page.page.keyboard.press("Enter")
        assert page.ask("document.activeElement.id") == "main"


@pytest.mark.parametrize(("still", "behaviour"), [(True, "auto"), (False, "smooth")])
def test_who_wants_no_motion_gets_none(browser: Any, pages: Pages, still: bool, behaviour: str) -> None:
    with visit(browser, pages.failing(), still=still) as page:
        assert page.ask("getComputedStyle(document.documentElement).scrollBehavior") == behaviour
        moving = "Array.from(document.querySelectorAll('*'), (e) => getComputedStyle(e))"
        assert (
            page.ask(f"{moving}.filter((s) => s.animationName !== 'none' || s.transitionDuration !== '0s').length") == 0
        )

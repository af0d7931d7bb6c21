"""Keys, the help, and fragments that lead to a case or a trial."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from support.browser.chromium import Visit, visit
from support.browser.documents import Pages

pytestmark = pytest.mark.browser


@pytest.fixture
def page(browser: Any, pages: Pages) -> Iterator[Visit]:
    """The failing example's page; it never complains."""
    with visit(browser, pages.failing()) as found:
        yield found
        assert found.complaints == []


def press(page: Visit, keys: str) -> None:
    for key in keys:
        page.page.keyboard.press(key)


def looked_at(page: Visit) -> str:
    """The case that has the focus."""
    return str(page.ask("document.activeElement.dataset.case ?? document.activeElement.id"))


def failing(page: Visit) -> list[str]:
    found: list[str] = page.ask(
        """Array.from(document.querySelectorAll("article.trials[data-bad]")).filter((each) => !each.closest("[hidden]"))
             .map((each) => each.dataset.case)"""
    )
    return found


def test_j_and_k_go_through_the_failing_cases(page: Visit) -> None:
    expected = failing(page)
    assert len(expected) >= 4
    press(page, "j")
    assert looked_at(page) == expected[0]
    press(page, "jj")
    assert looked_at(page) == expected[2]
    press(page, "k")
    assert looked_at(page) == expected[1]
    press(page, "kkk")
    assert looked_at(page) == expected[0]
    press(page, "j" * (len(expected) + 3))
    assert looked_at(page) == expected[-1]


def test_a_step_opens_the_trial_and_brings_it_into_sight(page: Visit) -> None:
    press(page, "j")
    trial = page.page.locator("article.trials:focus details.trial[data-bad][open]").first
    assert trial.is_visible()
    top, height = page.ask("[document.activeElement.getBoundingClientRect().top, innerHeight]")
    assert 0 <= top < height / 2
    assert page.ask("location.hash.slice(1)") == trial.locator(".inside").get_attribute("id")


def test_steps_keep_to_what_the_filter_shows(page: Visit) -> None:
    page.one("#filter select[name=category]").select_option("json_processing")
    page.ask("document.activeElement.blur()")
    press(page, "j")
    only = failing(page)
    assert looked_at(page) == only[0]
    assert page.ask("document.activeElement.checkVisibility()")


def test_a_slash_searches_and_escape_leaves(page: Visit) -> None:
    press(page, "/")
    assert page.ask("document.activeElement.name") == "text"
    press(page, "j?")  # letters here
    assert page.one("#filter input[name=text]").input_value() == "j?"
    assert page.one("#help").is_hidden()
    page.page.keyboard.press("Escape")
    assert page.ask("document.activeElement === document.body")


def test_the_help_opens_by_key_and_button_and_closes(page: Visit) -> None:
    opener, dialog = page.one("#help-open"), page.one("#help")
    press(page, "?")
    assert dialog.is_visible()
    assert page.ask("document.querySelector('#help').matches(':modal')")
    press(page, "j")
    assert failing(page)
    assert page.ask("document.activeElement.closest('#help') !== null")
    page.page.keyboard.press("Escape")
    assert dialog.is_hidden()
    opener.click()
    dialog.get_by_role("button", name="Close").click()
    assert dialog.is_hidden()
    assert page.ask("document.activeElement.id") == "help-open"


def test_keys_can_be_turned_off(page: Visit) -> None:
    press(page, "?")
    page.one("#keys-on").uncheck()
    page.page.keyboard.press("Escape")
    press(page, "j/?")
    assert page.ask("document.activeElement === document.body")
    assert page.one("#help").is_hidden()


def test_keys_with_a_modifier_are_the_browsers(page: Visit) -> None:
    page.page.keyboard.press("Alt+j")
    assert page.ask("document.activeElement === document.body")


@pytest.mark.parametrize("kind", ["article.case[id^=case-]", "details.trial > .inside[id^=case-]"])
def test_a_fragment_opens_its_place_and_shows_it(browser: Any, pages: Pages, page: Visit, kind: str) -> None:
    names: list[str] = page.ask("(kind) => Array.from(document.querySelectorAll(kind), (each) => each.id)", kind)
    assert len(names) >= 4
    for name in (names[0], names[-1]):
        with visit(browser, pages.failing(), fragment=f"#{name}") as there:
            assert there.page.locator(f'[id="{name}"]').is_visible()
            top, height = there.ask(
                "(id) => [document.getElementById(id).getBoundingClientRect().top, innerHeight]", name
            )
            assert -1 <= top < height, name
            assert there.ask("document.querySelectorAll('details.trial[open]').length") == (".inside" in kind)


def test_a_link_of_the_page_leads_to_its_trial_though_the_filter_hides_it(page: Visit) -> None:
    page.one("#filter select[name=status]").select_option("passed")
    link = page.page.locator("article.case .marks a").first
    target = str(link.get_attribute("href"))
    link.click()
    page.until("(id) => document.getElementById(id).checkVisibility()", target[1:])
    assert page.ask("location.hash") == target


def test_every_link_within_the_page_leads_somewhere(page: Visit) -> None:
    assert (
        page.ask(
            """Array.from(document.querySelectorAll('a[href^="#"]'), (link) => link.getAttribute("href").slice(1))
             .filter((id) => !document.getElementById(decodeURIComponent(id)))"""
        )
        == []
    )


def test_no_id_stands_twice(page: Visit) -> None:
    ids = page.ask("Array.from(document.querySelectorAll('[id]'), (each) => each.id)")
    assert sorted(ids) == sorted(set(ids))

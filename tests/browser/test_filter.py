"""The filter of all cases: by every list and by text, kept in the address, and told to who can't see the table."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from support.browser.chromium import Visit, visit
from support.browser.documents import Pages

pytestmark = pytest.mark.browser
ROWS = ".all-cases tr[data-status]"


@pytest.fixture
def page(browser: Any, pages: Pages) -> Iterator[Visit]:
    """The failing example's page, with 77 cases in three runs; it never complains."""
    with visit(browser, pages.failing()) as found:
        yield found
        assert found.complaints == []


def shown(page: Visit) -> list[dict[str, str]]:
    """What is seen of the table: id, status, change, category, suite and target of each case."""
    rows: list[dict[str, str]] = page.ask(
        """(rows) => Array.from(document.querySelectorAll(rows)).filter((row) => row.checkVisibility()).map((row) => ({
          id: row.querySelector("th").textContent, ...row.dataset, ...row.parentElement.dataset}))""",
        ROWS,
    )
    return rows


def hash_of(page: Visit) -> str:
    return str(page.ask("location.hash"))


def says(page: Visit, count: int) -> None:
    """The live region says how many are shown, of all."""
    region = page.one("#matching")
    assert region.get_attribute("role") == "status"
    assert region.inner_text() == f"{count} of 77 cases"


def choose(page: Visit, name: str, value: str) -> None:
    page.one(f"#filter select[name={name}]").select_option(value)


def search(page: Visit, text: str) -> None:
    page.one("#filter input[name=text]").fill(text)
    page.until("(text) => new URLSearchParams(location.hash.slice(2)).get('text') === (text || null)", text)


def test_everything_is_shown_at_first(page: Visit) -> None:
    assert len(shown(page)) == 77
    says(page, 77)


@pytest.mark.parametrize(
    ("name", "value"),
    [("status", "passed"), ("suite", "smoke"), ("target", "replay:agent"), ("category", "json_processing")],
)
def test_a_choice_leaves_the_cases_that_have_it(page: Visit, name: str, value: str) -> None:
    expected = [row for row in shown(page) if row[name] == value]
    assert 0 < len(expected) < 77

    choose(page, name, value)

    assert shown(page) == expected
    says(page, len(expected))
    assert hash_of(page) == f"#?{name}={value.replace(':', '%3A')}"
    assert page.ask("document.querySelectorAll('article.trials:not([hidden])').length") == len(expected)


def test_what_changed_is_a_status_too_and_all_that_fail_is_one_choice(page: Visit) -> None:
    rows = shown(page)
    choose(page, "status", "broken")
    assert {row["change"] for row in shown(page)} == {"broken"}
    choose(page, "status", "failing")
    assert shown(page) == [row for row in rows if row["status"] == "failed" or row.get("change") == "broken"]


def test_choices_and_words_hold_together(page: Visit) -> None:
    rows = shown(page)
    choose(page, "target", "oracle")
    search(page, "JSON processing" if any("JSON processing" in row["id"] for row in rows) else "JSON tree")
    assert [row["id"] for row in shown(page)] == ["json_dependency_tree_search"]
    says(page, 1)
    assert page.one("[data-suite=smoke]").is_hidden()


def test_no_case_that_fits_is_said(page: Visit) -> None:
    search(page, "no such case")
    assert shown(page) == []
    says(page, 0)


def test_one_button_shows_everything_again(page: Visit) -> None:
    choose(page, "status", "failed")
    search(page, "json")
    page.one("#filter button[type=reset]").click()
    page.until("location.hash === '#?'")
    assert len(shown(page)) == 77
    assert page.one("#filter select[name=status]").input_value() == ""


def test_the_address_keeps_the_state(page: Visit) -> None:
    choose(page, "target", "oracle")
    search(page, "json & tree")
    before = shown(page)
    page.page.reload()
    assert shown(page) == before
    assert page.one("#filter input[name=text]").input_value() == "json & tree"
    assert page.one("#filter select[name=target]").input_value() == "oracle"


def test_back_leads_from_a_case_to_the_list_that_it_was_chosen_from(page: Visit) -> None:
    choose(page, "status", "broken")
    before = shown(page)
    page.page.locator(f"{ROWS}:not([hidden]) th a").first.click()
    assert hash_of(page).startswith("#case-")
    page.page.go_back()
    assert hash_of(page) == "#?status=broken"
    assert shown(page) == before
    assert page.one("#filter select[name=status]").input_value() == "broken"


def test_an_address_without_a_filter_shows_everything_again(page: Visit) -> None:
    choose(page, "status", "broken")
    page.ask("location.hash = '#?'")
    page.until("document.querySelectorAll('.all-cases tr[data-status]:not([hidden])').length === 77")
    assert page.one("#filter select[name=status]").input_value() == ""


@pytest.mark.parametrize(
    "state", ["#?status=no+such&colour=red", "#?", "#?%", "#%E0%A4%A", "#?text=", "#?status=__proto__"]
)
def test_an_address_that_somebody_made_up_breaks_nothing(browser: Any, pages: Pages, state: str) -> None:
    with visit(browser, pages.failing(), fragment=state) as page:
        assert len(shown(page)) == 77
        assert page.complaints == []

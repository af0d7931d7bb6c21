"""A reader whose browser runs no scripts misses filter and keys, and nothing else."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest

from evalward.render.anchors import case_anchor, trial_anchor
from support.browser.chromium import Visit, visit
from support.browser.documents import Pages

pytestmark = pytest.mark.browser


@pytest.fixture
def page(browser: Any, pages: Pages) -> Iterator[Visit]:
    """The failing example's page, without scripts; it never complains."""
    with visit(browser, pages.failing(), scripts=False) as found:
        yield found
        assert found.complaints == []


def runs(pages: Pages) -> list[dict[str, Any]]:
    report = json.loads(pages.failing().with_name("report.json").read_text("utf-8"))
    found: list[dict[str, Any]] = report["runs"]
    return found


def test_every_case_and_every_trial_has_its_anchor(page: Visit, pages: Pages) -> None:
    ids = page.page.locator("[id]").evaluate_all("(all) => all.map((each) => each.id)")
    wanted = {
        anchor
        for run in runs(pages)
        for case in run["cases"]
        for anchor in (
            case_anchor(run["suite"], run["target"], case["id"]),
            trial_anchor(run["suite"], run["target"], case["id"], case["trial"]),
        )
    }
    assert len(wanted) == 2 * 77
    assert wanted <= set(ids)


def test_all_cases_are_listed_and_what_needs_scripts_is_not_there(page: Visit) -> None:
    rows = page.page.locator(".all-cases tr[data-status]")
    assert rows.count() == 77
    assert all(rows.nth(place).is_visible() for place in range(0, 77, 8))
    assert page.one("#filter").is_hidden()
    assert page.one("#help").is_hidden()


def test_folds_open_by_a_click_and_by_a_key(page: Visit) -> None:
    trials = page.page.locator("details.trial[data-bad]")
    for place, act in ((0, "click"), (1, "key")):
        inside = trials.nth(place).locator("> .inside")
        assert inside.is_hidden()
        summary = trials.nth(place).locator("> summary")
        if act == "click":
            summary.click()
        else:
            summary.focus()
            page.page.keyboard.press("Enter")
        assert inside.is_visible()
        assert inside.locator(".turn").count() > 0
        assert inside.locator("table.checks tr").count() > 1


def test_a_failed_trial_says_all_of_its_conversation(page: Visit, pages: Pages) -> None:
    """What the model was asked, what it ran and what that gave are text of the page, unless they are very long."""
    text = page.page.locator("#trials").text_content()
    folder = pages.failing().parent
    failed = [case for run in runs(pages) for case in run["cases"] if case["status"] == "failed"]
    assert len(failed) == 4
    for case in failed:
        trace = json.loads((folder / case["trace"]).read_text("utf-8"))["trace"]
        for call in trace["tool_calls"]:
            for said in (call["commands"], call["stdout"], call["stderr"]):
                assert said.strip()[:900] in text


def test_links_of_the_page_open_what_is_folded(page: Visit) -> None:
    link = page.page.locator("article.case .marks a").first
    target = str(link.get_attribute("href"))[1:]
    link.click()
    assert page.page.locator(f'[id="{target}"]').is_visible()

"""Pages whose texts try to become something else, and what would stop them if one of them did."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from support.browser.chromium import Visit, visit
from support.browser.documents import NAMES, Pages
from support.browser.made_up import ATTACKS, BEACON, LONG_LINE, hostile_page, hostile_report_page

pytestmark = pytest.mark.browser
MADE = {"judgement": hostile_page, "report": hostile_report_page}
BEYOND = """(width) => Array.from(document.querySelectorAll("main *"))
  .filter((each) => !each.closest(".scroll") && each.getBoundingClientRect().right > width + 1)
  .map((each) => each.outerHTML.slice(0, 80))"""
"""What ends beyond the window, and doesn't scroll in a box of its own."""
EVERY_ELEMENT = "Array.from(document.querySelectorAll('*'))"


def open_all(page: Visit) -> None:
    page.ask("document.querySelectorAll('details').forEach((fold) => { fold.open = true; })")
    page.until("document.querySelector('script.texts') === null")


def touch_all(page: Visit) -> None:
    """Do to every element what readers may do."""
    page.ask(
        EVERY_ELEMENT
        + """.forEach((element) => {
          for (const name of ["mouseover", "focus", "click", "toggle", "error", "load"]) {
            if (name !== "click" || !element.closest("a, button, summary")) element.dispatchEvent(new Event(name));
          }
        })"""
    )


ACTING = (
    "img, iframe, object, embed, base, link, template, noscript, video, [style], [src], [action], "
    "meta[http-equiv=refresh i], [autofocus]:not(dialog *)"
)


def refuse_what_acts(page: Visit) -> None:
    """Nothing ran, asked, complained or could do so."""
    assert page.ask("window.hacked") is None
    assert (page.complaints, page.dialogs, page.beyond_the_file()) == ([], [], [])
    assert page.page.locator(ACTING).count() == 0
    names = page.ask(f"{EVERY_ELEMENT}.flatMap((each) => each.getAttributeNames())")
    assert [name for name in names if name.startswith("on")] == []
    links = page.ask("Array.from(document.links, (link) => link.getAttribute('href'))")
    assert [link for link in links if not link.startswith("#")] == []


@pytest.mark.parametrize("name", MADE)
def test_a_text_stays_a_text(browser: Any, pages: Pages, name: str) -> None:
    with visit(browser, pages.written(f"hostile-{name}", MADE[name])) as page:
        refuse_what_acts(page)
        open_all(page)
        touch_all(page)
        refuse_what_acts(page)
        text = page.ask("document.body.textContent")
        assert [attack for attack in ATTACKS if attack not in text] == []
        assert LONG_LINE[:100_000] in text
        assert page.ask("document.querySelectorAll('main').length") == 1


def test_a_text_stays_a_text_without_scripts(browser: Any, pages: Pages) -> None:
    with visit(browser, pages.written("hostile-judgement", hostile_page), scripts=False) as page:
        assert page.page.locator("img, iframe, base, link, [style], main form[action]").count() == 0
        assert (page.complaints, page.dialogs) == ([], [])


def test_what_would_turn_a_text_around_is_shown_by_its_number(browser: Any, pages: Pages) -> None:
    with visit(browser, pages.written("hostile-judgement", hostile_page)) as page:
        open_all(page)
        assert (
            page.ask(r"/[\u202a-\u202e\u2066-\u2069\u200b\ufeff\u001b\u0000]/.test(document.body.textContent)") is False
        )
        assert "⟨U+202E⟩gnp.exe" in page.ask("document.body.textContent")


@pytest.mark.parametrize("width", [360, 1400])
def test_a_line_of_a_million_characters_leaves_the_page_as_wide_as_it_was(
    browser: Any, pages: Pages, width: int
) -> None:
    with visit(browser, pages.written("hostile-judgement", hostile_page), width=width) as page:
        open_all(page)
        assert page.ask("document.documentElement.scrollWidth") == width
        assert page.ask(BEYOND, width) == []


INJECTED: dict[str, str] = {
    "a script": "<script>window.hacked = 1</script>",
    "a script of a host": f"<script src={BEACON}></script>",
    "a script of a file": "<script src=evil.js></script>",
    "a handler": "<svg onload='window.hacked = 1'></svg>",
    "an image": f"<img src={BEACON}>",
    "a style": "<style>main { display: none }</style>",
    "a style attribute": "<p style='position: fixed'>x</p>",
    "a style sheet": f"<link rel=stylesheet href={BEACON}>",
    "a frame": f"<iframe src={BEACON}></iframe>",
    "a frame of our own": "<iframe srcdoc='<script>parent.hacked = 1</script>'></iframe>",
    "an object": f"<object data={BEACON}></object>",
    "a base": f"<base href={BEACON}>",
    "a font": f"<style>@font-face {{ font-family: x; src: url({BEACON}) }} p {{ font-family: x }}</style>",
}


@pytest.mark.parametrize("what", INJECTED)
def test_the_policy_stops_what_got_into_the_page(browser: Any, pages: Pages, tmp_path: Path, what: str) -> None:
    """As if escaping had failed at one place: nothing runs and nothing is loaded, and the browser says so."""
    file = tmp_path / "report.html"
    whole = pages.failing().read_text("utf-8")
    file.write_text(
        whole.replace('<main id="main" tabindex="-1">', f'<main id="main" tabindex="-1">{INJECTED[what]}', 1)
    )
    (tmp_path / "evil.js").write_text("window.hacked = 1")
    with visit(browser, file) as page:
        page.until("document.documentElement.classList.contains('scripts')")
        assert page.ask("window.hacked") is None
        assert page.one("main").is_visible()
        assert any(complaint.startswith("POLICY") for complaint in page.complaints), page.complaints


def test_a_form_that_got_into_the_page_sends_nothing(browser: Any, pages: Pages, tmp_path: Path) -> None:
    file = tmp_path / "report.html"
    form = f"<form action={BEACON}><button id=send>Log in</button></form>"
    file.write_text(pages.failing().read_text("utf-8").replace("</main>", f"{form}</main>", 1))
    with visit(browser, file) as page:
        with page.page.expect_console_message(lambda message: "form-action" in message.text):
            page.ask("document.querySelector('#send').click()")
        assert page.ask("location.href").startswith(file.resolve().as_uri())


@pytest.mark.parametrize("name", NAMES)
def test_our_own_pages_keep_to_their_policy(browser: Any, pages: Pages, name: str) -> None:
    with visit(browser, pages.named(name)) as page:
        open_all(page)
        assert (page.complaints, page.dialogs) == ([], [])

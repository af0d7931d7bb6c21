"""Links in what people read lead somewhere."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
LINK = re.compile(r"\]\((?!https?://)([^)#\s]*)(?:#([\w-]+))?\)")


def anchors(page: Path) -> set[str]:
    """The anchors that GitHub gives the headings."""
    headings = re.findall(r"^#+ (.+)$", page.read_text("utf-8"), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links__lead_somewhere(page: Path) -> None:
    for path, anchor in LINK.findall(page.read_text("utf-8")):
        target = page.parent / path if path else page
        assert target.exists(), path
        assert not anchor or anchor in anchors(target), anchor


def test_the_actions_page__is_linked_and_names_every_example() -> None:
    assert "(docs/action.md)" in (ROOT / "README.md").read_text("utf-8")
    text = (ROOT / "docs" / "action.md").read_text("utf-8")
    for example in (ROOT / "examples" / "workflows").glob("*.yml"):
        assert example.name in text

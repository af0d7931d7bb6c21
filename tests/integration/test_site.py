"""The site of docs/: built strictly, the same pages as on GitHub, and nothing from other hosts."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from support.site import ROOT, built, on_github, on_site

PAGES = sorted(page.relative_to(ROOT / "docs") for page in (ROOT / "docs").rglob("*.md"))
LOADED = re.compile(r"<(?:script|img|iframe|source)[^>]*\ssrc=[\"']?([^\"'\s>]+)|<link[^>]*\shref=[\"']?([^\"'\s>]+)")


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("documentation")
    done = built(folder)
    assert done.returncode == 0, done.stdout + done.stderr
    return folder / "site"


@pytest.mark.parametrize(
    "wrong", ["[none](nothing.md)", "[none](two.md#nothing)", "[none](#nothing)", "![none](nothing.md)"]
)
def test_a_link_or_anchor_that_leads_nowhere__fails(tmp_path: Path, wrong: str) -> None:
    docs = tmp_path / "wrong"
    docs.mkdir()
    (docs / "index.md").write_text(f"# One\n\n[two](two.md#there)\n\n{wrong}\n", "utf-8")
    (docs / "two.md").write_text("# Two\n\n## There\n", "utf-8")
    assert built(tmp_path, docs=docs).returncode == 1


@pytest.mark.parametrize("page", PAGES, ids=str)
def test_a_page__is_read_alike_by_the_site_and_by_github(site: Path, page: Path) -> None:
    shown = site / ("index.html" if page.name == "index.md" else page.with_suffix("") / "index.html")
    assert on_site(shown) == on_github(ROOT / "docs" / page)


def test_a_page__loads_nothing_from_another_host(site: Path) -> None:
    for shown in site.rglob("*.html"):
        for loaded in LOADED.findall(shown.read_text("utf-8")):
            assert not re.match("(?:[a-z]+:)?//", "".join(loaded)), (shown, loaded)

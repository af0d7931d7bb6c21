"""Links in what people read lead somewhere."""

from __future__ import annotations

import re
import textwrap
import tomllib
from collections.abc import Iterable
from pathlib import Path

import pytest
import yaml

from evalward.config.load import parse_config
from evalward.decide.statistics.intervals import wilson
from evalward.decide.statistics.stratified import CaseTrials, stratified_worse
from evalward.records.policy import Confirm, Rule
from evalward.registry import FORMATS, ours
from evalward.render.sentences.words import chance
from evalward.suites.external.spec import ExternalSuite
from support import cli_page

ROOT = Path(__file__).resolve().parents[2]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
OF_HARNESSES = [ROOT / "docs" / "external.md", *sorted((ROOT / "docs" / "external").glob("*.md"))]
YAML = re.compile(r"^( *)```yaml\n(.*?)^ *```$", re.MULTILINE | re.DOTALL)
LINK = re.compile(r"\]\((?!https?://)([^)#\s]*)(?:#([\w-]+))?\)")
OUT_OF_DOCS = re.compile(r"\]\((https://github\.com/evalward/evalward/(blob|tree)/main/([^)#\s]+))")


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


@pytest.mark.parametrize("page", PAGES[1:], ids=lambda page: page.name)
def test_links_out_of_docs__are_addresses_of_files_and_folders_that_are_there(page: Path) -> None:
    """The site has docs/ alone, so that a relative path out of it would lead nowhere there."""
    text = page.read_text("utf-8")
    for path, _ in LINK.findall(text):
        assert (page.parent / path).resolve().is_relative_to(ROOT / "docs"), path
    for address, form, path in OUT_OF_DOCS.findall(text):
        assert (ROOT / path).is_file() if form == "blob" else (ROOT / path).is_dir(), address


def test_the_readme__is_short_and_every_page_is_found_from_the_start() -> None:
    assert len((ROOT / "README.md").read_text("utf-8").splitlines()) <= 200
    site = tomllib.loads((ROOT / "zensical.toml").read_text("utf-8"))["project"]
    assert sorted(_pages(site["nav"])) == sorted(page.relative_to(ROOT / "docs").as_posix() for page in PAGES[1:])


def _pages(nav: object) -> list[str]:
    """The pages of a site's navigation, at whatever depth."""
    if isinstance(nav, str):
        return [nav]
    entries = nav.values() if isinstance(nav, dict) else nav
    assert isinstance(entries, Iterable)
    return [page for entry in entries for page in _pages(entry)]


def blocks(page: Path) -> list[str]:
    """The YAML on a page, without its indentation."""
    return [textwrap.dedent(text) for _, text in YAML.findall(page.read_text("utf-8"))]


def test_the_page_of_options__is_what_the_parser_has() -> None:
    assert cli_page.PAGE.read_text("utf-8") == cli_page.page(), "Run `make schemas`"


def test_the_page_of_commands__names_every_command() -> None:
    text = cli_page.PAGE.with_name("cli.md").read_text("utf-8")
    assert [name for name in cli_page.names() if f"`{name}" not in text] == []


@pytest.mark.parametrize("page", OF_HARNESSES, ids=lambda page: page.name)
def test_the_pages_on_harnesses__have_configurations_that_are_valid(page: Path) -> None:
    configs = [text for text in blocks(page) if re.search("^suites:", text, re.MULTILINE)]
    assert configs
    for text in configs:
        whole = text if text.startswith("version:") else f"version: 1\n{text}"
        assert all(isinstance(suite, ExternalSuite) for suite in parse_config(whole, page.name, ROOT).config.suites)


@pytest.mark.parametrize("page", OF_HARNESSES, ids=lambda page: page.name)
def test_the_pages_on_harnesses__have_workflows_that_are_yaml(page: Path) -> None:
    for text in blocks(page):
        assert yaml.safe_load(text), text


def test_the_pages_on_harnesses__are_linked_fit_on_a_screen_and_name_every_format() -> None:
    first, *others = (page.read_text("utf-8") for page in OF_HARNESSES)
    assert "(docs/external.md)" in (ROOT / "README.md").read_text("utf-8")
    assert all(f"(external/{page.name})" in first for page in OF_HARNESSES[1:])
    assert all(len(text.splitlines()) <= 80 for text in others)
    assert all(f"| `{name}` |" in first for name in ours(FORMATS))


def test_the_actions_page__is_linked_and_names_every_example() -> None:
    assert "(docs/action.md)" in (ROOT / "README.md").read_text("utf-8")
    text = (ROOT / "docs" / "action.md").read_text("utf-8")
    for example in (ROOT / "examples" / "workflows").glob("*.yml"):
        assert example.name in text


def test_the_page_on_deciding__names_every_key_of_a_rule_and_the_stage() -> None:
    page = (ROOT / "docs" / "how-evalward-decides.md").read_text("utf-8")
    keys = {"max_drop", "max_rise", "test", "alpha", "floor_test", "confirm"}
    assert keys <= set(Rule.model_fields)
    assert keys <= set(re.findall(r"`(\w+)`", page))
    assert all(f"{name}:" in page for name in Confirm.model_fields)
    assert "(docs/how-evalward-decides.md)" in (ROOT / "README.md").read_text("utf-8")


def test_the_page_on_deciding__calculates_rightly() -> None:
    """Its worked example, and what it says of thin baselines and of floors."""
    page = (ROOT / "docs" / "how-evalward-decides.md").read_text("utf-8")
    lost = CaseTrials(5, 5, 0, 4)
    assert stratified_worse([lost]) == pytest.approx(1 / 126)
    assert chance(1 / 126) in page
    assert stratified_worse([lost] * 3) == pytest.approx(126**-3)
    assert stratified_worse([CaseTrials(1, 1, 0, 1)]) == pytest.approx(0.5)
    assert stratified_worse([CaseTrials(1, 1, 0, 4)]) == pytest.approx(0.2)
    upper = [wilson(passed, 37) for passed in (28, 29)]
    assert [interval is not None and interval.high < 0.88 for interval in upper] == [True, False]

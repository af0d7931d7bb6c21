"""CHANGELOG.md is a changelog in the form of Keep a Changelog, and agrees with the package's version."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import date
from itertools import pairwise
from pathlib import Path

import pytest

from evalward import __version__
from evalward.config import Suite
from evalward.records.deprecation import Deprecation
from evalward.registry import KINDS, load, ours

ROOT = Path(__file__).resolve().parents[2]
REPOSITORY = "https://github.com/evalward/evalward"
GROUPS = ("Added", "Changed", "Deprecated", "Removed", "Fixed", "Security")
UNRELEASED = "[Unreleased]"
_RELEASE = re.compile(r"\[(\d+)\.(\d+)\.(\d+)\] - (\d{4}-\d{2}-\d{2})")
_LINK = re.compile(r"\[([^\]]+)\]: (\S+)")


@dataclass(frozen=True)
class Section:
    """One `## ` heading with its `### ` headings, and the lines below each."""

    title: str
    groups: Sequence[tuple[str, Sequence[str]]]

    @property
    def release(self) -> tuple[tuple[int, ...], str] | None:
        """Version and date, `None` for what is not released."""
        found = _RELEASE.fullmatch(self.title)
        return None if found is None else (tuple(int(part) for part in found.groups()[:3]), found[4])


def sections(text: str) -> list[Section]:
    return [
        Section(title, [_group(part) for part in re.split(r"^### ", body, flags=re.MULTILINE)[1:]])
        for title, _, body in (part.partition("\n") for part in re.split(r"^## ", text, flags=re.MULTILINE)[1:])
    ]


def _group(text: str) -> tuple[str, list[str]]:
    title, _, body = text.partition("\n")
    return title, [line for line in body.splitlines() if line.startswith("- ")]


def faults(text: str, version: str) -> Iterator[str]:
    """What is wrong with a changelog, for a package of this version."""
    found = sections(text)
    if not text.startswith("# Changelog\n"):
        yield "the first line is not `# Changelog`"
    if not found or found[0].title != UNRELEASED:
        yield f"the first section is not {UNRELEASED}"
    yield from (f"not a release: {each.title}" for each in found[1:] if each.release is None)
    yield from _order(found)
    yield from _version(found, version)
    yield from _groups(found)
    yield from _links(text, found)


def _order(found: Sequence[Section]) -> Iterator[str]:
    released = [each.release for each in found if each.release]
    for version, day in released:
        try:
            date.fromisoformat(day)
        except ValueError:
            yield f"not a date: {day} of {version}"
    for (newer, later), (older, earlier) in pairwise(released):
        if newer <= older or later < earlier:
            yield f"not newest first: {newer}, {older}"


def _version(found: Sequence[Section], version: str) -> Iterator[str]:
    newest = next((each.release[0] for each in found if each.release), None)
    ours = tuple(int(part) for part in version.split("."))
    unreleased = bool(found) and found[0].title == UNRELEASED and bool(found[0].groups)
    if newest is not None and ours < newest:
        yield f"the package is {version}, older than its newest release"
    elif ours != newest and not unreleased:
        yield f"the package is {version}, and there is neither a section of it nor anything unreleased"


def _groups(found: Sequence[Section]) -> Iterator[str]:
    for section in found:
        names = [name for name, _ in section.groups]
        yield from (f"{section.title}: no such group: {name}" for name in names if name not in GROUPS)
        yield from (f"{section.title}: twice: {name}" for name in dict.fromkeys(names) if names.count(name) > 1)
        yield from (f"{section.title}: empty: {name}" for name, entries in section.groups if not entries)
        if section.release and not section.groups:
            yield f"{section.title}: nothing in it"


def _links(text: str, found: Sequence[Section]) -> Iterator[str]:
    """Each heading's: what changed since the release before, and for the first all that led to it."""
    links = {match[1]: match[2] for line in text.splitlines() if (match := _LINK.fullmatch(line))}
    names = [each.title.partition("]")[0].removeprefix("[") for each in found]
    for name, before in zip(names, [*names[1:], None], strict=True):
        tag = "main" if name == "Unreleased" else f"v{name}"
        wanted = f"{REPOSITORY}/compare/v{before}...{tag}" if before else f"{REPOSITORY}/commits/{tag}"
        if links.get(name) != wanted:
            yield f"{name}: its link is {links.get(name)}, not {wanted}"
    yield from (f"a link of no section: {name}" for name in links if name not in names)


def test_it_is_one() -> None:
    text = (ROOT / "CHANGELOG.md").read_text("utf-8")
    assert list(faults(text, __version__)) == []


GOOD = f"""\
# Changelog

## [Unreleased]

### Added

- something

## [1.1.0] - 2026-12-02

### Fixed

- something

## [1.0.0] - 2026-12-01

### Added

- something

[Unreleased]: {REPOSITORY}/compare/v1.1.0...main
[1.1.0]: {REPOSITORY}/compare/v1.0.0...v1.1.0
[1.0.0]: {REPOSITORY}/commits/v1.0.0
"""


@pytest.mark.parametrize("version", ["1.1.0", "1.2.0"])
def test_a_good_one_is_one(version: str) -> None:
    assert list(faults(GOOD, version)) == []


@pytest.mark.parametrize(
    ("old", "new", "fault"),
    [
        ("## [Unreleased]", "## Unreleased", "the first section"),
        ("2026-12-02", "2026-11-30", "not newest first"),
        ("2026-12-02", "2026-13-02", "not a date"),
        ("[1.1.0] - 2026-12-02", "1.1.0", "not a release"),
        ("### Fixed", "### Bugs", "no such group"),
        ("### Fixed", "### Added\n\n- a\n\n### Added", "twice"),
        ("### Fixed\n\n- something", "### Fixed", "empty"),
        ("### Fixed\n\n- something", "", "nothing in it"),
        ("v1.0.0...v1.1.0", "v1.0.0...main", "its link"),
        ("[1.0.0]: ", "[0.9.0]: ", "a link of no section"),
    ],
)
def test_a_bad_one_is_found(old: str, new: str, fault: str) -> None:
    assert any(fault in each for each in faults(GOOD.replace(old, new, 1), "1.1.0"))


def test_a_version_that_it_does_not_know_is_found() -> None:
    assert any("older" in each for each in faults(GOOD, "1.0.9"))
    released = GOOD.replace("### Added\n\n- something\n\n## [1.1.0]", "## [1.1.0]")
    assert any("neither" in each for each in faults(released, "1.2.0"))


def deprecations() -> Iterator[tuple[str, Deprecation]]:
    specs = (load("evalward.specs", name) for name in ours(KINDS))
    yield from (pair for spec in specs if issubclass(spec, Suite) for pair in spec.deprecated.items())


def test_every_deprecation_is_in_it_with_its_date() -> None:
    text = (ROOT / "CHANGELOG.md").read_text("utf-8")
    lines = [line for each in sections(text) for name, lines in each.groups if name == "Deprecated" for line in lines]
    found = list(deprecations())
    assert found
    for old, deprecation in found:
        assert (date.fromisoformat(deprecation.until) - date.fromisoformat(deprecation.since)).days >= 180
        assert any(
            f"`{old}`" in line and f"`{deprecation.instead}`" in line and deprecation.until in line for line in lines
        )

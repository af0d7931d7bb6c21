"""The documentation as a site, and as GitHub shows the same pages: two readers of Markdown that have to agree."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from dataclasses import dataclass, field
from html.parser import HTMLParser
from pathlib import Path

from markdown_it import MarkdownIt

ROOT = Path(__file__).resolve().parents[2]
BUILDER = Path(sys.executable).with_name("zensical")
_LEFT_OUT = {"svg", "script", "style", "button"}
_MARKED = {"ol", "ul", "li", "pre", "td", "th"}
_VOID = {"img", "br", "hr", "input", "meta", "link", "source"}


def built(folder: Path, *, docs: Path = ROOT / "docs") -> subprocess.CompletedProcess[str]:
    """Build the site of these pages into `folder`/site, strictly."""
    shutil.copytree(docs, folder / "docs")
    shutil.copy(ROOT / "zensical.toml", folder)
    environment = {"PATH": os.environ["PATH"], "HOME": str(folder), "NO_COLOR": "1"}
    words = [str(BUILDER), "build", "--clean", "--strict"]
    return subprocess.run(words, cwd=folder, env=environment, check=False, capture_output=True, text=True)


@dataclass
class Reading(HTMLParser):
    """What stands on a page: its words in order, and marks of lists, items, code and cells."""

    inside: str | None = None
    words: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self._depth = 0 if self.inside else 1
        self._left_out = 0

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = dict(attrs)
        if tag == self.inside:
            self._depth += 1
        if tag in _LEFT_OUT or given.get("class") in {"headerlink", "filename"} or self._left_out:
            self._left_out += tag not in _VOID
        elif self._depth and tag in _MARKED:
            self.words.append(f"<{tag}>")

    def handle_endtag(self, tag: str) -> None:
        if tag == self.inside:
            self._depth -= 1
        if self._left_out:
            self._left_out -= tag not in _VOID
        elif self._depth and tag in {"ol", "ul"}:
            self.words.append(f"</{tag}>")

    def handle_data(self, data: str) -> None:
        if self._depth and not self._left_out:
            self.words += data.split()


def on_site(page: Path) -> list[str]:
    """The words of a page of the site."""
    reading = Reading(inside="article")
    reading.feed(page.read_text("utf-8"))
    return _joined(reading.words)


def on_github(page: Path) -> list[str]:
    """The words of the same page as CommonMark with tables reads it."""
    reading = Reading()
    reading.feed(MarkdownIt("commonmark", {"html": True}).enable("table").render(page.read_text("utf-8")))
    return _joined(reading.words)


def _joined(words: list[str]) -> list[str]:
    """Words without the spaces between elements, which mean nothing: what the marks divide, each as one text."""
    text = "".join(words)
    return [part for part in re.split(r"(?=</?(?:ol|ul|li|pre|td|th)>)", text) if part]

"""HTML pages as a browser would read them: elements with their attributes, and what is wrong with their nesting."""

from __future__ import annotations

import base64
import json
import re
import zlib
from dataclasses import dataclass, field
from html.parser import HTMLParser
from typing import cast

VOID = {"meta", "br", "hr", "input", "link", "img", "wbr", "path", "rect", "circle"}
IN_SVG = {"path", "rect", "circle", "line"}


@dataclass
class Page(HTMLParser):
    """A page that was read strictly: every element is closed, in its order."""

    elements: list[tuple[str, dict[str, str]]] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)
    text: list[str] = field(default_factory=list)
    headings: list[int] = field(default_factory=list)

    def __post_init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self._open: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        names = [name for name, _ in attrs]
        if len(names) != len(set(names)):
            self.problems.append(f"<{tag}> has an attribute twice: {names}")
        self.elements.append((tag, {name: value or "" for name, value in attrs}))
        if re.fullmatch("h[1-6]", tag):
            self.headings.append(int(tag[1]))
        if tag not in VOID:
            self._open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.handle_starttag(tag, attrs)
        if tag not in VOID:
            self._open.pop()

    def handle_endtag(self, tag: str) -> None:
        if tag in IN_SVG:
            return
        if not self._open or self._open[-1] != tag:
            self.problems.append(f"</{tag}> closes {self._open[-3:]} at {self.getpos()}")
            return
        self._open.pop()

    def handle_data(self, data: str) -> None:
        if self._open[-1:] not in (["script"], ["style"]):
            self.text.append(data)

    @property
    def unclosed(self) -> list[str]:
        """Elements that nothing closes."""
        return list(self._open)

    @property
    def words(self) -> str:
        """What people read, on one line."""
        return re.sub(r"\s+", " ", "".join(self.text))

    def ids(self) -> list[str]:
        """All ids, in order."""
        return [attributes["id"] for _, attributes in self.elements if "id" in attributes]

    def values(self, name: str) -> list[str]:
        """The values of an attribute, in order."""
        return [attributes[name] for _, attributes in self.elements if name in attributes]

    def of(self, tag: str) -> list[dict[str, str]]:
        """The attributes of all elements of a sort."""
        return [attributes for found, attributes in self.elements if found == tag]


def read_page(text: str) -> Page:
    """The page of a document."""
    page = Page()
    page.feed(text)
    page.close()
    return page


def unpacked(data: str) -> list[str]:
    """The texts of a trial's packed block, as a browser with scripts has them."""
    return cast(list[str], json.loads(zlib.decompress(base64.b64decode(data, validate=True), -zlib.MAX_WBITS)))

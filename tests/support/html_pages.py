"""What is in an HTML page, as a browser's parser takes it, and what no page of ours may hold."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from dataclasses import dataclass, field
from html.parser import HTMLParser

_APART = {"td", "th", "p", "li", "title", "text", "h1", "h2", "h3", "figcaption", "caption", "a"}
_VOID = {"meta", "br", "link", "img", "input", "hr", "wbr"}
_LOADING = {"script", "iframe", "object", "embed", "img", "link", "form", "base", "video", "audio", "image", "use"}
_LEADING = {"href", "src", "srcset", "action", "data", "xlink:href", "poster", "background", "formaction"}


@dataclass
class HtmlElement:
    """An element with its attributes and all the text in it."""

    tag: str
    attributes: dict[str, str]
    text: str = ""


@dataclass
class HtmlPage(HTMLParser):
    """All elements of a page, in order. Raises `AssertionError` for one that isn't closed where it was opened."""

    source: str
    elements: list[HtmlElement] = field(default_factory=list)

    def __post_init__(self) -> None:
        super().__init__()
        self._open: list[HtmlElement] = []
        self.feed(self.source)
        self.close()
        assert not self._open, f"not closed: {[each.tag for each in self._open]}"

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        found = HtmlElement(tag, {name: value or "" for name, value in attrs})
        assert len(found.attributes) == len(attrs), f"an attribute twice: {attrs}"
        self.elements.append(found)
        if tag not in _VOID:
            self._open.append(found)
        if tag == "br":
            self.handle_data(" ")

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append(HtmlElement(tag, {name: value or "" for name, value in attrs}))

    def handle_endtag(self, tag: str) -> None:
        assert self._open, f"</{tag}> ends nothing"
        assert self._open[-1].tag == tag, f"</{tag}> ends <{self._open[-1].tag}>"
        self._open.pop()
        if tag in _APART:
            self.handle_data(" ")

    def handle_data(self, data: str) -> None:
        for each in self._open:
            each.text += data

    def all(self, tag: str) -> list[HtmlElement]:
        """The elements of a tag."""
        return [each for each in self.elements if each.tag == tag]

    def classed(self, name: str) -> list[HtmlElement]:
        """The elements of a class."""
        return [each for each in self.elements if name in each.attributes.get("class", "").split()]

    @property
    def words(self) -> str:
        """What people read, on one line."""
        return re.sub(r"\s+", " ", self.all("body")[0].text)

    @property
    def ids(self) -> list[str]:
        """All ids, in order."""
        return self.values("id")

    @property
    def headings(self) -> list[int]:
        """The levels of the headings, in order."""
        return [int(each.tag[1]) for each in self.elements if re.fullmatch("h[1-6]", each.tag)]

    def values(self, name: str) -> list[str]:
        """The values of an attribute, in order."""
        return [each.attributes[name] for each in self.elements if name in each.attributes]

    def links(self) -> list[str]:
        """Where the page leads."""
        return [each.attributes["href"] for each in self.all("a")]


def faults(page: HtmlPage, site: str = "", allowed: Collection[str] = ()) -> Iterator[str]:
    """What the page does beyond showing: loading, running, leading elsewhere than to itself and to `site`.

    `allowed` are elements that are looked at elsewhere.
    """
    ids = [each.attributes["id"] for each in page.elements if "id" in each.attributes]
    yield from (f"the id {each} twice" for each in {each for each in ids if ids.count(each) > 1})
    for each in page.elements:
        if each.tag in _LOADING and each.tag not in allowed:
            yield f"<{each.tag}>"
        for name, value in each.attributes.items():
            if name.startswith("on") or name == "style":
                yield f"{name}= in <{each.tag}>"
            if name in _LEADING and value.startswith("#") and value[1:] not in ids:
                yield f"{value} leads nowhere"
            if name in _LEADING and not value.startswith("#") and not (site and value.startswith(site)):
                yield f"{name}={value!r}"
    if re.search("[\x00-\x08\x0b-\x1f\x7f\u200b-\u200f\u202a-\u202e\u2066-\u2069\ufeff\ud800-\udfff]", page.source):
        yield "a character that can't be seen"

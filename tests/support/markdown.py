"""What a piece of Markdown becomes: its elements and the text that GitHub would look through for links."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import cache
from html.parser import HTMLParser

from markdown_it import MarkdownIt

Attributes = list[tuple[str, str | None]]

# What GitHub makes links, pictures and formulas of, looking at the rendered text outside of code.
GITHUB = {
    "mention or address": re.compile(r"@\w"),
    "issue": re.compile(r"#\d"),
    "issue by prefix": re.compile(r"\b(?:gh|cve|ghsa)-\w", re.IGNORECASE),
    "custom autolink": re.compile(r"\b[A-Z]{2,}-\d"),
    "address": re.compile(r"\w://|\bwww\.\w|\b(?:mailto|xmpp):\w", re.IGNORECASE),
    "commit": re.compile(r"(?<![0-9a-z])[0-9a-f]{7,}(?![0-9a-z])", re.IGNORECASE),
    "emoji": re.compile(r":[\w+-]+:"),
    "formula": re.compile(r"\$(?!\d)"),
}


@dataclass
class Rendered(HTMLParser):
    """A document's elements in order, its text, and its text outside of code, in runs between code."""

    elements: list[str] = field(default_factory=list)
    comments: list[str] = field(default_factory=list)
    text: str = ""
    outside: list[str] = field(default_factory=lambda: [""])
    codes: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self._code = 0

    def handle_starttag(self, tag: str, attrs: Attributes) -> None:
        if tag == "code":
            self._code += 1
            self.codes.append("")
            self.outside.append("")
            return
        shown = "".join(f" {name}={value}" for name, value in attrs)
        self.elements.append(f"{tag}{shown}")
        if tag not in {"sub", "b", "strong", "em", "br"}:
            self.outside.append("")

    def handle_endtag(self, tag: str) -> None:
        if tag == "code":
            self._code -= 1
            self.outside.append("")
        else:
            self.elements.append(f"/{tag}")

    def handle_data(self, data: str) -> None:
        self.text += data
        if self._code:
            self.codes[-1] += data
        else:
            self.outside[-1] += data

    def handle_comment(self, data: str) -> None:
        self.comments.append(data)

    def links(self) -> list[str]:
        """What GitHub would link or draw, as `kind: text`."""
        return [f"{kind}: {run}" for run in self.outside for kind, pattern in GITHUB.items() if pattern.search(run)]


def rendered(markdown: str) -> Rendered:
    """The document that CommonMark with tables and strikethrough makes of this text."""
    document = Rendered()
    document.feed(_parser().render(markdown))
    document.close()
    return document


@cache
def _parser() -> MarkdownIt:
    """It keeps nothing of what it reads, and takes longer to make than a short text to read."""
    return MarkdownIt("commonmark", {"html": True}).enable(["table", "strikethrough"])


def tags(document: Rendered, names: Iterable[str]) -> list[str]:
    """The elements with these names."""
    wanted = set(names)
    return [element for element in document.elements if element.lstrip("/").split(" ")[0] in wanted]

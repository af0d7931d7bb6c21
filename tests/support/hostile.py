"""Text that tries to become something else, and a way to put it into every field of a record."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, TypeVar

from pydantic import BaseModel, ValidationError

M = TypeVar("M", bound=BaseModel)

SNIPPETS = [
    "@octocat",
    "@acme/team",
    "#1",
    "GH-12",
    "acme/tools#77",
    "acme/tools@" + "ab" * 20,
    "0123456789abcdef0123456789abcdef01234567",
    "https://evil.example/x?y=1",
    "www.evil.example",
    "mailto:someone@evil.example",
    "someone@evil.example",
    "<script>alert(1)</script>",
    "<img src=x onerror=alert(1)>",
    "<a href='https://evil.example'>x</a>",
    "</details></summary></td></tr></table>",
    "<!-- evalward:comment -->",
    "-->",
    "![i](https://evil.example/i.png)",
    "[x](https://evil.example)",
    "[x][1]",
    "[1]: https://evil.example",
    "[^1]",
    ":smile:",
    ":+1:",
    "**bold**",
    "__bold__",
    "_it_",
    "~~gone~~",
    "`",
    "``",
    "```",
    "~~~",
    "`code`",
    "|",
    "\\|",
    "\\",
    "| a | b |",
    "---",
    "===",
    "- item",
    "+ item",
    "* item",
    "1. item",
    "1)",
    "# title",
    "> quote",
    "> [!NOTE]",
    "    indented",
    "$x$",
    "$$x$$",
    "$`x`$",
    "$5",
    "&lt;b&gt;",
    "&#64;octocat",
    "&amp;",
    "\n",
    "\n\n",
    "\r\n",
    "\t",
    " ",
    "\x1b[31mred\x1b[0m",
    "\x1b]8;;https://evil.example\x07x\x1b]8;;\x07",
    "\x00\x07\x9b1m",
    "\u202egnp.exe\u202c",
    "\u2066x\u2069",
    "a\u200bb\u200d\ufeff",
    "e\u0301\u0301\u0301\u0301\u0301\u0301\u0301",
    "\u2028",
    "\ud800",
    "::error::x",
    "##[add-mask]x",
    "::stop-commands::x",
    "%0A::error::x",
    "CVE-2024-1234",
    "GHSA-abcd-efgh-ijkl",
    "word",
    "snake_case_word",
    "é漢字🎉",
]

EVERYTHING = "x " + " ".join(SNIPPETS)


def fill(model: M, text: str) -> M:
    """The record with this text in every field that takes any text, keys of mappings included."""
    data = model.model_dump(by_alias=True)
    kind = type(model)
    for put in list(_places(data)):
        undo = put(text)
        try:
            kind.model_validate(data)
        except ValidationError:
            undo()
    return kind.model_validate(data)


def _places(data: Any) -> Iterator[Callable[[str], Callable[[], None]]]:
    """For every text inside: a function that replaces it and returns how to undo that."""
    items = list(data.items()) if isinstance(data, dict) else list(enumerate(data)) if isinstance(data, list) else []
    for key, value in items:
        if isinstance(value, str):
            yield _setter(data, key)
        else:
            yield from _places(value)
    if isinstance(data, dict) and data and all(isinstance(value, dict) for value in data.values()):
        yield _renamer(data)


def _setter(data: Any, key: Any) -> Callable[[str], Callable[[], None]]:
    def put(text: str) -> Callable[[], None]:
        old = data[key]
        data[key] = text
        return lambda: data.__setitem__(key, old)

    return put


def _renamer(data: dict[str, Any]) -> Callable[[str], Callable[[], None]]:
    """Renames a mapping's keys; each gets its number, so that none is lost."""

    def put(text: str) -> Callable[[], None]:
        old = dict(data)
        data.clear()
        data.update({f"{text} {number}": value for number, value in enumerate(old.values())})

        def undo() -> None:
            data.clear()
            data.update(old)

        return undo

    return put

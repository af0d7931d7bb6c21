"""Text that tries to become something else, and a way to put it into every field of a record."""

from __future__ import annotations

from typing import Any, TypeVar, get_args

from pydantic import BaseModel

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
    fields = type(model).model_fields
    changes = {name: _filled(getattr(model, name), field.annotation, text) for name, field in fields.items()}
    extra = dict.fromkeys(model.model_extra or {}, text)
    return model.model_copy(update={**changes, **extra})


def _filled(value: Any, annotation: Any, text: str) -> Any:
    if isinstance(value, BaseModel):
        return fill(value, text)
    if isinstance(value, list):
        (item,) = get_args(annotation)
        return [_filled(part, item, text) for part in value]
    if isinstance(value, dict):
        _, item = get_args(annotation)
        return {f"{text} {number}": _filled(part, item, text) for number, part in enumerate(value.values())}
    takes_any_text = annotation is str or str in get_args(annotation)
    return text if isinstance(value, str) and takes_any_text else value

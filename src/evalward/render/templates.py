"""The Jinja2 environment: where templates are found, and how nothing gets out of them unescaped."""

from __future__ import annotations

import re
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import quote

from evalward.packaged import packaged
from evalward.render.anchors import link_place
from evalward.render.escape import html_code, html_text, md_block, md_cell, md_code, md_prose

if TYPE_CHECKING:
    from jinja2 import Environment

_COMMENT = re.compile(r"<!--(?:(?!-->|<!--|--!>)[^\n])*-->")

MARKDOWN_SUFFIX = ".md.j2"

_IN_URLS = ":/?&=%#~+,@"


class Safe(str):
    """Text that went through a filter of ours. Everything else is escaped on its way out."""

    __slots__ = ()


def render(template: str, **values: object) -> str:
    """A template's text: no blank lines in a row, one newline at the end."""
    text = environment().get_template(template).render(**values)
    return re.sub(r"\n{3,}", "\n\n", text).strip("\n") + "\n"


def template_folder() -> Path:
    """Where the templates are."""
    return packaged("templates")


@lru_cache(maxsize=1)
def environment() -> Environment:
    """The one for Markdown."""
    from jinja2 import Environment, FileSystemLoader, StrictUndefined  # noqa: PLC0415 - only who renders pays for it

    from evalward.render.compiled import Compiled  # noqa: PLC0415

    here = Path(__file__).parent
    made = Environment(  # noqa: S701 - finalize escapes, for Markdown
        loader=FileSystemLoader(template_folder()),
        bytecode_cache=Compiled(here / "__pycache__", (here / "escape.py", here / "templates.py")),
        undefined=StrictUndefined,
        finalize=_finalize,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    made.filters.update(
        ready=Safe,  # Markdown that the render room made, every name in it escaped
        cell=lambda text, limit=120: Safe(md_cell(text, limit)),
        prose=lambda text, limit=300: Safe(md_prose(text, limit)),
        code=lambda text, limit=120: Safe(md_code(text, limit)),
        block=lambda text, limit=2000, language="": Safe(md_block(text, limit, language)),
        html=lambda text: Safe(html_text(text)),
        html_code=lambda text, limit=80: Safe(html_code(text, limit)),
        codes=lambda texts, limit=80: Safe(", ".join(md_code(text, limit) for text in texts)),
        inset=lambda text: Safe(re.sub(r"^(?=.)", "  ", text, flags=re.MULTILINE)),
        unbroken=lambda text: Safe(re.sub("(?<![,;]) ", "&nbsp;", text)),
        marker=_marker,
        link_place=lambda anchor: Safe(link_place(anchor)),
        url=_url,
    )
    return made


def _finalize(value: object) -> object:
    return Safe(md_cell(value, 300)) if isinstance(value, str) and not isinstance(value, Safe) else value


def _marker(text: str) -> Safe:
    """The hidden comment, which must be one and end where it seems to."""
    if not _COMMENT.fullmatch(text):
        raise ValueError(f"a marker is one HTML comment on one line, not {text!r}")
    return Safe(text)


def _url(text: str) -> Safe:
    """A link's target: a web address in which nothing can end the link; `#` for anything else."""
    return Safe(quote(text, safe=_IN_URLS) if text.startswith(("https://", "http://")) else "#")

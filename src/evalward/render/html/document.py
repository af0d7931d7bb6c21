"""One self-contained HTML document: template, style, scripts and data in one file that may load nothing.

Jinja escapes every text, and what can't be seen in it is shown by its number. The policy in the document's head names
the style and the scripts by their hashes, so that a text which became a tag would still do nothing.
"""

from __future__ import annotations

import base64
import json
import re
from collections.abc import Sequence
from functools import lru_cache
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Any

from markupsafe import Markup, escape
from msgspec import Struct

from evalward.render.compiled import Compiled
from evalward.render.escape import html_shown
from evalward.render.html.case_filter import case_filter
from evalward.render.templates import template_folder

if TYPE_CHECKING:
    from jinja2 import Environment

SUFFIX = ".html.j2"
STYLES = ("style.css", "plots.css", "trials.css")
SCRIPTS = ("page.js",)
"""In the order in which they stand in the document."""

_HERE = Path(__file__).parent
_RENDER = _HERE.parent
_DEPENDS = (_RENDER / "escape.py", _HERE / "document.py")
_IN_JSON = {ord(char): f"\\u{ord(char):04x}" for char in "<>&\u2028\u2029"}
_SURROGATES = re.compile("[\ud800-\udfff]")


class DataBlock(Struct, frozen=True):
    """What scripts read, as JSON in the document: `name` is the element's id."""

    name: str
    value: Any

    @property
    def json(self) -> Markup:
        """The value as JSON in which nothing can end the element."""
        text = json.dumps(self.value, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
        text = text.translate(_IN_JSON)
        return Markup(_SURROGATES.sub(lambda found: f"\\u{ord(found[0]):04x}", text))  # noqa: S704 - escaped above


def document(template: str, *, data: Sequence[DataBlock] = (), scripts: bool = True, **values: object) -> str:
    """The document that a template makes; `scripts`: with those of the page.

    The template extends `document.html.j2`. The same arguments give the same text.
    """
    styles, found = [asset(name) for name in STYLES], [asset(name) for name in SCRIPTS if scripts]
    text: str = (
        environment()
        .get_template(template)
        .render(policy=policy(styles, found), styles=styles, scripts=found, data=data, **values)
    )
    return text.strip("\n") + "\n"


def policy(styles: Sequence[str], scripts: Sequence[str]) -> str:
    """What the document may load: nothing; the style and the scripts in it are named by their hashes.

    Scripts may put no text into the document as markup: nothing makes a trusted type.
    """
    return "; ".join(
        [
            "default-src 'none'",
            f"style-src {_hashes(styles)}",
            f"script-src {_hashes(scripts)}",
            "require-trusted-types-for 'script'",
            "trusted-types 'none'",
            "base-uri 'none'",
            "form-action 'none'",
        ]
    )


def _hashes(texts: Sequence[str]) -> str:
    found = [f"'sha256-{base64.b64encode(sha256(text.encode()).digest()).decode()}'" for text in texts]
    return " ".join(found) or "'none'"


@lru_cache(maxsize=16)
def asset(name: str) -> Markup:
    """A file of ours that is put into the document as it is."""
    text = (_HERE / name).read_text(encoding="utf-8")
    if "</" in text:
        raise ValueError(f"{name} must not hold '</': it would end its element")
    return Markup(text)  # noqa: S704 - a file of this package


@lru_cache(maxsize=1)
def environment() -> Environment:
    """Where documents are made: everything is escaped for HTML, whatever a template forgets."""
    from jinja2 import Environment, FileSystemLoader, StrictUndefined  # noqa: PLC0415 - only who renders pays for it

    made = Environment(
        loader=FileSystemLoader(template_folder()),
        bytecode_cache=Compiled(_RENDER / "__pycache__", _DEPENDS),
        undefined=StrictUndefined,
        autoescape=True,
        finalize=_finalize,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    made.filters.update(prose=prose, case_filter=case_filter)
    return made


def prose(text: str) -> Markup:
    """A sentence of ours that may name untrusted things; what is `in backticks` becomes code."""
    parts = text.split("`")
    if len(parts) % 2 == 0:  # an odd backtick out is no code
        parts[-2:] = ["`".join(parts[-2:])]
    pieces = [escape(html_shown(part)) for part in parts]
    return Markup("").join(
        Markup("<code>{}</code>").format(piece) if index % 2 else piece for index, piece in enumerate(pieces)
    )


def _finalize(value: object) -> object:
    return html_shown(value) if isinstance(value, str) and not isinstance(value, Markup) else value

"""Long texts in the page: head and tail as plain text, the whole compressed beside them, and how much is left out."""

from __future__ import annotations

import base64
import json
import zlib
from collections.abc import Sequence

from msgspec import Struct, field

from evalward.render.escape import html_shown

WHOLE = 1_500  # characters: a text up to here isn't worth a fold
HEAD, TAIL = 900, 400  # what stands of a longer one in the page as plain text
PACKABLE = 4_096  # characters of a trial's long texts: fewer are put into the page as they are


class TextLimits(Struct, frozen=True):
    """How much of a trial the page keeps, in characters: of one text, and of all its texts together."""

    text: int
    trial: int


class Passage(Struct, frozen=True):
    """A text in the page: `text` is the whole, or its head where there is a `tail`.

    `size` are the characters of the whole, `between` those between head and tail. They are in the trial's packed texts
    at `packed`; `left_out` of them are not in the page at all.
    """

    text: str
    size: int
    tail: str = ""
    between: int = 0
    packed: int | None = None
    left_out: int = 0

    @property
    def long(self) -> bool:
        """True for what is folded."""
        return self.size > WHOLE


class Passages(Struct):
    """Makes the passages of one trial, and keeps the texts that are to be packed.

    `pack` is false for trials whose texts are few enough to stand in the page as they are.
    """

    limit: int
    pack: bool = True
    texts: list[str] = field(default_factory=list)
    left_out: int = 0

    def of(self, text: str) -> Passage:
        """The passage of a text."""
        size, left_out = len(text), max(0, len(text) - self.limit)
        self.left_out += left_out
        if not left_out and (size <= WHOLE or not self.pack):
            return Passage(text, size)
        if self.limit <= HEAD + TAIL or not self.pack:
            head, tail = ends(text, self.limit)
            return Passage(head, size, tail, left_out, None, left_out)
        self.texts.append(html_shown(shortened(text, self.limit)))
        return Passage(text[:HEAD], size, text[-TAIL:], size - HEAD - TAIL, len(self.texts) - 1, left_out)


def ends(text: str, limit: int) -> tuple[str, str]:
    """Head and tail of a text, of `limit` characters together; the head is the longer one."""
    tail = limit * TAIL // (HEAD + TAIL)
    return text[: limit - tail], text[len(text) - tail :]


def shortened(text: str, limit: int) -> str:
    """The text, or its head and tail with the number of characters that are left out between them."""
    if len(text) <= limit:
        return text
    head, tail = ends(text, limit)
    return f"{head}\n[left out: {len(text) - limit:,} characters]\n{tail}"


def packed(texts: Sequence[str]) -> str:
    """Texts as one JSON list, compressed (raw deflate, which holds no time) and in base64."""
    data = json.dumps(list(texts), ensure_ascii=False, separators=(",", ":")).encode()
    deflate = zlib.compressobj(6, zlib.DEFLATED, -zlib.MAX_WBITS)
    return base64.b64encode(deflate.compress(data) + deflate.flush()).decode("ascii")

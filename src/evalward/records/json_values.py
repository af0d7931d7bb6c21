"""How many values a JSON text has: counted before anything is made of it, which takes many times its length."""

from __future__ import annotations

import re

_PIECE = re.compile(
    rb'([,\[{])|"[^"\\]*+(?:\\.[^"\\]*+)*+(?:"|\\?\Z)', re.DOTALL
)  # a mark, or a text, which may break off


def has_more_values(data: bytes, most: int) -> bool:
    """Whether a JSON text has more values than `most`, about: its commas and brackets, other than in its strings.

    It stops there, and keeps nothing of what it has passed. More than two strings for each of them are no JSON.
    """
    return values_in(data, most) > most


def values_in(data: bytes, most: int) -> int:
    """The same as a number, of which only is known that it is more than `most` where it is.

    Where even those in strings are no more, they are what is counted: that is quickly done.
    """
    marks = data.count(b",") + data.count(b"[") + data.count(b"{")
    if marks <= most:
        return marks
    marks = texts = 0
    for piece in _PIECE.finditer(data):
        if piece.lastindex:
            marks += 1
        else:
            texts += 1
        if marks > most or texts > 2 * most + 2:
            return most + 1
    return marks

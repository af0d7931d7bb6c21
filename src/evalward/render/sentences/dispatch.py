"""One function per code: what it says in English, by the class of its record."""

from __future__ import annotations

from collections.abc import Iterable
from functools import singledispatch

from evalward.records.codes.base import Coded, ForeignText, OfRun


@singledispatch
def says(statement: Coded) -> str:
    """The sentence of a code; every module here adds those of one module of `records.codes`."""
    raise TypeError(f"{type(statement).__name__} has no sentence")


@says.register
def _(text: ForeignText) -> str:
    return text.text


def where(statement: OfRun) -> str:
    """`suite × target: ` where a statement says of which run it is."""
    return "" if statement.suite is None else f"{statement.run}: "


def sentences(statements: Iterable[Coded]) -> str:
    """All of them in one; empty without any."""
    return "; ".join(says(each) for each in statements)

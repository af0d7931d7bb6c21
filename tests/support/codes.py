"""Every code that a verdict can hold, an example of each, and its row in the documentation."""

from __future__ import annotations

from types import NoneType, UnionType
from typing import Annotated, Any, Literal, Union, get_args, get_origin

from pydantic import BaseModel

from evalward.records.codes import Statement
from evalward.records.codes.base import Coded

CLASSES: list[type[Coded]] = list(get_args(get_args(Statement)[0]))


def codes_of(cls: type[Coded]) -> list[str]:
    """The code of a class; of plain advice all that there are."""
    return [str(code) for code in get_args(cls.model_fields["code"].annotation)]


def parameters(cls: type[Coded]) -> list[str]:
    """What a code has beside its name, the run first."""
    return [name for name in cls.model_fields if name != "code"]


def row(cls: type[Coded]) -> str:
    """A class's row in docs/judgement.md."""
    names = "<br>".join(f"`{code}`" for code in codes_of(cls))
    meaning = " ".join((cls.__doc__ or "").split())
    return f"| {names} | {', '.join(f'`{name}`' for name in parameters(cls)) or '–'} | {meaning} |"


def example(cls: type[BaseModel], *, full: bool = True, **given: object) -> Any:
    """A record with every parameter, or with those alone that it needs."""
    fields = {name: field for name, field in cls.model_fields.items() if full or field.is_required()}
    values = {name: _value(field.annotation, full) for name, field in fields.items() if name not in given}
    return cls.model_validate({**values, **given})


def _value(annotation: Any, full: bool) -> object:
    origin, args = get_origin(annotation), get_args(annotation)
    if origin is Literal:
        return args[0]
    if origin in {Annotated, Union, UnionType}:
        return _value(next(each for each in args if each is not NoneType), full)
    if origin is tuple:
        return () if args[0] is Statement else (_value(args[0], full),)
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return example(annotation, full=full)
    return {str: "x", int: 3, float: 0.25, bool: True}[annotation]

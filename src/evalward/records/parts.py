"""What is installed by name: a distribution that is broken is a mistake of the input, and named."""

from __future__ import annotations

from typing import Any

from evalward.records.problem import InputError, wrong
from evalward.registry import BrokenPartError, load

_REMEDY = "Fix or remove the distribution that brings it."


def loaded(group: str, name: str) -> Any:
    """The part of this name. Raises `KeyError` for no part, `InputError` for one of others that can't be loaded."""
    try:
        return load(group, name)
    except BrokenPartError as error:
        raise unusable(group, name, f"can't be loaded: {error}") from error


def unusable(group: str, name: str, why: str) -> InputError:
    """What is wrong with a part that another distribution brings."""
    return wrong(f"entry point {name} of {group}", why, _REMEDY)

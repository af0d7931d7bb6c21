"""Which of the expected calls were made: the largest number of pairs, whatever the order, or along one order. Pure.

Pairing greedily is wrong: where {echo} and {echo, "tulip"} are expected, and "tulip" and "x" are called, the first
would take the only call that the second fits.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from evalward.suites.mcp.case import ExpectedCall, ForbiddenCall
from evalward.suites.mcp.details import AttemptedCall

Fits = Callable[[int, int], bool]
"""Whether the expected call of the first number is the made call of the second, both from 0."""
Pairs = Sequence[int | None]
"""For each expected call which made one it is paired with; `None` where it is with none."""


def equal_json(one: Any, other: Any) -> bool:
    """Whether two JSON values are equal: `true` is not 1, 1.0 is 1, case counts, `null` is no other value."""
    if isinstance(one, bool) or isinstance(other, bool):
        return one is other
    if isinstance(one, Mapping) and isinstance(other, Mapping):
        return one.keys() == other.keys() and all(equal_json(value, other[key]) for key, value in one.items())
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(map(equal_json, one, other))
    return bool(one == other)


def holds_json(expected: Any, found: Any) -> bool:
    """Whether what is expected is there and equal: others may stand beside the keys of objects, lists are whole."""
    if isinstance(expected, Mapping) and isinstance(found, Mapping):
        return all(key in found and holds_json(value, found[key]) for key, value in expected.items())
    return equal_json(expected, found)


def arguments_match(expected: ExpectedCall, call: AttemptedCall) -> bool:
    """Whether a call of the right tool has the arguments that are expected; those that are no object never do.

    A schema that is none, and judges no arguments, blames none for `match: schema`.
    """
    if call.arguments is None:
        return False
    if expected.match == "schema":
        return call.valid is not False
    if expected.args is None:
        return True
    return (equal_json if expected.match == "exact" else holds_json)(expected.args, call.arguments)


def is_forbidden(forbidden: ForbiddenCall, call: AttemptedCall) -> bool:
    """Whether a call was forbidden: by the tool's name alone, whoever's it is, or by these arguments among others."""
    if forbidden.tool != call.tool:
        return False
    return forbidden.args is None or (call.arguments is not None and holds_json(forbidden.args, call.arguments))


def any_order(expected: int, made: int, fits: Fits) -> Pairs:
    """A maximum matching. Which expected calls have a partner doesn't depend on the order of the made ones."""
    edges = [[at for at in range(made) if fits(number, at)] for number in range(expected)]
    taken: dict[int, int] = {}
    for number in range(expected):
        _augment(number, edges, taken, set())
    partners: list[int | None] = [None] * expected
    for at, number in taken.items():
        partners[number] = at
    return partners


def _augment(number: int, edges: Sequence[Sequence[int]], taken: dict[int, int], seen: set[int]) -> bool:
    """Find a partner for an expected call, letting earlier ones change theirs; none of them loses it."""
    for at in edges[number]:
        if at in seen:
            continue
        seen.add(at)
        if at not in taken or _augment(taken[at], edges, taken, seen):
            taken[at] = number
            return True
    return False


def in_order(expected: int, made: int, fits: Fits) -> Pairs:
    """The pairs of a longest common subsequence, the earliest calls where several are as long."""
    longest = [[0] * (made + 1) for _ in range(expected + 1)]
    pairs = [[fits(number, at) for at in range(made)] for number in range(expected)]
    for number in reversed(range(expected)):
        row, below, fitting = longest[number], longest[number + 1], pairs[number]
        for at in reversed(range(made)):
            row[at] = below[at + 1] + 1 if fitting[at] else max(below[at], row[at + 1])
    partners: list[int | None] = [None] * expected
    number = at = 0
    while number < expected and at < made:
        if pairs[number][at]:
            partners[number] = at
            number, at = number + 1, at + 1
        elif longest[number][at + 1] >= longest[number + 1][at]:
            at += 1
        else:
            number += 1
    return partners


def one_after_the_other(expected: int, made: int, fits: Fits) -> bool:
    """Whether somewhere among the made calls all expected ones stand in order, with nothing between them."""
    return any(all(fits(number, start + number) for number in range(expected)) for start in range(made - expected + 1))

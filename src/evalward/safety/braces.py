"""Brace expansion, ``{a,b}`` and ``{1..9}``, on the parts of a word."""

from __future__ import annotations

import re

from evalward.safety.syntax import LiteralText, ParseError, Part

_LIMIT = 64
_MOST_GROUPS = 24
_SEQUENCE = re.compile(r"(?P<a>-?\d+|[A-Za-z])\.\.(?P<b>-?\d+|[A-Za-z])(?:\.\.-?\d+)?\Z")
_LONGEST_SEQUENCE = 8

_Atom = str | Part
"""One unquoted character, or anything that is no syntax here."""


def has_braces(parts: tuple[Part, ...]) -> bool:
    """Say whether brace expansion can apply at all (a cheap test that most words fail)."""
    return any(isinstance(part, LiteralText) and not part.quoted and "{" in part.text for part in parts)


def expand_braces(parts: tuple[Part, ...]) -> list[tuple[Part, ...]]:
    """Return the words that brace expansion makes of one word, at most 64."""
    if sum(part.text.count("{") for part in parts if isinstance(part, LiteralText)) > _MOST_GROUPS:
        raise ParseError("too many braces")
    atoms: list[_Atom] = []
    for part in parts:
        if isinstance(part, LiteralText) and not part.quoted:
            atoms.extend(part.text)
        else:
            atoms.append(part)
    return [_as_parts(word) for word in _expand(atoms)]


def _expand(atoms: list[_Atom]) -> list[list[_Atom]]:
    for start, atom in enumerate(atoms):
        if atom != "{":
            continue
        group = _group(atoms, start)
        if group is None:
            continue
        alternatives, stop = group
        heads = [choice for alternative in alternatives for choice in _expand(alternative)][:_LIMIT]
        tails = _expand(atoms[stop + 1 :])
        return [atoms[:start] + head + tail for head in heads for tail in tails][:_LIMIT]
    return [atoms]


def _group(atoms: list[_Atom], start: int) -> tuple[list[list[_Atom]], int] | None:
    """Return the alternatives of the group that opens at ``start`` and where it closes."""
    level, alternatives, current = 0, [], list[_Atom]()
    for at in range(start + 1, len(atoms)):
        atom = atoms[at]
        if atom == "}" and level == 0:
            alternatives.append(current)
            return _alternatives(alternatives, at)
        if atom == "," and level == 0:
            alternatives.append(current)
            current = []
            continue
        level += {"{": 1, "}": -1}.get(atom, 0) if isinstance(atom, str) else 0
        current.append(atom)
    return None


def _alternatives(found: list[list[_Atom]], stop: int) -> tuple[list[list[_Atom]], int] | None:
    if len(found) > 1:
        return found, stop
    if not all(isinstance(atom, str) for atom in found[0]):
        return None
    match = _SEQUENCE.match("".join(str(atom) for atom in found[0]))
    return ([list[_Atom](item) for item in _sequence(match["a"], match["b"])], stop) if match else None


def _sequence(first: str, last: str) -> list[str]:
    """Return the members of a range; of a long one only its ends, which is enough to judge it."""
    numeric = first.lstrip("-").isdigit() and last.lstrip("-").isdigit()
    low, high = (int(first), int(last)) if numeric else (ord(first[0]), ord(last[0]))
    if abs(high - low) >= _LONGEST_SEQUENCE:
        return [first, last]
    step = 1 if high >= low else -1
    numbers = range(low, high + step, step)
    return [str(number) if numeric else chr(number) for number in numbers]


def _as_parts(atoms: list[_Atom]) -> tuple[Part, ...]:
    parts: list[Part] = []
    for atom in atoms:
        last = parts[-1] if parts else None
        if not isinstance(atom, str):
            parts.append(atom)
        elif isinstance(last, LiteralText) and not last.quoted:
            parts[-1] = LiteralText(last.text + atom)
        else:
            parts.append(LiteralText(atom))
    return tuple(parts)

"""Values as people read them: YAML in block style, the same for equal values, whatever library is installed.

Nothing reads it back. Texts of several lines stand as they are; one with characters that nobody would see is written
in quotes, which say their numbers.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any

_DEEPEST = 20
_PLAIN = re.compile(r"""(?:[^\W\d]|\.?/(?=\w))(?:[\w/.@+ ,()'"!?;=<>$*-]|:(?=\S))*+(?<! )""")
"""What needs no quotes. It gives nothing back: else each character of a long text would be remembered as a choice."""
_RESERVED = frozenset({"true", "false", "yes", "no", "on", "off", "y", "n", "null"})
_FINE = str.maketrans("", "", "\n\t\u00a0\u200d")  # in texts of several lines: a joiner makes one emoji of two


def block_text(value: Any) -> str:
    """The text of a JSON value, which ends with a line break."""
    return "".join(f"{line}\n" for line in _lines(value, 0))


def _lines(value: Any, depth: int) -> Iterator[str]:
    if isinstance(value, Mapping) and value:
        for key, item in value.items():
            yield from _entry(f"{_scalar(str(key))}:", item, depth)
    elif isinstance(value, list | tuple) and value:
        for item in value:
            yield from _entry("-", item, depth)
    else:
        yield _scalar(value)


def _entry(head: str, value: Any, depth: int) -> Iterator[str]:
    if isinstance(value, str) and _stands_alone(value):
        yield f"{head} {_indicator(value)}"
        yield from _indented(value.removesuffix("\n").split("\n"))
    elif not isinstance(value, Mapping | list | tuple) or not value or depth >= _DEEPEST:
        yield f"{head} {_scalar(value)}"
    elif head == "-":
        yield from _after_dash(_lines(value, depth + 1))
    else:
        yield head
        yield from _indented(_lines(value, depth + 1))


def _indented(lines: Iterator[str] | list[str]) -> Iterator[str]:
    return (f"  {line}" if line else "" for line in lines)


def _after_dash(lines: Iterator[str]) -> Iterator[str]:
    yield f"- {next(lines)}"
    yield from _indented(lines)


def _stands_alone(text: str) -> bool:
    """Whether a text is written line by line."""
    return "\n" in text.rstrip("\n") and text.translate(_FINE).isprintable()


def _indicator(text: str) -> str:
    """How the lines of a text are to be read: what begins with blanks says its indentation."""
    start = "2" if text[0] in " \n\t" else ""
    return f"|{start}" + ("+" if text.endswith("\n\n") else "" if text.endswith("\n") else "-")


def _scalar(value: Any) -> str:
    if isinstance(value, float):
        return re.sub(r"^(-?\d+)e", r"\1.0e", json.dumps(value))
    if not isinstance(value, str):
        return json.dumps(value, default=str)
    if _PLAIN.fullmatch(value) and value.lower() not in _RESERVED and value.isprintable():
        return value
    quoted = json.dumps(value, ensure_ascii=False)
    if quoted.isprintable():
        return quoted
    return "".join(char if char.isprintable() else _escaped(char) for char in quoted)


def _escaped(char: str) -> str:
    return f"\\u{ord(char):04x}" if ord(char) < 1 << 16 else f"\\U{ord(char):08x}"

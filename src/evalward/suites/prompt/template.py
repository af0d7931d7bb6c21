"""Placeholders: `{{name}}` stands for the value of this name, in one pass: a value's own braces are text."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence

ANSWER = "completion"
"""The placeholder of the answer, in the prompts of evaluators."""

# What begins with $ is an expression of GitHub Actions, unless a value is called so.
_MARK = re.compile(r"(\$?)\{\{([^{}\n]{1,200})\}\}")
_ANSWER = re.compile(rf"\{{\{{\s*{ANSWER}\s*\}}\}}")


def names_in(text: str) -> list[str]:
    """The placeholders of a text, each once; those after $ are left out."""
    found = (mark[2].strip() for mark in _MARK.finditer(text) if not mark[1])
    return list(dict.fromkeys(name for name in found if name))


def fill(text: str, values: Mapping[str, str]) -> str:
    """The text with the values in it. A placeholder without a value stays."""

    def value_of(mark: re.Match[str]) -> str:
        value = values.get(mark[2].strip())
        return mark[0] if value is None else mark[1] + value

    return _MARK.sub(value_of, text)


def longest_filled(text: str, rows: Sequence[Mapping[str, str]]) -> tuple[int, int]:
    """The row, from 0, with which the text gets longest, and how many characters it then has, about; nothing is filled.

    There is at least one row.
    """
    marks = Counter(mark[2].strip() for mark in _MARK.finditer(text))
    lengths = [
        len(text) + sum(len(value) * marks[name] for name, value in values.items() if name in marks) for values in rows
    ]
    longest = max(range(len(rows)), key=lengths.__getitem__)
    return longest, lengths[longest]


def fill_around(text: str, values: Mapping[str, str]) -> list[str]:
    """The text with the values in it, cut wherever the answer belongs: one part more than there are such places."""
    return [fill(part, values) for part in _ANSWER.split(text)]

"""The front matter of a SKILL.md, as agents read it: as YAML, or where that is broken line by line."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from evalward.config.words import Value
from evalward.config.yaml_positions import YamlError, YamlTree, read_yaml
from evalward.records.base import clean_text

_FENCE = "---"
_BOM = "\ufeff"
_KEY = re.compile(r"([A-Za-z][A-Za-z0-9_-]{0,63})[ \t]*:[ \t]*(.*)")


@dataclass(frozen=True)
class FrontMatter:
    """What stands between the lines `---`: values by key, and the line of each in the file.

    `there`: the file begins with one. `broken` says what is wrong with it as YAML; then the values are those of lines
    that begin with a key. `oddities` are keys that occur twice, and the like. `bom`, `crlf`: the file begins with a
    byte order mark, or its lines end as on Windows. `source` is its text.
    """

    values: Mapping[str, object] = field(default_factory=dict)
    lines: Mapping[str, int] = field(default_factory=dict)
    there: bool = False
    broken: str = ""
    broken_line: int | None = None
    oddities: tuple[str, ...] = ()
    bom: bool = False
    crlf: bool = False
    source: str = ""

    def text(self, key: str) -> str:
        """The text of a key in one line; empty where there is none, or where it is no text or number."""
        value = self.values.get(key)
        if isinstance(value, bool) or not isinstance(value, str | int | float):
            return ""
        return " ".join(clean_text(str(value)).split())

    def line(self, key: str) -> int:
        """The line of a key, of the first line where there is none."""
        return self.lines.get(key, 1)


def split_front_matter(text: str) -> tuple[FrontMatter, str]:
    """Front matter and body of a SKILL.md. Never raises for what stands in it."""
    bom, crlf = text.startswith(_BOM), "\r\n" in text
    lines = text.removeprefix(_BOM).replace("\r\n", "\n").replace("\r", "\n").split("\n")
    end = next((at for at, line in enumerate(lines) if at and line.rstrip() == _FENCE), None)
    if lines[0].rstrip() != _FENCE or end is None:
        return FrontMatter(bom=bom, crlf=crlf), "\n".join(lines)
    source = "\n".join(lines[1:end])
    return replace(_read(source, bom=bom, crlf=crlf), source=source), "\n".join(lines[end + 1 :])


def _read(source: str, *, bom: bool, crlf: bool) -> FrontMatter:
    front = source.split("\n")
    try:
        tree = read_yaml(source)
    except YamlError as error:
        line = error.mistake.line
        return _by_line(front, error.mistake.message, None if line is None else line + 1, bom=bom, crlf=crlf)
    if not isinstance(tree.value, dict):
        return _by_line(front, "it is not a mapping of keys to values", 1, bom=bom, crlf=crlf)
    return _of_tree(tree, tree.value, bom=bom, crlf=crlf)


def _of_tree(tree: YamlTree, values: Mapping[str, Value], *, bom: bool, crlf: bool) -> FrontMatter:
    lines = {key: (tree.line((key,)) or 0) + 1 for key in values}
    named: dict[str, object] = dict(values)
    odd = tuple(mistake.message for mistake in tree.mistakes)
    return FrontMatter(named, lines, there=True, oddities=odd, bom=bom, crlf=crlf)


def _by_line(front: list[str], broken: str, broken_line: int | None, *, bom: bool, crlf: bool) -> FrontMatter:
    found = [(at, match) for at, line in enumerate(front, 2) if (match := _KEY.fullmatch(line))]
    values = {match[1]: match[2].strip() for _, match in found}
    lines = {match[1]: at for at, match in found}
    return FrontMatter(values, lines, True, broken, broken_line, bom=bom, crlf=crlf)

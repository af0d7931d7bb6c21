"""A YAML file that is a list of cases: its entries with their lines, within bounds, and every mistake at once."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol

from evalward.config.words import KeyPath
from evalward.config.yaml_positions import YamlError, YamlTree, read_yaml

MOST_VALUES = 100_000
"""Of one file, aliases expanded: some thousand cases. JSONL takes any number."""
SUFFIXES = (".yaml", ".yml")


class Wrong(Protocol):
    """Takes down one mistake of a file: what is wrong, what to do, in which line."""

    def __call__(self, message: str, remedy: str = "", line: int | None = None) -> None:
        """One mistake; `line` counts from 1."""


@dataclass(frozen=True)
class ListEntry:
    """One item of the list, and the lines of all that is in it."""

    value: Any
    index: int
    tree: YamlTree

    def line(self, *path: str | int) -> int | None:
        """The line of a key path below the entry, or of its nearest ancestor that has one."""
        return self.tree.line((self.index, *path))

    def written(self, *path: str | int) -> str | None:
        """A value as it is written, where YAML reads something other than text; `None` for text."""
        place: KeyPath = (self.index, *path)
        return self.tree.written.get(place)


def is_yaml(name: str) -> bool:
    """True for a file that is YAML by its name."""
    return name.lower().endswith(SUFFIXES)


def read_tree(text: str, wrong: Wrong) -> YamlTree | None:
    """The file's values with their lines; `None` where it is no YAML. What is wrong with it goes to `wrong`."""
    try:
        tree = read_yaml(text, MOST_VALUES)
    except YamlError as error:
        wrong(error.mistake.message, error.mistake.remedy, error.mistake.line)
        return None
    for mistake in tree.mistakes:
        wrong(mistake.message, mistake.remedy, mistake.line or tree.line(mistake.path))
    return tree


def entries_of(tree: YamlTree, wrong: Wrong) -> list[ListEntry]:
    """The items of the list that the file is; none, and a mistake, where it is something else."""
    if not isinstance(tree.value, list):
        what = "the file is empty" if tree.value is None else "the file is not a list of cases"
        wrong(what, "Begin each case with a dash: - id: …", 1)
        return []
    return [ListEntry(item, index, tree) for index, item in enumerate(tree.value)]

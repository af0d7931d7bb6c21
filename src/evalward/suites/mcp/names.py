"""How tools are called where a model reads them: names that every provider takes, and the way back.

A tool's name may be anything, and providers take 64 letters, digits, `_` and `-`. Beside tools of other servers each
is called `SERVER__TOOL`, as hosts do it: a tool without such a beginning would stand out. The same tools have the same
names in every run, no two have one name, and what reports show are the servers' own names.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256

from evalward.suites.mcp.catalogue import Catalogue, CatalogueTool

LONGEST = 64
"""Characters of a name that every provider takes."""
BETWEEN = "__"
"""What stands between a server's name and a tool's, where models read it."""
_FOREIGN = re.compile(r"[^a-zA-Z0-9_-]")
_FOREIGN_IN_KEYS = re.compile(r"[^a-zA-Z0-9_.-]")
_DIGITS = 8


@dataclass(frozen=True)
class NamedTool:
    """A tool with its names: `sent` is read by models, `shown` by people. `own`: it is the suite's own server's."""

    server: str
    tool: CatalogueTool
    sent: str
    shown: str
    own: bool


class ToolNames:
    """The tools of a server and of those beside it, by every name that they have."""

    def __init__(self, own: Catalogue, others: Sequence[Catalogue] = ()) -> None:
        self.tools = tuple(_named(own, others))
        self._found: Mapping[str, NamedTool] = {
            **{named.shown: named for named in self.tools},
            **{named.sent: named for named in self.tools},
        }

    def find(self, word: str) -> NamedTool | None:
        """The tool that a model means, or a recording names; `None` for a name that no server declares.

        No tool is sent under another one's name, so that each word means one tool.
        """
        return self._found.get(word)

    def shown(self, word: str) -> str:
        """How people call the tool; the word itself where there is no such tool."""
        named = self.find(word)
        return named.shown if named is not None else word


def _named(own: Catalogue, others: Sequence[Catalogue]) -> Iterator[NamedTool]:
    every = [(catalogue.server, tool, catalogue is own) for catalogue in (own, *others) for tool in catalogue.tools]
    shown = _shown([(server, tool.name, ours) for server, tool, ours in every])
    written = [f"{server}{BETWEEN}{tool.name}" if others else tool.name for server, tool, _ in every]
    sent = _sent(written, shown)
    for (server, tool, ours), for_models, for_people in zip(every, sent, shown, strict=True):
        yield NamedTool(server, tool, for_models, for_people, ours)


def _shown(every: Sequence[tuple[str, str, bool]]) -> list[str]:
    """A tool of the suite's server by its own name, another one as `SERVER:TOOL`."""
    taken = {tool for _, tool, ours in every if ours}
    names: list[str] = []
    for server, tool, ours in every:
        name = tool if ours else f"{server}:{tool}"
        while not ours and name in taken:
            name = f":{name}"
        taken.add(name)
        names.append(name)
    return names


def sent_keys(keys: Sequence[str]) -> dict[str, str]:
    """Names of arguments that every provider takes, by the arguments' own; most are their own."""
    return dict(zip(keys, _sent(keys, keys, _FOREIGN_IN_KEYS), strict=True))


def _sent(written: Sequence[str], shown: Sequence[str], foreign: re.Pattern[str] = _FOREIGN) -> list[str]:
    """A name for each, in which nothing but its own words and those that it would be mistaken for have a part."""
    plain = [_plain(name, foreign) for name in written]
    wanting: dict[str, list[int]] = defaultdict(list)
    for index, name in enumerate(plain):
        wanting[name].append(index)
    meant = {name: index for index, name in enumerate(shown)}
    keeps = {index for name, indices in wanting.items() for index in _owner(name, indices, written, meant)}
    taken = {*plain, *shown}
    names = list(plain)
    for index in sorted(set(range(len(plain))) - keeps, key=lambda at: (written[at], shown[at])):
        names[index] = _told_apart(plain[index], f"{written[index]}\0{shown[index]}", taken)
        taken.add(names[index])
    return names


def _owner(name: str, indices: Sequence[int], written: Sequence[str], meant: Mapping[str, int]) -> list[int]:
    """Which of those that would be called so keeps the name: the one whose own name it is, or the only one."""
    if name in meant:
        return [meant[name]] if meant[name] in indices else []
    exact = [index for index in indices if written[index] == name]
    kept = exact or list(indices)
    return kept if len(kept) == 1 else []


def _plain(name: str, foreign: re.Pattern[str]) -> str:
    """The name with `_` for what providers don't take; a long one ends in digits of its hash."""
    plain = foreign.sub("_", name) or "_"
    return plain if len(plain) <= LONGEST else _with_digits(plain, name, _DIGITS)


def _told_apart(plain: str, words: str, taken: set[str]) -> str:
    digits = _DIGITS
    while (name := _with_digits(plain, words, digits)) in taken:
        digits += 1
    return name


def _with_digits(plain: str, words: str, digits: int) -> str:
    end = "_" + sha256(words.encode("utf-8", "surrogatepass")).hexdigest()[:digits]
    return plain[: LONGEST - len(end)] + end

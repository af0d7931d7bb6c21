"""What a change does to the tools that a server offers: added, removed, renamed; what breaks; words that differ."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Literal

from evalward.records.base import clean_text
from evalward.records.comparison import INSTRUCTIONS, OTHER_TOOLS, TOOL_OF, TOOLS
from evalward.records.surface import (
    LONGEST_FACT,
    LONGEST_PIECE,
    MOST_FACTS,
    PartTexts,
    PieceChange,
    Surface,
    surface_of,
)
from evalward.suites.mcp.catalogue import CatalogueTool, tokens_of
from evalward.suites.mcp.schema_changes import SchemaChange, argument_changes, result_changes
from evalward.suites.mcp.schema_forms import canonical_of, one_form, words_of
from evalward.suites.mcp.subject import read_tool_text

_ALIKE = 0.6  # of the words of two tools that take the same arguments: then one is the other by a new name
_COMPARED = 2_000  # characters of the words that this is judged by
_MOST_PAIRS = 400  # removed and added tools that are held against each other
_WORD = re.compile(r"\w+")


@dataclass(frozen=True)
class Side:
    """The tools of one side by name: `None` for one whose text isn't kept, or isn't one of ours."""

    tools: Mapping[str, CatalogueTool | None] = field(default_factory=dict)

    @property
    def tokens(self) -> int | None:
        """About how many tokens the tools take in every request; `None` unless all are known."""
        known = [tool for tool in self.tools.values() if tool is not None]
        if len(known) < len(self.tools):
            return None
        return tokens_of(sum(tool.characters for tool in known))


def surface_change(before: PartTexts, now: PartTexts) -> Surface | None:
    """What changed from one subject's tools to another's; `None` where nothing did, or a side has no list of tools."""
    if TOOLS not in before or TOOLS not in now:
        return None
    old, new = _side(before), _side(now)
    changes = list(_changes(old, new, before, now))
    return surface_of("tool", "tools", changes, (old.tokens, new.tokens), list(_notes(old, new, before, now)))


def _notes(old: Side, new: Side, before: PartTexts, now: PartTexts) -> Iterator[str]:
    """What differs beside the tools: all of it is read by models."""
    if before[TOOLS].hash != now[TOOLS].hash and old.tools.keys() == new.tools.keys():
        yield "the tools are listed in another order"
    was, are = before.get(INSTRUCTIONS), now.get(INSTRUCTIONS)
    if (was and was.hash) != (are and are.hash):
        yield f"the server's instructions {'are gone' if not are else 'are new' if not was else 'differ'}"
    others, others_now = before.get(OTHER_TOOLS), now.get(OTHER_TOOLS)
    if (others and others.hash) != (others_now and others_now.hash):
        yield "the tools of the other servers differ"


def _side(parts: PartTexts) -> Side:
    named = {part.removeprefix(TOOL_OF): held.text for part, held in parts.items() if part.startswith(TOOL_OF)}
    return Side({name: None if text is None else read_tool_text(name, text) for name, text in named.items()})


def _changes(old: Side, new: Side, before: PartTexts, now: PartTexts) -> Iterator[PieceChange]:
    renamed = _renamed(old, new)
    for was, name in renamed.items():
        yield _compared(name, old.tools[was], new.tools[name], was)
    for name in sorted(new.tools.keys() - old.tools.keys() - set(renamed.values())):
        tool = new.tools[name]
        yield PieceChange(name=name, how="added", now=_words(tool), unread=tool is None)
    for name in sorted(old.tools.keys() - new.tools.keys() - renamed.keys()):
        tool = old.tools[name]
        yield PieceChange(name=name, how="removed", before=_words(tool), unread=tool is None)
    for name in sorted(old.tools.keys() & new.tools.keys()):
        if before[f"{TOOL_OF}{name}"].hash != now[f"{TOOL_OF}{name}"].hash:
            yield _compared(name, old.tools[name], new.tools[name])


def _compared(name: str, before: CatalogueTool | None, now: CatalogueTool | None, was: str = "") -> PieceChange:
    how: Literal["renamed", "changed"] = "renamed" if was else "changed"
    if before is None or now is None:
        return PieceChange(name=name, how=how, was=was, unread=True)
    found = [
        *argument_changes(before.input_schema, now.input_schema),
        *result_changes(before.output_schema, now.output_schema),
        *_hints(before.annotations or {}, now.annotations or {}),
    ]
    old, new = _words(before), _words(now)
    if old != new:
        found.append(SchemaChange(_grown(before, now)))
    elif not found and not was:
        found.append(SchemaChange("something that models read of its schema differs"))
    return PieceChange(
        name=name,
        how=how,
        was=was,
        breaks=_facts(each.text for each in found if each.breaks),
        other=_facts(each.text for each in found if not each.breaks),
        before=old if old != new else "",
        now=new if old != new else "",
    )


def _facts(texts: Iterable[str]) -> list[str]:
    facts = [text if len(text) <= LONGEST_FACT else f"{text[: LONGEST_FACT - 1]}…" for text in texts]
    if len(facts) <= MOST_FACTS:
        return facts
    return [*facts[: MOST_FACTS - 1], f"and {len(facts) - MOST_FACTS + 1} more"]


def _grown(before: CatalogueTool, now: CatalogueTool) -> str:
    """What to say of words that differ: whether the description does, and how long both are."""
    old, new = before.description or "", now.description or ""
    if old == new:
        same_title = before.description or before.title == now.title
        return "words about its arguments differ" if same_title else "the title differs"
    return f"the description differs ({len(old):,} → {len(new):,} characters)"


def _hints(before: Mapping[str, object], now: Mapping[str, object]) -> Iterator[SchemaChange]:
    """What the server says of a tool's effects: hosts ask people by it, models don't read it."""
    for key in sorted(before.keys() | now.keys()):
        old, new = (canonical_of(side[key]) if key in side else "unset" for side in (before, now))
        if old != new:
            yield SchemaChange(f"the annotation `{clean_text(key)[:60]}`: `{old[:60]}` → `{new[:60]}`")


def _words(tool: CatalogueTool | None) -> str:
    """What models read of a tool, without the form of its arguments: its description, else its title, and theirs."""
    if tool is None:
        return ""
    described = [f"{path}: {text}" for path, text in words_of(one_form(tool.input_schema))]
    words = "\n".join([tool.description or tool.title or "", *described]).strip()
    return words if len(words) <= LONGEST_PIECE else f"{words[: LONGEST_PIECE - 1]}…"


def _renamed(old: Side, new: Side) -> dict[str, str]:
    """Earlier name → name of tools that take the same arguments and are described in much the same words."""
    gone = {name: tool for name, tool in old.tools.items() if name not in new.tools and tool is not None}
    come = {name: tool for name, tool in new.tools.items() if name not in old.tools and tool is not None}
    if len(gone) * len(come) > _MOST_PAIRS:
        return {}
    forms = {name: _form(tool) for name, tool in (*gone.items(), *come.items())}
    words = {name: _bag(tool) for name, tool in (*gone.items(), *come.items())}
    alike = sorted(
        (-_likeness(words[was], words[name]), was, name) for was in gone for name in come if forms[was] == forms[name]
    )
    found: dict[str, str] = {}
    for likeness, was, name in alike:
        if -likeness >= _ALIKE and was not in found and name not in found.values():
            found[was] = name
    return found


def _bag(tool: CatalogueTool) -> Counter[str]:
    return Counter(_WORD.findall((tool.description or "")[:_COMPARED].lower()))


def _likeness(before: Counter[str], now: Counter[str]) -> float:
    """From 0 to 1: how many of the words of two descriptions are the same (Dice's coefficient); 1 without any."""
    both = before.total() + now.total()
    return 2 * (before & now).total() / both if both else 1.0


def _form(tool: CatalogueTool) -> tuple[str, ...]:
    return tuple(sorted(each.text for each in argument_changes({}, tool.input_schema)))

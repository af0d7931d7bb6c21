"""A checkup as people read it, and paste it into an issue."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby

from evalward.records.checkup import Checkup, CheckupGroup, CheckupItem, CheckupStatus
from evalward.render.console import Colour, Screen
from evalward.render.escape import one_line
from evalward.render.numbers import plural

_TITLES: Mapping[CheckupGroup, str] = {
    "machine": "This machine",
    "packages": "Packages",
    "isolation": "Isolation of what models and pull requests start",
    "programs": "Programs",
    "project": "This project",
    "targets": "Targets",
    "keys": "Keys in the environment (names only)",
    "network": "Network",
}
_MARKS: Mapping[CheckupStatus, tuple[str, str]] = {
    "ok": ("✓", "+"),
    "note": ("–", "-"),
    "warning": ("!", "!"),
    "missing": ("✗", "x"),
    "wrong": ("✗", "x"),
}
_COLOURS: Mapping[CheckupStatus, Colour] = {"ok": "green", "warning": "yellow", "missing": "red", "wrong": "red"}
_WIDEST_NAME = 26
_LONGEST = 600


def checkup_text(checkup: Checkup, *, colour: bool, width: int, ascii: bool = False) -> str:
    """The checkup, ending with what it comes to."""
    screen = Screen(colour, width)
    screen.heading(f"Evalward {checkup.evalward}")
    for group, items in groupby(checkup.items, key=lambda item: item.group):
        screen.heading(_TITLES[group])
        _show(screen, list(items), ascii=ascii)
    screen.blank()
    status, text = _summary(checkup)
    screen.say(text, mark=_MARKS[status][ascii], colour=_COLOURS[status])
    return screen.text()


def _show(screen: Screen, items: Sequence[CheckupItem], *, ascii: bool) -> None:
    """Packages that are fine fill lines together; everything else has a line of its own."""
    listed = [item for item in items if item.group == "packages" and item.status == "ok"]
    if listed:
        separator = ", " if ascii else " · "
        words = separator.join(f"{_name(item)}\u00a0{one_line(item.text, 40)}" for item in listed)
        screen.lines += [f"  {line}".replace("\u00a0", " ") for line in _wrap(words, screen.width - 2)]
    rest = [item for item in items if item not in listed]
    wide = min(max((len(_name(item)) for item in rest), default=0), _WIDEST_NAME)
    for item in rest:
        screen.lines += _lines(screen, item, wide, ascii=ascii)


def _lines(screen: Screen, item: CheckupItem, wide: int, *, ascii: bool) -> Iterator[str]:
    sign, shade = _MARKS[item.status][ascii], _COLOURS.get(item.status)
    head = f"{_name(item):<{wide}}"
    indent = " " * (wide + 6)
    room = max(screen.width - len(indent), 30)
    found = _wrap(one_line(item.text, _LONGEST), room)
    if item.remedy:
        arrow = "->" if ascii else "→"
        found += _wrap(f"{arrow} {one_line(item.remedy, _LONGEST)}", room)
    yield f"  {screen.paint(sign, shade) if shade else sign} {head}  {found[0]}".rstrip()
    yield from (f"{indent}{line}" for line in found[1:])


def _name(item: CheckupItem) -> str:
    return one_line(item.name, 80)


def _wrap(text: str, width: int) -> list[str]:
    return textwrap.wrap(text, width, break_long_words=False, break_on_hyphens=False) or [""]


def _summary(checkup: Checkup) -> tuple[CheckupStatus, str]:
    wrong, missing = checkup.of("wrong"), checkup.of("missing")
    if wrong:
        return "wrong", f"Can't be used as it is: {_named(wrong)}."
    if missing:
        return "missing", f"The configuration needs what is not here: {_named(missing)}."
    warnings = checkup.of("warning")
    more = f" {plural(len(warnings), 'line')} marked ! may be worth a look." if warnings else ""
    return "ok", f"Nothing that the configuration needs is missing.{more}"


def _named(items: Sequence[CheckupItem]) -> str:
    return ", ".join(dict.fromkeys(_name(item) for item in items))

"""Command-line options, read the way GNU getopt does: bundles, abbreviations, values, ``--``."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache

from evalward.safety.words import Word


@dataclass(frozen=True, slots=True)
class Spec:
    """The options of a program that matter. Unknown ones are accepted as flags without a value."""

    names: dict[str, str]
    """Every spelling to its canonical name, the first one given."""
    valued: frozenset[str]
    attached: frozenset[str]
    """Canonical names of short options whose value, if any, is written onto them."""
    """Canonical names of options that take a value."""


_OFF = ("false", "none")


@dataclass(frozen=True, slots=True)
class Options:
    """The parsed arguments of one call."""

    flags: frozenset[str]
    values: tuple[tuple[str, Word], ...]
    operands: tuple[Word, ...]

    def has(self, *names: str) -> bool:
        """Say whether any of these options is given."""
        return any(name in self.flags for name in names)

    def enabled(self, *names: str) -> bool:
        """Say whether a switch is on: given, and not with ``=false`` or ``=none``."""
        return any(
            name in self.flags and not any(given.text.lower() in _OFF for given in self.all_values(name))
            for name in names
        )

    def value(self, *names: str) -> Word | None:
        """Return the last value of one of these options."""
        found = self.all_values(*names)
        return found[-1] if found else None

    def all_values(self, *names: str) -> list[Word]:
        """Return every value of these options in order."""
        return [value for name, value in self.values if name in names]


@cache
def spec(text: str) -> Spec:
    """Build a ``Spec`` from names such as ``"r/recursive t/target-directory: p?"``.

    A colon means that a value follows, a question mark that one may be written onto the option.
    """
    names: dict[str, str] = {}
    valued: set[str] = set()
    attached: set[str] = set()
    for item in text.split():
        spellings = item.rstrip(":?").split("/")
        names.update(dict.fromkeys(spellings, spellings[0]))
        if item.endswith(":"):
            valued.add(spellings[0])
        elif item.endswith("?"):
            attached.add(spellings[0])
    return Spec(names, frozenset(valued), frozenset(attached))


class _OptionReader:
    def __init__(self, args: tuple[Word, ...], known: Spec) -> None:
        self.args = args
        self.known = known
        self.at = 0
        self.flags: set[str] = set()
        self.values: list[tuple[str, Word]] = []

    def next_value(self, name: str) -> None:
        if self.at < len(self.args):
            self.values.append((name, self.args[self.at]))
            self.at += 1

    def long(self, word: Word, dashes: int) -> None:
        name, equals, _ = word.text[dashes:].partition("=")
        name = self._complete(name)
        self.flags.add(name)
        if equals:
            self.values.append((name, word.after(word.text.index("=") + 1)))
        elif name in self.known.valued:
            self.next_value(name)

    def _complete(self, name: str) -> str:
        if name in self.known.names:
            return self.known.names[name]
        found = {canonical for full, canonical in self.known.names.items() if full.startswith(name)}
        return found.pop() if len(found) == 1 and len(name) > 1 else name

    def short(self, word: Word) -> None:
        text = word.text
        whole = text[1:].partition("=")[0]
        if len(whole) > 1 and whole in self.known.names:
            self.long(word, 1)
            return
        if len(whole) > 2:
            self.flags.add(whole)  # programs with long options on a single dash: -auto-approve
        for index, char in enumerate(text[1:], start=2):
            name = self.known.names.get(char, char)
            self.flags.add(name)
            if name in self.known.attached:
                return
            if name in self.known.valued:
                if index < len(text):
                    skipped = text[index] == "=" and index + 1 < len(text)  # some programs take -n=value
                    self.values.append((name, word.after(index + skipped)))
                else:
                    self.next_value(name)
                return


def _is_option(word: Word) -> bool:
    return len(word.text) > 1 and word.text[0] == "-" and not word.pieces[0].flow


def parse_options(args: Iterable[Word], known: Spec) -> Options:
    """Read all arguments; options may stand between and after operands."""
    reader = _OptionReader(tuple(args), known)
    operands: list[Word] = []
    while reader.at < len(reader.args):
        word = reader.args[reader.at]
        reader.at += 1
        if word.text == "--":
            operands.extend(reader.args[reader.at :])
            break
        if not _is_option(word):
            operands.append(word)
        elif word.text.startswith("--"):
            reader.long(word, 2)
        else:
            reader.short(word)
    return Options(frozenset(reader.flags), tuple(reader.values), tuple(operands))


def leading_options(args: Iterable[Word], known: Spec) -> Options:
    """Read the options in front of the first operand; all that follows is left as it is.

    For programs that run another one: its options are not theirs.
    """
    reader = _OptionReader(tuple(args), known)
    while reader.at < len(reader.args):
        word = reader.args[reader.at]
        if word.text == "--":
            reader.at += 1
            break
        if not _is_option(word):
            break
        reader.at += 1
        if word.text.startswith("--"):
            reader.long(word, 2)
        else:
            reader.short(word)
    return Options(frozenset(reader.flags), tuple(reader.values), reader.args[reader.at :])

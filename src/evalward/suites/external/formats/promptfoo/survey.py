"""What has to be known of all rows of a file before the first of them is read: names, repeats, arms, counts."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from evalward.records.base import digest
from evalward.records.problem import InputError, wrong
from evalward.suites.external.formats.base import ForeignFile
from evalward.suites.external.formats.promptfoo.case import (
    asked_by,
    by_variables,
    description,
    says_nothing,
)
from evalward.suites.external.formats.values import count, mapping, text

TITLE = "results of promptfoo"
_OF_A_FILE = re.compile(r"(?:file://)?([\w./ -]+\.\w+)(?::\w+)?: ")
"""The label of a prompt that lies in a file, before its text."""
_OF_A_TEXT = ("{{", "{%", "\n", '{"')
_LONGEST_LABEL = 40
MOST_ROWS = 200_000


class Arm(NamedTuple):
    """One prompt with one provider, at this `promptIdx`: results that must not be mixed with those of another.

    `prompt` is its label, which is its text where it was given none. The id of the prompt is no help: rows that
    promptfoo writes for the second time, those with a score of NaN, have none.
    """

    place: int
    provider: str
    prompt: str


class RowSurvey:
    """Goes through a file's rows once. What it keeps of each is a few short texts."""

    def __init__(self, file: ForeignFile) -> None:
        self._file = file
        self.rows = self.empty = self.unchecked = self.cached = 0
        self.ids: set[str] = set()
        self._arms: set[Arm] = set()
        self._texts: set[str] = set()
        self._variants: dict[str, set[str]] = defaultdict(set)
        self._groups: dict[tuple[str, str, Arm], list[int]] = defaultdict(list)
        self._places: dict[tuple[int, int], list[int]] = {}

    def add(self, row: Any) -> None:
        """Another row. Raises `InputError` for what is none, and for one that is there twice."""
        if not isinstance(row, dict) or not isinstance(row.get("testCase"), dict):
            raise self._wrong("one of its results is not a test's")
        self.rows += 1
        if self.rows > MOST_ROWS:
            raise self._wrong(f"it has more than {MOST_ROWS:,} results")
        self.empty += says_nothing(row)
        self.unchecked += not row["testCase"].get("assert")
        self.cached += mapping(row.get("response")).get("cached") is True
        self.ids.add(text(row.get("id"))[:_LONGEST_LABEL])
        name, arm, asked = description(row), arm_of(row), digest(asked_by(row))
        self._variants[name].add(asked)
        self._arms.add(arm)
        if text(mapping(row.get("prompt")).get("raw")) == arm.prompt:
            self._texts.add(arm.prompt)
        self._place(count(row.get("testIdx")), arm, self._groups[name, asked, arm])

    def _place(self, test: int | None, arm: Arm, group: list[int]) -> None:
        if test is None:
            return
        if (test, arm.place) in self._places:
            raise self._wrong(f"it has two results of test {test} with prompt {arm.place} (testIdx, promptIdx)")
        self._places[test, arm.place] = group
        group.append(test)

    @property
    def arms(self) -> Sequence[int]:
        """The numbers of the prompts with their providers."""
        return sorted({arm.place for arm in self._arms})

    @property
    def most_trials(self) -> int:
        """Of one case."""
        return max((len(tests) for tests in self._groups.values()), default=0)

    def finish(self) -> None:
        """After the last row."""
        for tests in self._groups.values():
            tests.sort()
        self._suites = _suites(self._arms, self._texts)
        self._targets = _targets(self._arms)

    def case(self, row: Mapping[str, Any]) -> str:
        """The test's description; where that names several tests, or none, with its variables."""
        name = description(row)
        if not name:
            return by_variables(row)
        return f"{name} ({by_variables(row)})" if len(self._variants[name]) > 1 else name

    def number(self, row: Mapping[str, Any], arm: Arm) -> int | None:
        """Which repeat of its test a row is: repeats are told apart by the order of `testIdx` alone."""
        test = count(row.get("testIdx"))
        return None if test is None else bisect_right(self._places[test, arm.place], test)

    def suite(self, arm: Arm) -> str:
        """The prompt, where there are several."""
        return self._suites[arm]

    def target(self, arm: Arm) -> str:
        """The provider."""
        return self._targets[arm]

    def _wrong(self, message: str) -> InputError:
        return wrong(self._file.name, f"{TITLE}: {message}", "Have promptfoo write the file again.")


def arm_of(row: Mapping[str, Any]) -> Arm:
    """Which prompt with which provider a row is of."""
    provider, prompt = row.get("provider"), mapping(row.get("prompt"))
    name = text(mapping(provider).get("label")) or text(mapping(provider).get("id")) or text(provider)
    return Arm(
        place=count(row.get("promptIdx")) or 0,
        provider=_without_folders(name),
        prompt=text(prompt.get("label")),
    )


def _without_folders(name: str) -> str:
    """A provider's name without where it lies on the machine."""
    return f"file://{name.rsplit('/', 1)[-1]}" if name.startswith("file:///") else name


def _own_label(label: str) -> str:
    """The label that a prompt was given, or the file that it lies in: a text that changes is no name. "" for none."""
    in_file = _OF_A_FILE.match(label)
    if in_file:
        return in_file[1]
    return "" if any(mark in label for mark in _OF_A_TEXT) or len(label) > _LONGEST_LABEL else label


def _suites(arms: Iterable[Arm], texts: Collection[str]) -> dict[Arm, str]:
    """What the prompt is called: its label, or its number among the prompts. "" where there is one.

    `texts` are labels that are the prompt itself.
    """
    ordered = sorted(arms)
    prompts = list(dict.fromkeys(arm.prompt for arm in ordered))
    if len(prompts) < 2:
        return dict.fromkeys(ordered, "")
    labels = ["" if prompt in texts else _own_label(prompt) for prompt in prompts]
    names = {
        prompt: label if label and labels.count(label) == 1 else f"prompt {place}"
        for place, (prompt, label) in enumerate(zip(prompts, labels, strict=True), 1)
    }
    return {arm: names[arm.prompt] for arm in ordered}


def _targets(arms: Iterable[Arm]) -> dict[Arm, str]:
    """What the provider is called; where two have one name, the later ones with a number."""
    seen: dict[tuple[str, str], int] = defaultdict(int)
    names: dict[Arm, str] = {}
    for arm in sorted(arms):
        seen[arm.provider, arm.prompt] += 1
        which = seen[arm.provider, arm.prompt]
        names[arm] = arm.provider if which == 1 else f"{arm.provider} ({which})"
    return names

"""Evals in the forms that repositories have them in: `evals.json` of skill-creator, and lists of trigger queries."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from evalward.records.base import clean_text
from evalward.records.model_words import described
from evalward.records.problem import InputError, Place
from evalward.records.words import near_or_known, one_line, shown
from evalward.suites.bounds import MOST_ENTRIES
from evalward.suites.skill.case import SkillAsk
from evalward.suites.skill.json_items import JsonItems, read_items
from evalward.suites.skill.naming import named_in
from evalward.suites.skill.placed import EvalsRead, PlacedAsk, id_of_words, mark_of, slug_of
from evalward.suites.skill.task import LONGEST_SENTENCE, MOST_EXPECTATIONS

TRIGGER = "trigger"
"""The middle of the id of a query."""
LONGEST_PROMPT = 100_000
_NOT_TRIGGER = re.compile(
    r"\s*(?:the skill )?(?:should|must|does|do)(?: not|n[’']t)\s+(?:be )?(?:trigger|load|activat)", re.I
)
_TEXTS = ("text", "description", "expectation", "assertion")
"""Keys below which an assertion that is an object has its sentence."""
_KNOWN = frozenset(
    {"id", "name", "eval_name", "prompt", "query", "expected_output", "files", "expectations", "assertions", "tags"}
    | {"should_trigger", "should_not_trigger", "skill", "skill_name", "notes", "note", "reason", "category"}
)
_YES, _NO = frozenset({"true", "yes"}), frozenset({"false", "no", "none", ""})


@dataclass(frozen=True)
class Naming:
    """The skills that evals may name: the suite's own, and all that are installed for a query."""

    own: Sequence[str]
    installed: Sequence[str]


def read_foreign(root: Path, file: str, skill: str | None, naming: Naming, folder: str) -> EvalsRead:
    """The cases of a JSON file below `root`: of the `skill` in whose folder it lies, else of the one that it names.

    `folder`: the files that it names count from there.
    """
    read = EvalsRead()
    try:
        found = read_items(root, file)
    except InputError as error:
        read.problems += error.problems
        return read
    whose = skill or _skill_of_file(read, file, found, naming)
    if whose is None:
        return read
    _same_skill(read, file, found, whose)
    if not found.items:
        read.odd(Place(file=file), "there is no eval in the file", "Add one, or remove the file.")
    reader = _EvalsReader(read, file, whose, naming, folder)
    for line, item in found.items:
        reader.take(Place(file=file, line=line), item)
    return read


def _skill_of_file(read: EvalsRead, file: str, found: JsonItems, naming: Naming) -> str | None:
    given = found.around.get("skill_name", found.around.get("skill"))
    if isinstance(given, str) and given in naming.own:
        return given
    if len(naming.own) == 1:
        return naming.own[0]
    place = Place(file=file, line=1)
    if isinstance(given, str):
        remedy = near_or_known(given, naming.own, "The suite has")
        read.wrong(place, f"the suite has no skill {shown(given)}", remedy, "skill_name")
    else:
        read.wrong(
            place, "nothing says whose evals these are", "Add skill_name, or move the file into the skill's evals/."
        )
    return None


def _same_skill(read: EvalsRead, file: str, found: JsonItems, skill: str) -> None:
    given = found.around.get("skill_name")
    if isinstance(given, str) and given != skill:
        message = f"skill_name is {shown(given)}, and the skill is called {shown(skill)}"
        read.odd(Place(file=file), message, f"Write {shown(skill)}.", "skill_name")


class _EvalsReader:
    """One file on its way to cases."""

    def __init__(self, read: EvalsRead, file: str, skill: str, naming: Naming, folder: str) -> None:
        self._read, self._file, self._skill, self._naming, self._folder = read, file, skill, naming, folder
        self._ids: set[str] = set()
        self._unread: set[str] = set()

    def take(self, place: Place, item: Any) -> None:
        """One eval, or what is wrong with it."""
        if not isinstance(item, dict):
            self._read.wrong(place, f"an eval is {described(item)}", 'Write an object: {"prompt": …}.')
            return
        prompt = item.get("prompt", item.get("query"))
        if not isinstance(prompt, str) or not prompt.strip():
            key = "query" if "query" in item else "prompt"
            self._read.wrong(place, "the eval asks nothing", f"Add {key}: what the agent is asked.", key)
        elif len(prompt) > LONGEST_PROMPT:
            self._read.wrong(place, f"the prompt is longer than {LONGEST_PROMPT:,} characters", "Put it into a file.")
        else:
            self._others(place, item)
            prompt = clean_text(prompt)
            if "should_trigger" in item or "should_not_trigger" in item:
                self._query(place, item, prompt)
            elif "query" in item and "prompt" not in item:
                self._read.wrong(
                    place, "nothing says whether the skill should load", "Add should_trigger.", "should_trigger"
                )
            else:
                self._task(place, item, prompt)

    def _others(self, place: Place, item: Mapping[str, Any]) -> None:
        """Keys that nothing here reads: said once for a file."""
        new = sorted(key for key in item if key not in _KNOWN and key not in self._unread)
        self._unread.update(new)
        if new:
            names = ", ".join(one_line(key) for key in new[:8])
            remedy = "Write what they check as expectations, or as checks of a case in YAML."
            self._read.odd(place, f"these keys are not read, and nothing is checked by them: {names}", remedy)

    # --- queries

    def _query(self, place: Place, item: Mapping[str, Any], prompt: str) -> None:
        wants = self._wanted(place, item.get("should_trigger"))
        others = item.get("should_not_trigger", [])
        others = [others] if isinstance(others, str) else others
        if not isinstance(others, list) or not all(isinstance(each, str) for each in others):
            self._read.wrong(
                place, "should_not_trigger must be a list of skills", 'Write ["NAME"].', "should_not_trigger"
            )
            return
        unknown = [each for each in others if each not in self._naming.installed]
        for each in unknown:
            remedy = near_or_known(each, self._naming.installed, "There are")
            self._read.wrong(place, f"there is no skill {shown(each)}", remedy, "should_not_trigger")
        if isinstance(wants, _Unclear) or unknown:
            return
        self._add_query(place, prompt, wants, others)

    def _add_query(self, place: Place, prompt: str, wants: str | None, others: Sequence[str]) -> None:
        named = named_in(prompt, self._naming.installed)
        if named is not None:
            message = f"the query names the skill itself ({named}), which loads it whatever its description says"
            self._read.wrong(place, message, "Ask as somebody would who doesn't know the skill.", "query")
            return
        if wants is not None and wants in others:
            self._read.wrong(place, f"{shown(wants)} should trigger, and shouldn't", "Remove one of the two.")
            return
        unwanted = {*others, *([self._skill] if wants is None else ())}
        ask = SkillAsk(
            id=f"{self._skill}/{TRIGGER}/{id_of_words(prompt)}",
            asks="trigger",
            skill=self._skill,
            prompt=prompt,
            wants=wants,
            unwanted=sorted(unwanted),
        )
        self._read.asks.append(PlacedAsk(ask, place, self._folder, of_skill=True))

    def _wanted(self, place: Place, given: Any) -> str | _Unclear | None:
        """The skill that should load, `None` for none of them."""
        if isinstance(given, bool):
            return self._skill if given else None
        if given is None:
            return None
        if isinstance(given, str):
            if given in self._naming.own:
                return given
            if given.strip().lower() in _YES | _NO:
                return self._skill if given.strip().lower() in _YES else None
            remedy = near_or_known(given, self._naming.own, "The suite has")
            self._read.wrong(place, f"the suite has no skill {shown(given)}", remedy, "should_trigger")
        else:
            remedy = "Write true, false, or the name of the skill."
            self._read.wrong(place, f"should_trigger is {described(given)}", remedy, "should_trigger")
        return _UNCLEAR

    # --- tasks

    def _task(self, place: Place, item: Mapping[str, Any], prompt: str) -> None:
        output = item.get("expected_output")
        output = clean_text(output).strip() if isinstance(output, str) else ""
        if _NOT_TRIGGER.match(output):
            message = "its expected_output says that the skill should not load: it is taken for a query"
            self._read.odd(
                place, message, 'Move it to trigger-evals.json, with "should_trigger": false.', "expected_output"
            )
            self._add_query(place, prompt, None, ())
            return
        files = item.get("files") or []
        if not isinstance(files, list) or not all(isinstance(each, str) and each for each in files):
            self._read.wrong(place, "files must be a list of paths", "Write paths from the skill's folder.", "files")
            return
        if len(files) > MOST_ENTRIES:
            self._read.wrong(place, f"the eval has more than {MOST_ENTRIES:,} files", "Leave some out.", "files")
            return
        expectations = self._expectations(place, item)
        if expectations is None:
            return
        if not expectations and output:
            expectations = [f"What came of it is as described: {output}"[:LONGEST_SENTENCE]]
        if not expectations:
            remedy = "Add expectations: sentences that hold when the task is done."
            self._read.odd(place, "nothing decides how this eval went, so it is left out", remedy)
            return
        ask = SkillAsk(
            id=self._id(item, prompt),
            asks="task",
            skill=self._skill,
            prompt=prompt,
            files={name: name for name in files},
            expectations=expectations,
            expected_output=output,
            forced=named_in(prompt, [self._skill]) is not None,
        )
        self._read.asks.append(PlacedAsk(ask, place, self._folder, of_skill=True))

    def _expectations(self, place: Place, item: Mapping[str, Any]) -> list[str] | None:
        """The sentences; `None`, and a mistake, where they are none."""
        found: list[str] = []
        for key in ("expectations", "assertions"):
            given = item.get(key) or []
            if not isinstance(given, list):
                self._read.wrong(place, f"{key} is {described(given)}", "Write a list of sentences.", key)
                return None
            for number, each in enumerate(given):
                sentence = _sentence(each)
                if not sentence:
                    remedy = 'Write a sentence, or {"id": …, "text": "a sentence"}.'
                    self._read.wrong(place, "an expectation has no sentence", remedy, f"{key}[{number}]")
                    return None
                if len(sentence) > LONGEST_SENTENCE:
                    message = f"an expectation is longer than {LONGEST_SENTENCE:,} characters"
                    self._read.wrong(place, message, "Say it in a sentence.", f"{key}[{number}]")
                    return None
                found.append(sentence)
        if len(found) > MOST_EXPECTATIONS:
            message = f"the eval has more than {MOST_EXPECTATIONS} expectations"
            self._read.wrong(place, message, "Make several evals of it.", "expectations")
            return None
        return list(dict.fromkeys(found))

    def _id(self, item: Mapping[str, Any], prompt: str) -> str:
        """By its name, else its number, else its words; a name that an earlier eval has, with the number as well."""
        number = item.get("id")
        number = "" if isinstance(number, bool) or not isinstance(number, int | str) else str(number)
        names = [slug_of(each, 60) for each in (item.get("name"), item.get("eval_name")) if isinstance(each, str)]
        given = next(filter(None, [*names, slug_of(number, 60)]), id_of_words(prompt))
        if given in self._ids:
            given = f"{given}-{slug_of(number) or mark_of(prompt)}"
        self._ids.add(given)
        return f"{self._skill}/{given}"


class _Unclear:
    """What should load can't be read: that is taken down."""


_UNCLEAR = _Unclear()


def _sentence(value: Any) -> str:
    if isinstance(value, dict):
        value = next((value[key] for key in _TEXTS if isinstance(value.get(key), str)), None)
    return clean_text(value).strip() if isinstance(value, str) else ""

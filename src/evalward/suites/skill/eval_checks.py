"""What is wrong or odd about a suite's queries as a whole: contradictions, repetitions, a class that is missing."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Sequence

from evalward.records.problem import Place
from evalward.records.words import shown
from evalward.suites.skill.placed import EvalsRead, PlacedAsk, same_words
from evalward.suites.skill.skill_file import Skill

_WORD = re.compile(r"[^\W\d_]{4,}")
_EVERYWHERE = frozenset(
    {"about", "also", "been", "does", "each", "from", "have", "help", "here", "into", "just", "make", "need", "only"}
    | {"please", "skill", "some", "such", "than", "that", "their", "them", "then", "there", "these", "they", "this"}
    | {"user", "users", "want", "wants", "what", "when", "whenever", "where", "which", "while", "will", "with", "your"}
)
"""Words that say nothing of what somebody asks."""
LEAST = 4
"""Queries of a skill from which on it is said what they lack."""


def check_evals(asks: Sequence[PlacedAsk], skills: Sequence[Skill]) -> EvalsRead:
    """The cases without those that repeat another, and what is wrong or odd about them together."""
    read = EvalsRead()
    queries: dict[str, list[PlacedAsk]] = defaultdict(list)
    for placed in asks:
        if placed.ask.asks == "task":
            read.asks.append(placed)
            continue
        same = queries[same_words(placed.ask.prompt)]
        if not _repeats(read, placed, same):
            same.append(placed)
            read.asks.append(placed)
    by_skill: dict[str, list[PlacedAsk]] = defaultdict(list)
    for placed in (placed for same in queries.values() for placed in same):
        by_skill[placed.ask.skill].append(placed)
    for skill in skills:
        _check_classes(read, skill, by_skill.get(skill.name, []))
    return read


def _repeats(read: EvalsRead, placed: PlacedAsk, earlier: Sequence[PlacedAsk]) -> bool:
    """Whether a query is to be left out, as another of its skill asks the same. What contradicts is a mistake."""
    ask = placed.ask
    for other in earlier:
        same_skill = other.ask.skill == ask.skill
        if same_skill and other.ask.wants == ask.wants and other.ask.unwanted == ask.unwanted:
            read.odd(placed.place, f"the query {shown(ask.prompt)} is already at {other.place}", "Remove one of them.")
            return True
        if _contradicts(placed, other):
            message = f"the query {shown(ask.prompt)} should load {_wanted(ask.wants)}, and at {other.place} "
            read.wrong(placed.place, f"{message}{_wanted(other.ask.wants)}", "Decide, and remove one of the two.")
            return True
        if ask.wants and other.ask.wants and ask.wants != other.ask.wants:
            message = f"the query {shown(ask.prompt)} should load {ask.wants}, and at {other.place} {other.ask.wants}"
            remedy = "Only one of them can be loaded first: say which by should_not_trigger, or remove one."
            read.odd(placed.place, message, remedy)
    return False


def _contradicts(one: PlacedAsk, other: PlacedAsk) -> bool:
    """Whether no agent could do what both queries want."""
    first, second = one.ask, other.ask
    excluded = (first.wants in second.unwanted) or (second.wants in first.unwanted)
    return excluded or (first.skill == second.skill and first.wants != second.wants)


def _wanted(wants: str | None) -> str:
    return "none of the suite's skills" if wants is None else wants


def _check_classes(read: EvalsRead, skill: Skill, queries: Sequence[PlacedAsk]) -> None:
    """Queries of both classes, and among those that shouldn't trigger some that are near the skill."""
    should = [each for each in queries if each.ask.wants == skill.name]
    not_for = [each for each in queries if skill.name in each.ask.unwanted]
    if len(queries) < LEAST:
        return
    place = Place(file=queries[0].place.file)
    if not should:
        remedy = "Add some that should: without them an agent that never loads it is right in every one."
        read.odd(place, f"no query should load {skill.name}", remedy)
    if not not_for:
        remedy = "Add near misses: without them an agent that always loads it is right in every one."
        read.odd(place, f"no query should leave {skill.name} alone", remedy)
    about = _content(skill.description).union(*(_content(each.ask.prompt) for each in should))
    if should and not_for and not any(about & _content(each.ask.prompt) for each in not_for):
        remedy = "Add near misses: queries with its words that are about something else."
        read.odd(place, f"no query that should leave {skill.name} alone comes near it", remedy)


def _content(text: str) -> set[str]:
    """The words that say what a text is about."""
    return set(_WORD.findall(text[:10_000].lower())) - _EVERYWHERE

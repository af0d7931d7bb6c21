"""Cases of ours, from YAML and JSONL files: each with the skill that it is about."""

from __future__ import annotations

from pathlib import Path

from evalward.records.problem import Place, Problem
from evalward.records.words import near_or_known, shown
from evalward.suites.lines import read_objects
from evalward.suites.skill.case import SkillAsk
from evalward.suites.skill.foreign_evals import Naming
from evalward.suites.skill.naming import named_in
from evalward.suites.skill.placed import EvalsRead, PlacedAsk
from evalward.suites.skill.task import SkillTask

_ALIKE = ("id", "prompt", "files", "checks", "expectations", "expected_output", "solution", "tags")


def read_own(root: Path, file: str, naming: Naming) -> EvalsRead:
    """The cases of a YAML or JSONL file below `root`."""
    found = read_objects(root, file, SkillTask)
    read = EvalsRead(problems=list(found.problems))
    if not found.lines and not found.problems:
        read.wrong(Place(file=file), "the file has no case", "Add one, or remove it.")
    for line in found.lines:
        ask = _ask(read, line.value, line.place, naming)
        if ask is not None:
            read.asks.append(PlacedAsk(ask, line.place))
    return read


def _ask(read: EvalsRead, task: SkillTask, place: Place, naming: Naming) -> SkillAsk | None:
    asked = task.should_trigger
    skill = task.skill or (asked if isinstance(asked, str) else naming.own[0] if len(naming.own) == 1 else None)
    if skill is None:
        read.wrong(place, "the case doesn't say which skill it is about", "Add skill: NAME.", task.id)
        return None
    unknown = list(_unknown(task, skill, naming, place))
    if unknown:
        read.problems += unknown
        return None
    wants = asked if isinstance(asked, str) else skill if asked else None
    named = named_in(task.prompt, [skill] if asked is None else naming.installed)
    if asked is not None and named is not None:
        message = f"the query names the skill itself ({named}), which loads it whatever its description says"
        read.wrong(place, message, "Ask as somebody would who doesn't know the skill.", f"{task.id}: prompt")
        return None
    unwanted = task.should_not_trigger if wants or asked is None else [skill, *task.should_not_trigger]
    return SkillAsk(
        asks="task" if asked is None else "trigger",
        skill=skill,
        wants=wants,
        unwanted=sorted(set(unwanted)),
        forced=named is not None,
        **{key: getattr(task, key) for key in _ALIKE},
    )


def _unknown(task: SkillTask, skill: str, naming: Naming, place: Place) -> list[Problem]:
    """Skills that a case names and that there are not."""
    own = [
        ("skill", skill),
        *([("should_trigger", task.should_trigger)] if isinstance(task.should_trigger, str) else []),
    ]
    names = [(key, name, naming.own, "the suite has no skill", "The suite has") for key, name in own]
    names += [
        ("should_not_trigger", name, naming.installed, "there is no skill", "There are")
        for name in task.should_not_trigger
    ]
    return [
        Problem(
            place=place,
            field=f"{task.id}: {key}",
            message=f"{what} {shown(name)}",
            remedy=near_or_known(name, known, heading),
        )
        for key, name, known, what, heading in names
        if name not in known
    ]

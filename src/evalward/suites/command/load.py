"""Loading the cases of a command suite: all files that its patterns match, every problem at once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from pydantic import ValidationError

from evalward.config import LoadedConfig
from evalward.records.problem import InputError, Place, Problem
from evalward.suites.command.case import CommandCase, CommandTask, Layout, Matching, Rules, make_case
from evalward.suites.command.files import CaseFile, RawCase, read_case_file
from evalward.suites.command.layouts import MODELS
from evalward.suites.command.spec import CommandSuite
from evalward.suites.files import case_files, repeated_ids
from evalward.suites.lines import explained

DEFAULTS: dict[Layout, tuple[Matching, Rules]] = {
    "evalward": ("tokens", "default"),
    "wp06": ("caro", "caro"),
    "026": ("command_equivalence", "caro"),
    "022": ("caro", "caro"),
}
"""How answers are matched and which portability rules hold where neither suite nor case says."""


@dataclass(frozen=True)
class LoadedCases:
    """The cases of a suite, in order of files (by name) and lines, and what is odd about their files."""

    cases: Sequence[CommandCase]
    warnings: Sequence[str]


def load_cases(spec: CommandSuite, config: LoadedConfig) -> LoadedCases:
    """Raises `InputError` with every problem of every file."""
    problems: list[Problem] = []
    read = [read_case_file(config.root, file) for file in case_files(spec.name, spec.cases, config, problems)]
    cases = [case for file in read for case in _cases(file, spec)]
    problems += [problem for file in read for problem in file.problems]
    problems += repeated_ids(cases)
    if problems:
        raise InputError(problems)
    return LoadedCases(cases, [warning for file in read for warning in file.warnings])


def _cases(file: CaseFile, spec: CommandSuite) -> list[CommandCase]:
    match, rules = DEFAULTS[file.layout]
    match, rules = spec.match or match, spec.rules or rules
    cases = [make_case(task, place, match, rules, spec.safety_level, allow=spec.allow) for task, place in _tasks(file)]
    for case in cases:
        if case.match == "pattern" and case.task.pattern is None:
            message = "the suite says match: pattern, and the case has no `pattern`"
            remedy = "Add it, or give the case a `match` of its own."
            file.problems.append(Problem(place=case.place, field=case.id, message=message, remedy=remedy))
    return cases


def _tasks(file: CaseFile) -> list[tuple[CommandTask, Place]]:
    found: list[tuple[CommandTask, Place]] = []
    for entry in file.entries:
        place = Place(file=file.shown_as, line=entry.line)
        try:
            found.append((MODELS[file.layout].model_validate(entry.value, strict=True).task(), place))
        except ValidationError as error:
            file.problems += [_problem(file, entry, problem) for problem in _explained(file, place, error)]
    return found


def _explained(file: CaseFile, place: Place, error: ValidationError) -> list[Problem]:
    return [explained(place, item, MODELS[file.layout]) for item in error.errors()]


def _problem(file: CaseFile, entry: RawCase, problem: Problem) -> Problem:
    """The problem at the line of its key, with the case's id in front."""
    key = problem.field.partition(".")[0].partition("[")[0]
    name = entry.value.get("id") if isinstance(entry.value, dict) else None
    named = f"{name}: {problem.field}".rstrip(": ") if isinstance(name, str) and name else problem.field
    place = Place(file=file.shown_as, line=entry.lines.get(key, entry.line))
    return problem.but(place=place, field=named[:120])

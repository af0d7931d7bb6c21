"""Loading the cases of a bash suite: all files that its patterns match, every problem at once."""

from __future__ import annotations

from collections.abc import Iterable

from evalward.config import BashSuite, LoadedConfig
from evalward.graders.source import Read, Source, reader
from evalward.records.problem import InputError, Place, Problem
from evalward.suites.bash.case import BashCase, BashTask, make_case
from evalward.suites.bash.checks import GRADER, parse_check
from evalward.suites.files import case_files
from evalward.suites.lines import Line, read_lines


def load_cases(spec: BashSuite, config: LoadedConfig) -> list[BashCase]:
    """The cases, in order of files (by name) and lines. Raises `InputError` with every problem of every file."""
    problems: list[Problem] = []
    lines: list[Line[BashTask]] = []
    for file in case_files(spec.name, spec.cases, config, problems):
        read = read_lines(config.root, file, BashTask)
        lines += read.lines
        problems += read.problems
        if not read.lines and not read.problems:
            problems.append(
                Problem(place=Place(file=file), message="the file has no task", remedy="Add one, or take it away.")
            )
    problems += _duplicates(lines)
    read_grader = reader(config.root)
    graders = [_graders(line, read_grader, problems) for line in lines]
    if problems:
        raise InputError(problems)
    return [
        make_case(line.value, line.place, spec.max_turns, spec.timeout_s, found)
        for line, found in zip(lines, graders, strict=True)
    ]


def _graders(line: Line[BashTask], read: Read, problems: list[Problem]) -> list[Source]:
    """The graders that a task's checks name; each that can't be found is a problem."""
    found: list[Source] = []
    for index, item in enumerate(line.value.expectations):
        if parse_check(item.check).name != GRADER:
            continue
        try:
            found.append(read(item.check))
        except ValueError as error:
            field = f"expectations[{index}].check"
            problems.append(Problem(place=line.place, field=field, message=str(error), remedy="See docs/graders.md."))
    return found


def _duplicates(lines: Iterable[Line[BashTask]]) -> list[Problem]:
    seen: dict[str, Place] = {}
    problems: list[Problem] = []
    for line in lines:
        if line.value.id in seen:
            message = f"the id {line.value.id!r} is already used at {seen[line.value.id]}"
            problems.append(Problem(place=line.place, field="id", message=message, remedy="Give it another one."))
        else:
            seen[line.value.id] = line.place
    return problems

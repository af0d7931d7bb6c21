"""Loading the cases of a bash suite: all files that its patterns match, every problem at once."""

from __future__ import annotations

from evalward.config import LoadedConfig
from evalward.graders.source import Read, Source, reader
from evalward.records.problem import InputError, Place, Problem
from evalward.suites.bash.case import BashCase, BashTask, make_case
from evalward.suites.bash.checks import GRADER, parse_check
from evalward.suites.bash.spec import BashSuite
from evalward.suites.lines import read_cases


def load_cases(spec: BashSuite, config: LoadedConfig) -> list[BashCase]:
    """The cases, in order of files (by name) and lines. Raises `InputError` with every problem of every file."""
    read_grader = reader(config.root)

    def made(task: BashTask, place: Place) -> BashCase:
        return make_case(task, place, spec.max_turns, spec.timeout_s, _graders(task, place, read_grader))

    return read_cases(spec, config, BashTask, made, "task")


def _graders(task: BashTask, place: Place, read: Read) -> list[Source]:
    """The graders that a task's checks name. Raises `InputError` with each that can't be found."""
    found: list[Source] = []
    problems: list[Problem] = []
    for index, item in enumerate(task.expectations):
        if parse_check(item.check).name != GRADER:
            continue
        try:
            found.append(read(item.check))
        except ValueError as error:
            field = f"expectations[{index}].check"
            problems.append(Problem(place=place, field=field, message=str(error), remedy="See docs/graders.md."))
    if problems:
        raise InputError(problems)
    return found

"""Loading the cases of a bash suite: all files that its patterns match, every problem at once."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from evalward.config import BashSuite, LoadedConfig
from evalward.records.problem import InputError, Place, Problem
from evalward.suites.bash.case import BashCase, BashTask, make_case
from evalward.suites.lines import Line, read_lines


def load_cases(spec: BashSuite, config: LoadedConfig) -> list[BashCase]:
    """The cases, in order of files (by name) and lines. Raises `InputError` with every problem of every file."""
    problems: list[Problem] = []
    lines: list[Line[BashTask]] = []
    for file in case_files(spec, config, problems):
        read = read_lines(file, _shown(file, config.root), BashTask)
        lines += read.lines
        problems += read.problems
        if not read.lines and not read.problems:
            place = Place(file=_shown(file, config.root))
            problems.append(Problem(place=place, message="the file has no task", remedy="Add one, or take it away."))
    problems += _duplicates(lines)
    if problems:
        raise InputError(problems)
    return [make_case(line.value, line.place, spec.max_turns, spec.timeout_s) for line in lines]


def case_files(spec: BashSuite, config: LoadedConfig, problems: list[Problem]) -> list[Path]:
    """The files that the suite's patterns match, without repetition. A pattern that matches none is a problem."""
    found: dict[Path, None] = {}
    index = [suite.name for suite in config.config.suites].index(spec.name)
    for number, pattern in enumerate(spec.cases):
        files = _matching(config.root, pattern)
        if not files:
            line = config.line("suites", index, "cases", number)
            problems.append(
                Problem(
                    place=Place(file=config.file, line=line),
                    field=f"suites[{index}].cases",
                    message=f"no file matches {pattern!r}",
                    remedy=f"Patterns count from the folder of {config.file}.",
                )
            )
        found |= dict.fromkeys(files)
    return list(found)


def _matching(root: Path, pattern: str) -> list[Path]:
    try:
        return sorted(path for path in root.glob(pattern) if path.is_file())
    except (ValueError, IndexError, NotImplementedError):  # what pathlib says to `.`, `**x` and the like
        return []


def _shown(file: Path, root: Path) -> str:
    return file.relative_to(root).as_posix() if file.is_relative_to(root) else str(file)


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

"""Loading the tasks of a speedup suite: one YAML file each, every problem at once."""

from __future__ import annotations

import posixpath
from pathlib import Path

from pydantic import ValidationError

from evalward.config import LoadedConfig
from evalward.config.yaml_positions import YamlError, YamlTree, read_yaml
from evalward.opening import read_inside, read_text_inside, why
from evalward.records.problem import InputError, Place, Problem
from evalward.suites.files import case_files, repeated_ids
from evalward.suites.lines import explained
from evalward.suites.speedup.spec import SpeedupSuite
from evalward.suites.speedup.task import SpeedupCase, SpeedupTask, make_case

MAX_PATCH_BYTES = 64 * 1024 * 1024


def load_cases(spec: SpeedupSuite, config: LoadedConfig) -> list[SpeedupCase]:
    """The tasks, in order of files (by name). Raises `InputError` with every problem of every file."""
    problems: list[Problem] = []
    cases: list[SpeedupCase] = []
    for file in case_files(spec.name, spec.cases, config, problems):
        cases += _load(config.root, file, problems)
    problems += repeated_ids(cases)
    if problems:
        raise InputError(problems)
    return cases


def _load(root: Path, shown_as: str, problems: list[Problem]) -> list[SpeedupCase]:
    try:
        tree = read_yaml(read_text_inside(root, shown_as, encoding="utf-8-sig"))
    except YamlError as error:
        problems.append(_problem(shown_as, error.mistake.line, error.mistake.message, error.mistake.remedy))
        return []
    except InputError as error:
        problems += error.problems
        return []
    except (OSError, UnicodeDecodeError) as error:
        problems.append(_problem(shown_as, None, f"the file can't be read: {error}", "Check its name and content."))
        return []
    if tree.mistakes:
        problems += [_problem(shown_as, m.line or tree.line(m.path), m.message, m.remedy) for m in tree.mistakes]
        return []
    if not isinstance(tree.value, dict):
        problems.append(_problem(shown_as, 1, "the file is not a task", "Write keys and values: id, prompt, folder, …"))
        return []
    return _of_tree(root, shown_as, tree, problems)


def _of_tree(root: Path, shown_as: str, tree: YamlTree, problems: list[Problem]) -> list[SpeedupCase]:
    folder = posixpath.dirname(shown_as)
    try:
        task = SpeedupTask.model_validate(tree.value)
    except ValidationError as error:
        for item in error.errors():
            place = Place(file=shown_as, line=tree.line(item["loc"]))
            problems.append(explained(place, item, SpeedupTask))
        return []
    try:
        oracle = _patch(root, posixpath.join(folder, task.oracle))
    except (InputError, OSError, ValueError) as error:
        message = f"{task.oracle!r} can't be read: {why(error)}"
        problems.append(_problem(shown_as, tree.line(("oracle",)), message, "Name the human patch.", "oracle"))
        return []
    try:
        return [make_case(task, Place(file=shown_as, line=tree.line(("id",))), root, folder, oracle)]
    except (InputError, OSError, ValueError) as error:
        key = "folder" if task.folder else "revision"
        problems.append(_problem(shown_as, tree.line((key,)), why(error), "Name where the code is.", key))
        return []


def _patch(root: Path, name: str) -> bytes:
    content = read_inside(root, name, MAX_PATCH_BYTES)
    if not content.strip():
        raise ValueError("it is empty")
    return content


def _problem(file: str, line: int | None, message: str, remedy: str, field: str = "") -> Problem:
    return Problem(place=Place(file=file, line=line), field=field, message=message, remedy=remedy)

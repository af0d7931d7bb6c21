"""Loading the tasks of a speedup suite: one YAML file each, every problem at once."""

from __future__ import annotations

from pathlib import Path

from pydantic import ValidationError

from evalward.config import LoadedConfig
from evalward.config.speedup import SpeedupSuite
from evalward.config.yaml_positions import YamlError, YamlTree, read_yaml
from evalward.records.problem import InputError, Place, Problem
from evalward.suites.files import case_files, repeated_ids, shown
from evalward.suites.lines import explained
from evalward.suites.speedup.task import SpeedupCase, SpeedupTask, make_case

MAX_PATCH_BYTES = 64 * 1024 * 1024


def load_cases(spec: SpeedupSuite, config: LoadedConfig) -> list[SpeedupCase]:
    """The tasks, in order of files (by name). Raises `InputError` with every problem of every file."""
    problems: list[Problem] = []
    cases: list[SpeedupCase] = []
    for file in case_files(spec.name, spec.cases, config, problems):
        cases += _load(file, shown(file, config.root), problems)
    problems += repeated_ids(cases)
    if problems:
        raise InputError(problems)
    return cases


def _load(file: Path, shown_as: str, problems: list[Problem]) -> list[SpeedupCase]:
    try:
        tree = read_yaml(file.read_text("utf-8-sig"))
    except YamlError as error:
        problems.append(_problem(shown_as, error.mistake.line, error.mistake.message, error.mistake.remedy))
        return []
    except (OSError, UnicodeDecodeError) as error:
        problems.append(_problem(shown_as, None, f"the file can't be read: {error}", "Check its name and content."))
        return []
    if tree.mistakes:
        problems += [_problem(shown_as, m.line or tree.line(m.path), m.message, m.remedy) for m in tree.mistakes]
        return []
    if not isinstance(tree.value, dict):
        problems.append(_problem(shown_as, 1, "the file is no task", "Write keys and values: id, prompt, folder, …"))
        return []
    return _of_tree(file, shown_as, tree, problems)


def _of_tree(file: Path, shown_as: str, tree: YamlTree, problems: list[Problem]) -> list[SpeedupCase]:
    try:
        task = SpeedupTask.model_validate(tree.value)
    except ValidationError as error:
        for item in error.errors():
            place = Place(file=shown_as, line=tree.line(item["loc"]))
            problems.append(explained(place, item, SpeedupTask))
        return []
    try:
        oracle = _patch(file.parent / task.oracle)
    except (OSError, ValueError) as error:
        message = f"{task.oracle!r} can't be read: {error}"
        problems.append(_problem(shown_as, tree.line(("oracle",)), message, "Name the human patch.", "oracle"))
        return []
    try:
        return [make_case(task, Place(file=shown_as, line=tree.line(("id",))), file.parent, oracle)]
    except (OSError, ValueError) as error:
        key = "folder" if task.folder else "revision"
        problems.append(_problem(shown_as, tree.line((key,)), str(error), "Name where the code is.", key))
        return []


def _patch(path: Path) -> bytes:
    if path.stat().st_size > MAX_PATCH_BYTES:
        raise ValueError("it is larger than 64 MB")
    content = path.read_bytes()
    if not content.strip():
        raise ValueError("it is empty")
    return content


def _problem(file: str, line: int | None, message: str, remedy: str, field: str = "") -> Problem:
    return Problem(place=Place(file=file, line=line), field=field, message=message, remedy=remedy)

"""Loading prompt files: every mistake of every file at once, with its line; what is odd and no mistake is a warning."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from evalward.config import LoadedConfig
from evalward.records.problem import InputError, Place, Problem, wrong
from evalward.suites.files import case_files, repeated_ids
from evalward.suites.prompt.case import PromptCase, make_case
from evalward.suites.prompt.prompting import FilePrompting
from evalward.suites.prompt.reading import PromptSource, read_source
from evalward.suites.prompt.spec import PromptSuite

SUFFIXES = (".prompt.yml", ".prompt.yaml", ".yml", ".yaml")
_NO_CASES = "Add testData and evaluators to one of them; each row of testData is a case."


@dataclass
class LoadedPrompts:
    """The cases in the order of files (by name) and rows, the prompt of each file by its name, what is odd."""

    cases: list[PromptCase] = field(default_factory=list)
    prompting: dict[str, FilePrompting] = field(default_factory=dict)
    warnings: list[str] = field(default_factory=list)


def load_prompts(spec: PromptSuite, config: LoadedConfig) -> LoadedPrompts:
    """Raises `InputError` with every problem of every file, or when there is no case at all."""
    problems: list[Problem] = []
    files = case_files(spec.name, spec.cases, config, problems)
    found = LoadedPrompts()
    names: dict[str, str] = {}
    for path in files:
        source = read_source(config.root, path)
        problems += source.problems
        if source.file is None:
            continue
        name = file_name(path)
        problems += _taken(name, path, names)
        names.setdefault(name, path)
        _add(found, name, source, spec.targets)
    problems += repeated_ids(found.cases) if len(names) == len(files) else []
    if problems:
        raise InputError(problems)
    if not found.cases:
        raise wrong(config.file, f"no prompt file of suite {spec.name!r} has rows and evaluators", _NO_CASES)
    return found


def file_name(path: str) -> str:
    """What a file's cases begin with: its name without folders and suffix."""
    name = path.rpartition("/")[2]
    return next((name.removesuffix(suffix) for suffix in SUFFIXES if name.lower().endswith(suffix)), name)


def _taken(name: str, path: str, names: Mapping[str, str]) -> list[Problem]:
    if name not in names:
        return []
    message = f"its cases would be called as those of {names[name]}"
    return [Problem(place=Place(file=path), message=message, remedy="Rename it, or put it into a suite of its own.")]


def _add(found: LoadedPrompts, name: str, source: PromptSource, targets: Sequence[str]) -> None:
    """The cases of a file, its prompt, and what is odd about it."""
    odd = [*source.odd]
    if source.rows and source.evaluators:
        prompting = source.prompting
        odd += prompting.unsent(targets)
        found.prompting[name] = prompting
        found.cases += [
            make_case(f"{name}/{row.name}", name, row.values, source.evaluators, row.place) for row in source.rows
        ]
    found.warnings += [f"{source.path}: {each}." for each in odd]
